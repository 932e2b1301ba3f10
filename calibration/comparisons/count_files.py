"""A table of counts as text, chart and download."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import vl_convert

from annotation.text.display import number
from calibration.comparisons.count_inputs import read
from calibration.comparisons.counts import Counts, CountsRow, counts_or_job, facts, open_test, value_text
from calibration.comparisons.responses import CountsSerializer, json_writer
from calibration.renderings import (
    NEEDS,
    aligned,
    escaped,
    interval_text,
    latex_comment,
    latex_headings,
    latex_line,
    latex_small,
    latex_table,
    markdown,
    markdown_table,
    printable,
    records_csv,
    report_renderings,
)
from calibration.reports import charts
from calibration.reports.chart_layout import wrap, wrapped
from calibration.reports.charts import alt
from calibration.reports.kinds import ReportKind
from calibration.statistics.core.engine import FLAGS, Result
from calibration.statistics.corrected_systems import FIGURES as SYSTEM_FIGURES
from calibration.statistics.corrected_systems import TITLES as SYSTEM_TITLES
from calibration.statistics.counts import Cell

# Wording of a table of counts: rows, columns and figures, the same on the page and in every file.

DISTANCES = {
    "tv": "Shape (total variation)",
    "js": "Shape (Jensen-Shannon)",
    "amount": "Amount",
}
DIGITS = {"tv": 3, "js": 3, "amount": 2}


def interval(result: Result | None, digits: int = 2) -> str:
    """Return `0.19 to 0.31`, or `no interval`; empty without a value."""
    if result is None or result.value is None:
        return ""
    return interval_text(result, lambda end: number(end, digits), "no interval")


def figure(result: Result | None, digits: int = 2) -> str:
    """Return `5.24 (4.80 to 5.60)`, the reason why there is no value, or an empty string without a result."""
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


def missing_bounds(counts: Counts) -> list[tuple[str, str, str]]:
    """Return row, column and bounds of each cell with missing values."""
    return [
        (row.name, counts.titles[cell.column.key], text)
        for row in counts.rows
        for cell in row.figures.cells
        if (text := bounds(cell))
    ]


def flags(counts: Counts) -> list[tuple[str, str]]:
    """Return the flags that any figure carries, each with its warning, in the order of the table."""
    raised = set()
    for row in counts.table.rows:
        for cell in row.cells:
            results = [cell.result, cell.corrected, cell.difference.result if cell.difference else None]
            raised |= {flag for result in results if result is not None for flag in result.flags}
        raised |= {flag for result in (row.distance or {}).values() for flag in result.flags}
    for table in system_tables(counts):
        raised |= {flag for _, results in table.rows for result in results for flag in result.flags}
    return [(flag, text) for flag, text in FLAGS.items() if flag in raised]


# The chart of a table of counts: one panel per row, one bar with an interval per column, people as a line.

APART = 3.0
"""Panels share their axis unless one panel's highest bar exceeds another's by more than this factor."""
COLUMNS, BAR, LEAST, HEIGHT, TITLE_SIZE = 3, 22, 120, 150, 12
NAME, NAME_LINE = 150, 13
"""Widest line of a column's name, and the distance of two such lines, in pixels."""


def svg(counts: Counts) -> str:
    """Return the chart as a standalone SVG on white."""
    return charts.on_white(_render_svg(_frozen(counts)))


def inline_svg(counts: Counts) -> str:
    """Return the chart for a page, in the page's colours."""
    return charts.in_page(_render_svg(_frozen(counts)), alt_text(counts))


def alt_text(counts: Counts) -> str:
    """Return the title, and each panel's values, or only the highest of each if there are many."""
    panels = [(row.name, charted_cells(row)) for row in [*_panels(counts), *filter(None, [_people(counts)])]]
    has_many = sum(len(cells) for _, cells in panels) > charts.MOST_SPOKEN
    parts = []
    for name, cells in panels:
        with_value = [cell for cell in cells if cell.result.value is not None]
        if has_many:
            with_value = sorted(with_value, key=lambda cell: -(cell.result.value or 0.0))[:1]
        values = ", ".join(
            f"{counts.titles[cell.column.key]} {number(cell.result.value, 2)}" for cell in with_value
        )
        parts.append(f"{name}: {'highest ' if has_many and values else ''}{values or 'no values'}")
    return f"{title(counts)}, {_axis_title(counts)}. {'; '.join(parts)}."


def png(counts: Counts) -> bytes:
    """Return the chart as a PNG at twice the page's size."""
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


def charted_cells(row: CountsRow) -> list[Cell]:
    """Return the cells drawn as bars: behaviours and scores, no sums."""
    return [cell for cell in row.figures.cells if cell.column.kind in ("tag", "alone", "score")]


