"""How far one distribution of mean counts is from another: in shape, and in amount.

With mean counts c and h over the same behaviours, and shares p = c / sum c and q = h / sum h:

    tv      1/2 * sum |p - q|                                                        total variation, 0 to 1
    js      1/2 * sum p log2(p / m) + 1/2 * sum q log2(q / m), m = (p + q) / 2       Lin 1991, 0 to 1
    amount  sum |c - h|                                                              in the counts' own unit

Shape and amount answer different questions. Shape has no value where a sum is zero. All three are biased
upwards in small samples; `halves` says how far two random halves of one sample are apart by chance alone.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.strata import Sums, mean_of_strata

DISTANCES = ("tv", "js", "amount")
"""The columns of what `distances` returns."""
NO_EVENTS = "shape is not defined: one of the two has no event of any behaviour"


def distances(counts: Floats, others: Floats) -> Floats:
    """Return tv, js and amount of each row's counts from the other's (rows x behaviours): rows x 3.

    NaN where a mean count is NaN, and the shapes also where a row's counts sum to zero.
    """
    p, q = _shares(counts), _shares(others)
    m = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        js = (xlogy(p, p / np.where(m > 0, m, 1)) + xlogy(q, q / np.where(m > 0, m, 1))).sum(axis=1) / 2
    tv = np.abs(p - q).sum(axis=1) / 2
    js = np.clip(js / np.log(2), 0.0, 1.0)  # rounding leaves it a little outside
    return np.column_stack([tv, js, np.abs(counts - others).sum(axis=1)])


def _shares(counts: Floats) -> Floats:
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(counts / np.where(total > 0, total, np.nan))


def halves(sums: Sums, strata: Ints, plan: Plan) -> Floats:
    """Return the distances between two random halves of a sample, splits x 3: one split per resample.

    Clusters are split within strata; a stratum with a single one is left out, as one half would lack it.
    """
    kept = np.isin(strata, [s for s in np.unique(strata) if (strata == s).sum() > 1])
    own, of = sums.at(kept), strata[kept]
    if not len(of) or not plan.resamples:
        return np.empty((0, len(DISTANCES)))
    rng = np.random.default_rng(plan.seed)
    first = np.zeros((plan.resamples, len(of)))
    for stratum in np.unique(of):
        units = np.flatnonzero(of == stratum)
        ranks = rng.random((plan.resamples, len(units))).argsort(axis=1).argsort(axis=1)
        more = rng.integers(0, 2, plan.resamples) if len(units) % 2 else np.zeros(plan.resamples)
        first[:, units] = ranks < len(units) // 2 + more[:, None]
    return distances(mean_of_strata(first, own, of), mean_of_strata(1 - first, own, of))
