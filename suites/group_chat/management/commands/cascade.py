"""`manage.py cascade`: print the Cascade report."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.models import Corpus
from annotation.scenario_records import STAGES
from config.commands import DatabaseCommand, refuse_unused
from suites.group_chat.cascade.renderings import RENDERINGS, as_text
from suites.group_chat.cascade.report import CascadeReport, compute, compute_on_test
from suites.group_chat.cascade.score_figures import BY, COMPETENCE, TURN_SCORE, read
from suites.reports import add_report_arguments, print_report


class Command(DatabaseCommand):
    """Print three scores of group-chat agents, and where their decisions fail."""

    help = (
        "Print the Cascade report of a corpus of scenarios: competence, conduct and reliability of each "
        "system beside the best baseline, the funnel, restraint, probes and controls. Shows dev where the "
        "corpus is split; test needs --purpose, which is logged."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the decisions, the judges, and the options of reliability."""
        parser.add_argument("--corpus", required=True, metavar="NAME", help="a corpus with scenarios")
        parser.add_argument(
            "--by", default="", metavar="KEYS", help=f"rows by {','.join(BY)} (default: both)"
        )
        parser.add_argument(
            "--judge", default="", metavar="NAMES", help="judges whose answers count, by commas"
        )
        parser.add_argument("--k", default="", metavar="K,K", help="trials of pass^k (1,2,4,8)")
        parser.add_argument(
            "--success",
            default="",
            choices=["", COMPETENCE, TURN_SCORE],
            help="what makes a trial succeed: competence 1 (default) or a turn score",
        )
        parser.add_argument("--threshold", default="", metavar="T", help="least turn score of a success (1)")
        parser.add_argument("--tau", default="", metavar="T", help="a score up to T is a hard failure (0)")
        for stage in STAGES:
            parser.add_argument(
                f"--tau-{stage}", default="", metavar="T", help=f"the same, of {stage.upper()}"
            )
        parser.add_argument("--jaccard", action="store_true", help="score exact sets by their overlap")
        add_report_arguments(parser, RENDERINGS, "families")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute and print; exit with a one-line message on a mistake."""
        if options["success"] != TURN_SCORE:
            refuse_unused(options, ["threshold"], f"it goes with --success {TURN_SCORE}")

        def make(corpus: Corpus) -> CascadeReport:
            query = read({**options, "jaccard": "yes" if options["jaccard"] else ""}, corpus)
            if query.part == "test":
                return compute_on_test(query=query, by=None, purpose=options["purpose"])
            return compute(query=query, by=None)

        print_report(self, options, make, as_text, RENDERINGS)
