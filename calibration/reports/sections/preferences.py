"""Which system is preferred, by people and judges; how far they agree on it; whether position matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

from calibration.preferences.wording import how
from calibration.reports.contents import Figure, PreferenceSheet, PreferenceTable
from calibration.reports.sections.base import Asked, Count, Line, Section, View, chosen, headed
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import Row, Table, noted

KEY = "preferences"
COUNTS = {f"preference_{name}" for name in ("wins", "ties", "losses", "decided", "in_both_orders")}
SHARES = {
    f"preference_{name}"
    for name in (
        *("win_rate", "expected_win_rate", "shown_first", "consistent", "for_first", "for_second"),
        *("otherwise", "percent_agreement"),
    )
}
WHOLE = {"preference_strength", "preference_rank"}
BOTH_WAYS = (
    "Agreement reads every item both ways round, so that it does not matter which response bears which "
    "number; kappa and alpha in a table of categories take first and second as they are numbered."
)


@dataclass(frozen=True)
class Share(Figure):
    """A share, in percent."""

    percent: ClassVar[bool] = True


@dataclass(frozen=True)
class Whole(Figure):
    """A number on a wide scale, of which no decimals are shown."""

    digits: ClassVar[int] = 0
    end_digits: ClassVar[int] = 0


def views(result: Snapshot, asked: Asked | None = None) -> list[View]:
    """Return the tables of a question: systems, who beats whom, position, agreement."""
    shown, switches = chosen(headed(result, result.preferences), KEY, asked)
    found: list[View] = []
    for title, table in shown:
        for place, sheet in enumerate(table.sheets):
            said = tuple(_what(table, sheet, result, is_first=not place))
            found.append(View(_table(title, sheet), said, switches if not place else ()))
    return found


def _table(title: str, sheet: PreferenceSheet) -> Table:
    notes: list[str] = []
    rows = [
        Row(row.about, "", row.n_items, row.n_clusters, _cells(row.cells, notes), first=True)
        for row in sheet.rows
    ]
    return Table(f"{title}: {sheet.title}", list(sheet.columns), rows, notes, first=sheet.first)


def _cells(cells: Sequence[Figure | None], notes: list[str]) -> list[Figure | None]:
    return [noted(cell and shown_as(cell), notes) for cell in cells]


def shown_as(figure: Figure) -> Figure:
    """Return a figure with the decimals that its kind is read with."""
    kind = (
        Count
        if figure.name in COUNTS
        else Share
        if figure.name in SHARES
        else Whole
        if figure.name in WHOLE
        else Figure
    )
    return kind(**{one.name: getattr(figure, one.name) for one in fields(figure)})


def _what(
    table: PreferenceTable, sheet: PreferenceSheet, result: Snapshot, *, is_first: bool
) -> Iterator[str]:
    if is_first:
        yield f"{'; '.join(table.voters)}."
        yield from how(result.definition.preferences)
    if sheet.key == "agreement":
        yield BOTH_WAYS
    elif sheet.note:
        yield sheet.note


def lines(result: Snapshot) -> Iterator[Line]:
    """Yield every figure, named `preference_...`, with the voters and what the line is about as raters."""
    for table in result.preferences:
        for sheet in table.sheets:
            for row in sheet.rows:
                for figure in row.cells:
                    if figure is not None:
                        yield table.ref, table.title, figure.name, figure


SECTION = Section(KEY, views, lines, leads=True)
