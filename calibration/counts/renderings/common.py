"""What the written tables share: which figures there are, row by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from calibration.counts.computing import Counts
from calibration.counts.wording import DIGITS, DISTANCES, figure, p_text, row_name
from calibration.statistics.core.result import Result
from calibration.statistics.counts import Cell, Row


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
