"""p-values of correlations, for independent items (as SciPy gives them)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from calibration.statistics.comparison import Test
from calibration.statistics.permutation import Correlation


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


def _complete(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    use = ~np.isnan(a) & ~np.isnan(b)
    return a[use], b[use]
