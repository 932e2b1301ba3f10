"""Continuations of one context side by side, printed."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import Corpus, Dialogue
from calibration.comparisons.side_by_side import FILES, MOST, ComparisonQuery, as_text, compare
from calibration.errors import CalibrationError
from calibration.management import options as places
from calibration.management.options import give_out
from config.commands import DatabaseCommand

FORMS = ("table", *FILES)


class Command(DatabaseCommand):
    """Put continuations that share a context side by side, with what metrics say of each."""

    help = (
        "Print what metrics say of continuations of one context: each one's value, how far it is from that "
        "of a chosen one, and what caused it. The context is the one that most continuations share, unless "
        "--at or --continuations say otherwise."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Dialogue, context, columns, rows, form."""
        parser.add_argument("--corpus", required=True, metavar="NAME")
        parser.add_argument("--dialogue", required=True, metavar="ID")
        parser.add_argument("--at", type=int, metavar="N", help="turns of the history before")
        parser.add_argument(
            "--continuations",
            nargs="+",
            default=[],
            metavar="NAME",
            help=f"{MOST} at most; one alone has the usual others beside it",
        )
        parser.add_argument(
            "--against", default="", metavar="NAME", help="take differences from this one (first)"
        )
        parser.add_argument("--metric", default="", metavar="NAME", help="only this metric")
        parser.add_argument("--format", choices=FORMS, default="table", help="table (default), csv or json")
        parser.add_argument("--output", metavar="PATH", help="write into a file instead of standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compare and print; exit with one line on a mistake."""
        corpus, _ = places.place(options["corpus"], None)
        wanted = ComparisonQuery(
            options["at"], tuple(options["continuations"]), options["against"], options["metric"]
        )
        try:
            made = compare(_dialogue(corpus, options["dialogue"]), wanted)
        except CalibrationError as error:
            raise CommandError(str(error)) from error
        form = options["format"]
        content = as_text(made) if form == "table" else FILES[form][0](made)
        give_out(self, content, options["output"])


def _dialogue(corpus: Corpus, key: str) -> Dialogue:
    found = Dialogue.objects.select_related("corpus").filter(corpus=corpus, key=key).first()
    if found is None:
        known = places.there_are(corpus.dialogues.order_by("key").values_list("key", flat=True)[:20])
        raise CommandError(f"{corpus.name} has no dialogue {key!r}; {known}")
    return found
