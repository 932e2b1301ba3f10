"""The chart of a table of counts: one panel a row, a bar a column with its interval, people as a line."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import vl_convert

from calibration.counts.computing import Counts
from calibration.counts.wording import row_name
from calibration.reports import drawing
from calibration.reports.drawing import alt
from calibration.statistics.counts import Cell, Row

APART = 3.0
"""Panels share their axis unless the highest bar of one is over so many times another's."""
COLUMNS, BAR, LEAST, HEIGHT = 3, 22, 120, 150
MOST_TITLE = 46


def svg(made: Counts) -> str:
    """Return the chart as a free-standing SVG on white."""
    return drawing.on_white(_drawn(_frozen(made)))


def inline_svg(made: Counts) -> str:
    """Return the chart for a page, in the page's colours."""
    spoken = f"{title(made)}. {caption(made)} The same figures are in the table below."
    return drawing.in_page(_drawn(_frozen(made)), spoken)


def png(made: Counts) -> bytes:
    """Return the chart as a PNG at twice the size of the page's."""
    drawn: bytes = vl_convert.svg_to_png(svg(made), scale=2)
    return drawn


def title(made: Counts) -> str:
    """Return the chart's heading."""
    return "Counts by behaviour, row by row" if made.is_turns else "Scores, row by row"


def caption(made: Counts) -> str:
    """Return what the marks mean, and whether the panels have axes of their own."""
    people = " Line: people." if _people(made) is not None else ""
    axes = "Each panel has an axis of its own." if own_axes(made) else "All panels share one axis."
    return f"Bars: means with {made.query.plan.level:.0%} intervals.{people} {axes}"


def shown(row: Row) -> list[Cell]:
    """Return the cells that have bars: behaviours and scores, no sums."""
    return [cell for cell in row.cells if cell.column.kind in ("tag", "alone", "score")]


def own_axes(made: Counts) -> bool:
    """Whether one panel's highest bar is over three times another's."""
    highest = [_highest(row) for row in _panels(made)]
    return bool(highest) and max(highest) > APART * min(highest)


def _panels(made: Counts) -> list[Row]:
    """Return the rows with a panel; people's alone where there are no others."""
    others = [row for row in made.table.rows if not row.human]
    return others or list(made.table.rows)


def _people(made: Counts) -> Row | None:
    panels = _panels(made)
    return next((row for row in made.table.rows if row.human and row not in panels), None)


def _highest(row: Row) -> float:
    return max((cell.result.value or 0.0 for cell in shown(row)), default=0.0)


def _frozen(made: Counts) -> str:
    """Return what is drawn, as text: the same text is drawn once."""
    people = _people(made)
    line = {} if people is None else {cell.column.key: cell.result.value for cell in shown(people)}
    panels = [
        {
            "title": row_name(made, row),
            "bars": [_bar(made, cell, line.get(cell.column.key)) for cell in shown(row)],
        }
        for row in _panels(made)
    ]
    axis = f"per {made.query.per_turns} turns" if made.query.per_turns else "turns per continuation"
    return json.dumps(
        {
            "panels": panels,
            "axis": axis if made.is_turns else "mean score",
            "own": own_axes(made),
            "people": people is not None,
        }
    )


def _bar(made: Counts, cell: Cell, people: float | None) -> dict[str, Any]:
    return {
        "column": made.titles[cell.column.key],
        "value": cell.result.value,
        "low": cell.result.low,
        "high": cell.result.high,
        "people": people,
    }


@lru_cache(maxsize=64)
def _drawn(frozen: str) -> str:
    return drawing.to_svg(_specification(json.loads(frozen)))


def _specification(content: dict[str, Any]) -> dict[str, Any]:
    ends = [_end(panel) for panel in content["panels"]]
    whole = max(ends, default=1.0)
    panels = [
        _panel(panel, content["axis"], end if content["own"] else whole)
        for panel, end in zip(content["panels"], ends, strict=True)
    ]
    said = "Each panel has an axis of its own" if content["own"] else ""
    if content["people"]:
        said = "; ".join(part for part in ("Line: people", said) if part)
    header = alt.TitleParams(
        said, anchor="start", fontSize=12, fontWeight="normal", color=drawing.INK_2, offset=6
    )
    columns = 1 if panels and len(content["panels"][0]["bars"]) * BAR > 2 * LEAST * 2 else COLUMNS
    drawn = alt.concat(*panels, columns=columns, spacing=18).properties(
        title=header, background="transparent", padding=6
    )
    return dict(drawn.configure(font=drawing.FONT).configure_view(stroke=None).to_dict())


def _end(panel: dict[str, Any]) -> float:
    tops = [
        bar[name] for bar in panel["bars"] for name in ("value", "high", "people") if bar[name] is not None
    ]
    return max([*tops, 0.0]) or 1.0


def _panel(panel: dict[str, Any], axis: str, end: float) -> Any:
    names = [bar["column"] for bar in panel["bars"]]
    base = alt.Chart(alt.Data(values=panel["bars"])).encode(x=_names(names))
    y = alt.Y("value:Q", title=axis, scale=alt.Scale(domain=[0, end], nice=True), axis=drawing.axis())
    given = base.transform_filter("datum.value !== null")
    layers = [
        given.mark_bar(size=BAR * 0.6, color=drawing.COLOURS[0], opacity=0.55).encode(y=y),
        given.transform_filter("datum.low !== null")
        .mark_rule(strokeWidth=1.5, color=drawing.INK)
        .encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.transform_filter("datum.people !== null")
        .mark_line(color=drawing.COLOURS[1], strokeWidth=2, point={"color": drawing.COLOURS[1], "size": 22})
        .encode(y="people:Q"),
    ]
    head = alt.TitleParams(
        _short(panel["title"]), anchor="start", fontSize=12, color=drawing.INK, fontWeight=600
    )
    return alt.layer(*layers).properties(width=max(LEAST, BAR * len(names)), height=HEIGHT, title=head)


def _names(names: list[str]) -> Any:
    axis = alt.Axis(
        labelAngle=-50,
        labelLimit=150,
        labelColor=drawing.INK,
        ticks=False,
        domainColor=drawing.STRONG,
        labelPadding=6,
    )
    return alt.X("column:N", sort=names, title=None, axis=axis, scale=alt.Scale(domain=names))


def _short(text: str) -> str:
    return text if len(text) <= MOST_TITLE else f"{text[: MOST_TITLE - 1]}…"
