"""A table of counts in words, as a chart, and in the forms it is downloaded in."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import vl_convert

from annotation.text.display import number
from annotation.text.table_cells import guarded
from calibration.comparisons.count_inputs import SYSTEM
from calibration.comparisons.counts import Counts, facts
from calibration.renderings import NEEDS, Rendering, aligned, escaped, fitted, printable
from calibration.reports import charts
from calibration.reports.charts import alt
from calibration.statistics.core.engine import FLAGS, Result
from calibration.statistics.counts import Cell, Difference, Row
from jobs.fake_models import MARK

# How a table of counts is worded: rows, columns and figures, the same on the page and in every file.

NOT_GIVEN = "not given"
DISTANCES = {
    "tv": "Shape (total variation)",
    "js": "Shape (Jensen-Shannon)",
    "amount": "Amount",
}
DIGITS = {"tv": 3, "js": 3, "amount": 2}
RAW, CORRECTED, DIFFERENCE = "as counted", "corrected", "less people"
PEOPLE_ROW = "people"


def value_text(value: Any) -> str:
    """Return a condition's value as it is read."""
    if value is None:
        return NOT_GIVEN
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def row_name(counts: Counts, row: Row) -> str:
    """Return `vanilla, turns_per_call 5` for a row, `people` for theirs: numbers are named by their key.

    A row that holds continuations by a fake model says so.
    """
    name = PEOPLE_ROW if row.human else _condition(counts, row)
    return f"{name} {MARK}" if row.code in counts.fakes else name


def _condition(counts: Counts, row: Row) -> str:
    keys, values = counts.query.by, counts.by[row.code]
    parts = [
        f"{key} {value_text(value)}"
        if key != SYSTEM and (value is None or isinstance(value, bool | int | float))
        else value_text(value)
        for key, value in zip(keys, values, strict=True)
    ]
    return ", ".join(parts)


def by_of(counts: Counts, row: Row) -> dict[str, Any]:
    """Return a row's values by key, null where there is none."""
    return dict(zip(counts.query.by, counts.by[row.code], strict=True))


def interval(result: Result | None, digits: int = 2) -> str:
    """Return `0.19 to 0.31`, or why there is none."""
    if result is None or result.value is None:
        return ""
    if result.low is None or result.high is None:
        return "no interval"
    return f"{number(result.low, digits)} to {number(result.high, digits)}"


def figure(result: Result | None, digits: int = 2) -> str:
    """Return `5.24 (4.80 to 5.60)`, the reason why there is no value, or nothing."""
    if result is None:
        return ""
    if result.value is None:
        return result.reason
    return f"{number(result.value, digits)} ({interval(result, digits)})"


def p_text(p: float | None) -> str:
    """Return `p 0.012`, or `p < 0.001`."""
    if p is None:
        return ""
    return "p < 0.001" if p < 0.001 else f"p {p:.3f}"


def bounds(cell: Cell) -> str:
    """Format the bounds of a cell over all possible missing values; empty where none is missing."""
    if not cell.result.n_missing:
        return ""
    if cell.lowest is None or cell.highest is None:
        return "no bounds: the scale is open"
    return f"{number(cell.lowest)} to {number(cell.highest)} with {cell.result.n_missing:,} missing"


def flags(counts: Counts) -> list[tuple[str, str]]:
    """Return the flags that some figure carries, each with what it warns of, in the order of the table."""
    raised = set()
    for row in counts.table.rows:
        for cell in row.cells:
            results = [cell.result, cell.corrected, cell.difference.result if cell.difference else None]
            raised |= {flag for result in results if result is not None for flag in result.flags}
        raised |= {flag for result in (row.distance or {}).values() for flag in result.flags}
    return [(flag, text) for flag, text in FLAGS.items() if flag in raised]


# The chart of a table of counts: one panel a row, a bar a column with its interval, people as a line.

APART = 3.0
"""Panels share their axis unless the highest bar of one is over so many times another's."""
COLUMNS, BAR, LEAST, HEIGHT = 3, 22, 120, 150
MOST_TITLE = 46


