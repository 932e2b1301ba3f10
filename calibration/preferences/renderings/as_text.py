"""A report of preferences for the terminal and in Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from annotation.text.display import MISSING
from calibration.agree.text import columns
from calibration.agree.words import plain
from calibration.preferences.computing import Asked, Report
from calibration.preferences.sheets import Cell, Sheet, flags_of, reasons_of, sheets
from calibration.preferences.wording import how, told, who, with_interval
from calibration.statistics.core.result import Result

WIDTH = 100
LEFT = frozenset({"System", "Against", "Rater", "Raters", "Answers", "Figure"})


def write(made: Report) -> str:
    """Return the report for a terminal."""
    return _written(made, "", lambda sheet: columns(_rows(sheet), set(sheet.head) - LEFT))


def markdown(made: Report) -> str:
    """Return the report in Markdown."""
    return _written(made, "#", _piped)


def _written(made: Report, mark: str, table: Callable[[Sheet], list[str]]) -> str:
    lines = [f"{mark} {plain(made.name)}".strip(), "", *_wrapped(made.facts)]
    for asked in made.questions:
        if asked.title:
            lines += ["", f"{mark * 2} {plain(asked.title)}".strip()]
        lines += ["", *_wrapped([*map(who, asked.figures.voters), *how(asked.figures.choices)])]
        found = sheets(asked.figures)
        for sheet in found:
            lines += ["", f"{mark * 3} {plain(sheet.title)}".strip(), "", *table(sheet)]
            lines += ["", *_wrapped([sheet.note])] if sheet.note else []
        lines += ["", *_wrapped(notes_of(asked, found))]
    return "\n".join([*lines, ""])


def notes_of(asked: Asked, found: list[Sheet]) -> list[str]:
    """Return what limits the figures, and how their intervals are made."""
    limits = [f"{told(flag)}." for flag in flags_of(found)]
    reasons = [f"{reason[:1].upper()}{reason[1:]}." for reason in reasons_of(found)]
    return [*reasons, *limits, f"Intervals: {asked.figures.plan.method}."]


def _wrapped(sentences: list[str] | tuple[str, ...]) -> list[str]:
    return [line for sentence in sentences for line in textwrap.wrap(plain(sentence), WIDTH)]


def shown(cell: Cell) -> str:
    """Return a cell as text: a figure with its interval, a dash where nothing was measured."""
    if cell is None:
        return MISSING
    if isinstance(cell, Result):
        return with_interval(cell)
    return f"{cell:,}" if isinstance(cell, int) else plain(cell)


def _rows(sheet: Sheet) -> list[list[str]]:
    return [list(sheet.head), *([shown(cell) for cell in row] for row in sheet.rows)]


def _piped(sheet: Sheet) -> list[str]:
    head, *rows = ([text.replace("|", "\\|") for text in row] for row in _rows(sheet))
    ruler = ["---" if name in LEFT else "---:" for name in sheet.head]
    return [f"| {' | '.join(row)} |" for row in (head, ruler, *rows)]
