"""`manage.py export_scripts`: long dialogues as lines of the native format."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.errors import ScriptRefused
from annotation.models import Dialogue
from config.commands import DatabaseCommand
from suites.long_dialogue.editing.export import ExportResult, ExportSelection, too_long_warning, write


class Command(DatabaseCommand):
    """`manage.py export_scripts --corpus C [--dialogue D] [--output FILE]`"""

    help = (
        "Write the scripts of a corpus in the native format, a line each: turns, sessions as they are dated "
        "now, name maps, facts, questions and question sets with their uses. import_corpus brings them back "
        "as they were. The last line is one JSON object with dialogues, bytes and sha256; it goes to "
        "standard error where the scripts go to standard output."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add what is to be written, and where."""
        parser.add_argument("--corpus", required=True, help="name of the corpus")
        parser.add_argument("--dialogue", action="append", help="id of a script (all of them); repeatable")
        sets = parser.add_mutually_exclusive_group()
        sets.add_argument(
            "--set",
            action="append",
            metavar="NAME[@VERSION]",
            help="a question set that leaves (the last version of each name); repeatable",
        )
        sets.add_argument("--without-sets", action="store_true", help="no question set leaves")
        parser.add_argument("--continuations", action="store_true", help="what systems answered leaves, too")
        parser.add_argument(
            "--output", metavar="FILE", default="-", help="file to write; - is standard output (default)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the scripts and say what was written."""
        chosen = () if options["without_sets"] else options["set"]
        wanted = ExportSelection(None if chosen is None else tuple(chosen), options["continuations"])
        dialogues = _scripts(options["corpus"], options["dialogue"] or [])
        path = options["output"]
        try:
            if path == "-":
                left = write(sys.stdout.buffer, dialogues, wanted)
                sys.stdout.buffer.flush()
            else:
                left = _into(Path(path), dialogues, wanted)
        except ScriptRefused as refused:
            raise CommandError(str(refused)) from None
        if warning := too_long_warning(left):
            self.stderr.write(warning)
        (self.stderr if path == "-" else self.stdout).write(json.dumps(left.as_json(), ensure_ascii=False))


def _scripts(corpus: str, keys: list[str]) -> list[Dialogue]:
    rows = Dialogue.objects.select_related("corpus").filter(corpus__name=corpus, script__isnull=False)
    there = list(rows.order_by("pk"))
    if not there:
        raise CommandError(f"There is no script in a corpus {corpus!r}.")
    for key in keys:
        if key not in {row.key for row in there}:
            raise CommandError(f"There is no script {key!r} in a corpus {corpus!r}.")
    return [row for row in there if row.key in keys] if keys else there


def _into(path: Path, dialogues: list[Dialogue], wanted: ExportSelection) -> ExportResult:
    """Write a file, under another name until it is whole."""
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            left = write(file, dialogues, wanted)
        part.replace(path)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return left
