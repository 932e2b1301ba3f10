"""Charts with a number on both axes: a value with its interval over another, such as probability or size."""

from __future__ import annotations

from typing import Any

from calibration.reports.charts import COLOURS, FONT, INK, INK_3, SHAPES, STRONG, WIDTH, alt, axis

HEIGHT, ACROSS = 320, WIDTH + 170


def specification(chart: dict[str, Any]) -> dict[str, Any]:
    """Return the Vega-Lite specification: per series points with their intervals, joined by a line."""
    points = [point for point in chart["points"] if point["value"] is not None]
    series = list(dict.fromkeys(point["series"] for point in chart["points"]))
    base = alt.Chart(alt.Data(values=points))
    layers = [*_marks(chart), *_curves(base, chart, series)]
    drawn = alt.layer(*layers).properties(
        width=ACROSS,
        height=HEIGHT,
        background="transparent",
        padding={"left": 4, "right": 12, "top": 4, "bottom": 4},
    )
    return dict(drawn.configure(font=FONT).configure_view(stroke=None).to_dict())


def _marks(chart: dict[str, Any]) -> list[Any]:
    """The diagonal that calibrated probabilities lie on, or the value that is aimed at."""
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
    legend = None
    if len(series) > 1:
        legend = alt.Legend(
            title=None, orient="top", labelColor=INK, labelFontSize=12, labelLimit=260, columns=3
        )
    colour = alt.Color("series:N", scale=alt.Scale(domain=series, range=list(COLOURS)), legend=legend)
    shape = alt.Shape("series:N", scale=alt.Scale(domain=series, range=list(SHAPES)), legend=legend)
    given = base.transform_filter("datum.low !== null && datum.high !== null")
    return [
        given.mark_rule(strokeWidth=1.5, opacity=0.7).encode(
            x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour
        ),
        base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=colour),
        base.mark_point(filled=True, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape, size=_size(chart)
        ),
    ]


def _size(chart: dict[str, Any]) -> Any:
    """Return the size of points: of a bin by its items, else one for all."""
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
