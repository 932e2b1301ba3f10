"""Preferences between systems: from a query to the report, its charts, and the forms it is downloaded in."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from django.contrib.auth.models import User
from django.db import transaction

from annotation.corpora import splits
from annotation.errors import SplitRefused
from annotation.models import Campaign, Corpus, Rater, TestLook
from annotation.models.corpora import Split
from annotation.text.display import MISSING
from annotation.text.table_cells import guarded
from calibration.agree.renderings import columns
from calibration.agree.report import plain
from calibration.comparisons.count_inputs import MOST_RESAMPLES, CountsQuery, part_of
from calibration.comparisons.preference_tables import (
    Cell,
    Sheet,
    flag_sentence,
    flags_of,
    method_lines,
    reasons_of,
    sheets,
    voters_line,
    with_interval,
)
from calibration.errors import PreferencesRefused
from calibration.ratings import votes as reading
from calibration.ratings.scope import PARTS, Census, QuestionInfo, Scope, census, scope_of
from calibration.renderings import NEEDS, Rendering, escaped, fitted
from calibration.reports import charts as drawing
from calibration.reports.charts import Chart, Point
from calibration.statistics import Plan
from calibration.statistics.core.engine import Result
from calibration.statistics.preference_strengths import BOTH_BAD_POLICIES, CENTRE, MODELS, Standing, Vote
from calibration.statistics.preferences import Choices, PositionBias, Preferences, Voters, preferences

# From a query to its report of preferences.

# What a report of preferences is made of: per question the figures, and the facts that go with them.


@dataclass(frozen=True)
class QuestionReport:
    """One question's figures. ``title`` is empty where a file has one question without a name."""

    key: str
    title: str
    figures: Preferences


@dataclass(frozen=True)
class Report:
    """All questions of a file, a corpus or a campaign: its name, what was read, and what limits it."""

    name: str
    questions: tuple[QuestionReport, ...]
    facts: tuple[str, ...] = ()


# What a report of preferences is asked for, in the same words by page, command and API.

NAMES = ("question", "systems", "ties", "both_bad", "anchor", "part", "resamples", "seed")
"""What an address may ask for."""


@dataclass(frozen=True)
class PreferencesQuery:
    """A question put to the answers about pairs and rankings of a corpus or campaign.

    ``question`` is `scheme@version/key` or a key, empty for all. ``systems`` keeps comparisons among these
    alone. ``part`` is dev, test (once it was opened), training, or all without a split.
    """

    corpus: Corpus
    campaign: Campaign | None = None
    question: str = ""
    systems: tuple[str, ...] = ()
    choices: Choices = field(default_factory=Choices)
    part: str = ""
    plan: Plan = field(default_factory=Plan)

    @property
    def scope(self) -> Scope:
        """The labels that are read."""
        return scope_of(self.corpus, self.campaign, self.part)

    def parted(self) -> tuple[Split | None, str]:
        """Return the split that locks the corpus and the part to show. Raises CalibrationError."""
        return part_of(CountsQuery(self.corpus, self.campaign, part=self.part))


def read(params: Mapping[str, Any], corpus: Corpus, campaign: Campaign | None) -> PreferencesQuery:
    """Return the query that plain texts (of an address, a form, a command) ask for.

    Systems are separated by commas. Raises PreferencesRefused with one clear line.
    """
    text = {key: str(value).strip() for key, value in params.items() if value is not None}
    ties, both_bad = text.get("ties") or "half", text.get("both_bad") or "tie"
    for name, value, valid_values in (("ties", ties, MODELS), ("both_bad", both_bad, BOTH_BAD_POLICIES)):
        if value not in valid_values:
            raise PreferencesRefused(f"{name} is one of {', '.join(valid_values)}, not {value!r}")
    if (part := text.get("part", "")) not in PARTS:
        raise PreferencesRefused(f"a part is dev, test, all or training, not {part!r}")
    resamples = _parse_integer("resamples", text.get("resamples", ""), MOST_RESAMPLES, 2000)
    return PreferencesQuery(
        corpus,
        campaign,
        text.get("question", ""),
        tuple(name.strip() for name in text.get("systems", "").split(",") if name.strip()),
        cast(Any, Choices)(ties, both_bad, text.get("anchor", "")),
        part,
        Plan(resamples, _parse_integer("seed", text.get("seed", ""), 2**31, 0)),
    )


