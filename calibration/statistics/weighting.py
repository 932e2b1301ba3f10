"""Labels weighted by how well each rater agrees with the others on some of the items: the dev part.

The weight of a rater is the agreement beyond chance with each other rater on the items both rated there,
averaged over the other raters by the number of those items; none below 0. Agreement is Cohen's kappa (1960)
for categories and kappa with quadratic weights (Cohen 1968) for ordered values, which is Lin's concordance
correlation (1989) and needs no declared scale.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.types import CATEGORIES, Floats, Ints
from calibration.statistics.gold import Chosen, Ties, value_range
from calibration.statistics.pairwise import disagreement_weights, kappa_of

LEAST = 10
EQUAL = 1e-12
"""Sums of weights closer than this are equal: they come in different orders of addition."""


@dataclass(frozen=True)
class Weights:
    """Per rater: the weight, the agreement it comes from (NaN: none could be measured) and on how many items.

    ``n_items`` counts the items learned from that the rater shares with another rater.
    """

    weights: Floats
    agreement: Floats
    n_items: Ints


def learned(ratings: Ratings, learn: npt.NDArray[np.bool_], *, least: int = LEAST) -> Weights:
    """Learn weights from the items that ``learn`` marks; no other item is looked at.

    Two raters are compared where they share ``least`` of these items; a rater compared with nobody has no
    weight. Pairs whose agreement is undefined (both gave one and the same value throughout) are left out.
    """
    block = ratings.values[learn]
    given = ~np.isnan(block)
    k = block.shape[1]
    totals, counts = np.zeros(k), np.zeros(k)
    for one in range(k):
        for other in range(one + 1, k):
            both = given[:, one] & given[:, other]
            n = int(both.sum())
            found = agreement_of(ratings, block[both, one], block[both, other]) if n >= least else np.nan
            if not np.isnan(found):
                totals[[one, other]] += n * found
                counts[[one, other]] += n
    agreement = np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)
    shared = (given & (given.sum(axis=1) > 1)[:, None]).sum(axis=0)
    return Weights(np.maximum(np.nan_to_num(agreement), 0.0), agreement, shared)


def weighted(
    ratings: Ratings, learn: npt.NDArray[np.bool_], *, ties: Ties = "none", least: int = LEAST
) -> Chosen:
    """Return the value with the most weight behind it (categories), or the weighted mean (ordered scales).

    Confidence is its share of the weight; of a mean, 1 less the weighted standard deviation over the largest
    possible one. Ratings of raters without a weight do not count.
    """
    found = learned(ratings, learn, least=least)
    block = np.where(found.weights[None, :] > 0, ratings.values, np.nan)
    if _is_vote(ratings):
        chosen = _vote(ratings, block, found.weights, ties)
    else:
        chosen = _mean(ratings, block, found.weights)
    unknown = (~np.isnan(ratings.values)).any(axis=1) & (chosen.n_ratings == 0)
    nobody = "none of its raters has a weight learned on dev"
    reasons = dict(chosen.reasons) | {int(row): nobody for row in np.flatnonzero(unknown)}
    told = {
        name: {"weight": float(weight), "agreement": float(agreement), "n": int(n)}
        for name, weight, agreement, n in zip(
            ratings.raters, found.weights, found.agreement, found.n_items, strict=True
        )
    }
    return replace(chosen, reasons=reasons, raters=told)


def _is_vote(ratings: Ratings) -> bool:
    return ratings.level in CATEGORIES


def agreement_of(ratings: Ratings, one: Floats, other: Floats) -> float:
    """Return the agreement beyond chance of two raters on items both rated, NaN where it is undefined."""
    if _is_vote(ratings):
        grid, codes = np.unique(np.concatenate([one, other]), return_inverse=True)
        table = np.zeros((1, len(grid), len(grid)))
        np.add.at(table[0], (codes[: len(one)], codes[len(one) :]), 1)
        return float(kappa_of(table, disagreement_weights(len(grid), "unweighted"))[0])
    expected = one.var() + other.var() + (one.mean() - other.mean()) ** 2
    return float(1 - ((one - other) ** 2).mean() / expected) if expected > 0 else np.nan


def _vote(ratings: Ratings, block: Floats, weights: Floats, ties: Ties) -> Chosen:
    grid = np.unique(block[~np.isnan(block)])
    n = (~np.isnan(block)).sum(axis=1)
    votes = np.zeros((len(block), len(grid)))
    for place, value in enumerate(grid):
        votes[:, place] = (block == value) @ weights
    total = votes.sum(axis=1)
    best = votes.max(axis=1, initial=0.0)
    leads = np.isclose(votes, best[:, None], rtol=0, atol=EQUAL) & (n > 0)[:, None]
    tied = leads.sum(axis=1) > 1
    values = np.full(len(block), np.nan)
    if grid.size:
        place = len(grid) - 1 - leads[:, ::-1].argmax(axis=1) if ties == "highest" else leads.argmax(axis=1)
        values[n > 0] = grid[place][n > 0]
    reasons = {}
    if ties == "none":
        values[tied] = np.nan
        for row in np.flatnonzero(tied):
            names = " and ".join(ratings.label(float(value)) for value in grid[leads[row]])
            reasons[int(row)] = f"tie: {names} with the same weight"
    confidence = np.where(n > 0, best / np.where(total > 0, total, 1), np.nan)
    return Chosen(values, confidence, n, tied, ratings.items, f"weighted vote, ties {ties}", reasons=reasons)


def _mean(ratings: Ratings, block: Floats, weights: Floats) -> Chosen:
    n = (~np.isnan(block)).sum(axis=1)
    shares = np.where(np.isnan(block), 0.0, weights[None, :])
    total = np.where(n > 0, shares.sum(axis=1), 1.0)
    values = np.where(n > 0, (np.nan_to_num(block) * shares).sum(axis=1) / total, np.nan)
    away = np.where(np.isnan(block), 0.0, (block - values[:, None]) ** 2)
    spread = np.sqrt((away * shares).sum(axis=1) / total)
    low, high = value_range(ratings, ratings.values)
    largest = (high - low) / 2
    sure = np.clip(1 - spread / largest, 0, 1) if largest > 0 else np.ones(len(n))
    none = np.zeros(len(n), dtype=np.bool_)
    return Chosen(values, np.where(n > 0, sure, np.nan), n, none, ratings.items, "weighted mean")
