"""SC-Gini as MPCEval's published code computes it: local novelty and global spread, combined."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judges.metrics.base import Score, Settings, scored
from judges.metrics.threads import torch_on_one_thread
from judges.metrics.tools import Matrix, Tools

Similarities = NDArray[np.float32]


BATCH = 64
"""The published code's batch. Which repeated messages come out at a distance of 0 hangs on it."""


def combined(speakers: list[str], texts: list[str], settings: Settings, tools: Tools) -> Score:
    """Return the Gini of weight * local share + (1 - weight) * global share of each speaker.

    `speakers` and `texts` have an entry per turn. Shares are of the sum over speakers; where one sum is 0 the
    other counts alone, where both are, the score is 0.
    """
    people = sorted(set(speakers))
    if len(people) < 2:
        return scored(0.0)
    names = np.array(speakers)
    similar = similarities(texts, tools)
    novelty = _novelty(similar.astype(np.float64), settings)
    local = np.array([novelty[names == one].sum() for one in people])
    whole = spread(similar)
    change = np.array([max(0.0, whole - spread(_without(similar, names, one))) for one in people])
    shares = _mixed(local, change, settings.number("weight"))
    details = {"spread": whole, "local": gini(local), "global": gini(change)}
    return scored(gini(shares), **details, contributions=dict(zip(people, shares.tolist(), strict=True)))


def similarities(texts: list[str], tools: Tools) -> Similarities:
    """Return cosines as the published code does: float32 products of vectors from padded batches of 64.

    A message and its repetition then have a cosine of 1 or of 1 give or take some 6e-8, as rounding has it.
    """
    import torch

    with torch_on_one_thread():
        rows = torch.from_numpy(tools.embed.encode([text.strip() for text in texts], BATCH))
        return np.asarray((rows @ rows.T).numpy())


def _without(similar: Similarities, names: NDArray[np.str_], speaker: str) -> Similarities:
    kept = np.flatnonzero(names != speaker)
    return similar[np.ix_(kept, kept)]


def spread(similar: Similarities) -> float:
    """Return the mean edge of the spanning tree of 1 - similarity, where an edge of length 0 is no edge.

    A repeated message costs an edge to something else, unless rounding made its distance some 6e-8.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import minimum_spanning_tree

    if len(similar) < 2:
        return 0.0
    distances = np.maximum(1.0 - similar, 0.0)
    np.fill_diagonal(distances, 0.0)
    edges = minimum_spanning_tree(csr_matrix(distances)).data
    return float(edges.mean()) if len(edges) else 0.0


def _novelty(similar: Matrix, settings: Settings) -> Matrix:
    """Return each turn's local novelty: 1 - the mean similarity of its near turns, or of its nearest one.

    Near are those of its `neighbours` nearest turns whose similarity reaches the percentile of all turns'
    nearest similarities.
    """
    apart = similar.copy()
    np.fill_diagonal(apart, -np.inf)
    count = min(settings.integer("neighbours"), len(apart) - 1)
    nearest = -np.sort(-apart, axis=1)[:, :count]
    radius = np.percentile(nearest[:, 0], settings.number("percentile"))
    near = nearest >= radius
    sums = np.where(near, nearest, 0.0).sum(axis=1)
    means = np.where(near.any(axis=1), sums / np.maximum(near.sum(axis=1), 1), nearest[:, 0])
    return 1.0 - means


def _mixed(local: Matrix, change: Matrix, weight: float) -> Matrix:
    if local.sum() <= 0:
        return change / change.sum() if change.sum() > 0 else change
    if change.sum() <= 0:
        return local / local.sum()
    return weight * local / local.sum() + (1 - weight) * change / change.sum()


def gini(values: Matrix) -> float:
    """Return the Gini coefficient, 0 where all values are 0."""
    total = values.sum()
    if total <= 0:
        return 0.0
    return float(np.abs(values[:, None] - values[None, :]).sum() / (2 * len(values) * total))