def own_axes(counts: Counts) -> bool:
    """Whether one panel's highest bar is over three times another's."""
    highest = [
        max((cell.result.value or 0.0 for cell in charted_cells(row)), default=0.0) for row in _panels(counts)
    ]
    return bool(highest) and max(highest) > APART * min(highest)


def _panels(counts: Counts) -> list[CountsRow]:
    """Return the rows drawn as panels: people's row only if there is no other."""
    return [row for row in counts.rows if not row.figures.human] or list(counts.rows)


def _people(counts: Counts) -> CountsRow | None:
    """Return people's row if it is drawn as a line in the other panels, else None."""
    panels = _panels(counts)
    return next((row for row in counts.rows if row.figures.human and row not in panels), None)


def _frozen(counts: Counts) -> str:
    """Serialise the chart to a JSON text, the cache key of its SVG."""
    people = _people(counts)
    line = {} if people is None else {cell.column.key: cell.result.value for cell in charted_cells(people)}
    panels = [
        {
            "title": row.name,
            "bars": [_bar(counts, cell, line.get(cell.column.key)) for cell in charted_cells(row)],
        }
        for row in _panels(counts)
    ]
    return json.dumps(
        {
            "panels": panels,
            "axis": _axis_title(counts),
            "own": own_axes(counts),
            "people": people is not None,
        }
    )


def _axis_title(counts: Counts) -> str:
    if not counts.is_turns:
        return "mean score"
    return f"per {counts.query.per_turns} turns" if counts.query.per_turns else "turns per continuation"


