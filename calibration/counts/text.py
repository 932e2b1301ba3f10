"""A table of counts for the terminal."""

from __future__ import annotations

from annotation.text.display import number
from calibration.counts.computing import Counts, facts
from calibration.counts.renderings.common import Kind, distances, kinds, rows_of
from calibration.counts.wording import DISTANCES, bounds, flags, interval, row_name
from calibration.reports.terminal import aligned, printable
from calibration.statistics.counts import Cell


def write(made: Counts) -> str:
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
        table.append([made.titles[column.key], *(_cell(kind, row.cells[at]) for row in rows)])
    return aligned(table)


def _cell(kind: Kind, cell: Cell) -> str:
    result = kind.of(cell)
    if result is None or result.value is None:
        return "–"
    return " ".join(part for part in (number(result.value), f"({interval(result)})", kind.more(cell)) if part)
