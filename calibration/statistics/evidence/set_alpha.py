"""Krippendorff's alpha over sets of turns, with the MASI distance (Passonneau 2006).

alpha = 1 - (n - 1) D / E over the n sets of units with two or more: D adds up, over units, the distances of
its pairs of sets divided by their number less 1, E all distances of two of the n sets. Two sets mean the same
where they hold the same turns as counted by `Stretch`, so chance is that of pointing at the same places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy import sparse

from calibration.statistics.core.resampling import Plan, Resampling
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.evidence.pointing import OVERLAP, SUBSET

MOST_SETS = 3_000
"""Different sets beyond which the table of all distances would be too large."""


def set_alpha(units: Sequence[Sequence[frozenset[int]]], clusters: Ints, plan: Plan) -> tuple[float, Floats]:
    """Return alpha of units with two sets or more, and alpha of each resample of their clusters.

    ``clusters`` has a code from 0 per unit. NaN where all sets are the same. ValueError beyond `MOST_SETS`
    different ones.
    """
    codes = {one: at for at, one in enumerate(dict.fromkeys(s for unit in units for s in unit))}
    if not codes:
        return float("nan"), np.empty(0)
    if len(codes) > MOST_SETS:
        raise ValueError(f"{len(codes):,} different sets of turns: at most {MOST_SETS:,} are compared")
    apart = distances(list(codes))
    n_clusters = int(clusters.max()) + 1
    observed = np.zeros(n_clusters)
    rows, columns = [], []
    for unit, cluster in zip(units, clusters.tolist(), strict=True):
        held = np.array([codes[one] for one in unit])
        observed[cluster] += apart[np.ix_(held, held)].sum() / (len(held) - 1)
        rows += [cluster] * len(held)
        columns += held.tolist()
    shape = (n_clusters, len(codes))
    used = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
    whole = _alpha(np.ones((1, n_clusters)), observed, used, apart)
    chunks = Resampling(plan, np.arange(n_clusters), n_clusters).chunks()
    drawn = [_alpha(part, observed, used, apart) for part in _in_parts(chunks, len(codes))]
    return float(whole[0]), np.concatenate(drawn) if drawn else np.empty(0)


def distances(sets: Sequence[frozenset[int]]) -> Floats:
    """Return 1 - MASI of every two of these sets, none of which is empty."""
    turns = {turn: at for at, turn in enumerate(sorted(set().union(*sets)))}
    members = np.zeros((len(sets), len(turns)))
    for row, held in enumerate(sets):
        members[row, [turns[turn] for turn in held]] = 1.0
    shared = members @ members.T
    sizes = members.sum(axis=1)
    union = sizes[:, None] + sizes[None, :] - shared
    within = (shared == sizes[:, None]) | (shared == sizes[None, :])
    same = (shared == sizes[:, None]) & (shared == sizes[None, :])
    weight = np.where(same, 1.0, np.where(within, SUBSET, OVERLAP))
    return np.asarray(1.0 - weight * shared / union)


def _in_parts(chunks: Iterable[Floats], columns: int) -> Iterator[Floats]:
    """Yield weights in parts whose tables of sets stay small."""
    rows = max(1, 4_000_000 // columns)
    for weights in chunks:
        for start in range(0, len(weights), rows):
            yield weights[start : start + rows]


def _alpha(weights: Floats, observed: Floats, used: sparse.csr_matrix, apart: Floats) -> Floats:
    counts = np.asarray((used.T @ weights.T).T)
    n = counts.sum(axis=1)
    expected = ((counts @ apart) * counts).sum(axis=1)
    some = expected > 1e-9
    return np.where(some, 1 - (n - 1) * (weights @ observed) / np.where(some, expected, 1.0), np.nan)
