"""Charts of a report: points with intervals, per question and comparison, and their Vega-Lite drawing."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import vl_convert
from django.utils.functional import SimpleLazyObject

from calibration.renderings import csv_text, markdown, markdown_table
from calibration.reports.figures import (
    JUDGE,
    METRIC,
    PANEL,
    QuestionFigures,
    crowd,
    figures,
    in_order,
    label,
    ok,
    worded,
)
from calibration.reports.snapshot import Figure, Snapshot, SystemDot
from calibration.reports.wording import MIXED, PEOPLE, SIMULATED, Crowd, join_names

# Shared by all charts: colours that the page replaces with its own, fonts, and the quantitative axis.

if TYPE_CHECKING:
    import altair as alt
else:  # altair takes a quarter of a process's load time, and few processes ever draw
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
    """Return the quantitative axis of every chart, with numbers in the d3 format `form`."""
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


def among(people: Crowd) -> str:
    """Return the name of the series of people with people."""
    return f"{people.many} with {people.many}"


AMONG = frozenset(among(people) for people in (PEOPLE, SIMULATED, MIXED))


@dataclass(frozen=True, slots=True)
class Point:
    """One figure of a series for one question; without a `value`, `reason` says why. `x`: of a curve."""

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
    """A chart: its key in addresses, title, the quantity on its axis, and points in reading order.

    `bars`: amounts from zero, drawn as bars; otherwise figures, drawn as points. `dots` make it a scatter of
    two scores instead, whose axes are `axis` and `up`. A `folded` chart is drawn by its section alone. With
    an `x_axis` it is a curve: values over numbers (logarithmic), or probabilities over probabilities if it
    has a `diagonal`; `target` is the target value.
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
        """Rows, top to bottom."""
        return list(dict.fromkeys(point.question for point in self.points))

    @property
    def series(self) -> list[str]:
        """Comparisons, people first."""
        return list(dict.fromkeys(point.series for point in self.points))


def charts(result: Snapshot) -> list[Chart]:
    """Return the charts that a report's figures allow, the most informative first."""
    questions = label(figures(result))
    level = f"{result.definition.plan.level:.0%} interval over dialogues"
    all_charts = [
        _beside(statistic, questions, level) for statistic in ("cohen_kappa", "cohen_kappa_quadratic")
    ]
    charted = {point.question for chart in all_charts if chart for point in chart.points}
    all_charts.append(_alpha([pair for pair in questions if pair[0] not in charted], level))
    all_charts.append(_with_mean(questions, level))
    return [chart for chart in all_charts if chart and any(point.value is not None for point in chart.points)]


def _beside(statistic: str, questions: Sequence[tuple[str, QuestionFigures]], level: str) -> Chart | None:
    """Return the chart of judge with people beside people with people, for questions with both."""
    figures_of_questions, humans = [q for _, q in questions], crowd(q for _, q in questions)
    judges = [*in_order(figures_of_questions, JUDGE), *in_order(figures_of_questions, PANEL)]
    points: list[Point] = []
    for title, question in questions:
        if question.headline != statistic:
            continue
        own = [
            _point(title, _judge_series(judge, humans), entry)
            for judge in judges
            if (entry := question.with_people(statistic, judge))
        ]
        people = question.among(statistic)
        points += ([_point(title, among(humans), people)] if people and own else []) + own
    if not points:
        return None
    return Chart(
        statistic,
        f"Judge with {humans.many}, beside {among(humans)}",
        f"{worded(statistic).name}, {level}",
        tuple(points),
        caption=_caption(questions, points),
    )


def _alpha(questions: Sequence[tuple[str, QuestionFigures]], level: str) -> Chart | None:
    people = crowd(q for _, q in questions)
    points = [
        _point(title, among(people), entry)
        for title, question in questions
        if (entry := question.among("krippendorff_alpha"))
    ]
    if not points:
        return None
    axis = f"{worded('krippendorff_alpha').name}, {level}"
    title = f"How far {people.many} agree"
    return Chart("krippendorff_alpha", title, axis, tuple(points), caption=_caption(questions, points))


def _caption(questions: Sequence[tuple[str, QuestionFigures]], points: Sequence[Point]) -> str:
    """Explain the numbers, and why a judge that answered a plotted question has no mark in the chart."""
    plotted = {(point.question, point.series) for point in points}
    rows, people = {question for question, _ in plotted}, crowd(q for _, q in questions)
    names_by_reason: dict[str, list[str]] = {}
    for title, question in questions:
        for judge in question.judging if title in rows else ():
            if (title, _judge_series(judge, people)) not in plotted:
                names_by_reason.setdefault(_why_left_out(question, judge), []).append(f"{judge} on {title}")
    return " ".join(
        [
            COMPARED,
            *(f"Not in this chart: {join_names(names)}: {why}." for why, names in names_by_reason.items()),
        ]
    )


