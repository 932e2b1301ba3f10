"""p-values of correlations, for independent items (as SciPy gives them) and by whole dialogues."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from calibration.statistics.comparison import Test
from calibration.statistics.core.sums import Labels, cluster_codes
from calibration.statistics.permutation import Correlation, Orders, permuted


def correlation_test(x: npt.ArrayLike, y: npt.ArrayLike, correlation: Correlation = "spearman") -> Test:
    """Two-sided p-value of no association, too small for clustered items. ValueError below 3 items."""
    a, b = _complete(x, y)
    if len(a) < 3:
        raise ValueError(f"a correlation needs three items, there are {len(a)}")
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        raise ValueError("a rater gave one value throughout: there is no correlation to test")
    functions: dict[str, Any] = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall_tau_b": stats.kendalltau,
    }
    value, p = functions[correlation](a, b)
    return Test(float(value), float(p), f"{correlation}, items taken as independent")


def clustered_correlation_test(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    clusters: Labels,
    correlation: Correlation = "spearman",
    *,
    permutations: int = 2000,
    seed: int = 0,
) -> Test:
    """Two-sided p-value of no association between dialogues' mean values, by permuting whole dialogues.

    Items within a dialogue are not exchangeable, so their means are: this tests whether dialogues that x
    rates high are those that y rates high. ValueError below 3 dialogues.
    """
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    units = cluster_codes(clusters, len(a))
    use = ~np.isnan(a) & ~np.isnan(b)
    _, local = np.unique(units[use], return_inverse=True)
    sizes = np.bincount(local.ravel())
    if len(sizes) < 3:
        raise ValueError(f"{len(sizes)} clusters; permuting them needs three")
    one = np.bincount(local.ravel(), weights=a[use]) / sizes
    other = np.bincount(local.ravel(), weights=b[use]) / sizes
    observed = correlation_test(one, other, correlation).statistic
    found = permuted(one[:, None], other[:, None], correlation, Orders.of(len(one), permutations, seed))
    return Test(observed, found.p, f"{correlation} of cluster means, {found.said}, seed {seed}")


def _complete(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    use = ~np.isnan(a) & ~np.isnan(b)
    return a[use], b[use]
