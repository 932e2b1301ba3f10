"""The charts of an Answers report: accuracy row by row, and each model's memory beside the oracle."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import vl_convert

from calibration.answers.figures import CHANCE, Figure
from calibration.answers.report import AnswersReport
from calibration.answers.tables import NAMED, beside_oracle, column_head
from calibration.renderings import Rendering
from calibration.reports import charts
from calibration.reports.charts import alt

WIDTH, BAR, WIDEST_LABEL, MOST_ROWS = 360, 18, 440, 60
LINE = f"Dashed line: {CHANCE:.0%}, what guessing reaches."


@dataclass(frozen=True)
class Chart:
    """A chart: its key in addresses, its title, what the bars are, and the bars themselves."""

    key: str
    title: str
    caption: str
    bars: Callable[[AnswersReport], list[dict[str, Any]]]


def accuracies(made: AnswersReport) -> list[dict[str, Any]]:
    """Return a bar for every row of the report."""
    return [_bar(row.label, "accuracy", row.accuracy) for row in made.rows]


def best_and_oracle(made: AnswersReport) -> list[dict[str, Any]]:
    """Return two bars for every model: its best memory, and the oracle."""
    bars = []
    for row in beside_oracle(made.answers, made.query.rule):
        bars.append(_bar(row.label, "best memory", row.accuracy, row.best_told))
        bars.append(_bar(row.label, "oracle", row.oracle))
    return bars


def named_and_oracle(made: AnswersReport) -> list[dict[str, Any]]:
    """Return two bars for every model: whole sessions found by BM25, and the oracle."""
    bars = []
    for row in beside_oracle(made.answers, made.query.rule):
        if row.named is not None:
            bars.append(_bar(row.label, column_head(NAMED), row.named))
            bars.append(_bar(row.label, "oracle", row.oracle))
    return bars


def _bar(label: str, kind: str, figure: Figure, note: str = "") -> dict[str, Any]:
    result = figure.result
    return {
        "row": label,
        "kind": kind,
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "note": note,
    }


CHARTS: dict[str, Chart] = {
    chart.key: chart
    for chart in (
        Chart("accuracy", "Accuracy", f"Bars: accuracy with intervals over sessions. {LINE}", accuracies),
        Chart(
            "figure4",
            "Best memory and oracle",
            f"Bars: each model's best memory, named beside it, and the oracle, with intervals. {LINE}",
            best_and_oracle,
        ),
        Chart(
            "figure7",
            "Whole sessions by BM25, and oracle",
            f"Bars: whole sessions found by BM25, and the oracle, with intervals. {LINE}",
            named_and_oracle,
        ),
    )
}
"""The charts; one without bars is not shown."""


def shown(made: AnswersReport) -> list[tuple[Chart, str]]:
    """Return the charts that have bars, each drawn for a page."""
    return [(chart, inline_svg(made, chart)) for chart in CHARTS.values() if chart.bars(made)]


def svg(made: AnswersReport, chart: Chart) -> str:
    """Return a chart as a free-standing SVG on white."""
    return charts.on_white(_drawn(_frozen(made, chart)))


def inline_svg(made: AnswersReport, chart: Chart) -> str:
    """Return a chart for a page, in the page's colours."""
    spoken = f"{chart.title}. {chart.caption} The same figures are in the tables."
    return charts.in_page(_drawn(_frozen(made, chart)), spoken)


def png(made: AnswersReport, chart: Chart) -> bytes:
    """Return a chart as a PNG at twice the size of the page's."""
    drawn: bytes = vl_convert.svg_to_png(svg(made, chart), scale=2)
    return drawn


def _frozen(made: AnswersReport, chart: Chart) -> str:
    """Return what is drawn, as text: the same text is drawn once."""
    return json.dumps(chart.bars(made)[:MOST_ROWS])


@lru_cache(maxsize=64)
def _drawn(frozen: str) -> str:
    drawn = _chart(json.loads(frozen)).properties(background="transparent", padding=6)
    return charts.to_svg(dict(drawn.configure(font=charts.FONT).configure_view(stroke=None).to_dict()))


def _chart(bars: list[dict[str, Any]]) -> Any:
    names = list(dict.fromkeys(bar["row"] for bar in bars))
    kinds = list(dict.fromkeys(bar["kind"] for bar in bars))
    labels = alt.Axis(
        labelColor=charts.INK,
        ticks=False,
        domainColor=charts.STRONG,
        labelPadding=6,
        labelLimit=WIDEST_LABEL,
    )
    y = alt.Y("row:N", sort=names, title=None, axis=labels, scale=alt.Scale(domain=names, paddingInner=0.25))
    base = alt.Chart(alt.Data(values=bars)).encode(y=y)
    if len(kinds) > 1:
        base = base.encode(yOffset=alt.YOffset("kind:N", sort=kinds, scale=alt.Scale(domain=kinds)))
    x = alt.X("value:Q", title="accuracy", scale=alt.Scale(domain=[0, 1]), axis=charts.axis())
    ranges = charts.COLOURS[: len(kinds)]
    legend = alt.Legend(title=None, orient="top", labelColor=charts.INK) if len(kinds) > 1 else None
    colour = alt.Color("kind:N", sort=kinds, scale=alt.Scale(domain=kinds, range=list(ranges)), legend=legend)
    marks = [
        base.transform_filter("datum.value !== null").mark_bar(opacity=0.55).encode(x=x, color=colour),
        base.transform_filter("datum.low !== null")
        .mark_rule(strokeWidth=1.5, color=charts.INK)
        .encode(x=alt.X("low:Q"), x2="high:Q"),
        base.transform_filter("datum.note !== ''")
        .mark_text(align="left", dx=4, x=0, color=charts.INK, fontSize=10)
        .encode(text="note:N"),
        alt.Chart(alt.Data(values=[{"chance": CHANCE}]))
        .mark_rule(strokeDash=[4, 3], color=charts.INK_2)
        .encode(x="chance:Q"),
    ]
    return alt.layer(*marks).properties(width=WIDTH, height=alt.Step(BAR if len(kinds) == 1 else BAR - 4))


Drawn = tuple[AnswersReport, Chart]
FORMS: tuple[Rendering[Drawn, Any], ...] = (
    Rendering("svg", "Chart as SVG", "svg", "image/svg+xml", lambda drawn: svg(*drawn)),
    Rendering("png", "Chart as PNG", "png", "image/png", lambda drawn: png(*drawn)),
)
RENDERINGS: dict[str, Rendering[Drawn, Any]] = {form.key: form for form in FORMS}
"""The forms that a chart is downloaded in."""
