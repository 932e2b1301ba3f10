"""From marks on turns to counts per continuation, for one voice or several.

A voice is one person, or one sample of a judge. Several voices count each by itself, and then their mean is
taken. A voice has a count where it answered every turn; where it left one out, what the count could have
been is still known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.counted import Column
from calibration.statistics.judge_errors import Rated

GROUP = "group:"
ANY = "any"


def columns_of(groups: Mapping[str, str], alone: Sequence[str] = ()) -> tuple[Column, ...]:
    """Return the columns of behaviours, given each one's group (empty: none), in order.

    Each behaviour; then the sum of every group with two or more of those that do not stand ``alone``; then
    any of them, where they are two or more.
    """
    columns = [Column(key, "alone" if key in alone else "tag") for key in groups]
    tags = {column.key: at for at, column in enumerate(columns) if column.kind == "tag"}
    for group in dict.fromkeys(groups[key] for key in tags if groups[key]):
        members = tuple(at for key, at in tags.items() if groups[key] == group)
        if len(members) > 1:
            columns.append(Column(f"{GROUP}{group}", "sum", members, len(members)))
    if len(tags) > 1:
        columns.append(Column(ANY, "any", tuple(tags.values())))
    return tuple(columns)


def by_turn(answers: Floats, columns: Sequence[Column]) -> Floats:
    """Return what each turn adds to each column: turns x columns, from marks of 0 and 1 (turns x behaviours).

    NaN where an answer that the column needs is missing.
    """
    parts = []
    for at, column in enumerate(columns):
        own = answers[:, list(column.members) or [at]]
        parts.append(own.max(axis=1) if column.kind == "any" else own.sum(axis=1))
    return np.column_stack(parts) if parts else np.empty((len(answers), 0))


def counts_of(
    voices: Sequence[Floats], continuation: Ints, n: int, columns: Sequence[Column]
) -> tuple[Floats, Floats, Floats]:
    """Return values, lowest and highest, each continuations x columns.

    ``voices`` are marks, turns x behaviours, NaN where missing; ``continuation`` says whose turn each is.
    """
    shape = (n, len(columns))
    total, known = np.zeros(shape), np.zeros(shape)
    lowest, highest = np.full(shape, np.inf), np.full(shape, -np.inf)
    for answers in voices:
        low, high = (
            _summed(by_turn(np.where(np.isnan(answers), end, answers), columns), continuation, n)
            for end in (0.0, 1.0)
        )
        is_known = low == high
        total += np.where(is_known, low, 0.0)
        known += is_known
        lowest, highest = np.minimum(lowest, low), np.maximum(highest, high)
    values = np.where(known > 0, total / np.maximum(known, 1), np.nan)
    return values, np.where(known > 0, values, lowest), np.where(known > 0, values, highest)


def rated_of(
    judge: Sequence[Floats], people: Sequence[Floats], continuation: Ints, n: int, columns: Sequence[Column]
) -> Rated:
    """Return what people said of the judge's continuations, and how the marks of both meet turn by turn."""
    counts, _, _ = counts_of(people, continuation, n, columns)
    judged, _, _ = counts_of(judge, continuation, n, columns)
    both = ~np.isnan(counts) & ~np.isnan(judged)
    truth, seen = (_mean_by_turn(voices, continuation, n, columns) for voices in (people, judge))
    marked = np.array([column.kind != "sum" for column in columns], dtype=bool)
    use = both[continuation] & marked
    products = (truth, truth * seen, 1 - truth, (1 - truth) * (1 - seen))
    sums = [_summed(np.where(use, product, 0.0), continuation, n) for product in products]
    return Rated(np.where(both, counts, np.nan), *sums)


def _mean_by_turn(voices: Sequence[Floats], continuation: Ints, n: int, columns: Sequence[Column]) -> Floats:
    """Return the mean of what each turn adds over the voices whose count of its continuation is known."""
    shape = (len(continuation), len(columns))
    total, known = np.zeros(shape), np.zeros(shape)
    for answers in voices:
        values, _, _ = counts_of([answers], continuation, n, columns)
        adds = by_turn(answers, columns)
        use = ~np.isnan(values)[continuation] & ~np.isnan(adds)
        total += np.where(use, adds, 0.0)
        known += use
    return np.asarray(total / np.where(known > 0, known, np.nan))


def _summed(rows: Floats, continuation: Ints, n: int) -> Floats:
    columns = [np.bincount(continuation, weights=column, minlength=n) for column in rows.T]
    return np.column_stack(columns) if columns else np.empty((n, 0))
