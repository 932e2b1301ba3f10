"""An Answers report as plain data: what the command prints, the API answers, and JSON files hold."""

from __future__ import annotations

from typing import Any

from calibration.answers.agreement import Agreement
from calibration.answers.computing import AnswersReport
from calibration.answers.figures import CHANCE, RowFigures
from calibration.answers.names import NamesRow
from calibration.answers.sheet import Figure
from calibration.answers.tables import Cell, Range, Table, Versus


def content(made: AnswersReport) -> dict[str, Any]:
    """Return the report as plain data; a figure is {value, low, high, sd, n, ..., reason}."""
    query = made.query
    return {
        "corpus": query.corpus.name,
        "part": made.part,
        "by": list(query.by),
        "score": query.rule,
        "judge": query.judge,
        "sets": list(query.sets),
        "layout": query.layout,
        "resamples": query.plan.resamples,
        "seed": query.plan.seed,
        "level": query.plan.level,
        "random": CHANCE,
        "rows": [_row(row) for row in made.rows],
        "names": [_names(row) for row in made.names],
        "agreement": [_agreement(one) for one in made.agreements],
        "tables": [_table(table) for table in made.tables],
        "facts": list(made.facts),
        "looks_at_test": [
            {"by": str(look.by) if look.by else None, "at": look.at.isoformat(), "purpose": look.purpose}
            for look in made.looks
        ],
    }


def _row(row: RowFigures) -> dict[str, Any]:
    return {
        "system": row.group.system,
        "condition": dict(row.group.condition),
        "script": row.group.script,
        "fake_model": row.group.fake_model,
        "accuracy": row.accuracy.as_dict(),
        "on_shared": row.on_shared.as_dict(),
        "strict": row.strict.as_dict(),
        "lenient": row.lenient.as_dict(),
        "bounds": {"low": row.low.value, "high": row.high.value},
        "by": {
            factor: {value: figure.as_dict() for value, figure in values.items()}
            for factor, values in row.by.items()
        },
        "retrieval": {
            state: told["share"].as_dict() | {"accuracy": told["accuracy"].as_dict()}
            for state, told in row.retrieval.items()
        },
        "oracle_gap": row.gap.as_dict(),
        "abstention": {name: figure.as_dict() for name, figure in row.abstention.items()},
        "shares": {name: figure.as_dict() for name, figure in row.shares.items() if name != "always_e"},
        "always_e": row.shares["always_e"].as_dict(),
        "counts": row.counts.as_dict(),
    }


def _names(row: NamesRow) -> dict[str, Any]:
    return {
        "condition": dict(row.group.condition),
        "script": row.group.script,
        "accuracy": {kind: figure.as_dict() for kind, figure in row.accuracy.items()},
        "differences": [
            {"names": one, "less": other, **figure.as_dict()}
            for (one, other), figure in row.differences.items()
        ],
    }


def _agreement(one: Agreement) -> dict[str, Any]:
    return {
        "judge": one.judge,
        "people": one.people,
        "cohen_kappa": Figure(one.kappa).as_dict(),
        "percent_agreement": Figure(one.equal).as_dict(),
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "key": table.key,
        "title": table.title,
        "columns": list(table.heads),
        "rows": [
            {"name": line.name, "baseline": line.is_baseline, "cells": list(map(_cell, line.cells))}
            for line in table.lines
        ],
        "notes": list(table.notes),
    }


def _cell(cell: Cell) -> Any:
    if isinstance(cell, Versus):
        return cell.figure.as_dict() | {"difference": cell.difference.as_dict()}
    if isinstance(cell, Range):
        return {"low": cell.low, "high": cell.high}
    return cell.as_dict() if isinstance(cell, Figure) else cell
