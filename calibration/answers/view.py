"""What a page and a file show of an Answers report: its tables as templates read them, and its charts."""

from __future__ import annotations

from typing import Any

from django.utils.safestring import mark_safe

from calibration.answers import charts
from calibration.answers.computing import AnswersReport
from calibration.answers.query import REPORT
from calibration.answers.tables import Cell, Table, figure_of, flags, interval, reasons, spread, value_text
from calibration.statistics.core.result import FLAGS

PERCENT = 100.0


def view_of(made: AnswersReport) -> dict[str, Any]:
    """Return what templates show of a report."""
    drawn = charts.shown(made) if made.query.layout == REPORT else []
    return {
        "made": made,
        "plan": made.query.plan,
        "tables": [_table(table) for table in made.tables],
        "charts": [(chart, mark_safe(svg)) for chart, svg in drawn],
        "reasons": [f"{reason}." for reason in reasons(made.tables)],
        "flags": [(flag, FLAGS.get(flag, flag)) for flag in flags(made.tables)],
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "key": table.key,
        "title": table.title,
        "heads": table.heads,
        "folds": table.folds,
        "lines": [
            (line.name, line.is_baseline, [_cell(cell, table.printed) for cell in line.cells])
            for line in table.lines
        ],
        "notes": table.notes,
    }


def _cell(cell: Cell, printed: bool) -> dict[str, Any]:
    """Return a cell as the template reads it: words, or a figure with what stands below it."""
    figure = figure_of(cell)
    if figure is None:
        return {"kind": "text", "text": value_text(cell)}
    if figure.value is None:
        return {"kind": "none", "text": figure.result.status, "why": figure.result.reason}
    told = interval(figure.result, PERCENT if printed else 1.0) or "no interval"
    return {
        "kind": "figure",
        "text": value_text(cell, printed),
        "below": [told, "" if printed else spread(figure)],
        "n": figure.result.n_items,
    }