def svg(counts: Counts) -> str:
    """Return the chart as a free-standing SVG on white."""
    return charts.on_white(_render_svg(_frozen(counts)))


def inline_svg(counts: Counts) -> str:
    """Return the chart for a page, in the page's colours."""
    spoken = f"{title(counts)}. {caption(counts)} The same figures are in the table below."
    return charts.in_page(_render_svg(_frozen(counts)), spoken)


def png(counts: Counts) -> bytes:
    """Return the chart as a PNG at twice the size of the page's."""
    image: bytes = vl_convert.svg_to_png(svg(counts), scale=2)
    return image


def title(counts: Counts) -> str:
    """Return the chart's heading."""
    return "Counts by behaviour, row by row" if counts.is_turns else "Scores, row by row"


def caption(counts: Counts) -> str:
    """Explain the marks of the chart and whether its panels share an axis."""
    people = " Line: people." if _people(counts) is not None else ""
    axes = "Each panel has an axis of its own." if own_axes(counts) else "All panels share one axis."
    return f"Bars: means with {counts.query.plan.level:.0%} intervals.{people} {axes}"


def charted_cells(row: Row) -> list[Cell]:
    """Return the cells that have bars: behaviours and scores, no sums."""
    return [cell for cell in row.cells if cell.column.kind in ("tag", "alone", "score")]


def own_axes(counts: Counts) -> bool:
    """Whether one panel's highest bar is over three times another's."""
    highest = [_highest(row) for row in _panels(counts)]
    return bool(highest) and max(highest) > APART * min(highest)


def _panels(counts: Counts) -> list[Row]:
    """Return the rows with a panel; people's alone where there are no others."""
    others = [row for row in counts.table.rows if not row.human]
    return others or list(counts.table.rows)


def _people(counts: Counts) -> Row | None:
    panels = _panels(counts)
    return next((row for row in counts.table.rows if row.human and row not in panels), None)


def _highest(row: Row) -> float:
    return max((cell.result.value or 0.0 for cell in charted_cells(row)), default=0.0)


def _frozen(counts: Counts) -> str:
    """Serialise the chart to a JSON text, the cache key of its SVG."""
    people = _people(counts)
    line = {} if people is None else {cell.column.key: cell.result.value for cell in charted_cells(people)}
    panels = [
        {
            "title": row_name(counts, row),
            "bars": [_bar(counts, cell, line.get(cell.column.key)) for cell in charted_cells(row)],
        }
        for row in _panels(counts)
    ]
    axis = f"per {counts.query.per_turns} turns" if counts.query.per_turns else "turns per continuation"
    return json.dumps(
        {
            "panels": panels,
            "axis": axis if counts.is_turns else "mean score",
            "own": own_axes(counts),
            "people": people is not None,
        }
    )


def _bar(counts: Counts, cell: Cell, people: float | None) -> dict[str, Any]:
    return {
        "column": counts.titles[cell.column.key],
        "value": cell.result.value,
        "low": cell.result.low,
        "high": cell.result.high,
        "people": people,
    }


@lru_cache(maxsize=64)
def _render_svg(frozen: str) -> str:
    return charts.to_svg(_specification(json.loads(frozen)))


def _specification(content: dict[str, Any]) -> dict[str, Any]:
    ends = [_end(panel) for panel in content["panels"]]
    highest_end = max(ends, default=1.0)
    panels = [
        _panel(panel, content["axis"], end if content["own"] else highest_end)
        for panel, end in zip(content["panels"], ends, strict=True)
    ]
    subtitle = "Each panel has an axis of its own" if content["own"] else ""
    if content["people"]:
        subtitle = "; ".join(part for part in ("Line: people", subtitle) if part)
    header = alt.TitleParams(
        subtitle, anchor="start", fontSize=12, fontWeight="normal", color=charts.INK_2, offset=6
    )
    columns = 1 if panels and len(content["panels"][0]["bars"]) * BAR > 2 * LEAST * 2 else COLUMNS
    chart = alt.concat(*panels, columns=columns, spacing=18).properties(
        title=header, background="transparent", padding=6
    )
    return dict(chart.configure(font=charts.FONT).configure_view(stroke=None).to_dict())


