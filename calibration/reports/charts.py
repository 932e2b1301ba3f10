"""Charts of a report: points with intervals, per question and comparison, and their Vega-Lite drawing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import vl_convert
from django.utils.functional import SimpleLazyObject

from annotation.text.display import number
from calibration.renderings import csv_text, markdown, markdown_table
from calibration.reports.chart_layout import (
    GAP,
    LABEL_SIZE,
    LINE,
    MARGIN,
    NOTE_SIZE,
    ROW,
    TOTAL,
    VALUES,
    Rows,
    place_key,
    place_rows,
    wrap,
)
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
from calibration.reports.results import Figure, SystemDot
from calibration.reports.snapshot import Snapshot
from calibration.reports.wording import MIXED, PEOPLE, SIMULATED, Crowd, counted, join_names

# Shared by all charts: colours that the page replaces with its own, fonts, and the quantitative axis.

if TYPE_CHECKING:
    import altair as alt
else:  # altair takes a quarter of a process's load time, and few processes ever draw
    alt = SimpleLazyObject(partial(import_module, "altair"))

COLOURS = ("#005f99", "#a34700", "#00694c", "#8a3f72", "#6b5b00", "#4a4f9e")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
INK, INK_2, INK_3, GRID, STRONG, PAPER = "#1f2328", "#5b6068", "#676c74", "#e3dfd8", "#c9c3b8", "#ffffff"
TOKENS = {
    **{colour: f"var(--s{n})" for n, colour in enumerate(COLOURS, 1)},
    INK: "var(--ink)",
    INK_2: "var(--ink-2)",
    INK_3: "var(--ink-3)",
    GRID: "var(--line)",
    STRONG: "var(--line-strong)",
    PAPER: "var(--surface)",
}
FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, DejaVu Sans, sans-serif"
AXIS_TITLE = 11.5


def axis(form: str = ".1f", **more: Any) -> Any:
    """Return the quantitative axis of every chart, with numbers in the d3 format `form`."""
    settings: dict[str, Any] = {
        "format": form,
        "labelFlush": False,
        "tickCount": 6,
        "grid": True,
        "gridColor": GRID,
        "domain": False,
        "ticks": False,
        "labelColor": INK_3,
        "titleColor": INK_3,
        "titleFontWeight": "normal",
        "titleFontSize": AXIS_TITLE,
        "titleLimit": 0,
        "labelLimit": 0,
        "labelPadding": 8,
        "titlePadding": 8,
    }
    return alt.Axis(**(settings | more))


def names_axis(**more: Any) -> Any:
    """Return an axis of names, which break where their text has line breaks."""
    settings: dict[str, Any] = {
        "labelExpr": "split(datum.label, '\\n')",
        "labelLimit": 0,
        "labelColor": INK,
        "labelPadding": 8,
        "ticks": False,
        "domainColor": STRONG,
        "grid": False,
    }
    return alt.Axis(**(settings | more))


def among(people: Crowd) -> str:
    """Return the name of the series of people with people."""
    return f"{people.many} with {people.many}"


AMONG = frozenset(among(people) for people in (PEOPLE, SIMULATED, MIXED))


@dataclass(frozen=True, slots=True)
class Point:
    """One figure of a series for one question; without a `value`, `reason` says why.

    `x` is its place on a curve. It has the colour of its series, or of its `role`: baselines are grey.
    """

    question: str
    series: str
    value: float | None
    low: float | None
    high: float | None
    n_items: int
    n_clusters: int
    reason: str
    x: float | None = None
    role: Literal["", "people", "baseline"] = ""


@dataclass(frozen=True)
class Chart:
    """A chart: its key in addresses, title, the quantity on its axis, and points in reading order.

    `bars`: amounts from zero, drawn as bars; otherwise figures, drawn as points. The axis reaches `top`, the
    greatest value that the quantity can have, if there is one. `dots` make it a scatter of two scores
    instead, whose axes are `axis` and `up`. A `folded` chart is drawn by its section alone. With an `x_axis`
    it is a curve: values over numbers (logarithmic), over consecutive numbers if it has `steps`, or
    probabilities over probabilities if it has a `diagonal`; `target` is the target value.
    """

    key: str
    title: str
    axis: str
    points: tuple[Point, ...]
    bars: bool = False
    dots: tuple[SystemDot, ...] = ()
    up: str = ""
    folded: bool = False
    caption: str = ""
    top: float | None = None
    x_axis: str = ""
    diagonal: bool = False
    steps: bool = False
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
            point_of(title, _judge_series(judge, humans), entry)
            for judge in judges
            if (entry := question.with_people(statistic, judge))
        ]
        people = question.among(statistic)
        points += ([point_of(title, among(humans), people)] if people and own else []) + own
    if not points:
        return None
    return Chart(
        statistic,
        f"Judge with {humans.many}, beside {humans.many} with each other: {worded(statistic).heading}",
        f"{worded(statistic).name}, {level}",
        tuple(points),
        caption=_caption(questions, points),
        top=1.0,
    )


def _alpha(questions: Sequence[tuple[str, QuestionFigures]], level: str) -> Chart | None:
    people = crowd(q for _, q in questions)
    points = [
        point_of(title, among(people), entry)
        for title, question in questions
        if (entry := question.among("krippendorff_alpha"))
    ]
    if not points:
        return None
    axis = f"{worded('krippendorff_alpha').name}, {level}"
    title = f"How far {people.many} agree with each other"
    caption = _caption(questions, points)
    return Chart("krippendorff_alpha", title, axis, tuple(points), caption=caption, top=1.0)


def _caption(questions: Sequence[tuple[str, QuestionFigures]], points: Sequence[Point]) -> str:
    """Explain why a judge that answered a plotted question has no mark in the chart."""
    plotted = {(point.question, point.series) for point in points}
    rows, people = {question for question, _ in plotted}, crowd(q for _, q in questions)
    names_by_reason: dict[str, list[str]] = {}
    for title, question in questions:
        for judge in question.judging if title in rows else ():
            if (title, _judge_series(judge, people)) not in plotted:
                names_by_reason.setdefault(_why_left_out(question, judge), []).append(f"{judge} on {title}")
    return " ".join(
        f"Not in this chart: {join_names(names)}: {why}." for why, names in names_by_reason.items()
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
                    points.append(point_of(title, name, entry))
    if not points:
        return None
    own = crowd(q for _, q in questions).own
    axis = f"{worded('spearman').name} with the {own} mean, {level}"
    return Chart("spearman", f"Who follows the {own} mean", axis, tuple(points), top=1.0)


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


def point_of(question: str, series: str, entry: Figure) -> Point:
    """Return a figure as a point of a chart."""
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


# The result that a chart shows, in words: for readers who do not see it.

MOST_SPOKEN = 24
"""Most values that are read out one by one; of more, the extremes of each series are."""


def alt_text(chart: Chart) -> str:
    """Return a chart's title and result: each value drawn, or the extremes of many."""
    if chart.dots:
        result = _spoken_dots(chart)
    else:
        with_value = [point for point in chart.points if point.value is not None]
        result = _spoken_extremes(chart) if len(with_value) > MOST_SPOKEN else _spoken_points(chart)
    return f"{chart.title}{' ' if chart.title.endswith('?') else ': '}{result or 'no values'}."


