"""Preferences between systems: from a query to the report, its charts and its downloads."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from django.contrib.auth.models import User

from annotation.models import Campaign, Corpus, TestLook
from annotation.text.display import MISSING
from calibration.agree.renderings import columns
from calibration.agree.report import plain
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
from calibration.comparisons.responses import PreferencesSerializer, json_writer
from calibration.errors import PreferencesRefused
from calibration.ratings import designs
from calibration.ratings import votes as reading
from calibration.ratings.scope import Census, QuestionInfo, RaterInfo, census
from calibration.renderings import (
    NEEDS,
    Markdown,
    escaped,
    latex_comment,
    latex_line,
    latex_table,
    markdown_table,
    records_csv,
    report_renderings,
)
from calibration.reports import charts as drawing
from calibration.reports.charts import Chart, Point
from calibration.reports.kinds import (
    CorpusQuery,
    Parameters,
    ReportKind,
    ReportPart,
    fix_part,
    log_look,
    part_of,
    rater_rows,
)
from calibration.reports.wording import counted
from calibration.statistics.core.engine import Result
from calibration.statistics.preference_strengths import (
    BOTH_BAD_POLICIES,
    CENTRE,
    MODELS,
    Meeting,
    Standing,
    Vote,
)
from calibration.statistics.preferences import Choices, PositionBias, Preferences, preferences

# From a query to its preference report.

# Contents of a preference report: per question the figures, with the facts that go with them.


@dataclass(frozen=True)
class QuestionReport:
    """Figures of one question. ``title`` is empty for a file's only question without a name."""

    key: str
    title: str
    figures: Preferences


@dataclass(frozen=True)
class Report:
    """All questions of a file, a corpus or a campaign: its name, its inputs, and its limits.

    ``part`` is the part of a corpus that the report covers, None for a file; ``excluded`` describes the
    dialogues left out by people's answers, None where nothing is to be left out.
    """

    name: str
    questions: tuple[QuestionReport, ...]
    facts: tuple[str, ...] = ()
    part: ReportPart | None = None
    excluded: dict[str, Any] | None = None


# Query, in the same words for page, command and API.


@dataclass(frozen=True)
class PreferencesQuery(CorpusQuery):
    """Query of the answers about pairs and rankings to read.

    ``question`` is `scheme@version/key` or a key, empty for all. ``systems`` restricts the report to
    comparisons among these.
    """

    question: str = ""
    systems: tuple[str, ...] = ()
    choices: Choices = field(default_factory=Choices)


def read(params: Mapping[str, Any], corpus: Corpus, campaign: Campaign | None) -> PreferencesQuery:
    """Parse a query from the plain texts of an address, a form or a command.

    Systems are separated by commas. Raises PreferencesRefused with a one-line message.
    """
    texts = Parameters.of(params, PreferencesRefused)
    ties, both_bad = texts.text("ties", "half"), texts.text("both_bad", "tie")
    for name, value, valid_values in (("ties", ties, MODELS), ("both_bad", both_bad, BOTH_BAD_POLICIES)):
        if value not in valid_values:
            raise PreferencesRefused(f"{name} is one of {', '.join(valid_values)}, not {value!r}")
    return PreferencesQuery(
        corpus,
        campaign,
        texts.part,
        texts.plan(),
        texts.text("question"),
        texts.names("systems"),
        cast(Any, Choices)(ties, both_bad, texts.text("anchor")),
        exclude=texts.exclude(corpus),
    )


NOTHING = "nobody compared responses here yet: collect answers about pairs, import some, or run a judge"


def compute(*, query: PreferencesQuery, by: User | None) -> Report:
    """Return the report of a query. Fixes the corpus's split, as every look at labels does.

    Raises CalibrationError, in one line, if there is no report, and for a test part that was not opened.
    """
    part = part_of(query, PreferencesRefused)
    counted = census(query.scope)
    questions = _select_questions(query, reading.comparing(counted))
    clusters = fix_part(part, by)
    part.check_opened(rater_rows(_raters(questions, counted)), PreferencesRefused)
    votes = reading.read_votes(query.scope, questions, counted, clusters)
    among = {
        question: reading.among(question_votes, query.systems) for question, question_votes in votes.items()
    }
    reports = [
        _report_question(query, question, among[question.id]) for question in questions if among[question.id]
    ]
    if not reports:
        where = f"the {part.name} part" if part.split else query.scope.name
        raise PreferencesRefused(
            f"{where} has no answers about these systems" if any(votes.values()) else NOTHING
        )
    name = f"Preferences in {query.scope.name}{f', {part.name} part' if part.split else ''}"
    rated_only = designs.rated_only(query.scope, [question.id for question in questions])
    facts, excluded = _facts(votes, among, rated_only), query.left_out()
    facts = (excluded["sentence"], *facts) if excluded else facts
    return Report(name, tuple(reports), facts, part, excluded)


