"""`manage.py answers`: print the Answers report."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.models import Corpus
from config.commands import DatabaseCommand, refuse_unused
from suites.long_dialogue.answers.renderings import RENDERINGS, as_text
from suites.long_dialogue.answers.report import AnswersReport, compute, compute_on_test
from suites.long_dialogue.answers.rows import BY, LAYOUTS, PEOPLE, REPORT, TABLE2, read
from suites.reports import add_report_arguments, print_report


class Command(DatabaseCommand):
    """Print the Answers report of a corpus of scripts."""

    help = (
        "Print the Answers report of a corpus of scripts: accuracy by system and condition, with intervals "
        "over sessions, abstention, retrieval and the gap to the oracle, names, the paper's tables. Shows "
        "dev where the corpus is split; test needs --purpose, which is logged."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the selection of answers, the scoring, and the grouping of rows."""
        parser.add_argument("--corpus", required=True, metavar="NAME", help="a corpus with scripts")
        parser.add_argument(
            "--by",
            default="",
            metavar="KEYS",
            help=f"rows by system, condition, script or settings such as model,memory ({','.join(BY)})",
        )
        parser.add_argument(
            "--layout", default="", choices=["", *LAYOUTS], help="report (default) or a table"
        )
        score = parser.add_mutually_exclusive_group()
        score.add_argument(
            "--strict", dest="score", action="store_const", const="strict", help="letters alone (default)"
        )
        score.add_argument(
            "--lenient", dest="score", action="store_const", const="lenient", help="options' texts count, too"
        )
        parser.add_argument(
            "--judge", default="", metavar="NAME", help=f"who decides what no rule does: one, or {PEOPLE}"
        )
        parser.add_argument("--set", default="", metavar="NAMES", help="question sets (default: all)")
        parser.add_argument("--level", default="", metavar="P", help="of the intervals (0.95)")
        add_report_arguments(parser, RENDERINGS, "sessions")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute and print; exit with one line on a mistake."""
        if options["layout"] not in ("", REPORT):
            refuse_unused(options, ["by"], f"the rows of {options['layout']} are those of the paper")
        if options["layout"] == TABLE2:
            rules = {rule: options["score"] == rule for rule in ("strict", "lenient")}
            unread = [*rules, "judge", "resamples", "seed", "level"]
            refuse_unused({**options, **rules}, unread, "table2 counts questions, and scores no answer")

        def make(corpus: Corpus) -> AnswersReport:
            query = read(options, corpus)
            if query.part == "test":
                return compute_on_test(query=query, by=None, purpose=options["purpose"])
            return compute(query=query, by=None)

        print_report(self, options, make, as_text, RENDERINGS)
