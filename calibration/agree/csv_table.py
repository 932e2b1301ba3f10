"""The report as one flat CSV table, every number in full."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.text.table_cells import guarded

COLUMNS = [
    "stratum",
    "question",
    "name",
    "raters",
    "value",
    "low",
    "high",
    "status",
    "reason",
    "flags",
    "n_items",
    "n_clusters",
    "n_raters",
    "n_missing",
    "method",
]


def written(entries: Iterable[Mapping[str, Any]], columns: Sequence[str] = COLUMNS) -> str:
    """Return the table; a text that a spreadsheet would evaluate gets a leading apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for entry in entries:
        flat = {**entry, "raters": ";".join(entry["raters"]), "flags": ";".join(entry["flags"])}
        writer.writerow([_cell(flat.get(column)) for column in columns])
    return out.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str):
        return guarded(value)
    return "" if value is None else value