def _spoken_points(chart: Chart) -> str:
    questions, series = chart.questions, chart.series
    if chart.x_axis:
        groups = {name: [p for p in chart.points if p.series == name] for name in series}
        return "; ".join(
            f"{name} {', '.join(_spoken(chart, point) for point in points)}"
            for name, points in groups.items()
        )
    if len(questions) == len(chart.points) > 1 and len(series) == 1:
        name = "" if series[0] in chart.title or series[0] in AMONG else f"{series[0]}: "
        return name + ", ".join(f"{point.question} {_spoken(chart, point)}" for point in chart.points)
    groups = {name: [p for p in chart.points if p.question == name] for name in questions}
    return "; ".join(
        ("" if len(groups) == 1 and name in chart.title else f"{name}: ")
        + ", ".join(f"{point.series} {_spoken(chart, point)}" for point in points)
        for name, points in groups.items()
    )


def _spoken(chart: Chart, point: Point) -> str:
    """Return a point's value as it is drawn, with its place on a curve, or the reason why it has none."""
    if point.value is None:
        return f"none ({point.reason})" if point.reason else "none"
    place = "" if point.x is None else f" at {point.x:,.4g}"
    return f"{value_text(chart, point.value)}{place}"


def _spoken_extremes(chart: Chart) -> str:
    """Return the lowest and the highest value of each series, or of all if there are many series."""
    series = chart.series if len(chart.series) <= MOST_SPOKEN // 2 else [""]
    parts = []
    for name in series:
        points = [p for p in chart.points if p.value is not None and name in ("", p.series)]
        ends = [f(points, key=lambda p: p.value or 0.0) for f in (min, max)] if points else []
        names = [p.question if chart.x_axis or name else f"{p.series} on {p.question}" for p in ends]
        span = " to ".join(f"{_spoken(chart, point)} ({of})" for point, of in zip(ends, names, strict=True))
        parts.append(f"{name or f'{len(points):,} values'} from {span}" if ends else f"{name} none")
    return "; ".join(parts)


