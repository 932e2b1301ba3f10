"""Judges and panels above the baselines, and what panels are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from annotation.text.display import number
from calibration.reports.contents import Figure, Floor, FloorRow, PanelMember, PanelTold
from calibration.reports.figures import crowd, figures, worded
from calibration.reports.sections.base import Asked, Line, Section, View, chosen, count, headed
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import Row, Table, noted
from calibration.reports.wording import Crowd
from calibration.statistics.baselines import BASELINE
from calibration.statistics.beside_people import CHANCE, CORRELATIONS, ERROR, SHARE

KEY = "floor"
DEV = "dev"
ORDER = (SHARE, *CHANCE, *CORRELATIONS, ERROR)
COUNTS = [("n_answered", "Answered"), ("n_ties", "Ties"), ("n_short", "Too few members")]


def heading(figure: str) -> str:
    """Return how a figure is headed."""
    return "Mean error" if figure == ERROR else worded(figure).heading


def views(result: Snapshot, asked: Asked | None = None) -> list[View]:
    """Return a table a question, judges above baselines; then what the panels are."""
    who = crowd(figures(result))
    shown, switches = chosen(headed(result, result.floors), KEY, asked)
    found = [View(_table(title, floor), tuple(_what(floor, who)), switches) for title, floor in shown]
    if result.panels:
        found.append(View(_panels(result), tuple(_made(result.panels))))
    return found


def _table(title: str, floor: Floor) -> Table:
    names = {figure.name for row in floor.rows for figure in row.figures}
    columns = [name for name in ORDER if name in names]
    notes: list[str] = []
    rows = [_row(row, columns, notes) for row in floor.rows]
    heads = [(name, heading(name)) for name in columns]
    return Table(f"Judges above baselines: {title}", heads, rows, notes, first="Rater")


def _row(row: FloorRow, columns: Sequence[str], notes: list[str]) -> Row:
    of = {figure.name: figure for figure in row.figures}
    cells = [noted(of.get(name), notes) for name in columns]
    given = [figure for figure in row.figures if figure.ok] or list(row.figures)
    n_items, n_clusters = (given[0].n_items, given[0].n_clusters) if given else (0, 0)
    name = f"{row.name}: {row.told}" if row.told else row.name
    return Row(name, row.kind, n_items, n_clusters, cells, first=True)


def _what(floor: Floor, who: Crowd) -> Iterator[str]:
    learned = (
        "learned on the dev part alone"
        if floor.learned == DEV
        else f"learned, for each dialogue, from the {who.many} of all other dialogues"
    )
    yield (
        f"Baselines answer without reading, and are nobody: one value throughout, a value drawn as often as "
        f"{who.many} give it (its expectation, no draw), the length of what is rated. They are {learned}, "
        "never from the item’s own answers."
    )
    yield (
        f"Agreement and error: over all pairs with a {who.one}’s rating; ρ and r: with the {who.own} mean. "
        "One value throughout has κ 0, flagged, and neither MCC nor a correlation."
    )
    for row in floor.rows:
        if row.reason:
            yield f"{row.name}: {row.reason}."


def _panels(result: Snapshot) -> Table:
    titles = {one.ref: title for title, one in headed(result, result.panels)}
    notes: list[str] = []
    rows = []
    for told in result.panels:
        cells: list[Figure | None] = [
            count("n_answered", told.n_answered),
            count("n_ties", told.n_ties),
            count("n_short", told.n_short),
        ]
        who = f"{told.rule} of {', '.join(_member(m) for m in told.members) or 'nobody'}"
        rows.append(Row(told.name, f"{titles[told.ref]}: {who}", told.n_answered, 0, cells, first=True))
    return Table("Panels of judges", COUNTS, rows, notes, first="Panel")


def _member(member: PanelMember) -> str:
    if member.weight is None:
        return member.name
    why = "no agreement measured" if member.agreement is None else f"agreement {number(member.agreement)}"
    return f"{member.name} (weight {number(member.weight)}, {why} on {member.n_items:,})"


def _made(panels: Sequence[PanelTold]) -> Iterator[str]:
    least = sorted({told.least for told in panels})
    yield (
        f"A panel answers where {' or '.join(map(str, least))} of its members did; a member without an "
        "answer is left aside. Of a majority, and of weighted categories, a tie is no answer."
    )
    weighted = [told for told in panels if told.basis]
    if weighted:
        yield (
            "Weights are each member’s agreement with people beyond chance, learned on dev alone, none "
            "below 0."
        )
    if any(told.basis == DEV for told in weighted):
        yield "This report shows dev, where the weights were learned: its figures flatter weighted panels."
    for told in panels:
        if told.reason:
            yield f"{told.name} on {told.title}: {told.reason}."


def lines(result: Snapshot) -> Iterator[Line]:
    """Yield the figures of judges and baselines, then the counts and weights of panels."""
    for floor in result.floors:
        for row in floor.rows:
            prefix = "baseline" if row.kind == BASELINE else "floor"
            for figure in row.figures:
                yield floor.ref, floor.title, f"{prefix}_{figure.name}", figure
    for told in result.panels:
        for name, _ in COUNTS:
            figure = count(name, getattr(told, name))
            yield told.ref, told.title, f"panel_{name}", _of(figure, (told.name,))
        for member in told.members:
            if member.weight is not None:
                weight = Figure("panel_weight", member.weight, n_items=member.n_items)
                yield told.ref, told.title, "panel_weight", _of(weight, (told.name, member.name))


def _of(figure: Figure, raters: tuple[str, ...]) -> Figure:
    return replace(figure, raters=raters)


SECTION = Section(KEY, views, lines)
