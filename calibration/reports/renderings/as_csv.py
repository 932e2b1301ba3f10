"""A report as CSV: one line a figure, unrounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from annotation.text.csv_cells import guarded
from calibration.models import Report
from calibration.reports.snapshot import Figure, Snapshot, snapshot_of

COUNTS = ("n_items", "n_clusters", "n_raters", "n_missing")


def write(report: Report) -> str:
    """Return every figure: of the panel, pairs, the judge's test and gaps, then those of table 7."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head = ["question", "title", "name", "raters", "value", "low", "high", "status", "reason", "flags"]
    writer.writerow([*head, *COUNTS, "method", "part", "inputs_hash"])
    result = snapshot_of(report)
    for ref, title, name, figure in [*_figures(result), *_table_seven(result)]:
        texts = (ref, title, name, "; ".join(figure.raters))
        writer.writerow(
            [
                *(guarded(text) for text in texts),
                *(figure.value, figure.low, figure.high, figure.status),
                guarded(figure.reason),
                " ".join(figure.flags),
                *(figure.n_items, figure.n_clusters, figure.n_raters, figure.n_missing),
                figure.method,
                report.part,
                report.inputs_hash,
            ]
        )
    return out.getvalue()


Line = tuple[str, str, str, Figure]


def _figures(result: Snapshot) -> Iterator[Line]:
    for question in result.questions:
        for figure in question.figures:
            yield question.ref, question.title, figure.name, figure


def _table_seven(result: Snapshot) -> Iterator[Line]:
    """Yield the cells of table 7, named after what they are and their policy."""
    for table in result.tags:
        for row in table.rows:
            ref = f"{table.scheme}/{row.key}"
            cells = [("", row.detected_by_people), ("", row.detected_by_judge)]
            cells += [("judge_", cell) for cell in row.judge] + [("people_", cell) for cell in row.people]
            for side, cell in cells:
                yield ref, row.title, f"table7_{table.policy}_{side}{cell.name}", cell