def _spoken_dots(chart: Chart) -> str:
    dots = _ranked(asdict(dot) for dot in chart.dots)
    if len(dots) > MOST_SPOKEN // 2:
        ends = f"highest {_spoken_dot(dots[0])}, lowest {_spoken_dot(dots[-1])}"
        return f"{len(dots):,} systems, {ends}"
    return ", ".join(map(_spoken_dot, dots))


def _spoken_dot(dot: dict[str, Any]) -> str:
    return f"{dot['system']} {number(dot['y'], 2)} beside {number(dot['x'], 2)}"


# Charts with numbers on both axes: a value with its interval over a probability, a size or the like.

HEIGHT = 320


def curve_specification(chart: dict[str, Any]) -> dict[str, Any]:
    """Return the Vega-Lite specification: per series points with their intervals, joined by a line."""
    series = list(dict.fromkeys(point["series"] for point in chart["points"]))
    points = [
        point | _mark(series.index(point["series"]), with_shape=True)
        for point in chart["points"]
        if point["value"] is not None
    ]
    key, height = place_key(series, 0) if len(series) > 1 else ([], 0.0)
    key = [entry | {"y": entry["y"] - height - 6} for entry in key]
    title = wrap(chart["axis"], HEIGHT, AXIS_TITLE)
    base = alt.Chart(alt.Data(values=points))
    layers = [*_marks(chart), *_curves(base, chart, title), *_key_marks(key)]
    start = 50 + LINE * len(title)
    return _framed(layers, TOTAL - start - 16, HEIGHT, left=start, top=12 + height, bottom=36 + LINE)


def _framed(
    layers: list[Any], width: float, height: float, *, left: float, top: float, bottom: float
) -> dict[str, Any]:
    """Return the specification of layers in a plot of a size, with room around it for all texts."""
    layered = alt.layer(*layers).properties(
        width=width,
        height=height,
        autosize=alt.AutoSizeParams(type="none"),
        background="transparent",
        padding={"left": left, "right": max(4, TOTAL - left - width), "top": top, "bottom": bottom},
    )
    return dict(layered.configure(font=FONT, aria=False).configure_view(stroke=None).to_dict())