def _judge_series(judge: str, people: Crowd) -> str:
    return f"{judge} with {people.many}"


def _why_left_out(question: QuestionFigures, judge: str) -> str:
    """Return why a judge is not drawn beside people, and the statistic used instead if there is one."""
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
    """Return the chart of metrics, and of judges on another scale or beside unidentified people.

    These are compared with the people's mean by rank correlation alone.
    """
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
    columns, rows = _data(chart)
    return csv_text([columns, *rows])


def as_markdown(chart: Chart) -> str:
    """Return a chart's data as a Markdown table with its title, values to four digits."""
    columns, rows = _data(chart)
    cells = [[_cell(value) for value in row] for row in rows]
    n_texts = 1 if chart.dots else 2
    table = markdown_table(columns, cells, range(n_texts))
    return "\n".join([f"**{markdown(chart.title)}** ({markdown(chart.axis)})", "", *table, ""])


def _data(chart: Chart) -> tuple[list[str], list[list[str | float | None]]]:
    """Return the columns and rows of a chart's data, values unrounded."""
    if chart.dots:
        columns = ["system", "x", "x_low", "x_high", "y", "y_low", "y_high"]
    else:
        curve = ["x"] if chart.x_axis else []
        columns = ["question", "series", *curve, "value", "low", "high", "n_items", "n_clusters", "reason"]
    marks = chart.dots or chart.points
    return columns, [[getattr(mark, name) for name in columns] for mark in marks]


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _point(question: str, series: str, entry: Figure) -> Point:
    has_value = ok(entry)
    return Point(
        question,
        series,
        entry.value if has_value else None,
        entry.low,
        entry.high,
        entry.n_items,
        entry.n_clusters,
        entry.reason,
    )


# Charts with numbers on both axes: a value with its interval over a probability, a size or the like.

HEIGHT, ACROSS = 320, WIDTH + 170


def curve_specification(chart: dict[str, Any]) -> dict[str, Any]:
    """Return the Vega-Lite specification: per series points with their intervals, joined by a line."""
    points = [point for point in chart["points"] if point["value"] is not None]
    series = list(dict.fromkeys(point["series"] for point in chart["points"]))
    base = alt.Chart(alt.Data(values=points))
    return _layered([*_marks(chart), *_curves(base, chart, series)], ACROSS, HEIGHT, beside=12)


def _layered(layers: list[Any], width: int, height: int, *, beside: int = 4) -> dict[str, Any]:
    """Return the specification of layers without a frame, with `beside` pixels of room at their right."""
    layered = alt.layer(*layers).properties(
        width=width,
        height=height,
        background="transparent",
        padding={"left": 4, "right": beside, "top": 4, "bottom": 4},
    )
    return dict(layered.configure(font=FONT).configure_view(stroke=None).to_dict())


def _marks(chart: dict[str, Any]) -> list[Any]:
    """Return the diagonal of calibrated probabilities, or the line at the target value."""
    if chart["diagonal"]:
        ends = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
        return [ends.mark_line(color=STRONG, strokeDash=[5, 4]).encode(x="x:Q", y="y:Q")]
    if chart["target"] is not None:
        aim = alt.Chart(alt.Data(values=[{"target": chart["target"]}]))
        return [aim.mark_rule(color=INK_3, strokeDash=[5, 4]).encode(y="target:Q")]
    return []


def _curves(base: Any, chart: dict[str, Any], series: list[str]) -> list[Any]:
    x = alt.X("x:Q", title=chart["x_axis"], scale=_x_scale(chart), axis=_x_axis(chart))
    y = alt.Y("value:Q", title=chart["axis"], scale=_y_scale(chart), axis=axis(".2~f", titleLimit=HEIGHT))
    colour, shape = _series_marks(series, with_legend=len(series) > 1)
    with_interval = base.transform_filter("datum.low !== null && datum.high !== null")
    return [
        with_interval.mark_rule(strokeWidth=1.5, opacity=0.7).encode(
            x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour
        ),
        base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=colour),
        base.mark_point(filled=True, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape, size=_size(chart)
        ),
    ]


def _series_marks(series: list[str], *, with_legend: bool) -> tuple[Any, Any]:
    """Return the colour and shape encodings that distinguish series."""
    legend = None
    if with_legend:
        legend = alt.Legend(
            title=None, orient="top", labelColor=INK, labelFontSize=12, labelLimit=260, columns=3
        )
    colour = alt.Color("series:N", scale=alt.Scale(domain=series, range=list(COLOURS)), legend=legend)
    return colour, alt.Shape("series:N", scale=alt.Scale(domain=series, range=list(SHAPES)), legend=legend)


