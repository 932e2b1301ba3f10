"""Preferences between systems: from a ratings file without a database, or from a corpus or campaign."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_file import Row, TableFile
from annotation.formats.table_reader import open_table
from annotation.text.table_cells import unguarded
from calibration.agree.ratings_file import JOIN, KEEP, Spelling
from calibration.agree.readings import RatingsFileError
from calibration.comparisons.preferences import (
    RENDERINGS,
    PreferencesQuery,
    QuestionReport,
    Report,
    compute,
    open_test,
    write_text,
)
from calibration.management import options as command_options
from calibration.management.options import write_output
from calibration.reports.kinds import compute_on_test, split_names
from calibration.statistics import Plan
from calibration.statistics.preference_strengths import BOTH_BAD_POLICIES, MODELS, Vote, checked
from calibration.statistics.preferences import Choices, preferences
from config.commands import prepare_tables, refuse_unused

# Reads answers to pairs and rankings from a ratings file; errors name the line.

NEEDED = ("item", "rater", "value")
PAIR_OF = ("first_system", "second_system")
SYSTEMS, SEVERAL, MEMBERS = "systems", "|", "members"
OPTIONAL = ("question", "kind", "sample", "order", "level")
ORDERS: dict[str, bool] = {"canonical": False, "swapped": True}
Cells = dict[str, str]
Watch = Callable[[Iterable[tuple[int, Cells]]], Iterable[tuple[int, Cells]]]


@dataclass(frozen=True)
class Selection:
    """Filters for reading a file: questions and systems (all if empty), and the cluster column.

    `names` is the treatment of names that differ only in case or spaces (`calibration.agree.ratings_file`).
    """

    questions: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    cluster: str = "cluster"
    clustered: bool = True
    required: bool = False
    names: str = ""


@dataclass
class VotesFile:
    """A file's votes by question, and its cluster column ('': none)."""

    path: Path
    cluster: str
    votes: dict[str, list[Vote]] = field(default_factory=dict)
    unmatched: int = 0
    spelling: Spelling = field(default_factory=Spelling)

    @property
    def facts(self) -> tuple[str, ...]:
        """How the file was interpreted, as sentences."""
        sentences = [
            f"Clusters: column {self.cluster}."
            if self.cluster
            else "Clusters: none; every item counts as independent of the others."
        ]
        if self.unmatched:
            sentences.append(f"{self.unmatched:,} answers are about systems that were not chosen.")
        return (*sentences, *self.spelling.joined())


def read_votes(path: Path, selection: Selection, watch: Watch = lambda rows: rows) -> VotesFile:
    """Return the votes of a file. Raises RatingsFileError for an invalid file."""
    try:
        table = open_table(Source(path))
        return _read_votes(path, table, selection, watch)
    except ImportProblem as problem:
        raise RatingsFileError(path, problem.reason, problem.line, problem.field or None) from None


def _read_votes(path: Path, table: TableFile, selection: Selection, watch: Watch) -> VotesFile:
    columns = {name.partition("[]")[0] for name in table.columns}
    lacking = [name for name in NEEDED if name not in columns]
    if SYSTEMS not in columns and MEMBERS not in columns:
        lacking += [name for name in PAIR_OF if name not in columns]
    if lacking:
        either = f" (or {SYSTEMS}, as in a|b|c)" if set(lacking) & set(PAIR_OF) else ""
        raise RatingsFileError(path, f"no column {', '.join(lacking)}{either}", 1)
    cluster = selection.cluster if selection.clustered and selection.cluster in columns else ""
    if selection.required and not cluster:
        raise RatingsFileError(path, f"no column {selection.cluster!r}, which --cluster names", 1)
    used = {*NEEDED, *PAIR_OF, SYSTEMS, MEMBERS, *OPTIONAL, *filter(None, [cluster])} & columns
    file = VotesFile(path, cluster, spelling=Spelling(selection.names))
    reader = _Reader(file, selection)
    for line, cells in watch(_cells(table, used)):
        reader.add(line, cells)
    file.spelling.check(path, [("items", reader.items)])
    file.spelling.check_kinds(path)
    missing = [name for name in selection.questions if name not in file.votes]
    if missing:
        raise RatingsFileError(path, f"no question {missing[0]!r}; there are {', '.join(reader.questions)}")
    if selection.systems and (strange := [name for name in selection.systems if name not in reader.systems]):
        raise RatingsFileError(
            path, f"no system {strange[0]!r}; there are {', '.join(sorted(reader.systems))}"
        )
    return file


