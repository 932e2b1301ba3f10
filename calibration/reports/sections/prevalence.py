"""How often a behaviour occurs: by the judge on all items, by people on some, and corrected."""

from __future__ import annotations

from collections.abc import Iterator

from calibration.reports.figures import crowd, figures
from calibration.reports.sections.base import Asked, Line, Section, View
from calibration.reports.snapshot import PrevalenceRow, Snapshot
from calibration.reports.tables import Row, Table, noted
from calibration.reports.wording import Crowd, counted
from calibration.statistics.prevalence import FIGURES as PREVALENCE_FIGURES


def views(result: Snapshot, asked: Asked | None = None) -> list[View]:
    """Return the table of all questions where a judge answered more items than people did."""
    if not result.prevalence:
        return []
    who = crowd(figures(result))
    notes: list[str] = []
    rows: list[Row] = []
    for row in result.prevalence:
        first = not rows or rows[-1].question != row.title
        cells = [noted(entry, notes) for entry in row.figures]
        items = row.n_labelled + row.n_unlabelled
        clusters = row.figures[0].n_clusters
        rows.append(Row(row.title, row.judge, items, clusters, cells, first=first))
    heads = ("Judge says", f"{who.many.capitalize()} say", "Sensitivity", "Specificity")
    columns = list(zip(PREVALENCE_FIGURES, (*heads, "Prediction-powered", "Rogan-Gladen"), strict=True))
    return [View(Table("How often it occurs", columns, rows, notes), _what(result.prevalence, who))]


def _what(rows: tuple[PrevalenceRow, ...], who: Crowd) -> tuple[str, ...]:
    fewest = min(rows, key=lambda row: row.n_labelled)
    divided = max(row.n_divided for row in rows)
    said = (
        f"Shares of items, corrected for the judge's errors on those that {who.many} answered too "
        f"({fewest.n_labelled:,} at least).",
        f"A bad judge does not bias the prediction-powered share if {who.many} answered a random sample; "
        "Rogan-Gladen holds if the judge errs on the rest as it does there.",
        f"{counted(divided, 'cluster')} hold both kinds of items, and count as if they were two."
        if divided
        else "",
    )
    return tuple(filter(None, said))


def lines(result: Snapshot) -> Iterator[Line]:
    """Yield every figure, named `prevalence_...`."""
    for row in result.prevalence:
        for entry in row.figures:
            yield row.ref, row.title, entry.name, entry


SECTION = Section("prevalence", views, lines)
