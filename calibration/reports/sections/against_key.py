"""Against the key: raters of a question beside its answer key, with baselines and confusion matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from calibration.reports.charts import Chart, Point
from calibration.reports.contents import Figure, KeyRow, KeyTable
from calibration.reports.figures import worded
from calibration.reports.sections.base import Asked, Count, Line, Section, View, chosen, count, headed
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import Row, Table, noted
from calibration.statistics.core.types import CATEGORIES
from calibration.statistics.keys import DIFFERENCE, FIGURES, MAJORITY, OF_DEV

KEY = "key"
MOST_SHOWN = 10
"""Values of an ordered scale up to which answers are tabulated; of categories all are."""
KINDS = {"human": "person", "key": "answer key"}
HEADINGS = {
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "kappa": worded("cohen_kappa").heading,
    "mcc": worded("mcc").heading,
}
COLUMNS = [
    ("missing", "Missing"),
    *((name, HEADINGS[name]) for name in FIGURES),
    (DIFFERENCE, "Less best baseline"),
]


def views(result: Snapshot, asked: Asked | None = None) -> list[View]:
    """Return a table a question and key, with the matrices; on the page that of the question asked for."""
    shown, switches = chosen(headed(result, result.keys), "against", asked)
    found: list[View] = []
    for title, table in shown:
        matrices = [row for row in table.rows if row.n] if _has_matrices(table) else []
        on_page = asked is not None and bool(matrices)
        template = "calibration/_confusions.html" if on_page else ""
        data = [_confusion(title, table, row) for row in matrices] if on_page else None
        found.append(View(_table(title, table), tuple(_what(table)), switches, template, data))
        if asked is None and matrices:
            found.append(View(_met(title, table, matrices)))
    return found


def _has_matrices(table: KeyTable) -> bool:
    return table.level in CATEGORIES or len(table.values) <= MOST_SHOWN


def _table(title: str, table: KeyTable) -> Table:
    notes: list[str] = []
    rows = [_row(row, notes) for row in (*table.rows, *table.baselines)]
    return Table(f"Against the key: {title} ({table.key})", COLUMNS, rows, notes, first="Rater")


def _row(row: KeyRow, notes: list[str]) -> Row:
    of = row.figures[0]
    missing = count("missing", row.missing) if row.kind != "baseline" else None
    cells = [noted(cell, notes) for cell in (missing, *row.figures, row.difference)]
    return Row(row.rater, KINDS.get(row.kind, row.kind), row.n, of.n_clusters, cells, first=True)


def _confusion(title: str, table: KeyTable, row: KeyRow) -> Table:
    """Return how often each value of the key met each of the rater's, but for values that neither gave."""
    given = [n for n, counts in enumerate(row.matrix) if sum(counts) or any(r[n] for r in row.matrix)]
    columns = [(table.values[n], table.values[n]) for n in given]
    rows = [_counts(table, row)[n] for n in given]
    rows = [replace(one, cells=[one.cells[n] for n in given]) for one in rows]
    heading = f"{title}: {table.key} (rows) and {row.rater} (columns)"
    return Table(heading, columns, rows, first=table.key)


def _met(title: str, table: KeyTable, raters: Sequence[KeyRow]) -> Table:
    """Return the same of all raters in one table, for files: a rater's rows are the key's values."""
    columns = [(value, value) for value in table.values]
    rows = [
        replace(row, question=rater.rater, who=f"{table.key}: {row.question}", first=number == 0)
        for rater in raters
        for number, row in enumerate(_counts(table, rater))
    ]
    heading = f"Answers by value of the key: {title} ({table.key})"
    return Table(heading, columns, rows, first="Rater")


def _counts(table: KeyTable, row: KeyRow) -> list[Row]:
    """Return a row a value of the key, with the number of items that got each value from a rater."""
    clusters = row.figures[0].n_clusters
    found = []
    for value, counts in zip(table.values, row.matrix, strict=True):
        met = zip(table.values, counts, strict=True)
        cells: list[Figure | None] = [Count(other, float(n)) for other, n in met]
        found.append(Row(value, "", sum(counts), clusters, cells, first=True))
    return found


def _what(table: KeyTable) -> Iterator[str]:
    if table.reason:
        yield f"{table.reason[:1].upper()}{table.reason[1:]}."
        return
    yield (
        f"Items that {table.key} and the rater both answered; missing are those that only the key answers. "
        "Who answered an item several times is read by the first answer."
    )
    yield "Balanced accuracy: the mean, over the values of the key, of the share answered rightly."
    yield (
        "Less best baseline: the rater’s accuracy less that of the baseline that is right most often on the "
        "same items, on the same resamples."
    )
    yield (
        f"The {MAJORITY} value is chosen on the items it is scored on, and is therefore slightly optimistic; "
        "random is what answers drawn evenly from all values reach on average."
    )
    if any(row.rater.startswith(OF_DEV) for row in table.baselines):
        yield f"The {OF_DEV} was learned on the dev part alone."


def accuracies(result: Snapshot) -> Sequence[Chart]:
    """Return, of the first question with a key, how often each rater and baseline is right."""
    for title, table in headed(result, result.keys):
        rows = [*table.rows, *table.baselines]
        points = [_point(row, row.figures[0]) for row in rows if row.n]
        if points:
            axis = f"Accuracy against {table.key}, intervals over dialogues"
            return [Chart("against-key", f"Right answers on {title}", axis, tuple(points))]
    return ()


def _point(row: KeyRow, of: Figure) -> Point:
    return Point(
        row.rater,
        "accuracy",
        of.value,
        of.low,
        of.high,
        of.n_items,
        of.n_clusters,
        of.reason if not of.ok else "",
    )


def lines(result: Snapshot) -> Iterator[Line]:
    """Yield the figures of raters and baselines, and the counts of each matrix."""
    for table in result.keys:
        for row in (*table.rows, *table.baselines):
            for figure in (*row.figures, *([row.difference] if row.difference else [])):
                yield table.ref, table.title, f"key_{figure.name}", figure
            for value, counts in zip(table.values, row.matrix, strict=False):
                for other, n in zip(table.values, counts, strict=True):
                    raters = (f"{table.key}: {value}", f"{row.rater}: {other}")
                    yield (
                        table.ref,
                        table.title,
                        "key_confusion",
                        Count("key_confusion", float(n), raters=raters),
                    )


SECTION = Section(KEY, views, lines, accuracies)
