"""The tables of an Answers report, which every form shows alike: figures, counts and words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from annotation.text.numbers import number
from calibration.answers.sheet import Figure
from calibration.statistics import Result


@dataclass(frozen=True)
class Versus:
    """A figure, and how far it is from the one that it is held against."""

    figure: Figure
    difference: Figure


@dataclass(frozen=True)
class Range:
    """Two ends between which a value lies, whatever the missing answers are."""

    low: float | None
    high: float | None


Cell: TypeAlias = "Figure | Versus | Range | str | int"


@dataclass(frozen=True)
class Line:
    """A row of a table: its name, its cells, and whether it is set back."""

    name: str
    cells: tuple[Cell, ...]
    is_baseline: bool = False


@dataclass(frozen=True)
class Table:
    """A table. In one that is ``printed`` figures are per cent with the standard deviation over trials, as in
    the paper; elsewhere shares with interval and n. ``folds`` says that a page may fold it.
    """

    key: str
    title: str
    heads: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    printed: bool = False
    folds: bool = False


def cell_text(cell: Cell, printed: bool = False) -> str:
    """Return a cell as people read it on one line."""
    if isinstance(cell, str | int):
        return words(cell)
    if isinstance(cell, Range):
        return value_text(cell)
    figure = figure_of(cell)
    assert figure is not None
    value = value_text(cell, printed)
    if printed or figure.value is None:
        return value
    told = (value, spread(figure), interval(figure.result), f"n {figure.result.n_items:,}")
    return " ".join(part for part in told if part)


def value_text(cell: Cell, printed: bool = False) -> str:
    """Return what a cell says first: its value; in per cent with the spread or difference where printed."""
    if isinstance(cell, str | int):
        return words(cell)
    if isinstance(cell, Range):
        same = cell.low == cell.high
        return number(cell.low) if same else f"{number(cell.low)} to {number(cell.high)}"
    if isinstance(cell, Versus):
        moved = cell.difference.value
        told = "" if moved is None else f" ({_signed(100 * moved)})"
        return f"{_percent(cell.figure)}{told}"
    if not printed:
        return number(cell.value)
    return f"{_percent(cell)} ({number(100 * cell.sd)})" if cell.sd is not None else _percent(cell)


def words(cell: str | int) -> str:
    """Return words as they are, and a count with its thousands apart."""
    return f"{cell:,}" if isinstance(cell, int) else cell


def figure_of(cell: Cell) -> Figure | None:
    """Return the figure of a cell, None where it has none."""
    if isinstance(cell, Versus):
        return cell.figure
    return cell if isinstance(cell, Figure) else None


def spread(figure: Figure) -> str:
    """Return the standard deviation over trials in words, '' without one."""
    return "" if figure.sd is None else f"sd {number(figure.sd, 3)}"


def interval(result: Result, scale: float = 1.0) -> str:
    """Return an interval in brackets, '' where there is none."""
    if result.low is None or result.high is None:
        return ""
    return f"[{number(scale * result.low)}, {number(scale * result.high)}]"


def _percent(figure: Figure) -> str:
    return number(None if figure.value is None else 100 * figure.value)


def _signed(value: float) -> str:
    told = number(value)
    return told if value < 0 or float(f"{value:.2f}") == 0 else f"+{told}"


def results(tables: Sequence[Table]) -> Iterator[tuple[str, Result]]:
    """Yield every result of tables with the name of its place."""
    for table in tables:
        for line in table.lines:
            for head, cell in zip(table.heads, line.cells, strict=True):
                if (figure := figure_of(cell)) is not None:
                    yield f"{line.name}, {head}", figure.result


def reasons(tables: Sequence[Table]) -> list[str]:
    """Return why figures are undefined, each reason once, in order, with the first place that has it."""
    found: dict[str, str] = {}
    for place, result in results(tables):
        if result.value is None:
            found.setdefault(result.reason, place)
    return [f"{place}: {reason}" for reason, place in found.items()]


def flags(tables: Sequence[Table]) -> list[str]:
    """Return the flags of all figures, each once, in order."""
    return list(dict.fromkeys(flag for _, result in results(tables) for flag in result.flags))