def _marks(chart: dict[str, Any]) -> list[Any]:
    """Return the diagonal of calibrated probabilities, or the line at the target value."""
    if chart["diagonal"]:
        ends = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
        return [ends.mark_line(color=STRONG, strokeDash=[5, 4]).encode(x="x:Q", y="y:Q")]
    if chart["target"] is not None:
        aim = alt.Chart(alt.Data(values=[{"target": chart["target"]}]))
        return [aim.mark_rule(color=INK_3, strokeDash=[5, 4]).encode(y="target:Q")]
    return []


def _curves(base: Any, chart: dict[str, Any], title: list[str]) -> list[Any]:
    x = alt.X("x:Q", title=chart["x_axis"], scale=_x_scale(chart), axis=_x_axis(chart))
    y = alt.Y("value:Q", title=title, scale=_y_scale(chart), axis=axis(".2~f"))
    line_of = alt.Detail("series:N")
    with_interval = base.transform_filter("datum.low !== null && datum.high !== null")
    return [
        with_interval.mark_rule(strokeWidth=1.5, opacity=0.7).encode(
            x=x, y=alt.Y("low:Q"), y2="high:Q", color=_colour()
        ),
        base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=_colour(), detail=line_of),
        base.mark_point(filled=True, opacity=1).encode(
            x=x, y=y, color=_colour(), shape=_shape(), size=_size(chart)
        ),
    ]


def _size(chart: dict[str, Any]) -> Any:
    """Return the size of points: by a bin's items, otherwise the same for all."""
    if not chart["diagonal"]:
        return alt.value(50)
    return alt.Size("n_items:Q", legend=None, scale=alt.Scale(range=[30, 260], zero=True))


def _x_scale(chart: dict[str, Any]) -> Any:
    if chart["diagonal"]:
        return alt.Scale(domain=[0, 1])
    return alt.Scale(type="linear" if chart["steps"] else "log", nice=False, zero=False, padding=16)


def _y_scale(chart: dict[str, Any]) -> Any:
    if chart["diagonal"]:
        return alt.Scale(domain=[0, 1])
    ends = [
        point[end] for point in chart["points"] for end in ("low", "value", "high") if point[end] is not None
    ]
    top = chart["top"] or max([*ends, chart["target"] or 0.0]) or 1.0
    return alt.Scale(domain=[min([0.0, *ends]), top], nice=True)


def _x_axis(chart: dict[str, Any]) -> Any:
    if chart["diagonal"]:
        return axis(".1f")
    numbers = sorted({point["x"] for point in chart["points"]})
    return axis(",d", values=numbers, labelOverlap="greedy", labelSeparation=6)


# Charts as SVG and PNG, drawn on the server by altair and vl-convert.
#
# The SVG of a page carries the page's colour tokens, so that it follows the scheme; a downloaded SVG carries
# plain colours on white.

SIDE, MOST_NUMBERED = 360, 40
"""Side length of a scatter, and the most systems that are numbered and named beside it."""


def svg(chart: Chart) -> str:
    """Return the chart as a standalone SVG file on white."""
    return on_white(_svg(_frozen(chart)))


def inline_svg(chart: Chart) -> str:
    """Return the chart for a page, with the page's colour tokens and size."""
    return in_page(_svg(_frozen(chart)), alt_text(chart))


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
    return re.sub("(<svg [^>]*>)", r'\1<rect width="100%" height="100%" fill="#fff"/>', markup, count=1)