def _cells(table: TableFile, columns: Iterable[str]) -> Iterator[tuple[int, Cells]]:
    """Yield the text of the columns that are read."""
    for line, row in table.rows():
        yield line, {name: _text(row, name) for name in columns}


def _text(row: Row, name: str) -> str:
    """Return the text of a column; a list of JSON as a table has it."""
    if isinstance(text := row.get(name), str):
        return unguarded(text).strip()
    if name == MEMBERS and isinstance(systems := row.get(f"{MEMBERS}[].system"), list):
        return json.dumps([{"system": system} for system in systems])
    values = row.get(f"{name}[]")
    return json.dumps(values) if values else ""


def _is_about_something_else(cells: dict[str, str]) -> bool:
    """Whether a row of a label export is no comparison: no members, or an answer of another level."""
    if MEMBERS not in cells:
        return False
    return not cells[MEMBERS] or cells.get("level", "nominal") not in ("", "nominal", "ranking")


class _Reader:
    """Reads rows one by one, and remembers earlier items and answers."""

    def __init__(self, file: VotesFile, selection: Selection) -> None:
        self.file = file
        self.selection = selection
        self.items: dict[str, tuple[tuple[str, ...], str, int]] = {}
        self.answers: dict[tuple[str, str, str, int], int] = {}
        self.questions: dict[str, None] = {}
        self.systems: set[str] = set()

    def add(self, line: int, cells: Cells) -> None:
        """Add one row's vote."""
        if _is_about_something_else(cells):
            return
        for name in ("item", "rater"):
            if not cells[name]:
                raise self._wrong("is empty", line, name)
        question = cells.get("question", "")
        self.questions[question] = None
        if self.selection.questions and question not in self.selection.questions:
            return
        systems = self._systems_of(cells, line)
        self.systems.update(systems)
        vote = self._vote(cells, systems, line)
        self._check_repeats(vote, question, line)
        if self.selection.systems and not set(systems) <= set(self.selection.systems):
            self.file.unmatched += 1
            self.file.votes.setdefault(question, [])
            return
        self.file.votes.setdefault(question, []).append(vote)

    def _vote(self, cells: Cells, systems: tuple[str, ...], line: int) -> Vote:
        spelling = self.file.spelling
        rater = spelling.raters[cells["rater"]]
        vote = Vote(
            spelling.item(cells["item"]),
            rater,
            cells["value"] or None,
            systems,
            spelling.clusters[cells[self.file.cluster]] if self.file.cluster else "",
            spelling.kind(self.file.path, line, rater, cells.get("kind", "")),
            self._swapped(cells.get("order", ""), len(systems), line),
            self._sample(cells.get("sample", ""), line),
        )
        try:
            return checked(vote)
        except ValueError as error:
            raise self._wrong(str(error), line, "value") from None

    def _systems_of(self, cells: dict[str, str], line: int) -> tuple[str, ...]:
        several = cells.get(SYSTEMS, "")
        if not several and cells.get(MEMBERS):
            return self._members(cells[MEMBERS], line)
        names = several.split(SEVERAL) if several else [cells.get(name, "") for name in PAIR_OF]
        systems = tuple(self.file.spelling.systems[name] for name in names)
        column = SYSTEMS if several or PAIR_OF[0] not in cells else PAIR_OF[not systems[1]]
        if not all(systems):
            raise self._wrong("a member has no system", line, column)
        if len(systems) < 2:
            raise self._wrong(f"one system, {systems[0]!r}, where two or more were compared", line, column)
        return systems

    def _members(self, text: str, line: int) -> tuple[str, ...]:
        """Return the systems of the members, as listed in a label export."""
        try:
            return tuple(self.file.spelling.systems[str(member["system"])] for member in json.loads(text))
        except (ValueError, TypeError, KeyError):
            expected = 'a list such as [{"system": "a"}, {"system": "b"}]'
            raise self._wrong(f"{text[:60]!r} is not {expected}", line, MEMBERS) from None

    def _swapped(self, text: str, n: int, line: int) -> bool | None:
        """Whether a pair's second member was shown first; None if unknown, or for more than two members."""
        if not text or n > 2:
            return None
        if text in ORDERS:
            return ORDERS[text]
        numbers = re.findall(r"\d+", text)
        if sorted(numbers) == ["0", "1"]:
            return numbers[0] == "1"
        raise self._wrong(f"{text!r}: write 0,1 (as they are numbered) or 1,0 (swapped)", line, "order")

    def _sample(self, text: str, line: int) -> int:
        if text and not (text.isascii() and text.isdigit()):
            raise self._wrong(f"{text!r} is not a whole number from 0", line, "sample")
        return int(text or 0)

    def _check_repeats(self, vote: Vote, question: str, line: int) -> None:
        """Reject a duplicate answer, and an item that differs from its earlier rows."""
        systems, place, before = self.items.setdefault(vote.item, (vote.systems, vote.place, line))
        if systems != vote.systems:
            message = (
                f"item {vote.item} compares {', '.join(vote.systems)}, in line {before} {', '.join(systems)}"
            )
            raise self._wrong(message, line)
        if place != vote.place:
            message = f"item {vote.item} lies in cluster {vote.place}, in line {before} in {place}"
            raise self._wrong(message, line, self.file.cluster)
        answer = (vote.item, vote.rater, question, vote.sample)
        if (first := self.answers.setdefault(answer, line)) != line:
            message = f"{vote.rater} answered item {vote.item} in line {first}, too: number repeated answers"
            raise self._wrong(f"{message} in a column sample", line)

    def _wrong(self, message: str, line: int, column: str | None = None) -> RatingsFileError:
        return RatingsFileError(self.file.path, message, line, column)


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
        """Add the options for file or place, reading of votes, intervals, and output format."""
        parser.add_argument("ratings", nargs="?", type=Path, help="the ratings file")
        command_options.add_place_arguments(parser)
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
        """Read, compute, print; an error in the file or the options is one line on stderr."""
        stored = options["corpus"] or options["campaign"]
        if bool(options["ratings"]) == bool(stored):
            raise CommandError("name a ratings file, or --corpus, or --campaign")
        command_options.refuse_purpose(options)
        if not stored:
            refuse_unused(options, ["part"], "a file has no parts: name --corpus or --campaign")
        try:
            report = _report_of_labels(options) if stored else _report_of_file(options["ratings"], options)
        except (RatingsFileError, ValueError, OSError) as error:
            raise CommandError(str(error)) from None
        write = RENDERINGS[options["format"]].write if options["format"] in RENDERINGS else write_text
        write_output(self, write(report), options["output"])


