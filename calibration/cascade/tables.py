"""A report as tables of figures and words, which every form shows alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from annotation.text.display import number
from calibration.statistics import Result

Cell: TypeAlias = "Result | str | int"
"""A figure with its interval, words, or a count."""


@dataclass(frozen=True)
class Line:
    """A row of a table: its name, its cells, and whether it is a baseline's, which stands in grey."""

    name: str
    cells: tuple[Cell, ...]
    is_baseline: bool = False


@dataclass(frozen=True)
class Table:
    """A table: its key in files, its title, the heads of its columns after the name, and notes below it."""

    key: str
    title: str
    heads: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = field(default=())


def cell_text(cell: Cell) -> str:
    """Return a cell as people read it: a value with its interval and n, or why there is none."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if cell.value is None:
        return number(None)
    return " ".join(part for part in (number(cell.value), interval(cell), f"n {cell.n_items:,}") if part)


def interval(result: Result) -> str:
    """Return an interval in brackets, '' where there is none."""
    if result.low is None or result.high is None:
        return ""
    return f"[{number(result.low)}, {number(result.high)}]"


def reasons(tables: Sequence[Table]) -> list[str]:
    """Return why figures are undefined, each reason once, in order."""
    found = {
        f"{line.name}, {head}: {cell.reason}": None
        for table in tables
        for line in table.lines
        for head, cell in zip(table.heads, line.cells, strict=True)
        if isinstance(cell, Result) and cell.value is None
    }
    return list(found)


def flags(tables: Sequence[Table]) -> list[str]:
    """Return the flags of all figures, each once, in order."""
    found = {
        flag: None
        for table in tables
        for line in table.lines
        for cell in line.cells
        if isinstance(cell, Result)
        for flag in cell.flags
    }
    return list(found)
