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
BETWEEN = {"meetings": " against "}
"""What stands between the texts of a line, where it is no comma."""
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
    empty = {at for at in range(len(sheet.head)) if all(row[at] is None for row in sheet.rows)}
    without = empty | set(texts) | {at for at, head in enumerate(sheet.head) if head in COUNTED}
    shown = [at for at in range(len(sheet.head)) if at not in without]
    return PreferenceSheet(
        sheet.key,
        sheet.title,
        sheet.of,
        " and ".join(sheet.head[at].lower() if n else sheet.head[at] for n, at in enumerate(texts)),
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
    about = BETWEEN.get(sheet.key, ", ").join(str(row[at]) for at in texts)
    cells = tuple(_figure(row[at], _name(sheet, at), about, sheet.of, title) for at in shown)
    from_ = next((cell for cell in row if isinstance(cell, Result)), None)
    n_items = _whole(of.get(ITEMS)) if ITEMS in of else (from_.n_items if from_ else 0)
    n_clusters = _whole(of.get(CLUSTERS)) if CLUSTERS in of else (from_.n_clusters if from_ else 0)
    return PreferenceRow(about, n_items, n_clusters, cells)


def _figure(cell: Cell, name: str, about: str, of: str, title: str) -> Figure | None:
    if isinstance(cell, Result):
        figure = Figure.of(cell, raters=tuple(filter(None, (of, about))), question=title)
        return Figure(**vars(figure) | {"name": name})
    if isinstance(cell, int):
        return Figure(name, float(cell), raters=tuple(filter(None, (of, about))), question=title)
    return None


def _whole(cell: Cell) -> int:
    return cell if isinstance(cell, int) else 0
