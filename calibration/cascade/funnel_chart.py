"""The funnel of a Cascade report as a chart: of the probed decisions, how many reach each stage."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import vl_convert

from annotation.scenarios.records import STAGES
from calibration.cascade import figures
from calibration.cascade.computing import CascadeReport
from calibration.cascade.parts import label
from calibration.rendering import Rendering
from calibration.reports import drawing
from calibration.reports.drawing import alt

TITLE = "Funnel: probed decisions that reach a stage"
CAPTION = "Bars: the share of a row's probed decisions that reach a stage without a hard failure before it."
COLUMNS, WIDTH, HEIGHT = 3, 190, 130
MOST_TITLE = 46


def svg(made: CascadeReport) -> str:
    """Return the chart as a free-standing SVG on white."""
    return drawing.on_white(_drawn(_frozen(made)))


def inline_svg(made: CascadeReport) -> str:
    """Return the chart for a page, in the page's colours."""
    spoken = f"{TITLE}. {CAPTION} The same counts are in the table of the funnel."
    return drawing.in_page(_drawn(_frozen(made)), spoken)


def png(made: CascadeReport) -> bytes:
    """Return the chart as a PNG at twice the size of the page's."""
    drawn: bytes = vl_convert.svg_to_png(svg(made), scale=2)
    return drawn


def _frozen(made: CascadeReport) -> str:
    """Return what is drawn, as text: the same text is drawn once."""
    panels = []
    for row in (*made.rows, made.best):
        probed = figures.probed(row.decisions)
        reached = figures.funnel(probed, made.query.settings)
        panels.append(
            {
                "title": label(row),
                "bars": [
                    {"stage": stage.upper(), "share": n / len(probed) if probed else 0.0, "n": n}
                    for stage, n in reached.items()
                ],
            }
        )
    return json.dumps(panels)


@lru_cache(maxsize=64)
def _drawn(frozen: str) -> str:
    panels = [_panel(panel) for panel in json.loads(frozen)]
    drawn = alt.concat(*panels, columns=COLUMNS, spacing=18).properties(background="transparent", padding=6)
    return drawing.to_svg(dict(drawn.configure(font=drawing.FONT).configure_view(stroke=None).to_dict()))


def _panel(panel: dict[str, Any]) -> Any:
    names = [stage.upper() for stage in STAGES]
    axis = alt.Axis(
        labelColor=drawing.INK, ticks=False, domainColor=drawing.STRONG, labelPadding=6, grid=False
    )
    base = alt.Chart(alt.Data(values=panel["bars"])).encode(
        y=alt.Y("stage:N", sort=names, title=None, axis=axis, scale=alt.Scale(domain=names))
    )
    share = alt.X("share:Q", title="share", scale=alt.Scale(domain=[0, 1]), axis=drawing.axis())
    bars = base.mark_bar(color=drawing.COLOURS[0], opacity=0.55).encode(x=share)
    counts = base.mark_text(align="left", dx=4, color=drawing.INK_2).encode(x=share, text="n:Q")
    title = panel["title"]
    head = alt.TitleParams(
        title if len(title) <= MOST_TITLE else f"{title[: MOST_TITLE - 1]}…",
        anchor="start",
        fontSize=12,
        color=drawing.INK,
        fontWeight=600,
    )
    return alt.layer(bars, counts).properties(width=WIDTH, height=HEIGHT, title=head)


RENDERINGS: dict[str, Rendering[CascadeReport, Any]] = {
    form.key: form
    for form in (
        Rendering("svg", "Funnel as SVG", "svg", "image/svg+xml", svg),
        Rendering("png", "Funnel as PNG", "png", "image/png", png),
    )
}
"""The forms that the chart is downloaded in."""