def _size(chart: dict[str, Any]) -> Any:
    """Return the size of points: by a bin's items, otherwise the same for all."""
    if not chart["diagonal"]:
        return alt.value(50)
    return alt.Size("n_items:Q", legend=None, scale=alt.Scale(range=[30, 260], zero=True))


def _x_scale(chart: dict[str, Any]) -> Any:
    if chart["diagonal"]:
        return alt.Scale(domain=[0, 1])
    return alt.Scale(type="log", nice=False, padding=16)


def _y_scale(chart: dict[str, Any]) -> Any:
    if chart["diagonal"]:
        return alt.Scale(domain=[0, 1])
    ends = [point[end] for point in chart["points"] for end in ("value", "high") if point[end] is not None]
    return alt.Scale(domain=[0, max([*ends, chart["target"] or 0.0]) or 1.0], nice=True)


def _x_axis(chart: dict[str, Any]) -> Any:
    if chart["diagonal"]:
        return axis(".1f")
    numbers = sorted({point["x"] for point in chart["points"]})
    return axis(",d", values=numbers, labelOverlap="greedy", labelSeparation=6)


# Charts as SVG and PNG, drawn on the server by altair and vl-convert.
#
# The SVG of a page carries the page's colour tokens, so that it follows the scheme; a downloaded SVG carries
# plain colours on white.

ROW, LABELS = 14, 190

SIDE, BESIDE, MOST_NAMED = 360, 330, 15
"""Side length of a scatter, the room beside it, and the maximum number of systems that are labelled."""
__all__ = [
    "COLOURS",
    "FONT",
    "INK",
    "INK_2",
    "INK_3",
    "LINE",
    "STRONG",
    "WIDTH",
    "alt",
    "axis",
    "inline_svg",
    "png",
    "svg",
]


def svg(chart: Chart) -> str:
    """Return the chart as a standalone SVG file on white."""
    return on_white(_svg(_frozen(chart)))


def inline_svg(chart: Chart) -> str:
    """Return the chart for a page, with the page's colour tokens and size."""
    return in_page(_svg(_frozen(chart)), _spoken(chart))


def png(chart: Chart) -> bytes:
    """Return the chart as a PNG at twice the page's size."""
    image: bytes = vl_convert.svg_to_png(svg(chart), scale=2)
    return image


def to_svg(specification: dict[str, Any]) -> str:
    """Draw a Vega-Lite specification in plain colours."""
    markup: str = vl_convert.vegalite_to_svg(json.dumps(specification), vl_version="6.4")
    return markup


def on_white(markup: str) -> str:
    """Add a white background to a drawn SVG, for standalone use."""
    return markup.replace("<svg ", '<svg style="background:#fff" ', 1)


def in_page(markup: str, spoken: str) -> str:
    """Prepare a drawn SVG for a page: page colour tokens, and `spoken` as the text for screen readers."""
    for colour, token in TOKENS.items():
        markup = markup.replace(f'"{colour}"', f'"{token}"')
    markup = re.sub(r'(<svg [^>]*?) width="[\d.]+" height="[\d.]+"', r"\1", markup, count=1)
    return markup.replace("<svg ", f'<svg role="img" aria-label="{_escaped(spoken)}" ', 1)


def _spoken(chart: Chart) -> str:
    where = (
        "each system’s figures can be downloaded as CSV"
        if chart.dots
        else "the same figures are in the table below"
    )
    return f"{chart.title}: {chart.axis}; {where}."


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _frozen(chart: Chart) -> str:
    return json.dumps(asdict(chart), sort_keys=True)


@lru_cache(maxsize=128)
def _svg(frozen: str) -> str:
    return to_svg(specification(json.loads(frozen)))


def specification(chart: dict[str, Any]) -> dict[str, Any]:
    """Return the Vega-Lite specification: one band per question, one point with its interval per series."""
    if chart["dots"]:
        return scatter(chart)
    if chart["x_axis"]:
        return curve_specification(chart)
    points = chart["points"]
    questions = list(dict.fromkeys(point["question"] for point in points))
    series = list(dict.fromkeys(point["series"] for point in points))
    base = alt.Chart(alt.Data(values=points)).encode(y=_rows(questions))
    beside = base.encode(yOffset=alt.YOffset("series:N", sort=series))
    zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color=STRONG).encode(x="zero:Q")
    layers = [zero, *_figures(beside, chart, series), _reasons(beside), _counts(base)]
    return _layered(layers, WIDTH, max(2, len(questions)) * (ROW * max(1, len(series)) + 10))