def _end(panel: dict[str, Any]) -> float:
    tops = [
        bar[name] for bar in panel["bars"] for name in ("value", "high", "people") if bar[name] is not None
    ]
    return max([*tops, 0.0]) or 1.0


def _panel(panel: dict[str, Any], axis: str, end: float) -> Any:
    names = [bar["column"] for bar in panel["bars"]]
    base = alt.Chart(alt.Data(values=panel["bars"])).encode(x=_names(names))
    y = alt.Y("value:Q", title=axis, scale=alt.Scale(domain=[0, end], nice=True), axis=charts.axis())
    with_value = base.transform_filter("datum.value !== null")
    layers = [
        with_value.mark_bar(size=BAR * 0.6, color=charts.COLOURS[0], opacity=0.55).encode(y=y),
        with_value.transform_filter("datum.low !== null")
        .mark_rule(strokeWidth=1.5, color=charts.INK)
        .encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.transform_filter("datum.people !== null")
        .mark_line(color=charts.COLOURS[1], strokeWidth=2, point={"color": charts.COLOURS[1], "size": 22})
        .encode(y="people:Q"),
    ]
    head = alt.TitleParams(
        _short(panel["title"]), anchor="start", fontSize=12, color=charts.INK, fontWeight=600
    )
    return alt.layer(*layers).properties(width=max(LEAST, BAR * len(names)), height=HEIGHT, title=head)


def _names(names: list[str]) -> Any:
    axis = alt.Axis(
        labelAngle=-50,
        labelLimit=150,
        labelColor=charts.INK,
        ticks=False,
        domainColor=charts.STRONG,
        labelPadding=6,
    )
    return alt.X("column:N", sort=names, title=None, axis=axis, scale=alt.Scale(domain=names))


def _short(text: str) -> str:
    return text if len(text) <= MOST_TITLE else f"{text[: MOST_TITLE - 1]}…"


# What the written tables share: which figures there are, row by row.


@dataclass(frozen=True)
class Kind:
    """One table: its title, and what of a cell it shows, with a word more where there is one."""

    title: str
    of: Callable[[Cell], Result | None]
    more: Callable[[Cell], str] = lambda cell: ""


def kinds(counts: Counts) -> list[Kind]:
    """Return the tables that there are figures for."""
    tables = [Kind("As counted" if counts.is_turns else "As scored", lambda cell: cell.result)]
    cells = [cell for row in counts.table.rows for cell in row.cells]
    if any(cell.corrected is not None for cell in cells):
        tables.append(Kind("Corrected for the judge’s errors", lambda cell: cell.corrected))
    if any(cell.difference is not None for cell in cells):
        tables.append(
            Kind(
                "Difference from people",
                lambda cell: cell.difference.result if cell.difference else None,
                lambda cell: p_text(cell.difference.p_holm) if cell.difference else "",
            )
        )
    return tables


def rows_of(counts: Counts, kind: Kind) -> list[Row]:
    """Return the rows that a table shows: people have no difference from themselves."""
    return [row for row in counts.table.rows if any(kind.of(cell) is not None for cell in row.cells)]


def cell_text(kind: Kind, cell: Cell) -> str:
    """Return a cell on one line."""
    return ", ".join(part for part in (figure(kind.of(cell)), kind.more(cell)) if part)


def distances(counts: Counts) -> list[tuple[str, list[str]]]:
    """Return a line per row with a distance, and last that of two random halves of people's continuations."""
    rows = [
        (row_name(counts, row), [figure(row.distance[name], DIGITS[name]) for name in DISTANCES])
        for row in counts.table.rows
        if row.distance is not None
    ]
    if rows and counts.table.halves is not None:
        halves = counts.table.halves
        rows.append(("two halves of people", [figure(halves[name], DIGITS[name]) for name in DISTANCES]))
    return rows


# A table of counts for the terminal.


