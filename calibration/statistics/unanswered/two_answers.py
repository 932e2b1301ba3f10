"""Bounds of statistics of a 2 x 2 table that are no ratio of sums: MCC and Scott's pi.

The people's margin is the same in every way to answer. Where the rater's number of positives is fixed too,
the table has one cell left, the true positives, and both statistics grow with it (their denominators are of
the margins alone). So the extremes are among the tables with the fewest and the most true positives for each
number of the rater's positives, which are found for all of these at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibration.statistics.core.types import Floats
from calibration.statistics.pairwise import mcc_of, pi_of
from calibration.statistics.unanswered.fills import Fills

FORMULAS: dict[str, Callable[[Floats], Floats]] = {"mcc": mcc_of, "scott_pi": pi_of}
MOST_STEPS = 2_000_000_000
"""Above so many additions nothing is computed: tens of thousands of items with many people each."""


def extremes(fills: Fills, key: str) -> tuple[float, float] | None:
    """Return the least and greatest value over all ways to answer that have one; None where none has.

    Raises ValueError where the scale has more than two values, or where it would take too long.
    """
    if fills.k != 2:
        raise ValueError("only for two answers")
    at = fills.positive
    hits = fills.people[:, at]
    most = _most(fills, hits)
    fewest = -_most(fills, -hits)
    marks, base = np.arange(len(most)), fills.table
    values = [FORMULAS[key](_tables(fills, base, marks, found)) for found in (fewest, most)]
    reached = np.concatenate(values)[np.concatenate([np.isfinite(fewest), np.isfinite(most)])]
    defined = reached[np.isfinite(reached)]
    return (float(defined.min()), float(defined.max())) if defined.size else None


def _tables(fills: Fills, base: np.ndarray, marks: np.ndarray, hits: Floats) -> Floats:
    """Return the tables with so many more positives of the rater and so many hits among them."""
    at, other = fills.positive, 1 - fills.positive
    tables = np.empty((len(marks), 2, 2))
    hits = np.where(np.isfinite(hits), hits, 0.0)
    tables[:, at, at] = base[at, at] + hits
    tables[:, other, at] = base[other, at] + marks - hits
    tables[:, at, other] = fills.margin[at] - tables[:, at, at]
    tables[:, other, other] = fills.margin[other] - tables[:, other, at]
    return tables


def _most(fills: Fills, hits: np.ndarray) -> Floats:
    """Return, per number of added positives, the most hits among them; -inf where the number is not reached.

    Items that as many people answered are taken from the best down; the numbers of people are then joined.
    """
    sizes = fills.people.sum(axis=1)
    best = np.zeros(1)
    for size in np.unique(sizes):
        own = sizes == size
        order = np.argsort(-hits[own], kind="stable")
        each = np.repeat(hits[own][order], fills.times[own][order])
        gains = np.concatenate([[0], np.cumsum(each)])
        if len(best) * len(gains) > MOST_STEPS:
            raise ValueError("too many unanswered items")
        joined = np.full(len(best) + int(size) * len(each), -np.inf)
        for taken, gain in enumerate(gains):
            part = slice(taken * int(size), taken * int(size) + len(best))
            joined[part] = np.maximum(joined[part], best + gain)
        best = joined
    return best
