"""Preferences between systems: from a ratings file without a database, or from a corpus or campaign."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from calibration.agree.cells import JOIN, KEEP
from calibration.agree.files import RatingsFileError, Row, Table
from calibration.management import scope_options as places
from calibration.management.written import give_out
from calibration.preferences import files
from calibration.preferences.computing import Asked, PreferencesQuery, Report, compute, compute_on_test
from calibration.preferences.renderings import RENDERINGS
from calibration.preferences.renderings.as_text import write as write_text
from calibration.statistics import Plan
from calibration.statistics.preferences.fitting import MODELS
from calibration.statistics.preferences.report import Choices, preferences
from calibration.statistics.preferences.votes import BOTH_BAD_POLICIES
from config.commands import prepare_tables, refuse_unused

TEXT = "text"


class Command(BaseCommand):
    """`manage.py pairs RATINGS`: win rates, strengths, agreement and position bias of pairs and rankings."""

    help = (
        "Which system is preferred: win rates and Bradley-Terry strengths with intervals by cluster, "
        "agreement with and without ties, and position bias, from answers to pairs (first, tie, second, "
        "both_bad) and rankings (2>0=1). A file (CSV, TSV, JSONL or Parquet) has the columns item, rater, "
        "value, first_system and second_system (or systems, as in a|b|c), and if wanted question, kind, "
        "cluster, sample and order (0,1 or 1,0: which was shown first). No database is needed for a file."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """A file or a place, how votes are read, intervals, and the form of the answer."""
        parser.add_argument("ratings", nargs="?", type=Path, help="the ratings file")
        places.add_arguments(parser)
        parser.add_argument("--question", action="append", default=[], help="only this question (repeatable)")
        parser.add_argument("--systems", default="", help="only comparisons among these, by commas")
        parser.add_argument(
            "--ties",
            choices=MODELS,
            default="half",
            help="half a win each (default), left out, or Davidson's",
        )
        parser.add_argument(
            "--both-bad", choices=BOTH_BAD_POLICIES, default="tie", help="counts as a tie (default), or not"
        )
        parser.add_argument(
            "--fold-names",
            nargs="?",
            const="yes",
            choices=("yes", "no"),
            help="join names that differ in case or space alone; no keeps them apart (default: refused)",
        )
        parser.add_argument(
            "--anchor", default="", metavar="SYSTEM", help="the system whose strength is 1000"
        )
        parser.add_argument("--cluster", default="", help="the column of clusters (cluster, where it exists)")
        parser.add_argument("--no-cluster", action="store_true", help="take every item as independent")
        parser.add_argument("--resamples", type=int, default=2000, help="bootstrap resamples (2000)")
        parser.add_argument("--seed", type=int, default=0, help="seed of the resamples (0)")
        parser.add_argument("--level", type=float, default=0.95, help="level of the intervals (0.95)")
        parser.add_argument(
            "--part",
            default="",
            choices=["dev", "test", "training"],
            help="part of the split (dev), or training",
        )
        parser.add_argument("--purpose", default="", help="for what test is opened: logged")
        forms = parser.add_mutually_exclusive_group()
        forms.add_argument("--json", action="store_const", const="json", dest="format", help="for programs")
        forms.add_argument("--format", choices=(TEXT, *RENDERINGS), help="text (default) or a file's form")
        parser.add_argument("--output", metavar="PATH", help="write into a file instead of standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read, compute, print; a mistake in the file or the options is one line on stderr."""
        stored = options["corpus"] or options["campaign"]
        if bool(options["ratings"]) == bool(stored):
            raise CommandError("name a ratings file, or --corpus, or --campaign")
        places.refuse_purpose(options)
        if not stored:
            refuse_unused(options, ["part"], "a file has no parts: name --corpus or --campaign")
        try:
            made = _of_labels(options) if stored else _of_file(options["ratings"], options)
        except (RatingsFileError, ValueError, OSError) as error:
            raise CommandError(str(error)) from None
        write = RENDERINGS[options["format"]].write if options["format"] in RENDERINGS else write_text
        give_out(self, write(made), options["output"])


def _plan(options: dict[str, Any]) -> Plan:
    if options["seed"] < 0:
        raise ValueError("--seed must be 0 or more")
    return Plan(options["resamples"], options["seed"], options["level"])


def _listed(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _of_file(path: Path, options: dict[str, Any]) -> Report:
    """Return the report of a file. Raises RatingsFileError and ValueError, each of one line."""
    if options["cluster"] and options["no_cluster"]:
        raise ValueError("--cluster and --no-cluster exclude each other")
    wanted = files.Wanted(
        questions=tuple(options["question"]),
        systems=_listed(options["systems"]),
        cluster=options["cluster"] or "cluster",
        clustered=not options["no_cluster"],
        required=bool(options["cluster"]),
        names={"yes": JOIN, "no": KEEP}.get(options["fold_names"], ""),
    )
    choices, plan = Choices(options["ties"], options["both_bad"], options["anchor"]), _plan(options)
    file = files.read_votes(path, wanted, _progress)
    if not file.votes:
        raise RatingsFileError(path, "the file has no answers")
    made = []
    for question, votes in file.votes.items():
        try:
            made.append(Asked(question, question, preferences(votes, choices, plan)))
        except ValueError as error:
            of = f"question {question}: " if question else ""
            raise RatingsFileError(path, f"{of}{error}") from None
    return Report(path.name, tuple(made), file.facts)


def _of_labels(options: dict[str, Any]) -> Report:
    """Return the report of a corpus or campaign. Raises CalibrationError, a ValueError, of one line."""
    for name in ("cluster", "no_cluster", "fold_names"):
        if options[name]:
            raise ValueError(f"--{name.replace('_', '-')} goes with a file: labels have names of their own")
    if len(options["question"]) > 1:
        raise ValueError("name one --question, or none for all")
    prepare_tables()
    corpus, campaign = places.place(options["corpus"], options["campaign"])
    query = PreferencesQuery(
        corpus,
        campaign,
        "".join(options["question"]),
        _listed(options["systems"]),
        Choices(options["ties"], options["both_bad"], options["anchor"]),
        options["part"],
        _plan(options),
    )
    on_test = options["part"] == "test" and options["purpose"]
    made = (
        compute_on_test(query=query, by=None, purpose=options["purpose"])
        if on_test
        else compute(query=query, by=None)
    )
    return made.report


def _progress(table: Table) -> Iterable[tuple[int, Row]]:
    from tqdm import tqdm

    quiet = not sys.stderr.isatty()
    return tqdm(table.rows, total=table.size, unit=" rows", disable=quiet, delay=1, file=sys.stderr)