def open_test(*, query: PreferencesQuery, by: User | None, purpose: str) -> TestLook:
    """Log a look at test, with the user and the purpose, after which its preferences can be computed.

    Raises PreferencesRefused without a purpose, or if the corpus has no split.
    """
    counted = census(query.scope)
    raters = _raters(reading.comparing(counted), counted)
    return log_look(
        query=query,
        raters=lambda: list(rater_rows(raters)),
        by=by,
        purpose=purpose,
        refusal=PreferencesRefused,
    )


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


def _raters(questions: list[QuestionInfo], counted: Census) -> list[RaterInfo]:
    return [rater for question in questions for rater in counted.raters_of(question.id)]


def _facts(
    votes: Mapping[int, list[Vote]], among: Mapping[int, list[Vote]], rated_only: str
) -> tuple[str, ...]:
    n_excluded = sum(map(len, votes.values())) - sum(map(len, among.values()))
    excluded = [f"{n_excluded:,} answers are about systems that were not chosen."] if n_excluded else []
    return ("Clusters: dialogues, or what dialogues share.", *excluded, *([rated_only] if rated_only else []))


# Charts of a report: win rates and strengths by system, a mark with its interval per group of voters.

MOST_SERIES = 6
"""Maximum number of groups of voters in a chart; its caption says how many more are in the tables."""


def charts(question: QuestionReport) -> list[Chart]:
    """Return the charts of one question: win rates, then strengths if any."""
    figures, key = question.figures, question.key
    level = f"{figures.plan.level:.0%} interval over clusters"
    of_question = f": {question.title}" if question.title else ""
    n_more = len(figures.voters) - MOST_SERIES
    caption = f"{counted(n_more, 'more group')} of voters in the tables." if n_more > 0 else ""
    question_charts = [
        Chart(
            f"win_rate-{key}",
            f"Win rate by system{of_question}",
            f"Win rate, {level}",
            _points(figures, lambda row: row.win_rate),
            caption=caption,
            top=1.0,
        ),
        Chart(
            f"strength-{key}",
            f"Strength by system{of_question}",
            f"Strength above or below {CENTRE:g}, {level}",
            _points(figures, lambda row: row.strength, CENTRE),
            caption=caption,
        ),
    ]
    return [chart for chart in question_charts if any(point.value is not None for point in chart.points)]


def svg(report: Report) -> str:
    """Return the chart of the first question that has one, as a standalone SVG."""
    return drawing.svg(_first(report))


def png(report: Report) -> bytes:
    """Return the same chart as a PNG."""
    return drawing.png(_first(report))


def _first(report: Report) -> Chart:
    """Return the chart of strengths if there is one, else win rates; an empty chart without figures."""
    all_charts = [chart for question in report.questions for chart in charts(question)]
    ladder = [chart for chart in all_charts if chart.key.startswith("strength")]
    return (ladder or all_charts or [Chart("empty", "No preferences", "", ())])[0]


def _points(
    figures: Preferences, figure: Callable[[Standing], Result], above: float = 0.0
) -> tuple[Point, ...]:
    """Return one point per system and group of voters, systems in the order of the first voters."""
    order = list(dict.fromkeys(row.system for v in figures.voters for row in v.standings.systems))
    points = []
    for voters in figures.voters[:MOST_SERIES]:
        for row in voters.standings.systems:
            result = figure(row)
            value, low, high = (
                None if end is None else end - above for end in (result.value, result.low, result.high)
            )
            why = "" if result.ok else "none"
            points.append(
                Point(row.system, voters.name, value, low, high, result.n_items, result.n_clusters, why)
            )
    return tuple(sorted(points, key=lambda point: order.index(point.question)))


# A preference report as one CSV table: one line per figure, every number in full.

COLUMNS = (
    "question", "raters", "system", "against", "setup", "name", "value", "low", "high", "wins", "ties",
    "losses", "status", "reason", "flags", "n_items", "n_clusters", "n_raters", "n_missing", "method",
)  # fmt: skip


def write_csv(report: Report) -> str:
    """Return the CSV; text that a spreadsheet would evaluate gets a leading apostrophe."""
    return records_csv(
        COLUMNS,
        (
            {"question": question.key} | place | result.as_dict() | {"flags": ";".join(result.flags)}
            for question in report.questions
            for place, results in _lines(question.figures)
            for result in results
        ),
    )


