"""A report as CSV: one line a figure, unrounded."""

from __future__ import annotations

import csv
import io

from annotation.text.csv_cells import guarded
from calibration.models import Report

COUNTS = ("n_items", "n_clusters", "n_raters", "n_missing")


def write(report: Report) -> str:
    """Return every entry of every question: panel, pairs, replacement, gaps."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head = ["question", "title", "name", "raters", "value", "low", "high", "status", "reason", "flags"]
    writer.writerow([*head, *COUNTS, "method", "part", "inputs_hash"])
    for question in report.result["questions"]:
        for group in ("panel", "pairs", "replacement", "gaps"):
            for entry in question[group]:
                texts = (question["ref"], question["title"], entry["name"], "; ".join(entry["raters"]))
                writer.writerow(
                    [
                        *(guarded(text) for text in texts),
                        *(entry[key] for key in ("value", "low", "high", "status")),
                        guarded(entry["reason"]),
                        " ".join(entry["flags"]),
                        *(entry[key] for key in COUNTS),
                        entry["method"],
                        report.part,
                        report.inputs_hash,
                    ]
                )
    return out.getvalue()
