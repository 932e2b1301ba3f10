"""Print counts and scores by system and condition."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from calibration.comparisons.count_files import RENDERINGS
from calibration.comparisons.count_files import write_text as as_text
from calibration.comparisons.count_inputs import SAMPLES, read
from calibration.comparisons.counts import Counts, compute, open_test
from calibration.errors import CalibrationError
from calibration.management import options as command_options
from calibration.management.options import write_output
from calibration.reports.kinds import compute_on_test
from calibration.statistics.judge_errors import CORRECTIONS
from config.commands import DatabaseCommand
from judges.management.run_options import add_exclude

FORMS = ("table", *RENDERINGS)


class Command(DatabaseCommand):
    """Count how often a rater marked each behaviour, or how high it scored, by system and condition."""

    help = (
        "Print how often each behaviour was marked, or how high each score is, by system and condition, with "
        "intervals, differences and distances from people, and corrected for a judge's errors where people "
        "rated a sample. Shows dev where the corpus is split; test needs --purpose, which is logged."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options for scope, rater, questions, rows, and counting."""
        command_options.add_place_arguments(parser)
        parser.add_argument(
            "--rater", default="", metavar="NAME", help="a judge, person or key; people: together"
        )
        parser.add_argument(
            "--questions", default="", metavar="NAMES", help="keys, scheme@version/key, or schemes, by commas"
        )
        parser.add_argument(
            "--by", default="", metavar="KEYS", help="system (default), keys of conditions, by commas"
        )
        parser.add_argument("--strata", default="", metavar="KEY", help="key of the dialogues' metadata")
        parser.add_argument(
            "--per-turns", default="", metavar="N", help="count per this many turns, such as 30"
        )
        parser.add_argument(
            "--samples", default="", choices=SAMPLES, help="of a judge: first (tags), mean (scores)"
        )
        parser.add_argument(
            "--correction",
            default="auto",
            choices=CORRECTIONS,
            help="auto: prediction-powered where 10 of a cell's continuations were rated at random",
        )
        parser.add_argument(
            "--part",
            default="",
            choices=["dev", "test", "training"],
            help="part of the split (dev), or training",
        )
        add_exclude(parser)
        parser.add_argument("--purpose", default="", help="for what test is opened: logged")
        parser.add_argument("--resamples", default="", metavar="N", help="resamples of clusters (2000)")
        parser.add_argument("--seed", default="", metavar="N", help="of the resamples (0)")
        parser.add_argument(
            "--format", choices=FORMS, default="table", help="table (default) or a file's form"
        )
        parser.add_argument("--output", metavar="PATH", help="write into a file instead of standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute and print; exit with one line on an error."""
        command_options.refuse_purpose(options)
        try:
            counts = _compute_counts(options)
        except CalibrationError as error:
            raise CommandError(str(error)) from error
        form = options["format"]
        content = as_text(counts) if form == "table" else RENDERINGS[form].write(counts)
        write_output(self, content, options["output"])


def _compute_counts(options: dict[str, Any]) -> Counts:
    corpus, campaign = command_options.find_place(options["corpus"], options["campaign"])
    query = read(options, corpus, campaign)
    if query.part == "test":
        return compute_on_test(compute, open_test, query=query, by=None, purpose=options["purpose"])
    return compute(query=query, by=None)
