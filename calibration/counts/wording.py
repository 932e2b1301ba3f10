"""How a table of counts is worded: rows, columns and figures, the same on the page and in every file."""

from __future__ import annotations

from typing import Any

from annotation.text.display import number
from calibration.counts.computing import Counts
from calibration.counts.query import SYSTEM
from calibration.statistics.core.result import FLAGS, Result
from calibration.statistics.counts import Cell, Row
from jobs.fake_models import MARK

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