def write_text(counts: Counts) -> str:
    """Return the table turned round: a line a column, so that it fits a terminal's width, and its notes."""
    lines = [counts.query.scope.name, *facts(counts)]
    for kind in kinds(counts):
        lines += ["", kind.title, *_turned(counts, kind)]
    if distance_rows := distances(counts):
        rows = [["", *DISTANCES.values()], *([name, *texts] for name, texts in distance_rows)]
        lines += ["", "Distance from people", *aligned(rows)]
    missing = [
        [row_name(counts, row), counts.titles[cell.column.key], bounds(cell)]
        for row in counts.table.rows
        for cell in row.cells
        if bounds(cell)
    ]
    if missing:
        lines += ["", "With all missing at the lowest and at the highest", *aligned(missing)]
    if noted := flags(counts):
        lines += ["", *(f"{flag}: {text}" for flag, text in noted)]
    return "\n".join([*map(printable, lines), ""])


def _turned(counts: Counts, kind: Kind) -> list[str]:
    rows = rows_of(counts, kind)
    table = [["", *(row_name(counts, row) for row in rows)]]
    table.append(["continuations", *(f"{row.n_continuations:,}" for row in rows)])
    for at, column in enumerate(counts.columns):
        table.append([counts.titles[column.key], *(_cell_as_text(kind, row.cells[at]) for row in rows)])
    return aligned(table)


def _cell_as_text(kind: Kind, cell: Cell) -> str:
    result = kind.of(cell)
    if result is None or result.value is None:
        return "–"
    return " ".join(part for part in (number(result.value), f"({interval(result)})", kind.more(cell)) if part)


# A table of counts as CSV: one line a cell, and one a distance, unrounded. Also the data of its chart.

FIGURES = ("value", "low", "high")
HEAD = (
    "human", "column", *FIGURES, "n", "n_clusters", "n_missing", "lowest", "highest", "raw",
    "corrected", "corrected_low", "corrected_high", "corrected_method",
    "difference", "difference_low", "difference_high", "p", "p_holm",
    "halves", "halves_low", "halves_high", "flags", "reason",
)  # fmt: skip


def write_csv(counts: Counts) -> str:
    """Return the lines; a column `by:KEY` for each key, text guarded against spreadsheets."""
    out = io.StringIO()
    writer = csv.DictWriter(
        out, [*(f"by:{key}" for key in counts.query.by), *HEAD], lineterminator="\n", restval=""
    )
    writer.writeheader()
    for row in counts.table.rows:
        place = {
            f"by:{key}": "" if value is None else guarded(value_text(value))
            for key, value in zip(counts.query.by, counts.by[row.code], strict=True)
        } | {"human": int(row.human)}
        for cell in row.cells:
            writer.writerow(place | _cell_as_csv(cell))
        for name, result in (row.distance or {}).items():
            halves = counts.table.halves[name] if counts.table.halves else None
            writer.writerow(
                place | _figure(result) | {"column": f"distance:{name}"} | _with_bounds("halves", halves)
            )
    return out.getvalue()


def _cell_as_csv(cell: Cell) -> dict[str, Any]:
    line = _figure(cell.result) | {
        "column": guarded(cell.column.key),
        "lowest": cell.lowest,
        "highest": cell.highest,
        "raw": cell.raw,
    }
    if cell.corrected is not None:
        line |= _with_bounds("corrected", cell.corrected) | {"corrected_method": cell.corrected.method}
    if cell.difference is not None:
        line |= _with_bounds("difference", cell.difference.result)
        line |= {"p": cell.difference.p, "p_holm": cell.difference.p_holm}
    return line


def _figure(result: Result) -> dict[str, Any]:
    return {
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "n": result.n_items,
        "n_clusters": result.n_clusters,
        "n_missing": result.n_missing,
        "flags": " ".join(result.flags),
        "reason": guarded(result.reason),
    }


def _with_bounds(name: str, result: Result | None) -> dict[str, Any]:
    if result is None:
        return {}
    return {name: result.value, f"{name}_low": result.low, f"{name}_high": result.high}


# A table of counts as JSON: everything, unrounded.


