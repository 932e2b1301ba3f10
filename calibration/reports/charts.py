"""What a report's charts show: points with intervals, per question and comparison. Drawing is elsewhere."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.utils.functional import SimpleLazyObject

from annotation.text.table_cells import guarded
from calibration.reports.contents import SystemDot
from calibration.reports.figures import (
    JUDGE,
    METRIC,
    PANEL,
    QuestionFigures,
    crowd,
    figures,
    in_order,
    ok,
    worded,
)
from calibration.reports.snapshot import Figure, Snapshot
from calibration.reports.tables import label
from calibration.reports.wording import MIXED, PEOPLE, SIMULATED, Crowd, listed

# What all charts share: colours that the page turns into its own, type, and the quantitative axis.

if TYPE_CHECKING:
    import altair as alt
else:  # it is a quarter of what a process loads at its start, and few processes ever draw
    alt = SimpleLazyObject(partial(import_module, "altair"))

COLOURS = ("#005f99", "#a34700", "#00694c", "#8a3f72", "#6b5b00", "#4a4f9e")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
INK, INK_2, INK_3, LINE, STRONG = "#1f2328", "#5b6068", "#676c74", "#e3dfd8", "#c9c3b8"
TOKENS = {
    **{colour: f"var(--s{n})" for n, colour in enumerate(COLOURS, 1)},
    INK: "var(--ink)",
    INK_2: "var(--ink-2)",
    INK_3: "var(--ink-3)",
    LINE: "var(--line)",
    STRONG: "var(--line-strong)",
}
FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, DejaVu Sans, sans-serif"
WIDTH = 520


def axis(form: str = ".1f", **more: Any) -> Any:
    """Return the quantitative axis of every chart, its numbers in the d3 format `form`."""
    settings: dict[str, Any] = {
        "format": form,
        "labelFlush": False,
        "tickCount": 6,
        "grid": True,
        "gridColor": LINE,
        "domain": False,
        "ticks": False,
        "labelColor": INK_3,
        "titleColor": INK_3,
        "titleFontWeight": "normal",
        "titleFontSize": 11.5,
        "labelPadding": 8,
        "titlePadding": 8,
    }
    return alt.Axis(**(settings | more))


def among(who: Crowd) -> str:
    """Return the series of people with people, or whatever these are called."""
    return f"{who.many} with {who.many}"


AMONG = frozenset(among(who) for who in (PEOPLE, SIMULATED, MIXED))


@dataclass(frozen=True, slots=True)
class Point:
    """One figure of one series for one question; without a `value`, `reason` says why. `x`: of a curve."""

    question: str
    series: str
    value: float | None
    low: float | None
    high: float | None
    n_items: int
    n_clusters: int
    reason: str
    x: float | None = None


COMPARED = "The number at the right of a line is how many items were compared."


@dataclass(frozen=True)
class Chart:
    """A chart: its key in addresses, title, what the axis measures, and points in the order of reading.

    `bars`: amounts from nought, drawn as bars; otherwise figures, drawn as points. `dots` make it a scatter
    of two scores instead, whose axes are `axis` and `up`. A `folded` chart is drawn by its section alone.
    With an `x_axis` it is a curve: values over numbers (logarithmic), or probabilities over probabilities
    where it has a `diagonal`; `target` is the value aimed at.
    """

    key: str
    title: str
    axis: str
    points: tuple[Point, ...]
    bars: bool = False
    dots: tuple[SystemDot, ...] = ()
    up: str = ""
    folded: bool = False
    caption: str = COMPARED
    x_axis: str = ""
    diagonal: bool = False
    target: float | None = None

    @property
    def questions(self) -> list[str]:
        """The rows, top to bottom."""
        return list(dict.fromkeys(point.question for point in self.points))

    @property
    def series(self) -> list[str]:
        """The comparisons, people first."""
        return list(dict.fromkeys(point.series for point in self.points))


def charts(result: Snapshot) -> list[Chart]:
    """Return the charts that a report's figures allow, the most telling first."""
    questions = label(figures(result))
    level = f"{result.definition.plan.level:.0%} interval over dialogues"
    found = [_beside(statistic, questions, level) for statistic in ("cohen_kappa", "cohen_kappa_quadratic")]
    shown = {point.question for chart in found if chart for point in chart.points}
    found.append(_alpha([pair for pair in questions if pair[0] not in shown], level))
    found.append(_with_mean(questions, level))
    return [chart for chart in found if chart and any(point.value is not None for point in chart.points)]