def _parse_integer(name: str, text: str, most: int, usual: int) -> int:
    if not text:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= most):
        raise PreferencesRefused(f"{name}: a whole number from 0 to {most:,}, not {text!r}")
    return int(text)


NOTHING = "nobody compared responses here yet: collect answers about pairs, import some, or run a judge"


@dataclass(frozen=True)
class Computed:
    """A report with what it was made of: the part of a split it shows, and the looks at test."""

    query: PreferencesQuery
    report: Report
    part: str
    split: Split | None
    looks: tuple[TestLook, ...]


def compute(*, query: PreferencesQuery, by: User | None) -> Computed:
    """Return the report of a query. A split is fixed by it, as by every look at labels.

    Raises CalibrationError, in one line, where there is none, and for a test part that was not opened.
    """
    split, part = query.parted()
    counted = census(query.scope)
    questions = _select_questions(query, reading.comparing(counted))
    if split is not None:
        splits.fix(split=split, by=by)
        if part == "test":
            _check_opened(split, questions, counted)
    clusters = None if split is None else splits.clusters(split=split, part=part)
    votes = reading.read_votes(query.scope, questions, counted, clusters)
    among = {
        question: reading.among(question_votes, query.systems) for question, question_votes in votes.items()
    }
    reports = [
        _report_question(query, question, among[question.id]) for question in questions if among[question.id]
    ]
    if not reports:
        where = f"the {part} part" if split else query.scope.name
        raise PreferencesRefused(
            f"{where} has no answers about these systems" if any(votes.values()) else NOTHING
        )
    looks = split.looks.select_related("by") if split is not None and part == "test" else ()
    name = f"Preferences in {query.scope.name}{f', {part} part' if split else ''}"
    report = Report(name, tuple(reports), _facts(query, votes, among))
    return Computed(query, report, part, split, tuple(looks))


@transaction.atomic
def open_test(*, query: PreferencesQuery, by: User | None, purpose: str) -> TestLook:
    """Log a look at test, with who and for what. Its preferences can then be computed.

    Raises PreferencesRefused without a purpose, or where the corpus has no split.
    """
    split = splits.lock_of(query.corpus)
    if split is None:
        raise PreferencesRefused(f"the corpus {query.corpus.name} has no split, so there is no test to open")
    counted = census(query.scope)
    judges = _judges(reading.comparing(counted), counted)
    try:
        return splits.open_test(split=split, by=by, purpose=purpose, raters=judges)
    except SplitRefused as error:
        raise PreferencesRefused(str(error)) from error


@transaction.atomic
def compute_on_test(*, query: PreferencesQuery, by: User | None, purpose: str) -> Computed:
    """Log a look at test and return the report there; where it cannot be made, there was no look."""
    open_test(query=query, by=by, purpose=purpose)
    return compute(query=replace(query, part="test"), by=by)


def _select_questions(query: PreferencesQuery, comparing: list[QuestionInfo]) -> list[QuestionInfo]:
    if not comparing:
        raise PreferencesRefused(NOTHING)
    if not query.question:
        return comparing
    matching = [question for question in comparing if query.question in (question.ref, question.key)]
    if not matching:
        there_are = ", ".join(question.ref for question in comparing)
        raise PreferencesRefused(f"no question {query.question!r} compares responses; there are {there_are}")
    return matching


def _report_question(query: PreferencesQuery, question: QuestionInfo, votes: list[Vote]) -> QuestionReport:
    try:
        return QuestionReport(question.ref, question.title, preferences(votes, query.choices, query.plan))
    except ValueError as error:
        raise PreferencesRefused(f"{question.ref}: {error}") from error


def _judges(questions: list[QuestionInfo], counted: Census) -> list[Rater]:
    ids = {rater.id for question in questions for rater in counted.raters_of(question.id)}
    return list(Rater.objects.filter(pk__in=ids, kind=Rater.Kind.JUDGE))