def _lines(figures: Preferences) -> Iterator[tuple[dict[str, Any], Sequence[Result]]]:
    """Yield figures with the cells before them: raters, systems, and how often each won."""
    for voters in figures.voters:
        raters = {"raters": voters.name}
        for row in voters.standings.systems:
            place = raters | {"system": row.system} | _games(row)
            yield place, (row.win_rate, row.strength, row.rank)
        for meeting in voters.standings.meetings:
            place = raters | {"system": meeting.first, "against": meeting.second} | _games(meeting)
            yield place, (meeting.win_rate, meeting.expected)
        if voters.standings.tie is not None:
            yield raters, [voters.standings.tie]
        if voters.position is not None:
            yield raters | {"raters": voters.position.rater}, _position_results(voters.position)
    for bias in figures.positions:
        yield {"raters": bias.rater}, _position_results(bias)
    for agreed in figures.agreement:
        yield {"raters": ";".join(agreed.raters), "setup": agreed.setup}, agreed.results
    for ranked in figures.rankings:
        yield {"raters": ";".join(ranked.raters)}, [ranked.result]


def _games(row: Standing | Meeting) -> dict[str, Any]:
    return {"wins": row.wins, "ties": row.ties, "losses": row.losses}


def _position_results(bias: PositionBias) -> list[Result]:
    return [bias.shown_first, *(bias.swaps or {}).values()]


# A preference report for the terminal and in Markdown.

WIDTH = 100
LEFT_ALIGNED = frozenset({"System", "Against", "Rater", "Raters", "Answers", "Figure"})


def write_text(report: Report) -> str:
    """Return the report for a terminal."""
    return _render(report, "", lambda sheet: columns(_rows(sheet), set(sheet.head) - LEFT_ALIGNED))


def write_markdown(report: Report) -> str:
    """Return the report in Markdown."""
    return _render(report, "#", _markdown_table)


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
    """Return notes on the limits of the figures and on the method of their intervals."""
    limits = [f"{flag_sentence(flag)}." for flag in flags_of(question_sheets)]
    reasons = [f"{reason[:1].upper()}{reason[1:]}." for reason in reasons_of(question_sheets)]
    return [*reasons, *limits, f"Intervals: {question.figures.plan.method}."]


def _wrapped(sentences: list[str] | tuple[str, ...]) -> list[str]:
    return [line for sentence in sentences for line in textwrap.wrap(plain(sentence), WIDTH)]


def cell_text(cell: Cell) -> str:
    """Format a cell: a figure with its interval, a dash if not measured."""
    if cell is None:
        return MISSING
    if isinstance(cell, Result):
        return with_interval(cell)
    return f"{cell:,}" if isinstance(cell, int) else plain(cell)


def _rows(sheet: Sheet) -> list[list[str]]:
    return [list(sheet.head), *([cell_text(cell) for cell in row] for row in sheet.rows)]


def _markdown_table(sheet: Sheet) -> list[str]:
    head, *rows = ([Markdown(text.replace("|", "\\|")) for text in row] for row in _rows(sheet))
    return markdown_table(head, rows, [at for at, name in enumerate(sheet.head) if name in LEFT_ALIGNED])


# Tables of a preference report in LaTeX (booktabs).


def write_latex(report: Report) -> str:
    """Return every table, preceded by its title and notes as comments."""
    lines = [latex_comment(report.name), *map(latex_comment, report.facts), NEEDS]
    for question in report.questions:
        question_sheets = sheets(question.figures)
        about = (question.title, *method_lines(question.figures.choices))
        lines += [latex_comment(text) for text in about if text]
        for sheet in question_sheets:
            lines += ["", latex_comment(sheet.title), *_latex_table(sheet)]
        lines += map(latex_comment, notes_of(question, question_sheets))
    return "\n".join([*lines, ""])


def _latex_table(sheet: Sheet) -> list[str]:
    head, *body = ([escaped(cell) for cell in row] for row in _rows(sheet))
    alignment = "".join("l" if name in LEFT_ALIGNED else "r" for name in sheet.head)
    return latex_table(alignment, head, map(latex_line, body), escaped(sheet.note))


# Download formats of a preference report.

RENDERINGS = report_renderings(
    write_csv, write_markdown, write_latex, json_writer(PreferencesSerializer), svg, png
)

PREFERENCES = ReportKind(
    "preferences",
    "Preferences",
    read,
    lambda query, by, again=False: compute(query=query, by=by),
    RENDERINGS,
    open_test,
)