def _beside(statistic: str, questions: Sequence[tuple[str, QuestionFigures]], level: str) -> Chart | None:
    """Judge with people beside people with people, for questions with both."""
    asked, who = [q for _, q in questions], crowd(q for _, q in questions)
    judges = [*in_order(asked, JUDGE), *in_order(asked, PANEL)]
    points: list[Point] = []
    for title, question in questions:
        if question.headline != statistic:
            continue
        own = [
            _point(title, _with(judge, who), entry)
            for judge in judges
            if (entry := question.with_people(statistic, judge))
        ]
        people = question.among(statistic)
        points += ([_point(title, among(who), people)] if people and own else []) + own
    if not points:
        return None
    return Chart(
        statistic,
        f"Judge with {who.many}, beside {among(who)}",
        f"{worded(statistic).name}, {level}",
        tuple(points),
        caption=_caption(questions, points),
    )


def _alpha(questions: Sequence[tuple[str, QuestionFigures]], level: str) -> Chart | None:
    who = crowd(q for _, q in questions)
    points = [
        _point(title, among(who), entry)
        for title, question in questions
        if (entry := question.among("krippendorff_alpha"))
    ]
    if not points:
        return None
    axis = f"{worded('krippendorff_alpha').name}, {level}"
    title = f"How far {who.many} agree"
    return Chart("krippendorff_alpha", title, axis, tuple(points), caption=_caption(questions, points))


def _caption(questions: Sequence[tuple[str, QuestionFigures]], points: Sequence[Point]) -> str:
    """Say what the numbers count, and why a judge that answered a question drawn has no line in it."""
    drawn = {(point.question, point.series) for point in points}
    rows, who = {question for question, _ in drawn}, crowd(q for _, q in questions)
    left: dict[str, list[str]] = {}
    for title, question in questions:
        for judge in question.judging if title in rows else ():
            if (title, _with(judge, who)) not in drawn:
                left.setdefault(_why_left_out(question, judge), []).append(f"{judge} on {title}")
    return " ".join(
        [COMPARED, *(f"Not in this chart: {listed(names)}: {why}." for why, names in left.items())]
    )


def _with(judge: str, who: Crowd) -> str:
    return f"{judge} with {who.many}"


def _why_left_out(question: QuestionFigures, judge: str) -> str:
    """Return why a judge has no line beside people: what it was compared by instead, or why by nothing."""
    own, mean = question.with_people(question.headline, judge), question.with_mean(judge)
    if own is not None and not ok(own):
        return own.reason
    if mean is not None and ok(mean):
        return f"compared with the {question.crowd.own} mean by rank, in a chart of its own"
    if mean is not None:
        return mean.reason
    if question.unidentified:
        return f"the {question.crowd.many} are unidentified, so nobody is compared with one of them"
    if not question.rater(judge).on_scale:
        return "its answers are not on the question’s scale"
    return f"{worded(question.headline).name} was not asked for"


def _with_mean(questions: Sequence[tuple[str, QuestionFigures]], level: str) -> Chart | None:
    """Judges on another scale (or beside unidentified people) and metrics: by rank correlation alone."""
    points = []
    for title, question in questions:
        for kind in (JUDGE, METRIC):
            for name in question.names(kind):
                entry = question.with_mean(name)
                if entry is not None and question.with_people(question.headline, name) is None:
                    points.append(_point(title, name, entry))
    if not points:
        return None
    own = crowd(q for _, q in questions).own
    axis = f"{worded('spearman').name} with the {own} mean, {level}"
    return Chart("spearman", f"Who follows the {own} mean", axis, tuple(points))


def as_csv(chart: Chart) -> str:
    """Return a chart's data as CSV, values unrounded."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if chart.dots:
        writer.writerow(["system", "x", "x_low", "x_high", "y", "y_low", "y_high"])
        for d in chart.dots:
            writer.writerow([guarded(d.system), d.x, d.x_low, d.x_high, d.y, d.y_low, d.y_high])
        return out.getvalue()
    curve = ["x"] if chart.x_axis else []
    writer.writerow(["question", "series", *curve, "value", "low", "high", "n_items", "n_clusters", "reason"])
    for p in chart.points:
        texts = guarded(p.question), guarded(p.series), *([p.x] if curve else [])
        writer.writerow([*texts, p.value, p.low, p.high, p.n_items, p.n_clusters, guarded(p.reason)])
    return out.getvalue()


def _point(question: str, series: str, entry: Figure) -> Point:
    there = ok(entry)
    return Point(
        question,
        series,
        entry.value if there else None,
        entry.low,
        entry.high,
        entry.n_items,
        entry.n_clusters,
        entry.reason,
    )