def _check_opened(split: Split, questions: list[QuestionInfo], counted: Census) -> None:
    if closed := splits.unopened_raters(split, _judges(questions, counted)):
        raise PreferencesRefused(f"test was not opened for {closed[0].name}: open it, and say what for")


def _facts(
    query: PreferencesQuery,
    votes: dict[int, list[Vote]],
    among: dict[int, list[Vote]],
) -> tuple[str, ...]:
    facts = ["Clusters: dialogues, or what dialogues share."]
    n_excluded = sum(map(len, votes.values())) - sum(map(len, among.values()))
    if n_excluded:
        facts.append(f"{n_excluded:,} answers are about systems that were not chosen.")
    return tuple(facts)


# The charts of a report: win rates and strengths by system, a mark with its interval per group of voters.

MOST_SERIES = 6
"""Groups of voters that a chart tells apart by colour and shape; the others stand in the tables alone."""
Figure = Callable[[Standing], Result]


def charts(question: QuestionReport) -> list[Chart]:
    """Return the charts of one question: win rates, then strengths where there are any."""
    figures, key = question.figures, question.key
    level = f"{figures.plan.level:.0%} interval over clusters"
    question_charts = [
        Chart(f"win_rate-{key}", "Win rate by system", f"Win rate, {level}", _points(figures, _rate)),
        Chart(
            f"strength-{key}",
            "Strength by system",
            f"Strength above or below {CENTRE:g}, {level}",
            _points(figures, _strength, CENTRE),
        ),
    ]
    return [chart for chart in question_charts if any(point.value is not None for point in chart.points)]


def svg(report: Report) -> str:
    """Return the chart of the first question that has one, to stand alone."""
    return drawing.svg(_first(report))


def png(report: Report) -> bytes:
    """Return the same chart as a PNG."""
    return drawing.png(_first(report))


def _first(report: Report) -> Chart:
    """Return strengths where there are any, else win rates; an empty chart of a report without figures."""
    all_charts = [chart for question in report.questions for chart in charts(question)]
    ladder = [chart for chart in all_charts if chart.key.startswith("strength")]
    return (ladder or all_charts or [Chart("empty", "No preferences", "", ())])[0]


def _rate(row: Standing) -> Result:
    return row.win_rate


def _strength(row: Standing) -> Result:
    return row.strength


def _points(figures: Preferences, figure: Figure, above: float = 0.0) -> tuple[Point, ...]:
    """Return a point per system and voters, systems in the order of the first voters."""
    order = list(dict.fromkeys(row.system for v in figures.voters for row in v.standings.systems))
    points = list(_iterate_points(figures, figure, above))
    return tuple(sorted(points, key=lambda point: order.index(point.question)))


def _iterate_points(figures: Preferences, figure: Figure, above: float) -> Iterator[Point]:
    for voters in figures.voters[:MOST_SERIES]:
        for row in voters.standings.systems:
            result = figure(row)
            value, low, high = (
                None if end is None else end - above for end in (result.value, result.low, result.high)
            )
            why = "" if result.ok else "none"
            yield Point(row.system, voters.name, value, low, high, result.n_items, result.n_clusters, why)


# A report of preferences as one CSV table: a line a figure, every number in full.

COLUMNS = (
    "question", "raters", "system", "against", "setup", "name", "value", "low", "high", "wins", "ties",
    "losses", "status", "reason", "flags", "n_items", "n_clusters", "n_raters", "n_missing", "method",
)  # fmt: skip
Line = dict[str, object]


