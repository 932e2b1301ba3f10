"""Cohen's kappa and MCC of two raters by scikit-learn, to verify ours with.

Loading scikit-learn takes seconds, so that no page and no plain command asks it: verifying a report does.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Ints


def kappa(sample: Sample, weights: Literal["linear", "quadratic"] | None) -> float:
    """Return scikit-learn's kappa of a pair on all values of the scale, weighted by their positions."""
    from sklearn.metrics import cohen_kappa_score

    first, second = _positions(sample)
    return float(cohen_kappa_score(first, second, labels=range(len(sample.grids[0])), weights=weights))


def mcc(sample: Sample) -> float:
    """Return scikit-learn's Matthews correlation of a pair, for two classes or more."""
    from sklearn.metrics import matthews_corrcoef

    return float(matthews_corrcoef(*_positions(sample)))


def _positions(sample: Sample) -> tuple[Ints, Ints]:
    """Return both raters' answers as positions on the scale."""
    grid = sample.grids[0]
    return np.searchsorted(grid, sample.x), np.searchsorted(grid, sample.y)
