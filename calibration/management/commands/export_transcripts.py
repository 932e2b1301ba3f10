"""Transcripts with the tags of chosen raters."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import Continuation, Corpus
from annotation.text.references import parse_item_key
from calibration.exports.downloads import TRANSCRIPTS, Order
from calibration.exports.transcripts import FORMS
from calibration.management import options as exporting
from calibration.management import options as places
from config.commands import DatabaseCommand


class Command(DatabaseCommand):
    """`manage.py export_transcripts --corpus NAME --continuation d1/x-1 --format md`"""

    help = (
        "Write transcripts turn by turn, with a column for each group of tags: the turn's number as "
        "annotators count it, its index from 0, speaker and text. Of a corpus that is split dev is written; "
        "test and all need a --purpose, which is logged as a look at test. The last line is one JSON object "
        "with rows and sha256."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Place, continuations, raters, part, format, output."""
        places.add_arguments(parser)
        parser.add_argument(
            "--continuation",
            action="append",
            default=[],
            metavar="KEY",
            help="dialogue/continuation; may be given several times (all that were tagged)",
        )
        parser.add_argument(
            "--rater",
            action="append",
            default=[],
            metavar="NAME",
            help="whose tags; may be given several times (all people, or all raters where no person tagged)",
        )
        exporting.add_part(parser)
        parser.add_argument(
            "--format", choices=list(FORMS), default="csv", help="csv (default), md, tex, html"
        )
        parser.add_argument(
            "--output", metavar="PATH", default="-", help="file to write; - is standard output (default)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file."""
        corpus, campaign = places.place(options["corpus"], options["campaign"])
        taken = exporting.taken(corpus, campaign, options)
        chosen = [_continuation(corpus, key) for key in options["continuation"]]
        choice = {"continuations": list(dict.fromkeys(chosen)), "raters": sorted(set(options["rater"]))}
        order = Order(TRANSCRIPTS, corpus, campaign, taken, options["format"], choice=choice)
        exporting.export_order(self, order, options["output"])


def _continuation(corpus: Corpus, key: str) -> int:
    """Return the continuation that a key names."""
    try:
        dialogue, continuation, turn = parse_item_key(key)
    except ValueError as error:
        raise CommandError(str(error)) from error
    found = Continuation.objects.filter(
        dialogue__corpus=corpus, dialogue__key=dialogue, key=continuation
    ).first()
    if turn is not None or found is None:
        raise CommandError(f"no continuation {key!r} in {corpus.name}: name it as dialogue/continuation")
    return found.pk
