"""A table of counts as JSON: everything, unrounded."""

from __future__ import annotations

import json
from typing import Any

from calibration.counts.computing import Counts, facts
from calibration.counts.wording import by_of
from calibration.statistics.core.result import Result
from calibration.statistics.counts import Cell, Row
from calibration.statistics.differences import Difference


def write(made: Counts) -> str:
    """Return the table as one JSON object."""
    return json.dumps(content(made), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def content(made: Counts) -> dict[str, Any]:
    """Return the table as plain data."""
    query, chosen = made.query, made.chosen
    return {
        "corpus": query.corpus.name,
        "campaign": query.campaign.name if query.campaign else None,
        "part": made.part,
        "computed_at": made.kept.at.isoformat() if made.kept else None,
        "labels_since": bool(made.kept and made.kept.labels_since),
        "calls_since": bool(made.kept and made.kept.calls_since),
        "rater": chosen.name,
        "kind": chosen.kind,
        "simulated": chosen.simulated,
        "questions": [question.ref for question in chosen.questions],
        "by": list(query.by),
        "strata": query.strata or None,
        "n_strata": made.table.n_strata,
        "per_turns": query.per_turns,
        "resamples": query.plan.resamples,
        "seed": query.plan.seed,
        "level": query.plan.level,
        "rows": [_row(made, row) for row in made.table.rows],
        "halves": {name: _result(one) for name, one in made.table.halves.items()}
        if made.table.halves
        else None,
        "no_differences": made.table.no_differences,
        "no_distance": made.table.no_distance,
        "notes": facts(made),
        "looks_at_test": [
            {"by": str(look.by) if look.by else None, "at": look.at.isoformat(), "purpose": look.purpose}
            for look in made.looks
        ],
    }


def _row(made: Counts, row: Row) -> dict[str, Any]:
    return {
        "by": by_of(made, row),
        "human": row.human,
        "fake_model": row.code in made.fakes,
        "n_continuations": row.n_continuations,
        "n_clusters": row.n_clusters,
        "n_missing": row.n_missing,
        "cells": {cell.column.key: _cell(cell) for cell in row.cells},
        "distance": {name: _result(one) for name, one in row.distance.items()} if row.distance else None,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    fixed = cell.corrected
    return {
        "value": cell.result.value,
        "low": cell.result.low,
        "high": cell.result.high,
        "lowest": cell.lowest,
        "highest": cell.highest,
        "corrected": None if fixed is None or fixed.value is None else _result(fixed),
        "difference": _difference(cell.difference),
        "raw": cell.raw,
        "n": cell.result.n_items,
        "n_clusters": cell.result.n_clusters,
        "n_missing": cell.result.n_missing,
        "method": cell.result.method,
        "reason": cell.result.reason,
        "flags": list(cell.result.flags),
        "not_corrected": fixed.reason if fixed is not None and fixed.value is None else "",
        "no_difference": cell.difference.result.reason
        if cell.difference is not None and cell.difference.result.value is None
        else "",
    }


def _difference(difference: Difference | None) -> dict[str, Any] | None:
    if difference is None or difference.result.value is None:
        return None
    return _result(difference.result) | {"p": difference.p, "p_holm": difference.p_holm}


def _result(result: Result) -> dict[str, Any]:
    return {
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "method": result.method,
        "n": result.n_items,
        "n_clusters": result.n_clusters,
        "reason": result.reason,
        "flags": list(result.flags),
    }
