"""What the export commands share: writing a query to a file or to standard output."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from annotation.formats.base import beside
from annotation.models import Campaign, Corpus
from calibration.errors import CalibrationError
from calibration.exports.bundle import Folder
from calibration.exports.orders import ZIP, Order
from calibration.exports.parts import PARTS, Taken, take
from calibration.exports.writing import FORMATS, ExportQuery, Written, write
from calibration.management.scope_options import refuse_purpose
from calibration.models import Gold


def add_arguments(parser: CommandParser) -> None:
    """Add --part and --purpose, --format and --output."""
    add_part(parser)
    parser.add_argument(
        "--format", choices=list(FORMATS), default="csv", help="csv (default), jsonl or parquet"
    )
    parser.add_argument(
        "--output", metavar="PATH", default="-", help="file to write; - is standard output (default)"
    )


def add_part(parser: CommandParser) -> None:
    """Add --part and --purpose."""
    parser.add_argument(
        "--part",
        choices=PARTS,
        default="",
        help="of a corpus that is split: dev (default), test or all; or training, left out else",
    )
    parser.add_argument(
        "--purpose", default="", metavar="TEXT", help="what test is taken out for: logged as a look at test"
    )


def taken(corpus: Corpus, about: Campaign | Gold | None, options: dict[str, Any]) -> Taken:
    """Return the part of a corpus that the options name; CommandError for test without a purpose."""
    refuse_purpose(options, ("test", "all"))
    try:
        given = {name: options[name] for name in ("part", "purpose")}
        return take(corpus=corpus, about=about, **given, by=None)
    except CalibrationError as refused:
        raise CommandError(str(refused)) from refused


def export(command: BaseCommand, query: ExportQuery, options: dict[str, Any], facts: dict[str, Any]) -> None:
    """Write the rows and say what was written: one JSON line, on standard error where rows go to output.

    Beside a file stands its manifest, which holds the same line: import checks the file against it.
    """
    form = options["format"]
    export_file(command, lambda file: write(query, form, file), form, options["output"], facts)


def export_order(command: BaseCommand, order: Order, path: str) -> None:
    """Write what was ordered and say what was written; a package into a folder, unless PATH is a zip."""
    campaign = order.campaign.name if order.campaign else None
    facts = {"what": order.what, "corpus": order.corpus.name, "campaign": campaign}
    facts["part"] = order.taken.part or "all"
    try:
        if order.form == ZIP and not path.endswith(".zip"):
            _into_folder(command, order, Path(path), facts)
        else:
            export_file(command, order.write, order.form, path, facts)
    except CalibrationError as refused:
        raise CommandError(str(refused)) from refused


def _into_folder(command: BaseCommand, order: Order, path: Path, facts: dict[str, Any]) -> None:
    """Write a package into a new folder, under another name first."""
    part = path.with_name(f"{path.name}.part")
    try:
        if path.exists():
            raise CommandError(f"{path} is there already: name a new folder, or a file that ends in .zip")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            bundle = Folder(part)
            rows = order.fill(bundle)
            part.rename(path)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    files = [one.name for one in bundle.parts]
    command.stdout.write(json.dumps({"rows": rows, "files": files, **facts}, ensure_ascii=False))


def export_file(
    command: BaseCommand,
    write_into: Callable[[IO[bytes]], Written],
    form: str,
    path: str,
    facts: dict[str, Any],
) -> None:
    """Write a file and say what was written; `facts` may fill while it is."""
    try:
        if path == "-":
            written = write_into(sys.stdout.buffer)
            sys.stdout.flush()
        else:
            written = _into(Path(path), write_into)
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


def _into(path: Path, write_into: Callable[[IO[bytes]], Written]) -> Written:
    """Write a file whole, under another name first: a broken-off export never looks complete."""
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            written = write_into(file)
    except CalibrationError:
        part.unlink(missing_ok=True)
        raise
    beside(path).unlink(missing_ok=True)  # never one file with another's manifest
    part.replace(path)
    return written
