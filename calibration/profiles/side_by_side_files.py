"""A comparison as JSON, as CSV and for the terminal."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from itertools import chain
from typing import Any

from annotation.text.display import number
from annotation.text.table_cells import guarded
from calibration.profiles.causes import Line
from calibration.profiles.side_by_side import Cell, Column, Comparison, Row
from calibration.reports.terminal import aligned, printable

CELLS = (
    "metric",
    "items",
    "aspect",
    "direction",
    "continuation",
    "system",
    "condition",
    "fake_model",
    "trial",
)
FIELDS = ("dialogue", "at", *CELLS, "turn", "value", "missing", "difference", "against", "causes")
PLUS = "+"


def as_json(made: Comparison) -> dict[str, Any]:
    """Return everything: the context, the columns, and a row per metric."""
    return head_out(made) | {"rows": [row_out(made, row) for row in made.rows]}


def head_out(made: Comparison) -> dict[str, Any]:
    """Return what is compared, without the rows."""
    return {
        "corpus": made.dialogue.corpus.name,
        "dialogue": made.dialogue.key,
        "at": made.chosen.context.at,
        "contexts": [
            {"at": one.at, "given": len(one.given), "continuations": [answer.name for answer in one.answers]}
            for one in made.found
        ],
        "before": [_line_out(line) for line in made.context],
        "n_before": made.n_context,
        "columns": [_column_out(column) for column in made.columns],
        "against": made.against.answer.name,
    }


def _column_out(column: Column) -> dict[str, Any]:
    part = column.answer.continuation
    return {
        "name": column.answer.name,
        "id": part.pk,
        "continuation": part.key,
        "system": part.system.name,
        "human": column.answer.is_human,
        "fake_model": part.fake_model,
        "mode": part.mode,
        "condition": part.condition,
        "trial": part.trial,
        "turn": column.answer.position,
        "turns": [_line_out(line) for line in (column.line, *column.rest)],
        "n_turns": 1 + column.n_rest,
    }


def _line_out(line: Line) -> dict[str, Any]:
    return {"number": line.number, "speaker": line.speaker, "how": line.how, "text": line.text}


def row_out(made: Comparison, row: Row) -> dict[str, Any]:
    """Return a metric with its cells, one for each column."""
    return {
        "metric": row.metric.name,
        "title": row.metric.metric.title,
        "items": row.metric.metric.kind,
        "aspect": str(row.metric.metric.aspect),
        "direction": row.metric.metric.direction,
        "cells": [
            {
                "column": column.answer.name,
                "value": cell.value,
                "missing": cell.missing,
                "difference": cell.difference,
                "causes": list(cell.causes),
                "turns": [place for place, _ in cell.leads],
            }
            for column, cell in zip(made.columns, row.cells, strict=True)
        ],
    }


def as_csv(made: Comparison) -> str:
    """Return one line per metric and continuation; text cells are guarded against spreadsheets."""
    out = io.StringIO()
    writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
    writer.writeheader()
    for row in made.rows:
        for column, cell in zip(made.columns, row.cells, strict=True):
            line = _csv_line(made, row, column, cell)
            writer.writerow(
                {key: guarded(text) if isinstance(text, str) else text for key, text in line.items()}
            )
    return out.getvalue()


def _csv_line(made: Comparison, row: Row, column: Column, cell: Cell) -> dict[str, Any]:
    part, metric = column.answer.continuation, row.metric.metric
    return {
        "dialogue": made.dialogue.key,
        "at": made.chosen.context.at,
        "metric": row.metric.name,
        "items": metric.kind,
        "aspect": str(metric.aspect),
        "direction": metric.direction,
        "continuation": part.key,
        "system": part.system.name,
        "condition": json.dumps(part.condition, ensure_ascii=False, sort_keys=True) if part.condition else "",
        "fake_model": int(part.fake_model),
        "trial": part.trial,
        "turn": column.answer.position if metric.kind == "turn" else None,
        "value": cell.value,
        "missing": cell.missing,
        "difference": cell.difference,
        "against": made.against.answer.name,
        "causes": " · ".join(cell.causes),
    }


def as_text(made: Comparison) -> str:
    """Return the table for a terminal, with the turns above it and the reasons below."""
    columns, base = made.columns, made.against.answer.name
    turns = f"{made.n_context:,} turn{'s' * (made.n_context != 1)}"
    lines = [
        f"{made.dialogue.corpus.name}: {made.dialogue.key}, after {turns}",
        *(f"  {line.speaker}: {line.text}" for line in made.context[-2:]),
        "",
        *chain.from_iterable(_told(column) for column in columns),
    ]
    for section in made.sections:
        head = [section.title, *(column.answer.name for column in columns)]
        rows = [[row.metric.name, *map(_shown, row.cells)] for row in section.rows]
        lines += ["", *aligned([head, *rows])]
    lines += [
        "",
        f"In brackets: the difference from {base}. People's continuation is one of several that are valid.",
    ]
    if not made.rows:
        lines[-1] = "No metric has scored these continuations: manage.py run_metrics scores them."
    if gone := _reasons(made):
        lines += ["", "Without a value:", *gone]
    return "\n".join([*map(printable, lines), ""])


def _told(column: Column) -> list[str]:
    part = column.answer.continuation
    about = [part.system.name, column.condition, "fake model" if part.fake_model else ""]
    return [
        f"{column.answer.name} ({', '.join(filter(None, about))})",
        f"  {column.line.speaker}: {column.line.text}",
    ]


def _shown(cell: Cell) -> str:
    value = cell.value if isinstance(cell.value, str) else number(cell.value, 3)
    return value if cell.difference is None else f"{value} ({signed(cell.difference)})"


def signed(value: float) -> str:
    """Return a difference with its sign, three decimals; nothing has a sign that is shown as zero."""
    text = number(value, 3)
    return f"{PLUS}{text}" if value > 0 and float(f"{value:.3f}") else text


def _reasons(made: Comparison) -> list[str]:
    """Return why values are missing: of whole columns, then metric by metric, each reason once."""
    scored = [at for at, column in enumerate(made.columns) if column.scored]
    lines = [
        f"  {column.answer.name}: no metric was run on it" for column in made.columns if not column.scored
    ]
    for row in made.rows:
        gone: dict[str, list[str]] = {}
        for at in scored:
            if row.cells[at].value is None:
                gone.setdefault(row.cells[at].missing, []).append(made.columns[at].answer.name)
        for reason, names in gone.items():
            of = "" if len(names) == len(scored) else f", {', '.join(names)}"
            lines.append(f"  {row.metric.name}{of}: {reason}")
    return lines if made.rows else []


FILES: dict[str, tuple[Callable[[Comparison], str], str]] = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "json": (
        lambda made: json.dumps(as_json(made), ensure_ascii=False, indent=1) + "\n",
        "application/json; charset=utf-8",
    ),
}
"""How a comparison is downloaded: what writes it, and what it is."""
