"""Tables of counts from plain numbers, for the tests of counts and of their corrections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.statistics import Plan
from calibration.statistics.counts import Column, Counted, Row, table

PLAN = Plan(resamples=200)
HUMAN, MODEL = 0, 1


def counted(
    values: Sequence[Sequence[float]] | np.ndarray,
    *,
    dialogues: Sequence[object] | None = None,
    clusters: Sequence[object] | None = None,
    strata: Sequence[object] | None = None,
    turns: float | Sequence[float] = 30.0,
    kind: str = "tag",
) -> Counted:
    """Return counts of continuations x behaviours; by default each continuation is a dialogue of its own."""
    rows = np.asarray(values, np.float64)
    n = len(rows)
    lengths = np.broadcast_to(np.asarray(turns, np.float64), (n,)).copy()
    highest = np.where(np.isnan(rows), lengths[:, None], rows)
    names = [
        np.array([str(x) for x in given]) if given is not None else None
        for given in (dialogues, clusters, strata)
    ]
    dialogue = names[0] if names[0] is not None else np.arange(n).astype(str)
    return Counted(
        tuple(Column(f"b{number}", kind) for number in range(rows.shape[1])),  # type: ignore[arg-type]
        dialogue,
        names[1] if names[1] is not None else dialogue,
        names[2] if names[2] is not None else np.full(n, ""),
        lengths,
        rows,
        np.where(np.isnan(rows), 0.0, rows),
        highest,
    )


def only(made: object) -> Row:
    (row,) = made.rows  # type: ignore[attr-defined]
    return row


def one_row(given: Counted, **options: object) -> Row:
    """Return the row of continuations that all belong to one system."""
    return only(table(given, np.full(len(given), MODEL), plan=PLAN, **options))  # type: ignore[arg-type]


def paired(seed: int = 0, n: int = 24, per: int = 2, columns: int = 3) -> tuple[Counted, np.ndarray]:
    """Return people's and a model's counts on the same dialogues, `per` dialogues per cluster, two strata."""
    rng = np.random.default_rng(seed)
    dialogue = np.repeat(np.arange(n), 2)
    rows = np.tile([HUMAN, MODEL], n)
    values = rng.poisson(2 + rows[:, None] * np.arange(columns), (2 * n, columns)).astype(float)
    strata = np.where(dialogue // per % 3 == 0, "P", "Q")
    return counted(values, dialogues=dialogue, clusters=dialogue // per, strata=strata), rows


# Worked examples of the documentation page.
