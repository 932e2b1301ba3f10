"""Preferred systems in a report: computed from votes on pairs and rankings, and shown in tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from calibration.comparisons import preference_tables as sheets_of_preferences
from calibration.comparisons.preference_tables import Cell, Sheet, method_lines, voters_line
from calibration.ratings.definitions import Definition
from calibration.ratings.votes import Compared
from calibration.reports.results import Figure, PreferenceRow, PreferenceSheet, PreferenceTable
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import (
    Count,
    CsvLine,
    PageParams,
    Percent,
    Row,
    Section,
    Table,
    View,
    as_printed,
    headed,
    question_key,
    select_question,
    table_key,
    tabulate,
)
from calibration.statistics.core.engine import Result
from calibration.statistics.preferences import preferences

# Results of a study's votes about systems and raters, as its report stores them.

ITEMS, CLUSTERS = "Items", "Clusters"
BETWEEN = {"meetings": " against "}
"""Separator between the texts of a line, if it is not a comma."""
COUNTED = (ITEMS, CLUSTERS, "Raters")
"""Columns with the basis of a line, which every line of a report shows anyway."""


def preference_tables(compared: Sequence[Compared], definition: Definition) -> tuple[PreferenceTable, ...]:
    """Return the tables of every question that compares responses."""
    return tuple(_preference_table(question, definition) for question in compared)


def _preference_table(compared: Compared, definition: Definition) -> PreferenceTable:
    question = compared.question
    try:
        figures = preferences(compared.votes, definition.preferences, definition.plan)
    except ValueError as error:
        return PreferenceTable(question.ref, question.title, question.item_kind, (), (), str(error))
    voters_lines = tuple(voters_line(voters) for voters in figures.voters)
    sheets = tuple(_sheet(sheet, question.title) for sheet in sheets_of_preferences.sheets(figures))
    caveat = UNWEIGHTED if compared.design.is_unequal else compared.design.problem
    return PreferenceTable(
        question.ref, question.title, question.item_kind, voters_lines, sheets, caveat=caveat
    )


def _sheet(sheet: Sheet, title: str) -> PreferenceSheet:
    """Convert a table to the form of a report: the subject of a line first, then numbers alone."""
    texts = [at for at, cell in enumerate(sheet.rows[0]) if isinstance(cell, str)]
    empty = {at for at in range(len(sheet.head)) if all(row[at] is None for row in sheet.rows)}
    without = empty | set(texts) | {at for at, head in enumerate(sheet.head) if head in COUNTED}
    columns = [at for at in range(len(sheet.head)) if at not in without]
    return PreferenceSheet(
        sheet.key,
        sheet.title,
        sheet.of,
        " and ".join(sheet.head[at].lower() if n else sheet.head[at] for n, at in enumerate(texts)),
        sheet.note,
        tuple((_name(sheet, at), sheet.head[at]) for at in columns),
        tuple(_kept_row(sheet, row, texts, columns, title) for row in sheet.rows),
    )


def _name(sheet: Sheet, at: int) -> str:
    """Return the name of a column's figures in files."""
    result = next((row[at] for row in sheet.rows if isinstance(row[at], Result)), None)
    name = result.name if isinstance(result, Result) else sheet.head[at].lower().replace(" ", "_")
    return f"preference_{name}"


def _kept_row(
    sheet: Sheet, row: tuple[Cell, ...], texts: Sequence[int], columns: Sequence[int], title: str
) -> PreferenceRow:
    of = dict(zip(sheet.head, row, strict=True))
    about = BETWEEN.get(sheet.key, ", ").join(str(row[at]) for at in texts)
    cells = tuple(_figure(row[at], _name(sheet, at), about, sheet.of, title) for at in columns)
    from_ = next((cell for cell in row if isinstance(cell, Result)), None)
    n_items = _as_count(of.get(ITEMS)) if ITEMS in of else (from_.n_items if from_ else 0)
    n_clusters = _as_count(of.get(CLUSTERS)) if CLUSTERS in of else (from_.n_clusters if from_ else 0)
    return PreferenceRow(about, n_items, n_clusters, cells)


def _figure(cell: Cell, name: str, about: str, of: str, title: str) -> Figure | None:
    if isinstance(cell, Result):
        figure = Figure.of(cell, raters=tuple(filter(None, (of, about))), question=title)
        return Figure(**vars(figure) | {"name": name})
    if isinstance(cell, int):
        return Figure(name, float(cell), raters=tuple(filter(None, (of, about))), question=title)
    return None


def _as_count(cell: Cell) -> int:
    return cell if isinstance(cell, int) else 0


# Preferred systems, by people and judges; agreement on them; influence of position.

KEY = "preferences"
COUNTS = {f"preference_{name}" for name in ("wins", "ties", "losses", "decided", "in_both_orders")}
SHARES = {
    f"preference_{name}"
    for name in (
        *("win_rate", "expected_win_rate", "shown_first", "consistent", "for_first", "for_second"),
        *("otherwise", "percent_agreement"),
    )
}
ROUNDED = {"preference_strength", "preference_rank"}
UNWEIGHTED = (
    "People’s items were drawn with unequal probabilities. Preferences have no weighted form: figures with "
    "people are of the answered items only, not of all items."
)
BOTH_WAYS = (
    "Agreement counts every item in both orders, so the numbering of the responses does not matter. Kappa "
    "and alpha in a table of categories use the numbering as it is."
)


@dataclass(frozen=True)
class Rounded(Figure):
    """A number on a wide scale, shown without decimals."""

    digits: ClassVar[int] = 0
    end_digits: ClassVar[int] = 0


def preference_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return the tables of a question: systems, wins between pairs of systems, position, agreement."""
    selected, switches = select_question(headed(result, result.preferences), KEY, params)
    sheet_views: list[View] = []
    for title, table in selected:
        for place, sheet in enumerate(table.sheets):
            remarks = tuple(_preference_remarks(table, sheet, result, is_first=not place))
            key = table_key(KEY, question_key(table.ref), sheet.key, sheet.of)
            sheet_views.append(View(_table(key, title, sheet), remarks, switches if not place else ()))
    return sheet_views


def _table(key: str, title: str, sheet: PreferenceSheet) -> Table:
    rows = [
        Row(row.about, "", row.n_items, row.n_clusters, [cell and shown_as(cell) for cell in row.cells], True)
        for row in sheet.rows
    ]
    return tabulate(key, f"{title}: {sheet.title}", sheet.columns, rows, first=sheet.first)


def shown_as(figure: Figure) -> Figure:
    """Return a figure with the decimals of its kind."""
    if figure.name in COUNTS:
        return as_printed(figure, Count)
    if figure.name in SHARES:
        return as_printed(figure, Percent)
    return as_printed(figure, Rounded if figure.name in ROUNDED else Figure)


def _preference_remarks(
    table: PreferenceTable, sheet: PreferenceSheet, result: Snapshot, *, is_first: bool
) -> Iterator[str]:
    if is_first:
        yield f"{'; '.join(table.voters)}."
        yield from filter(None, [table.caveat])
        yield from method_lines(result.definition.preferences)
    if sheet.key == "agreement":
        yield BOTH_WAYS
    elif sheet.note:
        yield sheet.note


def preference_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield every figure, named `preference_...`, with the voters and the line's subject as raters."""
    for table in result.preferences:
        for sheet in table.sheets:
            for row in sheet.rows:
                for figure in row.cells:
                    if figure is not None:
                        yield CsvLine(table.ref, table.title, figure.name, figure)


PREFERENCES = Section(KEY, "preferred", preference_views, preference_lines, leads=True)
