"""How far a row of continuations is from people's, paired by dialogue."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.statistics.comparison import ROUNDING
from calibration.statistics.comparison import corrected as corrected_p_values
from calibration.statistics.core.result import Result
from calibration.statistics.core.sums import finished
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.counted import Counted
from calibration.statistics.strata import Design, Mask, Sums, mean, mean_of_strata, swaps

NAME = "difference_from_people"
NO_PAIRS = "no dialogue has a value in this row and one by people"


@dataclass(frozen=True)
class Difference:
    """A cell less people's cell over the dialogues that both have, with its p-value, corrected and not.

    ``p`` is None where there is no difference. ``p_holm`` is corrected over the columns of the row.
    """

    result: Result
    p: float | None
    p_holm: float | None


def differences(counted: Counted, design: Design, chosen: Mask, people: Mask) -> list[Difference]:
    """Return a row's differences from people, one a column, all on the same resamples.

    The p-value is two-sided: row and people change places in whole clusters, which are exchangeable if the
    row is as people are; all ways are tried where they are few, as many as resamples otherwise.
    """
    mine, theirs, shared = _paired(counted, design, chosen, people)
    units = mine.present | theirs.present
    ours, others, strata = mine.at(units), theirs.at(units), design.strata[units]
    points = mean(ours, strata) - mean(others, strata)
    replicates = design.replicates(
        units, lambda w: mean_of_strata(w, ours, strata) - mean_of_strata(w, others, strata)
    )
    _, clusters = np.unique(design.clusters[units], return_inverse=True)
    ps = _permuted(ours, others, strata, clusters.ravel(), design)
    has = np.isfinite(points)
    holm = dict(zip(np.flatnonzero(has).tolist(), corrected_p_values(ps[has].tolist(), "holm"), strict=True))
    found = []
    for at in range(len(counted.columns)):
        n_clusters = design.n_clusters((mine.numbers[:, at] > 0) & (theirs.numbers[:, at] > 0))
        result = finished(
            NAME,
            float(points[at]),
            replicates[:, at],
            design.plan,
            n_items=int(shared[at]),
            n_clusters=n_clusters,
            n_raters=1,
            method="paired by dialogue, clusters within strata",
            undefined=NO_PAIRS,
        )
        p = float(ps[at]) if has[at] else None
        found.append(Difference(result, p, float(holm[at]) if has[at] else None))
    return found


def _paired(counted: Counted, design: Design, chosen: Mask, people: Mask) -> tuple[Sums, Sums, Ints]:
    """Return the sums of the row and of people over the dialogues that both have, and how many these are."""
    _, dialogue = np.unique(counted.dialogues, return_inverse=True)
    dialogue = dialogue.ravel()
    there = ~np.isnan(counted.values)
    n = int(dialogue.max(initial=-1)) + 1
    both = np.ones((n, len(counted.columns)), dtype=bool)
    for rows in (chosen, people):
        has = np.zeros((n, len(counted.columns)))
        np.add.at(has, dialogue[rows], there[rows])
        both &= has > 0
    values = np.where(both[dialogue], counted.values, np.nan)
    return design.sums(values, chosen), design.sums(values, people), both.sum(axis=0)


def _permuted(ours: Sums, others: Sums, strata: Ints, clusters: Ints, design: Design) -> Floats:
    """Return the two-sided p-value of each column; NaN where there is no difference."""
    stacked = Sums(np.vstack([ours.totals, others.totals]), np.vstack([ours.numbers, others.numbers]))
    doubled = np.concatenate([strata, strata])
    observed = np.abs(mean(ours, strata) - mean(others, strata))
    n = int(clusters.max(initial=-1)) + 1
    chunks, is_exact = swaps(n, max(1, design.plan.resamples), design.plan.seed)
    extreme, tried = np.zeros(len(observed)), 0
    limit = observed - ROUNDING * np.maximum(1.0, observed)
    for chunk in chunks:
        moved = chunk[:, clusters]
        kept = 1 - moved
        one = mean_of_strata(np.hstack([kept, moved]), stacked, doubled)
        other = mean_of_strata(np.hstack([moved, kept]), stacked, doubled)
        extreme += (np.abs(one - other) >= limit).sum(axis=0)
        tried += len(chunk)
    p = extreme / tried if is_exact else (extreme + 1) / (tried + 1)
    return np.where(np.isfinite(observed), p, np.nan)
