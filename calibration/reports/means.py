"""Means over pairs of raters, beside the figures of one table of all pairs that a report leads with.

A mean over pairs misleads where raters share few items (docs/statistics/replacement.md), and yet it is what
many papers print: so both stand side by side, each under its own name.
"""

from __future__ import annotations

from collections.abc import Sequence

from calibration.reports.figures import HUMAN, QuestionFigures, figures, worded
from calibration.reports.snapshot import Figure, Snapshot
from calibration.reports.tables import Row, Table, label, noted
from calibration.statistics import STATISTICS
from calibration.statistics.pooled import POOLED

TITLE = "Mean over pairs"
Both = list[Figure | None]


def means(result: Snapshot) -> list[Table]:
    """Return κ and MCC of one table, each beside its mean over pairs of raters; nothing where there is none.

    Rows are people with people, each judge with people, and the judge's gap.
    """
    keys = [key for key in STATISTICS if key in POOLED and key in result.definition.statistics]
    keys = [key for key in keys if key != "percent_agreement"]
    rows: list[Row] = []
    for title, question in label(figures(result)):
        found = [_row(title, question, who, cells) for who, cells in _compared(question, keys)]
        rows += [Row(**(vars(row) | {"first": place == 0})) for place, row in enumerate(found)]
    used = [place for place in range(2 * len(keys)) if any(row.cells[place] for row in rows)]
    notes: list[str] = []
    for row in rows:
        row.cells[:] = [noted(row.cells[place], notes) for place in used]
    headings = [(key, worded(key).heading) for key in keys]
    columns = [
        column
        for key, heading in headings
        for column in ((key, f"{heading}, one table"), (f"mean_{key}", f"{heading}, mean over pairs"))
    ]
    return [Table(TITLE, [columns[place] for place in used], rows, notes)] if rows else []


def _row(title: str, question: QuestionFigures, who: str, cells: Both) -> Row:
    given = [cell for cell in cells if cell]
    items, clusters = max(cell.n_items for cell in given), max(cell.n_clusters for cell in given)
    return Row(title, who, items, clusters, cells, pooled=bool(question.data.pooled))


def _compared(question: QuestionFigures, keys: list[str]) -> list[tuple[str, Both]]:
    """Return who is compared, with both figures of each statistic; of two people alone both are the same."""
    who, judges = question.crowd, question.judging
    people = question.names(HUMAN, identified_only=True)
    found = []
    if len(people) > (1 if judges else 2):
        cells = _both(question, "people", keys, people)
        found.append((question.counted_in(next((cell for cell in cells if cell), None)), cells))
    for judge in judges:
        found.append((f"{judge} with {who.many}", _both(question, "judge", keys, [judge])))
        found.append((f"gap of {judge}", _both(question, "gap", keys, [judge])))
    return [(told, cells) for told, cells in found if any(cell and cell.ok for cell in cells[1::2])]


def _both(question: QuestionFigures, side: str, keys: list[str], first: Sequence[str]) -> Both:
    """Return each statistic's figure of one table and its mean, of those whose raters begin with `first`."""
    own = {entry.name: entry for entry in question.data.gaps if entry.raters[0] in first}
    return [own.get(name) for key in keys for name in (f"{side}_{key}", f"{side}_mean_{key}")]
