"""What all charts share: colours that the page turns into its own, type, and the quantitative axis."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.utils.functional import SimpleLazyObject

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
