"""A report as CSV: one line a figure, unrounded."""

from __future__ import annotations

import csv
import io

from annotation.text.csv_cells import guarded
from calibration.models import Report
from calibration.reports.snapshot import snapshot_of

COUNTS = ("n_items", "n_clusters", "n_raters", "n_missing")


def write(report: Report) -> str:
    """Return every entry of every question: panel, pairs, replacement, gaps."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head = ["question", "title", "name", "raters", "value", "low", "high", "status", "reason", "flags"]
    writer.writerow([*head, *COUNTS, "method", "part", "inputs_hash"])
    for question in snapshot_of(report).questions:
        for figure in question.figures:
            texts = (question.ref, question.title, figure.name, "; ".join(figure.raters))
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
