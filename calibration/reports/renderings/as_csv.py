"""A report as CSV: one line a figure, unrounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import chain

from annotation.text.table_cells import guarded
from calibration.models import Report
from calibration.reports.sections import SECTIONS, Line
from calibration.reports.snapshot import Snapshot, snapshot_of

COUNTS = ("n_items", "n_clusters", "n_raters", "n_missing")


def write(report: Report) -> str:
    """Return every figure: of the panel, pairs, the judge's test and gaps, then section by section."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head = ["question", "title", "name", "raters", "value", "low", "high", "status", "reason", "flags"]
    writer.writerow([*head, *COUNTS, "method", "part", "inputs_hash"])
    result = snapshot_of(report)
    by_section = (line for section in SECTIONS for line in section.lines(result))
    for ref, title, name, figure in chain(_figures(result), by_section):
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


def _figures(result: Snapshot) -> Iterator[Line]:
    for question in result.questions:
        for figure in question.figures:
            yield question.ref, question.title, figure.name, figure
