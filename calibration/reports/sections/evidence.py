"""How far raters who gave the same answer point at the same turns and words."""

from __future__ import annotations

from collections.abc import Iterator

from calibration.reports.contents import EvidenceRow, EvidenceTable
from calibration.reports.figures import crowd, figures
from calibration.reports.sections.base import Asked, Line, Section, View, chosen, headed
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import Row, Table, noted
from calibration.reports.wording import Crowd, counted, listed
from calibration.statistics.evidence.overlap import ALL
from calibration.statistics.evidence.overlap import FIGURES as EVIDENCE_FIGURES

KEY = "evidence"


def views(result: Snapshot, asked: Asked | None = None) -> list[View]:
    """Return a table a question: people with each other, and every other rater with them."""
    who = crowd(figures(result))
    shown, switches = chosen(headed(result, result.evidence), KEY, asked)
    return [View(_table(title, table, who), tuple(_what(table)), switches) for title, table in shown]


def _table(title: str, table: EvidenceTable, who: Crowd) -> Table:
    names = [name for name in EVIDENCE_FIGURES if table.asks in EVIDENCE_FIGURES[name].applies]
    notes: list[str] = []
    given = table.rows if table.n_pointed else ()
    rows = [_row(title, row, names, notes, who, first=not place) for place, row in enumerate(given)]
    heads = [(name, EVIDENCE_FIGURES[name].heading) for name in names]
    return Table(f"What answers point at: {title}", heads, rows, notes)


def _row(title: str, row: EvidenceRow, names: list[str], notes: list[str], who: Crowd, *, first: bool) -> Row:
    of = {figure.name: figure for figure in row.figures}
    cells = [noted(of.get(name), notes) for name in names]
    from_ = of["evidence_f1"]
    return Row(title, _named(row, who), from_.n_items, from_.n_clusters, cells, first=first)


def _named(row: EvidenceRow, who: Crowd) -> str:
    if row.name:
        return f"{row.name} with {who.many}"
    if row.kind == ALL:
        return f"{listed(row.raters)} with each other"
    return f"{who.many.capitalize()} with each other"


def _what(table: EvidenceTable) -> Iterator[str]:
    yield f"{table.n_pointed:,} of {counted(table.n_answers, 'answer')} that may point at something do."
    if not table.n_pointed:
        return
    yield (
        "Compared are raters who gave the same answer about an item and both point somewhere; every item "
        "counts once."
    )
    if not table.rows:
        yield "One rater answered, so there is nothing to compare."
        return
    yield (
        "F1 is twice what two raters share divided by what the two point at in all, IoU the share of what "
        "either points at that both do. α compares sets of turns by the MASI distance, beyond what pointing "
        "at the same places by chance gives"
        + (": places counted back from the rated turn." if table.item_kind == "turn" else ".")
    )


def lines(result: Snapshot) -> Iterator[Line]:
    """Yield every figure, named `evidence_...`."""
    for table in result.evidence:
        for row in table.rows:
            for figure in row.figures:
                yield table.ref, table.title, figure.name, figure


SECTION = Section(KEY, views, lines)