def _bar(counts: Counts, cell: Cell, people: float | None) -> dict[str, Any]:
    return {
        "column": wrapped(counts.titles[cell.column.key], NAME),
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
    columns = 1 if panels and _width(content["panels"][0]) > 2 * LEAST * 2 else COLUMNS
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
    width = _width(panel)
    heading = wrap(panel["title"], width + 30, TITLE_SIZE * 1.1)
    head = alt.TitleParams(heading, anchor="start", fontSize=TITLE_SIZE, color=charts.INK, fontWeight=600)
    return alt.layer(*layers).properties(width=width, height=HEIGHT, title=head)


def _width(panel: dict[str, Any]) -> int:
    """Return the width of a panel, whose bars stand as far apart as the lines of their names need."""
    n_lines = max((bar["column"].count("\n") + 1 for bar in panel["bars"]), default=1)
    return max(LEAST, max(BAR, n_lines * NAME_LINE + 9) * len(panel["bars"]))


def _names(names: list[str]) -> Any:
    axis = charts.names_axis(labelAngle=-50, labelPadding=6, labelLineHeight=NAME_LINE)
    return alt.X("column:N", sort=names, title=None, axis=axis, scale=alt.Scale(domain=names))


# Shared by the written tables: the kinds of figures, row by row.


@dataclass(frozen=True)
class Kind:
    """One kind of table: its title, the result that it shows of each cell, and text appended to it."""

    title: str
    of: Callable[[Cell], Result | None]
    more: Callable[[Cell], str] = lambda cell: ""


def kinds(counts: Counts) -> list[Kind]:
    """Return the kinds of table that have figures."""
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


def rows_of(counts: Counts, kind: Kind) -> list[CountsRow]:
    """Return the rows that a table shows; people have no difference from themselves."""
    return [row for row in counts.rows if any(kind.of(cell) is not None for cell in row.figures.cells)]


def distances(counts: Counts) -> list[tuple[str, list[str]]]:
    """Return one line per row with a distance; the last is that of two random halves of people's."""
    measured = [(row.name, row.figures.distance) for row in counts.rows if row.figures.distance is not None]
    if measured and counts.table.halves is not None:
        measured.append(("two halves of people", counts.table.halves))
    return [(name, [figure(distance[key], DIGITS[key]) for key in DISTANCES]) for name, distance in measured]


# Systems as people would have rated them, and their pairs: the same tables on the page and in every file.


@dataclass(frozen=True)
class SystemTable:
    """A table of results, one row per system or pair and question; `ps` are texts appended to the rows."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Result, ...]], ...]
    ps: tuple[str, ...] = ()

    def lines(self) -> list[list[str]]:
        """Return the rows as texts, a figure with its interval, or the reason why there is none."""
        ends = self.ps or ("",) * len(self.rows)
        return [
            [name, *(figure(result, 3) for result in results), *filter(None, [end])]
            for (name, results), end in zip(self.rows, ends, strict=True)
        ]


def system_tables(counts: Counts) -> list[SystemTable]:
    """Return the corrected figures of the systems, and the differences of their pairs, if there are any."""
    if not counts.systems:
        return []
    names = {row.figures.code: row.name for row in counts.rows}
    is_several = len(counts.systems) > 1

    def name_of(key: str, *codes: int) -> str:
        text = " less ".join(names[code] for code in codes)
        return f"{counts.titles[key]}: {text}" if is_several else text

    systems = tuple(
        (
            f"{name_of(question.key, row.system)} ({row.n_rated:,} of {row.n_items:,} rated)",
            tuple(row.figures[name] for name in SYSTEM_FIGURES),
        )
        for question in counts.systems
        for row in question.result.systems
    )
    unit = "shares of turns" if counts.is_turns else "mean scores"
    tables = [
        SystemTable(
            f"As people would have rated them: {unit}",
            tuple(SYSTEM_TITLES[n] for n in SYSTEM_FIGURES),
            systems,
        )
    ]
    pairs = [(question.key, pair) for question in counts.systems for pair in question.result.pairs]
    if pairs:
        differences = ("judge_difference", "prediction_powered_difference")
        tables.append(
            SystemTable(
                "Differences between systems",
                (*(SYSTEM_TITLES[name] for name in differences), "p, Holm over pairs"),
                tuple((name_of(key, p.first, p.second), (p.judge, p.corrected)) for key, p in pairs),
                tuple(p_text(pair.p_holm) or "–" for _, pair in pairs),
            )
        )
    return tables


# A table of counts for the terminal.


def write_text(counts: Counts) -> str:
    """Return the table transposed, one line per column, so that it fits a terminal's width, and its notes."""
    lines = [counts.query.scope.name, *facts(counts)]
    for kind in kinds(counts):
        rows = rows_of(counts, kind)
        table = [
            ["", *(row.name for row in rows)],
            ["continuations", *(f"{row.figures.n_continuations:,}" for row in rows)],
        ]
        for at, title in enumerate(counts.headings):
            table.append([title, *(_cell_as_text(kind, row.figures.cells[at]) for row in rows)])
        lines += ["", kind.title, *aligned(table)]
    for system_table in system_tables(counts):
        lines += ["", system_table.title, *aligned([["", *system_table.head], *system_table.lines()])]
    if distance_rows := distances(counts):
        table = [["", *DISTANCES.values()], *([name, *texts] for name, texts in distance_rows)]
        lines += ["", "Distance from people", *aligned(table)]
    if missing := missing_bounds(counts):
        lines += ["", "With all missing at the lowest and at the highest", *aligned(missing)]
    if noted := flags(counts):
        lines += ["", *(f"{flag}: {text}" for flag, text in noted)]
    return "\n".join([*map(printable, lines), ""])


def _cell_as_text(kind: Kind, cell: Cell) -> str:
    result = kind.of(cell)
    if result is None or result.value is None:
        return "–"
    return " ".join(part for part in (figure(result), kind.more(cell)) if part)


# A table of counts as CSV: one line per cell and one per distance, unrounded. Also the data of its chart.

HEAD = (
    "human", "column", "value", "low", "high", "n", "n_clusters", "n_missing", "lowest", "highest", "raw",
    "corrected", "corrected_low", "corrected_high", "corrected_method",
    "difference", "difference_low", "difference_high", "p", "p_holm",
    "halves", "halves_low", "halves_high", "flags", "reason",
)  # fmt: skip


def write_csv(counts: Counts) -> str:
    """Return the CSV, with a column `by:KEY` for each key and text guarded against spreadsheet formulas."""
    return records_csv([*(f"by:{key}" for key in counts.query.by), *HEAD], _csv_lines(counts))


def _csv_lines(counts: Counts) -> Iterator[dict[str, Any]]:
    for row in counts.rows:
        place: dict[str, Any] = {
            f"by:{key}": "" if value is None else value_text(value) for key, value in row.by.items()
        }
        place["human"] = int(row.figures.human)
        for cell in row.figures.cells:
            yield place | _cell_as_csv(cell)
        for name, result in (row.figures.distance or {}).items():
            halves = counts.table.halves[name] if counts.table.halves else None
            yield place | {"column": f"distance:{name}"} | _figure(result) | _with_bounds("halves", halves)
        yield from ({**place, **line} for line in _system_lines(counts, row))


def _system_lines(counts: Counts, row: CountsRow) -> Iterator[dict[str, Any]]:
    """Yield a system's corrected figures and its differences from the systems after it."""
    names = {other.figures.code: other.name for other in counts.rows}
    for question in counts.systems:
        for system in question.result.systems:
            if system.system == row.figures.code:
                for name, result in system.figures.items():
                    yield {"column": f"system:{name}:{question.key}"} | _figure(result)
        for pair in question.result.pairs:
            if pair.first == row.figures.code:
                place = f"{question.key}:{names[pair.second]}"
                yield {"column": f"system:judge_difference:{place}"} | _figure(pair.judge)
                column = {
                    "column": f"system:corrected_difference:{place}",
                    "p": pair.p,
                    "p_holm": pair.p_holm,
                }
                yield column | _figure(pair.corrected)


def _cell_as_csv(cell: Cell) -> dict[str, Any]:
    line = {"column": cell.column.key} | _figure(cell.result)
    line |= {"lowest": cell.lowest, "highest": cell.highest, "raw": cell.raw}
    line |= _with_bounds("corrected", cell.corrected)
    if cell.corrected is not None:
        line["corrected_method"] = cell.corrected.method
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
        "reason": result.reason,
    }