def in_page(markup: str, spoken: str) -> str:
    """Prepare a drawn SVG for a page: page colour tokens, and `spoken` as the text for screen readers.

    The marks inside have no roles of their own: the picture is one image with one text.
    """
    markup = re.sub(r"<[^>]+>", lambda tag: re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", tag[0]), markup)
    for colour, token in TOKENS.items():
        markup = markup.replace(f'"{colour}"', f'"{token}"')
    markup = re.sub(r'(<svg [^>]*?) width="[\d.]+" height="[\d.]+"', r"\1", markup, count=1)
    markup = re.sub(r'viewBox="0 0 ([\d.]+) ', _as_wide, markup, count=1)
    return markup.replace("<svg ", f'<svg role="img" aria-label="{_escaped(spoken)}" ', 1)


def _as_wide(view_box: re.Match[str]) -> str:
    """Widen a small drawing's view to that of all charts, so that it is not enlarged to fill the page."""
    return f'viewBox="0 0 {max(float(view_box[1]), TOTAL):g} '


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _frozen(chart: Chart) -> str:
    return json.dumps(asdict(chart), sort_keys=True)


@lru_cache(maxsize=128)
def _svg(frozen: str) -> str:
    return to_svg(specification(json.loads(frozen)))


def specification(chart: dict[str, Any]) -> dict[str, Any]:
    """Return the Vega-Lite specification: one row per figure, with its interval and value."""
    if chart["dots"]:
        return scatter(chart)
    if chart["x_axis"]:
        return curve_specification(chart)
    rows = place_rows(chart["points"], chart["title"], AMONG)
    series = list(dict.fromkeys(point["series"] for point in chart["points"]))
    low, high = _domain(chart)
    points = [
        point
        | _mark(series.index(point["series"]), with_shape=bool(rows.key), role=point["role"])
        | {"end": max(point["value"], point["high"] or low), "text": _value_text(chart, point["value"])}
        for point in rows.points
        if point["value"] is not None
    ]
    form = ",.1~f" if chart["bars"] else _decimals(high - low)
    scale = alt.Scale(domain=[low, high], nice=True)
    title = axis_lines(_axis_title(chart, rows), rows)
    x = rows_axis("value:Q", title, scale=scale, form=form)
    zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color=STRONG).encode(x="zero:Q")
    return rows_specification(rows, [zero, *_figures(in_rows(points), x, bars=chart["bars"])], title)


def axis_lines(title: str, rows: Rows) -> list[str]:
    """Return the title of the axis of rows, in lines that fit under the plot."""
    return wrap(title, rows.plot + VALUES, AXIS_TITLE)


def rows_axis(field: str, title: list[str], *, scale: Any, form: str) -> Any:
    """Encode a field of numbers across the rows, on an axis whose title begins where it begins."""
    look = axis(form, titleAnchor="start", titleAlign="left", titleX=0)
    return alt.X(field, title=title, scale=scale, axis=look)


def in_rows(points: Sequence[dict[str, Any]]) -> Any:
    """Return a chart of data that have the height of their rows."""
    return alt.Chart(alt.Data(values=points)).encode(y=_height())


def rows_specification(rows: Rows, marks: Sequence[Any], title: list[str]) -> dict[str, Any]:
    """Return the specification of marks in rows, with the texts of the rows and room for an axis `title`."""
    bottom = 30 + LINE * len(title)
    layers = [*marks, *_texts(rows)]
    return _framed(layers, rows.plot, rows.height, left=rows.labels + GAP + MARGIN, top=4, bottom=bottom)


def _axis_title(chart: dict[str, Any], rows: Rows) -> str:
    """Return the quantity of the axis, and the number of items if all rows have the same."""
    n_items = {point["n_items"] for point in chart["points"] if point["value"] is not None}
    if chart["bars"] or rows.counts or not any(n_items):
        return str(chart["axis"])
    return f"{chart['axis']}; {counted(max(n_items), 'item')}"


def _colour() -> Any:
    """Encode the colour that each mark's data have."""
    return alt.Color("colour:N", scale=None, legend=None)


def _shape() -> Any:
    """Encode the shape that each mark's data have."""
    return alt.Shape("shape:N", scale=None, legend=None)


def _height() -> Any:
    """Encode the pixels from the top that each mark's data have."""
    return alt.Y("y:Q", scale=None, axis=None)


