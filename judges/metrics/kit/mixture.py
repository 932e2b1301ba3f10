"""The themes of a speaker: the means of a Gaussian mixture whose size the BIC chooses."""

from __future__ import annotations

import math

from judges.metrics.kit.hub import one_thread
from judges.metrics.kit.tools import Matrix

LEAST = 5
MOST = 6
CERTAINLY_SEVERAL = 25
REGULARISATION = 1e-6
SEED = 0


def centres(rows: Matrix, *, reference: bool = False) -> Matrix:
    """Return the means of the mixture with the least BIC over the sizes that `sizes` allows."""
    found = sizes(len(rows), reference=reference)
    if found == [1]:
        return rows.mean(axis=0, keepdims=True)
    from sklearn.mixture import GaussianMixture

    best: tuple[float, Matrix] | None = None
    with one_thread():
        for size in found:
            model = GaussianMixture(
                size, covariance_type="diag", reg_covar=REGULARISATION, random_state=SEED
            ).fit(rows)
            bic = float(model.bic(rows))
            if best is None or bic < best[0]:
                best = bic, model.means_
    assert best is not None
    return best[1]


def sizes(count: int, *, reference: bool) -> list[int]:
    """Return the numbers of components to try for so many turns.

    The paper: 1 to floor(sqrt n). The published code: at most 6 and n // 5 as well, one component below 5
    turns, and no single component from 25 turns on.
    """
    most = math.isqrt(count)
    if not reference:
        return list(range(1, max(most, 1) + 1))
    if count < LEAST:
        return [1]
    most = max(1, min(MOST, most, count // LEAST))
    return list(range(2 if count >= CERTAINLY_SEVERAL and most > 1 else 1, most + 1))
