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


def row_name(made: Counts, row: Row) -> str:
    """Return `vanilla, turns_per_call 5` for a row, `people` for theirs: numbers are named by their key.

    A row that holds continuations by a fake model says so.
    """
    name = PEOPLE_ROW if row.human else _condition(made, row)
    return f"{name} {MARK}" if row.code in made.fakes else name


def _condition(made: Counts, row: Row) -> str:
    keys, values = made.query.by, made.by[row.code]
    parts = [
        f"{key} {value_text(value)}"
        if key != SYSTEM and (value is None or isinstance(value, bool | int | float))
        else value_text(value)
        for key, value in zip(keys, values, strict=True)
    ]
    return ", ".join(parts)


def by_of(made: Counts, row: Row) -> dict[str, Any]:
    """Return a row's values by key, null where there is none."""
    return dict(zip(made.query.by, made.by[row.code], strict=True))


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
    """Return where the cell would lie whatever the missing values are; nothing where none is missing."""
    if not cell.result.n_missing:
        return ""
    if cell.lowest is None or cell.highest is None:
        return "no bounds: the scale is open"
    return f"{number(cell.lowest)} to {number(cell.highest)} with {cell.result.n_missing:,} missing"


def flags(made: Counts) -> list[tuple[str, str]]:
    """Return the flags that some figure carries, each with what it warns of, in the order of the table."""
    found = set()
    for row in made.table.rows:
        for cell in row.cells:
            results = [cell.result, cell.corrected, cell.difference.result if cell.difference else None]
            found |= {flag for result in results if result is not None for flag in result.flags}
        found |= {flag for result in (row.distance or {}).values() for flag in result.flags}
    return [(flag, text) for flag, text in FLAGS.items() if flag in found]


# The chart of a table of counts: one panel a row, a bar a column with its interval, people as a line.

APART = 3.0
"""Panels share their axis unless the highest bar of one is over so many times another's."""
COLUMNS, BAR, LEAST, HEIGHT = 3, 22, 120, 150
MOST_TITLE = 46


def svg(made: Counts) -> str:
    """Return the chart as a free-standing SVG on white."""
    return charts.on_white(_drawn(_frozen(made)))


def inline_svg(made: Counts) -> str:
    """Return the chart for a page, in the page's colours."""
    spoken = f"{title(made)}. {caption(made)} The same figures are in the table below."
    return charts.in_page(_drawn(_frozen(made)), spoken)


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
    return charts.to_svg(_specification(json.loads(frozen)))


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
        said, anchor="start", fontSize=12, fontWeight="normal", color=charts.INK_2, offset=6
    )
    columns = 1 if panels and len(content["panels"][0]["bars"]) * BAR > 2 * LEAST * 2 else COLUMNS
    drawn = alt.concat(*panels, columns=columns, spacing=18).properties(
        title=header, background="transparent", padding=6
    )
    return dict(drawn.configure(font=charts.FONT).configure_view(stroke=None).to_dict())


def _end(panel: dict[str, Any]) -> float:
    tops = [
        bar[name] for bar in panel["bars"] for name in ("value", "high", "people") if bar[name] is not None
    ]
    return max([*tops, 0.0]) or 1.0


