"""What the export commands share: writing a selection to a file or to standard output."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from calibration.copying import FORMATS, Selection, write


def add_arguments(parser: CommandParser) -> None:
    """Add --format and --output."""
    parser.add_argument(
        "--format", choices=list(FORMATS), default="csv", help="csv (default), jsonl or parquet"
    )
    parser.add_argument(
        "--output", metavar="PATH", default="-", help="file to write; - is standard output (default)"
    )


def export(
    command: BaseCommand, selection: Selection, options: dict[str, Any], facts: dict[str, Any]
) -> None:
    """Write the rows and say what was written: one JSON line, on standard error where rows go to output."""
    rows = selection.count()
    if options["output"] == "-":
        sha256 = write(selection, options["format"], sys.stdout.buffer)
        sys.stdout.flush()
    else:
        sha256 = _into(Path(options["output"]), selection, options["format"])
    line = json.dumps(
        {"rows": rows, "format": options["format"], "sha256": sha256, **facts}, ensure_ascii=False
    )
    (command.stderr if options["output"] == "-" else command.stdout).write(line)


def _into(path: Path, selection: Selection, form: str) -> str:
    """Write a file whole, under another name first: a broken-off export never looks complete."""
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            sha256 = write(selection, form, file)
        part.replace(path)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    return sha256
