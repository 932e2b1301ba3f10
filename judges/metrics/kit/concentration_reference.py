"""SC-Gini as MPCEval's published code computes it: local novelty and global spread, combined."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judges.metrics.kit.base import Score, Settings, scored
from judges.metrics.kit.hub import torch_on_one_thread
from judges.metrics.kit.tools import Matrix, Tools

Similarities = NDArray[np.float32]
Members = NDArray[np.intp]


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
    novelty = _novelty(similar, settings)
    local = np.array([novelty[names == one].sum() for one in people])
    whole = spread(similar)
    change = np.array([max(0.0, whole - spread(similar, np.flatnonzero(names != one))) for one in people])
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


def spread(similar: Similarities, members: Members | None = None) -> float:
    """Return the mean edge of the spanning tree of 1 - similarity, where an edge of length 0 is not an edge.

    A repeated message costs an edge to something else, unless rounding made its distance some 6e-8. Of the
    two cosines of a pair, which rounding may tell apart, the one with an edge counts, or the shorter. With
    messages that no edge reaches there are several trees (Prim's algorithm, a row at a time).
    """
    chosen = np.arange(len(similar)) if members is None else members
    nearest = np.full(len(chosen), np.inf, similar.dtype)
    outside = np.ones(len(chosen), bool)
    edges: list[float] = []
    at = 0
    for _ in range(len(chosen) - 1):
        outside[at] = False
        np.minimum(nearest, _edges(similar, chosen, at), out=nearest)
        reach = np.where(outside, nearest, np.inf)
        at = int(reach.argmin())
        if np.isfinite(reach[at]):
            edges.append(float(reach[at]))
        else:  # no edge leads on: the next tree begins anywhere
            at = int(outside.argmax())
    return float(np.mean(edges)) if edges else 0.0


def _edges(similar: Similarities, chosen: Members, at: int) -> Similarities:
    """Return the distances of one message to all, infinite where they are 0."""
    apart = np.maximum(1.0 - np.stack([similar[chosen[at], chosen], similar[chosen, chosen[at]]]), 0.0)
    return np.asarray(np.where(apart > 0, apart, np.inf).min(axis=0))


def _novelty(similar: Similarities, settings: Settings) -> Matrix:
    """Return each turn's local novelty: 1 - the mean similarity of its near turns, or of its nearest one.

    Near are those of its `neighbours` nearest turns whose similarity reaches the percentile of all turns'
    nearest similarities.
    """
    count = min(settings.integer("neighbours"), len(similar) - 1)
    nearest = np.stack([_greatest(row, at, count) for at, row in enumerate(similar)])
    radius = np.percentile(nearest[:, 0], settings.number("percentile"))
    near = nearest >= radius
    sums = np.where(near, nearest, 0.0).sum(axis=1)
    means = np.where(near.any(axis=1), sums / np.maximum(near.sum(axis=1), 1), nearest[:, 0])
    return 1.0 - means


def _greatest(row: Similarities, own: int, count: int) -> Matrix:
    """Return a turn's `count` greatest similarities to other turns, the greatest first."""
    others = np.delete(row, own).astype(np.float64)
    return -np.sort(np.partition(-others, count - 1)[:count])


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
