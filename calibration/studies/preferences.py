"""What the votes of a study say of systems and of raters, as its report keeps it."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.preferences import sheets as made
from calibration.preferences.sheets import Cell, Sheet
from calibration.preferences.wording import who
from calibration.reading.compared import Compared
from calibration.reading.definitions import Definition
from calibration.reports.figure import Figure
from calibration.reports.preferences import PreferenceRow, PreferenceSheet, PreferenceTable
from calibration.statistics import Result
from calibration.statistics.preferences.report import preferences

ITEMS, CLUSTERS = "Items", "Clusters"
COUNTED = (ITEMS, CLUSTERS, "Raters")
"""Columns that say what a line rests on: they stand with every line of a report anyway."""


def preference_tables(compared: Sequence[Compared], definition: Definition) -> tuple[PreferenceTable, ...]:
    """Return the tables of every question that compares responses."""
    return tuple(_table(one, definition) for one in compared)


def _table(compared: Compared, definition: Definition) -> PreferenceTable:
    asked = compared.question
    try:
        found = preferences(compared.votes, definition.preferences, definition.plan)
    except ValueError as error:
        return PreferenceTable(asked.ref, asked.title, asked.item_kind, (), (), str(error))
    told = tuple(who(voters) for voters in found.voters)
    sheets = tuple(_sheet(sheet, asked.title) for sheet in made.sheets(found))
    return PreferenceTable(asked.ref, asked.title, asked.item_kind, told, sheets)


def _sheet(sheet: Sheet, title: str) -> PreferenceSheet:
    """Return a table as reports draw it: what a line is about first, then numbers alone."""
    texts = [at for at, cell in enumerate(sheet.rows[0]) if isinstance(cell, str)]
    shown = [at for at, head in enumerate(sheet.head) if at not in texts and head not in COUNTED]
    return PreferenceSheet(
        sheet.key,
        sheet.title,
        sheet.of,
        " · ".join(sheet.head[at] for at in texts),
        sheet.note,
        tuple((_name(sheet, at), sheet.head[at]) for at in shown),
        tuple(_row(sheet, row, texts, shown, title) for row in sheet.rows),
    )


def _name(sheet: Sheet, at: int) -> str:
    """Return what the figures of a column are called in files."""
    result = next((row[at] for row in sheet.rows if isinstance(row[at], Result)), None)
    name = result.name if isinstance(result, Result) else sheet.head[at].lower().replace(" ", "_")
    return f"preference_{name}"


def _row(
    sheet: Sheet, row: tuple[Cell, ...], texts: Sequence[int], shown: Sequence[int], title: str
) -> PreferenceRow:
    of = dict(zip(sheet.head, row, strict=True))
    about = " · ".join(str(row[at]) for at in texts)
    cells = tuple(_figure(row[at], _name(sheet, at), about, sheet.of, title) for at in shown)
    return PreferenceRow(about, _whole(of.get(ITEMS)), _whole(of.get(CLUSTERS)), cells)


def _figure(cell: Cell, name: str, about: str, of: str, title: str) -> Figure | None:
    if isinstance(cell, Result):
        figure = Figure.of(cell, raters=tuple(filter(None, (of, about))), question=title)
        return Figure(**vars(figure) | {"name": name})
    if isinstance(cell, int):
        return Figure(name, float(cell), raters=tuple(filter(None, (of, about))), question=title)
    return None


def _whole(cell: Cell) -> int:
    return cell if isinstance(cell, int) else 0
