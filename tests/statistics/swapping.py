"""Permutation by whole clusters, one swap after the other, as a reference for the fast tests."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import numpy.typing as npt

from calibration.statistics.analysis import ROUNDING, Test
from calibration.statistics.core.engine import Labels, cluster_codes
from calibration.statistics.core.ratings import Floats


def permutation_by_cluster(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    clusters: Labels | None,
    statistic: Callable[[Floats, Floats], float],
    *,
    permutations: int = 2000,
    seed: int = 0,
) -> Test:
    """Run a two-sided test that two raters' values are exchangeable within whole dialogues.

    ``statistic(a, b)`` is a difference, such as the agreement of a with people minus that of b. Whole
    dialogues are swapped between the raters; all swaps are tried if there are few enough. The p-value counts
    the observed arrangement.
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