def write_csv(report: Report) -> str:
    """Return the table; a text that a spreadsheet would evaluate gets a leading apostrophe."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n", restval="")
    writer.writeheader()
    for question in report.questions:
        for place, result in _lines(question.figures):
            line = {"question": question.key, **place, **_plain(result)}
            writer.writerow(
                {key: guarded(cell) if isinstance(cell, str) else cell for key, cell in line.items()}
            )
    return out.getvalue()


def _plain(result: Result) -> Line:
    plain = result.as_dict() | {"flags": ";".join(result.flags)}
    return {key: "" if cell is None else cell for key, cell in plain.items()}


def _lines(figures: Preferences) -> Iterator[tuple[Line, Result]]:
    for voters in figures.voters:
        for row in voters.standings.systems:
            place: Line = {"raters": voters.name, "system": row.system}
            place |= {"wins": row.wins, "ties": row.ties, "losses": row.losses}
            yield from ((place, result) for result in (row.win_rate, row.strength, row.rank))
        for met in voters.standings.meetings:
            place = {"raters": voters.name, "system": met.first, "against": met.second}
            place |= {"wins": met.wins, "ties": met.ties, "losses": met.losses}
            yield from ((place, result) for result in (met.win_rate, met.expected))
        if voters.standings.tie is not None:
            yield {"raters": voters.name}, voters.standings.tie
        if voters.position is not None:
            yield from _position_lines(voters.position)
    for biased in figures.positions:
        yield from _position_lines(biased)
    for agreed in figures.agreement:
        place = {"raters": ";".join(agreed.raters), "setup": agreed.setup}
        yield from ((place, result) for result in agreed.results)
    for ranked in figures.rankings:
        yield {"raters": ";".join(ranked.raters)}, ranked.result


def _position_lines(bias: PositionBias) -> Iterator[tuple[Line, Result]]:
    for result in (bias.shown_first, *(bias.swaps or {}).values()):
        yield {"raters": bias.rater}, result


# A report of preferences as JSON: every figure in full.


def write_json(report: Report) -> str:
    """Return the report as one JSON object."""
    return json.dumps(content(report), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def content(report: Report) -> dict[str, Any]:
    """Return the report as plain data."""
    return {
        "name": report.name,
        "facts": list(report.facts),
        "questions": [_question(question) for question in report.questions],
    }


def _question(question: QuestionReport) -> dict[str, Any]:
    figures: Preferences = question.figures
    return {
        "question": question.key,
        "title": question.title,
        "ties": figures.choices.model,
        "both_bad": figures.choices.both_bad,
        "anchor": figures.choices.anchor or None,
        "resamples": figures.plan.resamples,
        "seed": figures.plan.seed,
        "level": figures.plan.level,
        "voters": [_voters(voters) for voters in figures.voters],
        "positions": [_position(bias) for bias in figures.positions],
        "agreement": [
            {"raters": list(agreed.raters), "setup": agreed.setup, "figures": _figures(agreed.results)}
            for agreed in figures.agreement
        ],
        "rankings": [
            {"raters": list(ranking.raters), "figures": _figures((ranking.result,))}
            for ranking in figures.rankings
        ],
    }


def _voters(voters: Voters) -> dict[str, Any]:
    standings = voters.standings
    return {
        "name": voters.name,
        "kind": voters.kind,
        "raters": list(voters.raters),
        "answers": dict(voters.answers),
        "n_missing": voters.n_missing,
        "scale": standings.scale,
        "systems": [
            {
                "system": row.system,
                "wins": row.wins,
                "ties": row.ties,
                "losses": row.losses,
            }
            | _figures((row.win_rate, row.strength, row.rank))
            for row in standings.systems
        ],
        "meetings": [
            {
                "first": meeting.first,
                "second": meeting.second,
                "wins": meeting.wins,
                "ties": meeting.ties,
                "losses": meeting.losses,
            }
            | _figures((meeting.win_rate, meeting.expected))
            for meeting in standings.meetings
        ],
        "tie_parameter": figure(standings.tie) if standings.tie else None,
        "position": _position(voters.position) if voters.position else None,
    }


def _position(bias: PositionBias) -> dict[str, Any]:
    swaps = {key: figure(result) for key, result in bias.swaps.items()} if bias.swaps else None
    return {"rater": bias.rater, "shown_first": figure(bias.shown_first), "both_orders": swaps}


def _figures(results: tuple[Result, ...]) -> dict[str, Any]:
    return {result.name: figure(result) for result in results}


def figure(result: Result) -> dict[str, Any]:
    """Return a result without its name, which stands before it."""
    plain = result.as_dict()
    del plain["name"]
    return plain


# A report of preferences for the terminal and in Markdown.

WIDTH = 100
LEFT_ALIGNED = frozenset({"System", "Against", "Rater", "Raters", "Answers", "Figure"})


def write_text(report: Report) -> str:
    """Return the report for a terminal."""
    return _render(report, "", lambda sheet: columns(_rows(sheet), set(sheet.head) - LEFT_ALIGNED))


def write_markdown(report: Report) -> str:
    """Return the report in Markdown."""
    return _render(report, "#", _piped)


def _render(report: Report, mark: str, table: Callable[[Sheet], list[str]]) -> str:
    lines = [f"{mark} {plain(report.name)}".strip(), "", *_wrapped(report.facts)]
    for question in report.questions:
        if question.title:
            lines += ["", f"{mark * 2} {plain(question.title)}".strip()]
        lines += [
            "",
            *_wrapped([*map(voters_line, question.figures.voters), *method_lines(question.figures.choices)]),
        ]
        question_sheets = sheets(question.figures)
        for sheet in question_sheets:
            lines += ["", f"{mark * 3} {plain(sheet.title)}".strip(), "", *table(sheet)]
            lines += ["", *_wrapped([sheet.note])] if sheet.note else []
        lines += ["", *_wrapped(notes_of(question, question_sheets))]
    return "\n".join([*lines, ""])


def notes_of(question: QuestionReport, question_sheets: list[Sheet]) -> list[str]:
    """Notes on the limits of the figures and on the method of their intervals."""
    limits = [f"{flag_sentence(flag)}." for flag in flags_of(question_sheets)]
    reasons = [f"{reason[:1].upper()}{reason[1:]}." for reason in reasons_of(question_sheets)]
    return [*reasons, *limits, f"Intervals: {question.figures.plan.method}."]


def _wrapped(sentences: list[str] | tuple[str, ...]) -> list[str]:
    return [line for sentence in sentences for line in textwrap.wrap(plain(sentence), WIDTH)]


def cell_text(cell: Cell) -> str:
    """Return a cell as text: a figure with its interval, a dash where nothing was measured."""
    if cell is None:
        return MISSING
    if isinstance(cell, Result):
        return with_interval(cell)
    return f"{cell:,}" if isinstance(cell, int) else plain(cell)


def _rows(sheet: Sheet) -> list[list[str]]:
    return [list(sheet.head), *([cell_text(cell) for cell in row] for row in sheet.rows)]


def _piped(sheet: Sheet) -> list[str]:
    head, *rows = ([text.replace("|", "\\|") for text in row] for row in _rows(sheet))
    ruler = ["---" if name in LEFT_ALIGNED else "---:" for name in sheet.head]
    return [f"| {' | '.join(row)} |" for row in (head, ruler, *rows)]


# The tables of a report of preferences in LaTeX (booktabs).


def write_latex(report: Report) -> str:
    """Return every table with its title and notes as comments before it."""
    lines = [_remark(report.name), *map(_remark, report.facts), NEEDS]
    for question in report.questions:
        question_sheets = sheets(question.figures)
        lines += [_remark(text) for text in (question.title, *method_lines(question.figures.choices)) if text]
        for sheet in question_sheets:
            lines += ["", _remark(sheet.title), *_table(sheet)]
        lines += [_remark(note) for note in notes_of(question, question_sheets)]
    return "\n".join([*lines, ""])


def _remark(text: str) -> str:
    return f"% {' '.join(text.split())}"


def _table(sheet: Sheet) -> list[str]:
    form = "".join("l" if name in LEFT_ALIGNED else "r" for name in sheet.head)
    return fitted(
        [
            rf"\begin{{tabular}}{{{form}}}",
            r"\toprule",
            f"{' & '.join(map(escaped, sheet.head))} \\\\",
            r"\midrule",
            *(f"{' & '.join(escaped(cell_text(cell)) for cell in row)} \\\\" for row in sheet.rows),
            r"\bottomrule",
            r"\end{tabular}",
        ],
        escaped(sheet.note),
    )


# The forms that a report of preferences is downloaded in, in one table.

RENDERINGS: dict[str, Rendering[Report, Any]] = {
    form.key: form
    for form in (
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", write_csv),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", write_markdown),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", write_latex),
        Rendering("json", "JSON", "json", "application/json", write_json),
        Rendering("svg", "Chart as SVG", "svg", "image/svg+xml", svg),
        Rendering("png", "Chart as PNG", "png", "image/png", png),
    )
}
