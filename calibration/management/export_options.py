"""What the export commands share: writing a query to a file or to standard output."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from annotation.formats.manifest import beside
from annotation.models import Corpus
from calibration.errors import CalibrationError
from calibration.exports.parts import PARTS, Taken, take
from calibration.exports.writing import FORMATS, ExportQuery, Written, write


def add_arguments(parser: CommandParser) -> None:
    """Add --part and --purpose, --format and --output."""
    parser.add_argument(
        "--part", choices=PARTS, default="", help="of a corpus that is split: dev (default), test or all"
    )
    parser.add_argument(
        "--purpose", default="", metavar="TEXT", help="what test is taken out for: logged as a look at test"
    )
    parser.add_argument(
        "--format", choices=list(FORMATS), default="csv", help="csv (default), jsonl or parquet"
    )
    parser.add_argument(
        "--output", metavar="PATH", default="-", help="file to write; - is standard output (default)"
    )


def taken(corpus: Corpus, options: dict[str, Any]) -> Taken:
    """Return the part of a corpus that the options name; CommandError for test without a purpose."""
    try:
        return take(corpus=corpus, part=options["part"], purpose=options["purpose"], by=None)
    except CalibrationError as refused:
        raise CommandError(str(refused)) from refused


def export(command: BaseCommand, query: ExportQuery, options: dict[str, Any], facts: dict[str, Any]) -> None:
    """Write the rows and say what was written: one JSON line, on standard error where rows go to output.

    Beside a file stands its manifest, which holds the same line: import checks the file against it.
    """
    path, form = options["output"], options["format"]
    try:
        if path == "-":
            written = write(query, form, sys.stdout.buffer)
            sys.stdout.flush()
        else:
            written = _into(Path(path), query, form)
        told = {"rows": written.rows, "format": form, "sha256": written.sha256, **facts}
        line = json.dumps(told, ensure_ascii=False)
        if path != "-":
            beside(path).write_text(line + "\n")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except DatabaseError as error:
        reason = str(error).strip().splitlines()[0]
        raise CommandError(f"the export broke off, the database went away: {reason}") from error
    (command.stderr if path == "-" else command.stdout).write(line)


def _into(path: Path, query: ExportQuery, form: str) -> Written:
    """Write a file whole, under another name first: a broken-off export never looks complete."""
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        written = write(query, form, file)
    beside(path).unlink(missing_ok=True)  # never one file with another's manifest
    part.replace(path)
    return written