def write_json(counts: Counts) -> str:
    """Return the table as one JSON object."""
    return json.dumps(content(counts), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def content(counts: Counts) -> dict[str, Any]:
    """Return the table as plain data."""
    query, selection = counts.query, counts.selection
    return {
        "corpus": query.corpus.name,
        "campaign": query.campaign.name if query.campaign else None,
        "part": counts.part,
        "computed_at": counts.cached.at.isoformat() if counts.cached else None,
        "labels_since": bool(counts.cached and counts.cached.labels_since),
        "calls_since": bool(counts.cached and counts.cached.calls_since),
        "rater": selection.name,
        "kind": selection.kind,
        "simulated": selection.simulated,
        "questions": [question.ref for question in selection.questions],
        "by": list(query.by),
        "strata": query.strata or None,
        "n_strata": counts.table.n_strata,
        "per_turns": query.per_turns,
        "resamples": query.plan.resamples,
        "seed": query.plan.seed,
        "level": query.plan.level,
        "rows": [_row(counts, row) for row in counts.table.rows],
        "halves": {name: _result(result) for name, result in counts.table.halves.items()}
        if counts.table.halves
        else None,
        "no_differences": counts.table.no_differences,
        "no_distance": counts.table.no_distance,
        "notes": facts(counts),
        "looks_at_test": [
            {"by": str(look.by) if look.by else None, "at": look.at.isoformat(), "purpose": look.purpose}
            for look in counts.looks
        ],
    }


def _row(counts: Counts, row: Row) -> dict[str, Any]:
    return {
        "by": by_of(counts, row),
        "human": row.human,
        "fake_model": row.code in counts.fakes,
        "n_continuations": row.n_continuations,
        "n_clusters": row.n_clusters,
        "n_missing": row.n_missing,
        "cells": {cell.column.key: _cell(cell) for cell in row.cells},
        "distance": {name: _result(result) for name, result in row.distance.items()}
        if row.distance
        else None,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    fixed = cell.corrected
    return {
        "value": cell.result.value,
        "low": cell.result.low,
        "high": cell.result.high,
        "lowest": cell.lowest,
        "highest": cell.highest,
        "corrected": None if fixed is None or fixed.value is None else _result(fixed),
        "difference": _difference(cell.difference),
        "raw": cell.raw,
        "n": cell.result.n_items,
        "n_clusters": cell.result.n_clusters,
        "n_missing": cell.result.n_missing,
        "method": cell.result.method,
        "reason": cell.result.reason,
        "flags": list(cell.result.flags),
        "not_corrected": fixed.reason if fixed is not None and fixed.value is None else "",
        "no_difference": cell.difference.result.reason
        if cell.difference is not None and cell.difference.result.value is None
        else "",
    }


def _difference(difference: Difference | None) -> dict[str, Any] | None:
    if difference is None or difference.result.value is None:
        return None
    return _result(difference.result) | {"p": difference.p, "p_holm": difference.p_holm}


def _result(result: Result) -> dict[str, Any]:
    return {
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "method": result.method,
        "n": result.n_items,
        "n_clusters": result.n_clusters,
        "reason": result.reason,
        "flags": list(result.flags),
    }


# A table of counts as LaTeX (booktabs), to be read into a paper.

MOST_LEVEL = 4
"""Headings of more columns than these are turned, so that columns are as narrow as their figures."""


def write_latex(counts: Counts) -> str:
    """Return a table for each kind of figure: values over their intervals, people's row first and apart."""
    lines = [f"% {' '.join(text.split())}" for text in (counts.query.scope.name, *facts(counts))]
    lines.append(f"{NEEDS}; under each value its interval")
    head = [counts.titles[column.key] for column in counts.columns]
    for kind in kinds(counts):
        lines += [
            f"% {kind.title}",
            *_table_as_latex(head, [(row, _lines(counts, kind, row)) for row in rows_of(counts, kind)]),
        ]
    if distance_rows := distances(counts):
        body = [_line_as_latex([escaped(name), *map(escaped, texts)]) for name, texts in distance_rows]
        columns = _heads(list(DISTANCES.values()), turned=False)
        lines += ["% Distance from people", *_tabular(columns, body)]
    return "\n".join([*lines, ""])


def _table_as_latex(head: Sequence[str], rows: Sequence[tuple[Row, list[str]]]) -> list[str]:
    body: list[str] = []
    for at, (row, lines) in enumerate(rows):
        body += lines
        if row.human and at + 1 < len(rows):
            body.append(r"\midrule")
    return _tabular(_heads(head, turned=len(head) > MOST_LEVEL), body)


def _heads(names: Sequence[str], *, turned: bool) -> list[str]:
    texts = map(escaped, names)
    return [rf"\rotatebox{{60}}{{{text}}}" for text in texts] if turned else list(texts)


def _tabular(head: Sequence[str], body: Sequence[str]) -> list[str]:
    return fitted(
        [
            rf"\begin{{tabular}}{{l{'r' * len(head)}}}",
            r"\toprule",
            _line_as_latex(["", *head]),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _lines(counts: Counts, kind: Kind, row: Row) -> list[str]:
    """Return the values of a row, and under them their intervals."""
    values = [_value(kind, cell) for cell in row.cells]
    under = [_interval_below(kind, cell) for cell in row.cells]
    return [_line_as_latex([escaped(row_name(counts, row)), *values]), _line_as_latex(["", *under])]


def _value(kind: Kind, cell: Cell) -> str:
    result = kind.of(cell)
    return "---" if result is None or result.value is None else escaped(number(result.value))


def _interval_below(kind: Kind, cell: Cell) -> str:
    text = ", ".join(part for part in (interval(kind.of(cell)), kind.more(cell)) if part)
    return rf"{{\scriptsize {escaped(text)}}}" if text else ""


def _line_as_latex(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


# A table of counts as Markdown.


def write_markdown(counts: Counts) -> str:
    """Render the facts, the tables and the meaning of their flags."""
    lines = [f"# {_plain(f'Counts of {counts.query.scope.name}')}", ""]
    lines += [_plain(sentence) for sentence in facts(counts)]
    head = ["Row", "Continuations", "Clusters", "Missing"]
    titles = [counts.titles[column.key] for column in counts.columns]
    for kind in kinds(counts):
        body = [
            [
                row_name(counts, row),
                f"{row.n_continuations:,}",
                f"{row.n_clusters:,}",
                f"{row.n_missing:,}",
                *(cell_text(kind, cell) for cell in row.cells),
            ]
            for row in rows_of(counts, kind)
        ]
        lines += ["", f"## {kind.title}", "", *_table([*head, *titles], body)]
    if distance_rows := distances(counts):
        rows = [[name, *texts] for name, texts in distance_rows]
        lines += ["", "## Distance from people", "", *_table(["Row", *DISTANCES.values()], rows)]
    missing = [
        [row_name(counts, row), counts.titles[cell.column.key], bounds(cell)]
        for row in counts.table.rows
        for cell in row.cells
        if bounds(cell)
    ]
    if missing:
        lines += ["", "## With all missing at the lowest and at the highest", ""]
        lines += _table(["Row", "Column", "Between"], missing)
    if noted := flags(counts):
        lines += ["", *(f"- {_plain(flag)}: {_plain(text)}" for flag, text in noted)]
    return "\n".join([*lines, ""])


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    marks = ["---", *(["---:"] * (len(head) - 1))]
    return [_line(head), f"| {' | '.join(marks)} |", *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_plain, cells)) + " |"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    escaped = "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in text)
    return " ".join(escaped.split())


# The forms a table of counts is downloaded in, in one table.

RENDERINGS: dict[str, Rendering[Counts, Any]] = {
    form.key: form
    for form in (
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", write_csv),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", write_markdown),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", write_latex),
        Rendering("json", "JSON", "json", "application/json", write_json),
        Rendering("svg", "Chart as SVG", "svg", "image/svg+xml", svg),
        Rendering("png", "Chart as PNG", "png", "image/png", png),
    )
}
