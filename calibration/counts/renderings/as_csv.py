"""A table of counts as CSV: one line a cell, and one a distance, unrounded. Also the data of its chart."""

from __future__ import annotations

import csv
import io
from typing import Any

from annotation.text.table_cells import guarded
from calibration.counts.computing import Counts
from calibration.counts.wording import value_text
from calibration.statistics.core.result import Result
from calibration.statistics.counts import Cell

FIGURES = ("value", "low", "high")
HEAD = (
    "human", "column", *FIGURES, "n", "n_clusters", "n_missing", "lowest", "highest", "raw",
    "corrected", "corrected_low", "corrected_high", "corrected_method",
    "difference", "difference_low", "difference_high", "p", "p_holm",
    "halves", "halves_low", "halves_high", "flags", "reason",
)  # fmt: skip


def write(made: Counts) -> str:
    """Return the lines; a column `by:KEY` for each key, text guarded against spreadsheets."""
    out = io.StringIO()
    writer = csv.DictWriter(
        out, [*(f"by:{key}" for key in made.query.by), *HEAD], lineterminator="\n", restval=""
    )
    writer.writeheader()
    for row in made.table.rows:
        place = {
            f"by:{key}": "" if value is None else guarded(value_text(value))
            for key, value in zip(made.query.by, made.by[row.code], strict=True)
        } | {"human": int(row.human)}
        for cell in row.cells:
            writer.writerow(place | _cell(cell))
        for name, result in (row.distance or {}).items():
            halves = made.table.halves[name] if made.table.halves else None
            writer.writerow(
                place | _figure(result) | {"column": f"distance:{name}"} | _named("halves", halves)
            )
    return out.getvalue()


def _cell(cell: Cell) -> dict[str, Any]:
    line = _figure(cell.result) | {
        "column": guarded(cell.column.key),
        "lowest": cell.lowest,
        "highest": cell.highest,
        "raw": cell.raw,
    }
    if cell.corrected is not None:
        line |= _named("corrected", cell.corrected) | {"corrected_method": cell.corrected.method}
    if cell.difference is not None:
        line |= _named("difference", cell.difference.result)
        line |= {"p": cell.difference.p, "p_holm": cell.difference.p_holm}
    return line


def _figure(result: Result) -> dict[str, Any]:
    return {
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "n": result.n_items,
        "n_clusters": result.n_clusters,
        "n_missing": result.n_missing,
        "flags": " ".join(result.flags),
        "reason": guarded(result.reason),
    }


def _named(name: str, result: Result | None) -> dict[str, Any]:
    if result is None:
        return {}
    return {name: result.value, f"{name}_low": result.low, f"{name}_high": result.high}