def _plan(options: dict[str, Any]) -> Plan:
    if options["seed"] < 0:
        raise ValueError("--seed must be 0 or more")
    return Plan(options["resamples"], options["seed"], options["level"])


def _report_of_file(path: Path, options: dict[str, Any]) -> Report:
    """Return the report of a file. Raises RatingsFileError or ValueError with a one-line message."""
    if options["cluster"] and options["no_cluster"]:
        raise ValueError("--cluster and --no-cluster exclude each other")
    selection = Selection(
        questions=tuple(options["question"]),
        systems=split_names(options["systems"]),
        cluster=options["cluster"] or "cluster",
        clustered=not options["no_cluster"],
        required=bool(options["cluster"]),
        names={"yes": JOIN, "no": KEEP}.get(options["fold_names"], ""),
    )
    choices, plan = Choices(options["ties"], options["both_bad"], options["anchor"]), _plan(options)
    file = read_votes(path, selection, _progress)
    if not file.votes:
        raise RatingsFileError(path, "the file has no answers")
    question_reports = []
    for question, votes in file.votes.items():
        try:
            question_reports.append(QuestionReport(question, question, preferences(votes, choices, plan)))
        except ValueError as error:
            of = f"question {question}: " if question else ""
            raise RatingsFileError(path, f"{of}{error}") from None
    return Report(path.name, tuple(question_reports), file.facts)


def _report_of_labels(options: dict[str, Any]) -> Report:
    """Return the report of a corpus or campaign. Raises CalibrationError (a ValueError), in one line."""
    for name in ("cluster", "no_cluster", "fold_names"):
        if options[name]:
            raise ValueError(f"--{name.replace('_', '-')} goes with a file: labels have names of their own")
    if len(options["question"]) > 1:
        raise ValueError("name one --question, or none for all")
    prepare_tables()
    corpus, campaign = command_options.find_place(options["corpus"], options["campaign"])
    query = PreferencesQuery(
        corpus,
        campaign,
        options["part"],
        _plan(options),
        "".join(options["question"]),
        split_names(options["systems"]),
        Choices(options["ties"], options["both_bad"], options["anchor"]),
    )
    if options["part"] == "test" and options["purpose"]:
        return compute_on_test(compute, open_test, query=query, by=None, purpose=options["purpose"])
    return compute(query=query, by=None)


def _progress(rows: Iterable[tuple[int, Cells]]) -> Iterable[tuple[int, Cells]]:
    from tqdm import tqdm

    quiet = not sys.stderr.isatty()
    return tqdm(rows, unit=" rows", disable=quiet, delay=1, file=sys.stderr)