def _mark(series: int, *, with_shape: bool, role: str = "") -> dict[str, Any]:
    shape = SHAPES[series % len(SHAPES)] if with_shape else SHAPES[0]
    colours = {"people": COLOURS[0], "baseline": INK_3}
    return {"colour": colours.get(role, COLOURS[series % len(COLOURS)]), "shape": shape}


HALO: dict[str, Any] = {"color": PAPER, "stroke": PAPER, "strokeWidth": 4, "strokeJoin": "round"}
"""Look of a text that is drawn behind itself, so that grid lines do not cross it."""


def _figures(base: Any, x: Any, *, bars: bool) -> list[Any]:
    """Draw values as points or bars, their intervals as lines, and the values in digits at their right."""
    across = {"x": alt.X("low:Q"), "x2": "high:Q"}
    look: dict[str, Any] = {"align": "left", "dx": 9, "fontSize": 12}
    texts = [base.mark_text(**look, **ink).encode(x="end:Q", text="text:N") for ink in (HALO, {"color": INK})]
    if bars:
        amounts = base.mark_rule(opacity=0.75, strokeWidth=ROW - 10).encode(
            x=x, x2=alt.X2Datum(0), color=_colour()
        )
        return [amounts, base.mark_rule(strokeWidth=1.5, color=INK).encode(**across), *texts]
    lines = base.mark_rule(strokeWidth=2.5).encode(**across, color=_colour())
    marks = base.mark_point(filled=True, opacity=1, size=80).encode(x=x, color=_colour(), shape=_shape())
    return [lines, marks, *texts]


def _key_marks(key: list[dict[str, Any]]) -> list[Any]:
    """Draw a key: the marks of series, and their names beside them."""
    marks = [
        {"x": entry["x"] - 9, "y": entry["y"], **_mark(entry["mark"], with_shape=True)}
        for entry in key
        if entry["mark"] >= 0
    ]
    points = _pixels(marks).mark_point(filled=True, opacity=1, size=80)
    return [points.encode(color=_colour(), shape=_shape()), _text(key, align="left", fontSize=12, color=INK)]


def _texts(rows: Rows) -> list[Any]:
    """Draw all texts of the rows at their places."""
    return [
        *_key_marks(rows.key),
        _text(rows.headings, align="left", fontSize=LABEL_SIZE, fontWeight=600, **HALO),
        _text(rows.headings, align="left", fontSize=LABEL_SIZE, color=INK, fontWeight=600),
        _text(rows.names, align="right", fontSize=LABEL_SIZE, color=INK),
        _text(rows.reasons, align="left", fontSize=NOTE_SIZE, fontStyle="italic", **HALO),
        _text(rows.reasons, align="left", fontSize=NOTE_SIZE, color=INK_3, fontStyle="italic"),
        _text(rows.counts, align="right", fontSize=NOTE_SIZE, color=INK_3),
    ]


def _text(places: list[dict[str, Any]], **look: Any) -> Any:
    return _pixels(places).mark_text(baseline="middle", **look).encode(text="text:N")


def _pixels(values: list[dict[str, Any]]) -> Any:
    """Return a chart of data that have their places in pixels."""
    return alt.Chart(alt.Data(values=values)).encode(x=alt.X("x:Q", scale=None, axis=None), y=_height())


def _domain(chart: dict[str, Any]) -> tuple[float, float]:
    """Return the range of the axis, which includes all intervals, 0, and the quantity's greatest value."""
    ends = [
        point[end]
        for point in chart["points"]
        for end in ("low", "value", "high")
        if point["value"] is not None and point[end] is not None
    ]
    low, high = min([0.0, *ends]), max([0.1, *ends])
    return low, high if chart["top"] is None else max(high, chart["top"])


def _decimals(span: float) -> str:
    """Return the number format that distinguishes about six ticks of an axis."""
    return next((form for least, form in ((0.5, ".1f"), (0.05, ".2f")) if span >= least), ".3f")