def _panel(panel: dict[str, Any], axis: str, end: float) -> Any:
    names = [bar["column"] for bar in panel["bars"]]
    base = alt.Chart(alt.Data(values=panel["bars"])).encode(x=_names(names))
    y = alt.Y("value:Q", title=axis, scale=alt.Scale(domain=[0, end], nice=True), axis=charts.axis())
    given = base.transform_filter("datum.value !== null")
    layers = [
        given.mark_bar(size=BAR * 0.6, color=charts.COLOURS[0], opacity=0.55).encode(y=y),
        given.transform_filter("datum.low !== null")
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


def kinds(made: Counts) -> list[Kind]:
    """Return the tables that there are figures for."""
    found = [Kind("As counted" if made.is_turns else "As scored", lambda cell: cell.result)]
    cells = [cell for row in made.table.rows for cell in row.cells]
    if any(cell.corrected is not None for cell in cells):
        found.append(Kind("Corrected for the judge’s errors", lambda cell: cell.corrected))
    if any(cell.difference is not None for cell in cells):
        found.append(
            Kind(
                "Difference from people",
                lambda cell: cell.difference.result if cell.difference else None,
                lambda cell: p_text(cell.difference.p_holm) if cell.difference else "",
            )
        )
    return found


def rows_of(made: Counts, kind: Kind) -> list[Row]:
    """Return the rows that a table shows: people have no difference from themselves."""
    return [row for row in made.table.rows if any(kind.of(cell) is not None for cell in row.cells)]


def cell_text(kind: Kind, cell: Cell) -> str:
    """Return a cell on one line."""
    return ", ".join(part for part in (figure(kind.of(cell)), kind.more(cell)) if part)


def distances(made: Counts) -> list[tuple[str, list[str]]]:
    """Return a line per row with a distance, and last that of two random halves of people's continuations."""
    found = [
        (row_name(made, row), [figure(row.distance[name], DIGITS[name]) for name in DISTANCES])
        for row in made.table.rows
        if row.distance is not None
    ]
    if found and made.table.halves is not None:
        halves = made.table.halves
        found.append(("two halves of people", [figure(halves[name], DIGITS[name]) for name in DISTANCES]))
    return found


# A table of counts for the terminal.


def write_text(made: Counts) -> str:
    """Return the table turned round: a line a column, so that it fits a terminal's width, and its notes."""
    lines = [made.query.scope.name, *facts(made)]
    for kind in kinds(made):
        lines += ["", kind.title, *_turned(made, kind)]
    if found := distances(made):
        rows = [["", *DISTANCES.values()], *([name, *texts] for name, texts in found)]
        lines += ["", "Distance from people", *aligned(rows)]
    missing = [
        [row_name(made, row), made.titles[cell.column.key], bounds(cell)]
        for row in made.table.rows
        for cell in row.cells
        if bounds(cell)
    ]
    if missing:
        lines += ["", "With all missing at the lowest and at the highest", *aligned(missing)]
    if noted := flags(made):
        lines += ["", *(f"{flag}: {text}" for flag, text in noted)]
    return "\n".join([*map(printable, lines), ""])


def _turned(made: Counts, kind: Kind) -> list[str]:
    rows = rows_of(made, kind)
    table = [["", *(row_name(made, row) for row in rows)]]
    table.append(["continuations", *(f"{row.n_continuations:,}" for row in rows)])
    for at, column in enumerate(made.columns):
        table.append([made.titles[column.key], *(_cell_of_text(kind, row.cells[at]) for row in rows)])
    return aligned(table)


def _cell_of_text(kind: Kind, cell: Cell) -> str:
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


def write_csv(made: Counts) -> str:
    """Return the lines; a column `by:KEY` for each key, text guarded against spreadsheets."""
    out = io.StringIO()
    writer = csv.DictWriter(
        out, [*(f"by:{key}" for key in made.query.by), *HEAD], lineterminator="\n", restval=""
    )
    writer.writeheader()
    for row in made.table.rows:
        place = {
            f"by:{key}": "" if value is None else guarded(value_text(value))
            for key, value in zip(made.query.by, made.by[row.code], strict=True)
        } | {"human": int(row.human)}
        for cell in row.cells:
            writer.writerow(place | _cell_of_as_csv(cell))
        for name, result in (row.distance or {}).items():
            halves = made.table.halves[name] if made.table.halves else None
            writer.writerow(
                place | _figure(result) | {"column": f"distance:{name}"} | _named("halves", halves)
            )
    return out.getvalue()


def _cell_of_as_csv(cell: Cell) -> dict[str, Any]:
    line = _figure(cell.result) | {
        "column": guarded(cell.column.key),
        "lowest": cell.lowest,
        "highest": cell.highest,
        "raw": cell.raw,
    }
    if cell.corrected is not None:
        line |= _named("corrected", cell.corrected) | {"corrected_method": cell.corrected.method}
    if cell.difference is not None:
        line |= _named("difference", cell.difference.result)
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


def _named(name: str, result: Result | None) -> dict[str, Any]:
    if result is None:
        return {}
    return {name: result.value, f"{name}_low": result.low, f"{name}_high": result.high}


# A table of counts as JSON: everything, unrounded.


def write_json(made: Counts) -> str:
    """Return the table as one JSON object."""
    return json.dumps(content(made), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def content(made: Counts) -> dict[str, Any]:
    """Return the table as plain data."""
    query, chosen = made.query, made.chosen
    return {
        "corpus": query.corpus.name,
        "campaign": query.campaign.name if query.campaign else None,
        "part": made.part,
        "computed_at": made.kept.at.isoformat() if made.kept else None,
        "labels_since": bool(made.kept and made.kept.labels_since),
        "calls_since": bool(made.kept and made.kept.calls_since),
        "rater": chosen.name,
        "kind": chosen.kind,
        "simulated": chosen.simulated,
        "questions": [question.ref for question in chosen.questions],
        "by": list(query.by),
        "strata": query.strata or None,
        "n_strata": made.table.n_strata,
        "per_turns": query.per_turns,
        "resamples": query.plan.resamples,
        "seed": query.plan.seed,
        "level": query.plan.level,
        "rows": [_row(made, row) for row in made.table.rows],
        "halves": {name: _result(one) for name, one in made.table.halves.items()}
        if made.table.halves
        else None,
        "no_differences": made.table.no_differences,
        "no_distance": made.table.no_distance,
        "notes": facts(made),
        "looks_at_test": [
            {"by": str(look.by) if look.by else None, "at": look.at.isoformat(), "purpose": look.purpose}
            for look in made.looks
        ],
    }


def _row(made: Counts, row: Row) -> dict[str, Any]:
    return {
        "by": by_of(made, row),
        "human": row.human,
        "fake_model": row.code in made.fakes,
        "n_continuations": row.n_continuations,
        "n_clusters": row.n_clusters,
        "n_missing": row.n_missing,
        "cells": {cell.column.key: _cell(cell) for cell in row.cells},
        "distance": {name: _result(one) for name, one in row.distance.items()} if row.distance else None,
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


def write_latex(made: Counts) -> str:
    """Return a table for each kind of figure: values over their intervals, people's row first and apart."""
    lines = [f"% {' '.join(text.split())}" for text in (made.query.scope.name, *facts(made))]
    lines.append(f"{NEEDS}; under each value its interval")
    head = [made.titles[column.key] for column in made.columns]
    for kind in kinds(made):
        lines += [
            f"% {kind.title}",
            *_table_of_as_latex(head, [(row, _lines(made, kind, row)) for row in rows_of(made, kind)]),
        ]
    if found := distances(made):
        body = [_line_of_as_latex([escaped(name), *map(escaped, texts)]) for name, texts in found]
        columns = _heads(list(DISTANCES.values()), turned=False)
        lines += ["% Distance from people", *_tabular(columns, body)]
    return "\n".join([*lines, ""])


def _table_of_as_latex(head: Sequence[str], rows: Sequence[tuple[Row, list[str]]]) -> list[str]:
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
            _line_of_as_latex(["", *head]),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _lines(made: Counts, kind: Kind, row: Row) -> list[str]:
    """Return the values of a row, and under them their intervals."""
    values = [_value(kind, cell) for cell in row.cells]
    under = [_under(kind, cell) for cell in row.cells]
    return [_line_of_as_latex([escaped(row_name(made, row)), *values]), _line_of_as_latex(["", *under])]


def _value(kind: Kind, cell: Cell) -> str:
    result = kind.of(cell)
    return "---" if result is None or result.value is None else escaped(number(result.value))


def _under(kind: Kind, cell: Cell) -> str:
    text = ", ".join(part for part in (interval(kind.of(cell)), kind.more(cell)) if part)
    return rf"{{\scriptsize {escaped(text)}}}" if text else ""


def _line_of_as_latex(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


# A table of counts as Markdown.


def write_markdown(made: Counts) -> str:
    """Return what the table rests on, its tables, and what the flags warn of."""
    lines = [f"# {_plain(f'Counts of {made.query.scope.name}')}", ""]
    lines += [_plain(sentence) for sentence in facts(made)]
    head = ["Row", "Continuations", "Clusters", "Missing"]
    titles = [made.titles[column.key] for column in made.columns]
    for kind in kinds(made):
        body = [
            [
                row_name(made, row),
                f"{row.n_continuations:,}",
                f"{row.n_clusters:,}",
                f"{row.n_missing:,}",
                *(cell_text(kind, cell) for cell in row.cells),
            ]
            for row in rows_of(made, kind)
        ]
        lines += ["", f"## {kind.title}", "", *_table([*head, *titles], body)]
    if found := distances(made):
        rows = [[name, *texts] for name, texts in found]
        lines += ["", "## Distance from people", "", *_table(["Row", *DISTANCES.values()], rows)]
    missing = [
        [row_name(made, row), made.titles[cell.column.key], bounds(cell)]
        for row in made.table.rows
        for cell in row.cells
        if bounds(cell)
    ]
    if missing:
        lines += ["", "## With all missing at the lowest and at the highest", ""]
        lines += _table(["Row", "Column", "Between"], missing)
    if noted := flags(made):
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