def _with_bounds(name: str, result: Result | None) -> dict[str, Any]:
    if result is None:
        return {}
    return {name: result.value, f"{name}_low": result.low, f"{name}_high": result.high}


# A table of counts as LaTeX (booktabs), to be included in a paper.


def write_latex(counts: Counts) -> str:
    """Return one table per kind of figure: values over their intervals, people's row first and set apart."""
    lines = [latex_comment(text) for text in (counts.query.scope.name, *facts(counts))]
    lines.append(f"{NEEDS}; under each value its interval")
    head = latex_headings([escaped(title) for title in counts.headings])
    for kind in kinds(counts):
        lines += [
            latex_comment(kind.title),
            *latex_table(f"l{'r' * len(head)}", ["", *head], _latex_body(counts, kind)),
        ]
    for table in system_tables(counts):
        body = [latex_line(map(escaped, line)) for line in table.lines()]
        head = ["", *map(escaped, table.head)]
        lines += [latex_comment(table.title), *latex_table(f"l{'r' * len(table.head)}", head, body)]
    if distance_rows := distances(counts):
        body = [latex_line(map(escaped, (name, *texts))) for name, texts in distance_rows]
        head = ["", *map(escaped, DISTANCES.values())]
        lines += ["% Distance from people", *latex_table(f"l{'r' * len(DISTANCES)}", head, body)]
    return "\n".join([*lines, ""])


def _latex_body(counts: Counts, kind: Kind) -> list[str]:
    """Return the values of each row with their intervals below."""
    body: list[str] = []
    rows = rows_of(counts, kind)
    for row in rows:
        cells = row.figures.cells
        body.append(latex_line([escaped(row.name), *(_latex_value(kind.of(cell)) for cell in cells)]))
        body.append(
            latex_line(["", *(latex_small(_joined(interval(kind.of(c)), kind.more(c))) for c in cells)])
        )
        if row.figures.human and row is not rows[-1]:
            body.append(r"\midrule")
    return body


def _latex_value(result: Result | None) -> str:
    return "---" if result is None or result.value is None else escaped(number(result.value))


# A table of counts as Markdown.


def write_markdown(counts: Counts) -> str:
    """Render the facts, the tables and the meaning of their flags."""
    lines = [f"# {markdown(f'Counts of {counts.query.scope.name}')}", ""]
    lines += map(markdown, facts(counts))
    head = ["Row", "Continuations", "Clusters", "Missing", *counts.headings]
    for kind in kinds(counts):
        rows = [
            [
                row.name,
                *(
                    f"{n:,}"
                    for n in (row.figures.n_continuations, row.figures.n_clusters, row.figures.n_missing)
                ),
                *(_joined(figure(kind.of(cell)), kind.more(cell)) for cell in row.figures.cells),
            ]
            for row in rows_of(counts, kind)
        ]
        lines += _section(kind.title, head, rows)
    for table in system_tables(counts):
        lines += _section(table.title, ["Row", *table.head], table.lines())
    if distance_rows := distances(counts):
        rows = [[name, *texts] for name, texts in distance_rows]
        lines += _section("Distance from people", ["Row", *DISTANCES.values()], rows)
    if missing := missing_bounds(counts):
        title = "With all missing at the lowest and at the highest"
        lines += _section(title, ["Row", "Column", "Between"], missing)
    if noted := flags(counts):
        lines += ["", *(f"- {markdown(flag)}: {markdown(text)}" for flag, text in noted)]
    return "\n".join([*lines, ""])


def _section(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return ["", f"## {title}", "", *markdown_table(head, rows)]


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


# Download formats of a table of counts, and its kind of report.

RENDERINGS = report_renderings(
    write_csv, write_markdown, write_latex, json_writer(CountsSerializer), svg, png
)

COUNTS = ReportKind(
    "counts",
    "Behaviour counts",
    read,
    counts_or_job,
    RENDERINGS,
    open_test,
)
