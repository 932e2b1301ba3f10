"""Charts as SVG and PNG, drawn on the server by altair and vl-convert.

The SVG of a page carries the page's colour tokens, so that it follows the scheme; a downloaded one carries
plain colours on white.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import vl_convert

from calibration.reports import curves
from calibration.reports.charts import (
    AMONG,
    COLOURS,
    FONT,
    INK,
    INK_2,
    INK_3,
    LINE,
    SHAPES,
    STRONG,
    TOKENS,
    WIDTH,
    Chart,
    alt,
    axis,
)

ROW, LABELS = 14, 190

SIDE, BESIDE, NAMED = 360, 330, 15
"""The sides of a scatter, the room beside it, and up to how many systems have their names in it."""
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
    """Return the chart as a free-standing SVG file on white."""
    return on_white(_svg(_frozen(chart)))


def inline_svg(chart: Chart) -> str:
    """Return the chart for a page: colours are the page's tokens, the size is the page's."""
    return in_page(_svg(_frozen(chart)), _spoken(chart))


def png(chart: Chart) -> bytes:
    """Return the chart as a PNG at twice the size of the page's."""
    drawn: bytes = vl_convert.svg_to_png(svg(chart), scale=2)
    return drawn


def to_svg(specification: dict[str, Any]) -> str:
    """Draw a Vega-Lite specification in plain colours."""
    drawn: str = vl_convert.vegalite_to_svg(json.dumps(specification), vl_version="6.4")
    return drawn


def on_white(drawn: str) -> str:
    """Return a drawn SVG with a white ground, to stand alone."""
    return drawn.replace("<svg ", '<svg style="background:#fff" ', 1)


def in_page(drawn: str, spoken: str) -> str:
    """Return a drawn SVG for a page: its colours are the page's tokens; `spoken` is what is read aloud."""
    for colour, token in TOKENS.items():
        drawn = drawn.replace(f'"{colour}"', f'"{token}"')
    drawn = re.sub(r'(<svg [^>]*?) width="[\d.]+" height="[\d.]+"', r"\1", drawn, count=1)
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{_escaped(spoken)}" ', 1)


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
    """Return the Vega-Lite specification: per question a band, per series a point with its interval."""
    if chart["dots"]:
        return scatter(chart)
    if chart["x_axis"]:
        return curves.specification(chart)
    points = chart["points"]
    questions = list(dict.fromkeys(point["question"] for point in points))
    series = list(dict.fromkeys(point["series"] for point in points))
    base = alt.Chart(alt.Data(values=points)).encode(y=_rows(questions))
    beside = base.encode(yOffset=alt.YOffset("series:N", sort=series))
    zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color=STRONG).encode(x="zero:Q")
    layers = [zero, *_figures(beside, chart, series), _reasons(beside), _counts(base)]
    drawn = alt.layer(*layers).properties(
        width=WIDTH,
        height=max(2, len(questions)) * (ROW * max(1, len(series)) + 10),
        background="transparent",
        padding={"left": 4, "right": 4, "top": 4, "bottom": 4},
    )
    return dict(drawn.configure(font=FONT).configure_view(stroke=None).to_dict())


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
    """Intervals as lines, values as marks told apart by colour and shape."""
    given = beside.transform_filter("datum.value !== null")
    legend = _legend(series)
    colour = alt.Color("series:N", scale=alt.Scale(domain=series, range=list(COLOURS)), legend=legend)
    shape = alt.Shape("series:N", scale=alt.Scale(domain=series, range=list(SHAPES)), legend=legend)
    low, high = _domain(chart["points"])
    scale = alt.Scale(domain=[low, high], nice=True)
    form = ",.1~f" if chart["bars"] else _decimals(high - low)
    x = alt.X("value:Q", title=chart["axis"], scale=scale, axis=axis(form))
    if chart["bars"]:
        bars = given.mark_bar(opacity=0.75, height=ROW - 4).encode(x=x, color=colour)
        ends = given.mark_rule(strokeWidth=1.5, color=INK).encode(x=alt.X("low:Q"), x2="high:Q")
        return [bars, ends]
    lines = given.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", color=colour)
    return [lines, given.mark_point(filled=True, opacity=1, size=60).encode(x=x, color=colour, shape=shape)]


def _reasons(beside: Any) -> Any:
    """Why there is no figure, in its place: from the left edge, cut before the counts."""
    without = beside.transform_filter("datum.value === null")
    text = without.mark_text(align="left", fontSize=11, color=INK_3, fontStyle="italic", limit=WIDTH - 20)
    return text.encode(x=alt.value(4), text="reason:N")


def _counts(base: Any) -> Any:
    """The number of items compared, at the right of each row."""
    counted = base.transform_aggregate(n="max(n_items)", groupby=["question"])
    text = counted.mark_text(align="right", fontSize=11, color=INK_3)
    return text.encode(x=alt.value(WIDTH + 48), text=alt.Text("n:Q", format=","))


def _legend(series: list[str]) -> Any:
    if len(series) == 1 and series[0] in AMONG:
        return None
    return alt.Legend(title=None, orient="top", labelColor=INK, labelFontSize=12, labelLimit=260, columns=3)


def _domain(points: list[dict[str, Any]]) -> list[float]:
    """Return the axis: all intervals, and 0."""
    ends = [point[end] for point in points for end in ("low", "value", "high") if point[end] is not None]
    low, high = min([0.0, *ends]), max([0.1, *ends])
    return [low, high]


def _decimals(span: float) -> str:
    """Return the format that tells about six ticks of an axis apart."""
    return next((form for least, form in ((0.5, ".1f"), (0.05, ".2f")) if span >= least), ".3f")


def scatter(chart: dict[str, Any]) -> dict[str, Any]:
    """Return the Vega-Lite specification of a scatter: a point a system, with its interval on both axes."""
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
    if len(dots) <= NAMED:
        text = base.mark_text(align="left", dx=6, dy=-6, fontSize=11, color=INK_2, limit=150)
        layers.append(text.encode(text="system:N"))
    drawn = alt.layer(*layers).properties(
        width=SIDE,
        height=SIDE,
        background="transparent",
        padding={"left": 4, "right": BESIDE, "top": 4, "bottom": 4},
    )
    return dict(drawn.configure(font=FONT).configure_view(stroke=None).to_dict())


def _span(dots: list[dict[str, Any]], side: str) -> Any:
    """Return the scale of an axis of a scatter: all intervals, with no nought unless it lies there."""
    ends = [dot[end] for dot in dots for end in (side, f"{side}_low", f"{side}_high") if dot[end] is not None]
    if not ends or min(ends) == max(ends):
        return alt.Scale(zero=False, nice=True)
    return alt.Scale(domain=[min(ends), max(ends)], nice=True, zero=False)
