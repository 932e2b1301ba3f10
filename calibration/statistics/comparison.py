"""Comparing two raters, and several comparisons at once.

Williams' t (1959; Steiger 1980) for two correlations that share a variable, permutation by whole dialogues,
and corrections of p-values: Holm (1979), Benjamini-Hochberg (1995), Benjamini-Yekutieli (2001). For the
difference of any statistic with an interval, see ``analyse`` (gaps) and ``paired_difference``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from calibration.statistics.core.base import Statistic
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import estimates
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.sums import Labels, cluster_codes, finished
from calibration.statistics.core.types import Floats
from calibration.statistics.table import STATISTICS

ROUNDING = 1e-12  # what counts as equal, relative to the largest value
Correction = Literal["holm", "benjamini_hochberg", "benjamini_yekutieli", "bonferroni"]


@dataclass(frozen=True)
class Test:
    """A test's statistic and its p-value."""

    statistic: float
    p: float
    method: str


def williams(r12: float, r13: float, r23: float, n: int) -> Test:
    """Two-sided Williams test of r12 = r13, correlations of 1 with 2 and with 3 over the same n > 3 items.

    ValueError for three correlations that no data can have, and where 2 and 3 are the same.
    """
    if n <= 3:
        raise ValueError(f"Williams' test needs more than three items, not {n}")
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if not max(abs(r12), abs(r13), abs(r23)) <= 1 or determinant < -ROUNDING:
        raise ValueError(f"no data have the correlations {r12:g}, {r13:g} and {r23:g} together")
    if 1 - r23 <= ROUNDING:
        raise ValueError("the two raters compared correlate 1 with each other: no difference to test")
    determinant = max(determinant, 0.0)
    mean = (r12 + r13) / 2
    spread = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r23) ** 3
    t = (r12 - r13) * ((n - 1) * (1 + r23) / spread) ** 0.5
    return Test(
        t, float(2 * special.stdtr(n - 3, -abs(t))), "Williams' test, assumes independent normal items"
    )


def corrected(p_values: Sequence[float], correction: Correction) -> Floats:
    """Return adjusted p-values in the order given; a test is rejected at q where its value is <= q."""
    p = np.asarray(p_values, np.float64)
    m = len(p)
    if m == 0:
        return p
    if np.isnan(p).any() or (p < 0).any() or (p > 1).any():
        raise ValueError("p-values lie between 0 and 1")
    if correction == "bonferroni":
        return np.minimum(p * m, 1)
    order = np.argsort(p, kind="stable")
    ranks = np.arange(1, m + 1)
    if correction == "holm":
        stepped = np.maximum.accumulate(p[order] * (m - ranks + 1))
    else:
        scale = m / ranks * ((1 / ranks).sum() if correction == "benjamini_yekutieli" else 1)
        stepped = np.minimum.accumulate((p[order] * scale)[::-1])[::-1]
    out = np.empty(m)
    out[order] = np.minimum(stepped, 1)
    return out


def permutation_by_cluster(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    clusters: Labels | None,
    statistic: Callable[[Floats, Floats], float],
    *,
    permutations: int = 2000,
    seed: int = 0,
) -> Test:
    """Two-sided test that two raters' values are exchangeable within whole dialogues.

    ``statistic(a, b)`` is a difference, such as the agreement of a with people less that of b. Whole
    dialogues are swapped between the raters; all swaps are tried where there are few enough. The p-value
    counts the observed arrangement.
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    units = cluster_codes(clusters, len(a))
    n = int(units.max()) + 1 if len(units) else 0
    exact = 2**n <= permutations
    swaps: npt.NDArray[np.bool_]
    if exact:
        swaps = np.array(list(product([False, True], repeat=n)))
    else:
        swaps = np.asarray(np.random.default_rng(seed).random((permutations, n)) < 0.5)
    values = np.empty(len(swaps))
    for row in range(len(swaps)):
        chosen = swaps[row, units]
        values[row] = abs(statistic(np.where(chosen, b, a), np.where(chosen, a, b)))
    observed = abs(statistic(a, b))
    extreme = int((values >= observed - ROUNDING * max(observed, values.max(initial=0.0))).sum())
    p = extreme / len(swaps) if exact else (extreme + 1) / (len(swaps) + 1)
    how = "all swaps" if exact else f"{permutations} random swaps, seed {seed}"
    return Test(statistic(a, b), float(p), f"permutation of whole clusters, {how}")


def two_sample_permutation(
    one: npt.ArrayLike, other: npt.ArrayLike, *, most: int = 200_000, seed: int = 0
) -> Test:
    """One-sided test that mean(one) is not greater than mean(other), over all splits where they are few."""
    from itertools import combinations
    from math import comb

    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
    pooled, k = np.concatenate([a, b]), len(a)
    observed = float(a.mean() - b.mean())
    pooled -= pooled.mean()  # so that nothing large cancels
    total, n = pooled.sum(), len(pooled)
    if comb(n, k) <= most:
        sums = np.array([pooled[list(chosen)].sum() for chosen in combinations(range(n), k)])
        how, extra = "all splits", 0
    else:
        rng = np.random.default_rng(seed)
        sums = np.array([rng.permutation(pooled)[:k].sum() for _ in range(most)])
        how, extra = f"{most} random splits, seed {seed}", 1
    differences = sums / k - (total - sums) / (n - k)
    tolerance = ROUNDING * np.abs(differences).max(initial=abs(observed))
    p = ((differences >= observed - tolerance).sum() + extra) / (len(sums) + extra)
    return Test(observed, float(p), f"permutation, one-sided, {how}")


def paired_difference(
    ratings: Ratings,
    statistic: str | Statistic,
    first: tuple[str, str],
    second: tuple[str, str],
    plan: Plan | None = None,
) -> Result:
    """A pair statistic of ``first`` less that of ``second``, on shared items and the same resamples.

    KeyError for an unknown statistic or rater. Example: kappa of (ann, judge A) less kappa of (ann, judge B).
    """
    plan = plan or Plan()
    chosen = STATISTICS[statistic] if isinstance(statistic, str) else statistic
    columns = [tuple(ratings.column(r) for r in pair) for pair in (first, second)]
    everyone = sorted({c for pair in columns for c in pair})
    shared = np.isnan(ratings.values[:, everyone]).sum(axis=1) == 0
    limited = ratings.with_values(np.where(shared[:, None], ratings.values, np.nan))
    resampling = resampling_of(limited, plan)
    samples = [Sample(limited, pair, resampling) for pair in columns]
    found = [estimates(sample, [chosen], resampling)[0] for sample in samples]
    name = f"difference_{chosen.key}"
    counts: Counts = {
        "n_items": samples[0].n_items,
        "n_clusters": samples[0].n_clusters,
        "n_raters": len(everyone),
        "n_missing": samples[0].n_missing,
    }
    bad = next((e.verdict for e in found if not e.ok), None)
    if bad is not None:
        return Result(name, status=bad.status, reason=bad.reason, method=plan.method, **counts)
    method = f"{' and '.join(first)} less {' and '.join(second)}"
    left = [e.leave_one_out for e in found if e.leave_one_out is not None]
    return finished(
        name,
        found[0].point - found[1].point,
        found[0].replicates - found[1].replicates,
        plan,
        method=method,
        flags=tuple(dict.fromkeys(flag for e in found for flag in e.verdict.flags)),
        leave_one_out=left[0] - left[1] if left else None,
        **counts,
    )