def value_text(chart: Chart, value: float) -> str:
    """Return a value as a chart has it: with the decimals that its axis allows, amounts with one at most."""
    return _value_text(asdict(chart), value)


def _value_text(chart: dict[str, Any], value: float) -> str:
    if chart["bars"]:
        return number(value, 1).removesuffix(".0")
    low, high = _domain(chart)
    span = high - low
    return number(value, next((n for least, n in ((50.0, 0), (5.0, 1), (0.2, 2)) if span >= least), 3))


def scatter(chart: dict[str, Any]) -> dict[str, Any]:
    """Return the Vega-Lite specification of a scatter: one point per system, with intervals on both axes.

    The points are numbered from the highest on the horizontal axis, with the systems' names beside the plot.
    """
    dots = [dot | {"number": n} for n, dot in enumerate(_ranked(chart["dots"]), 1)]
    across, up = (wrap(chart[name], SIDE, AXIS_TITLE) for name in ("axis", "up"))
    base = alt.Chart(alt.Data(values=dots)).encode(
        x=alt.X("x:Q", title=across, scale=_span(dots, "x"), axis=axis(".3~g")),
        y=alt.Y("y:Q", title=up, scale=_span(dots, "y"), axis=axis(".3~g")),
    )
    intervals = base.mark_rule(strokeWidth=1, opacity=0.35, color=COLOURS[0])
    layers = [
        intervals.encode(x=alt.X("x_low:Q"), x2="x_high:Q"),
        intervals.encode(y=alt.Y("y_low:Q"), y2="y_high:Q"),
        base.mark_point(filled=True, opacity=0.9, size=36, color=COLOURS[0]),
    ]
    start = 50 + LINE * len(up)
    numbers, names, height = _system_key(dots, TOTAL - start - SIDE - 56)
    if len(dots) <= MOST_NUMBERED:
        text = base.mark_text(align="left", dx=5, dy=-7, fontSize=NOTE_SIZE, color=INK_2)
        layers.append(text.encode(text="number:N"))
        layers.append(_text(numbers, align="right", fontSize=NOTE_SIZE, color=INK_2))
    layers.append(_text(names, align="left", fontSize=LABEL_SIZE, color=INK))
    bottom = max(36.0 + LINE * len(across), height - SIDE + 8)
    return _framed(layers, SIDE, SIDE, left=start, top=12, bottom=bottom)


def _ranked(dots: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the systems with both scores, the highest on the horizontal axis first."""
    with_both = [dot for dot in dots if dot["x"] is not None and dot["y"] is not None]
    return sorted(with_both, key=lambda dot: -float(dot["x"]))


def _system_key(
    dots: Sequence[dict[str, Any]], width: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], float]:
    """Place the numbers and names of systems at the right of a scatter; return them and their height."""
    if len(dots) > MOST_NUMBERED:
        lines = wrap(f"{len(dots):,} systems; their names are in the data", width)
        return [], [{"x": SIDE + 48, "y": 8 + LINE * n, "text": line} for n, line in enumerate(lines)], 0.0
    numbers, names, y = [], [], 8.0
    for dot in dots:
        numbers.append({"x": SIDE + 40, "y": y, "text": f"{dot['number']}"})
        for line in wrap(dot["system"], width):
            names.append({"x": SIDE + 48, "y": y, "text": line})
            y += LINE
        y += 2
    return numbers, names, y


def _span(dots: list[dict[str, Any]], side: str) -> Any:
    """Return the scale of a scatter's axis: all intervals, with zero only if it lies among them."""
    ends = [dot[end] for dot in dots for end in (side, f"{side}_low", f"{side}_high") if dot[end] is not None]
    if not ends or min(ends) == max(ends):
        return alt.Scale(zero=False, nice=True)
    return alt.Scale(domain=[min(ends), max(ends)], nice=True, zero=False)