def _rows(questions: list[str]) -> Any:
    axis = alt.Axis(
        labelLimit=LABELS,
        minExtent=LABELS,
        maxExtent=LABELS,
        labelFontSize=12.5,
        labelColor=INK,
        labelPadding=12,
        ticks=False,
        domain=False,
    )
    return alt.Y("question:N", sort=questions, title=None, axis=axis)


def _figures(beside: Any, chart: dict[str, Any], series: list[str]) -> list[Any]:
    """Draw intervals as lines and values as marks distinguished by colour and shape."""
    with_value = beside.transform_filter("datum.value !== null")
    colour, shape = _series_marks(series, with_legend=len(series) != 1 or series[0] not in AMONG)
    low, high = _domain(chart["points"])
    scale = alt.Scale(domain=[low, high], nice=True)
    form = ",.1~f" if chart["bars"] else _decimals(high - low)
    x = alt.X("value:Q", title=chart["axis"], scale=scale, axis=axis(form))
    if chart["bars"]:
        bars = with_value.mark_bar(opacity=0.75, height=ROW - 4).encode(x=x, color=colour)
        ends = with_value.mark_rule(strokeWidth=1.5, color=INK).encode(x=alt.X("low:Q"), x2="high:Q")
        return [bars, ends]
    lines = with_value.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", color=colour)
    return [
        lines,
        with_value.mark_point(filled=True, opacity=1, size=60).encode(x=x, color=colour, shape=shape),
    ]


def _reasons(beside: Any) -> Any:
    """Draw the reason in place of a missing figure: from the left edge, cut before the counts."""
    without = beside.transform_filter("datum.value === null")
    text = without.mark_text(align="left", fontSize=11, color=INK_3, fontStyle="italic", limit=WIDTH - 20)
    return text.encode(x=alt.value(4), text="reason:N")


def _counts(base: Any) -> Any:
    """Draw the number of items compared at the right of each row."""
    counted = base.transform_aggregate(n="max(n_items)", groupby=["question"])
    text = counted.mark_text(align="right", fontSize=11, color=INK_3)
    return text.encode(x=alt.value(WIDTH + 48), text=alt.Text("n:Q", format=","))


def _domain(points: list[dict[str, Any]]) -> list[float]:
    """Return the range of the axis, which includes all intervals and 0."""
    ends = [point[end] for point in points for end in ("low", "value", "high") if point[end] is not None]
    low, high = min([0.0, *ends]), max([0.1, *ends])
    return [low, high]


def _decimals(span: float) -> str:
    """Return the number format that distinguishes about six ticks of an axis."""
    return next((form for least, form in ((0.5, ".1f"), (0.05, ".2f")) if span >= least), ".3f")


def scatter(chart: dict[str, Any]) -> dict[str, Any]:
    """Return the Vega-Lite specification of a scatter: one point per system, with intervals on both axes."""
    dots = [dot for dot in chart["dots"] if dot["x"] is not None and dot["y"] is not None]
    base = alt.Chart(alt.Data(values=dots)).encode(
        x=alt.X("x:Q", title=chart["axis"], scale=_span(dots, "x"), axis=axis(".3~g")),
        y=alt.Y("y:Q", title=chart["up"], scale=_span(dots, "y"), axis=axis(".3~g")),
    )
    across = base.mark_rule(strokeWidth=1, opacity=0.35, color=COLOURS[0]).encode(
        x=alt.X("x_low:Q"), x2="x_high:Q"
    )
    up = base.mark_rule(strokeWidth=1, opacity=0.35, color=COLOURS[0]).encode(
        y=alt.Y("y_low:Q"), y2="y_high:Q"
    )
    points = base.mark_point(filled=True, opacity=0.9, size=36, color=COLOURS[0])
    layers = [across, up, points]
    if len(dots) <= MOST_NAMED:
        text = base.mark_text(align="left", dx=6, dy=-6, fontSize=11, color=INK_2, limit=150)
        layers.append(text.encode(text="system:N"))
    return _layered(layers, SIDE, SIDE, beside=BESIDE)


def _span(dots: list[dict[str, Any]], side: str) -> Any:
    """Return the scale of a scatter's axis: all intervals, with zero only if it lies among them."""
    ends = [dot[end] for dot in dots for end in (side, f"{side}_low", f"{side}_high") if dot[end] is not None]
    if not ends or min(ends) == max(ends):
        return alt.Scale(zero=False, nice=True)
    return alt.Scale(domain=[min(ends), max(ends)], nice=True, zero=False)
