"""Turning a judge's scores into people's terms, and saying how well they are calibrated.

Isotonic regression and Platt scaling (1999) learn from labelled items and must be judged on others: they are
cross-fitted by dialogue here, so that no item's map saw its own dialogue. Reliability, expected calibration
error (its bins stated), Brier's score (1950) and Murphy's (1973) three parts describe probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.result import Result
from calibration.statistics.core.sums import Labels, cluster_codes, finished, resampled
from calibration.statistics.core.types import Floats, Ints

Method = Literal["isotonic", "platt"]
Bins = Literal["equal_width", "equal_count"]
Map = Callable[[Floats], Floats]


def isotonic(scores: npt.ArrayLike, truth: npt.ArrayLike) -> Map:
    """Fit the rising step function that is nearest to the truth in squares; outside the scores it is flat."""
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(out_of_bounds="clip").fit(*_complete(scores, truth))
    return lambda x: np.asarray(fitted.predict(np.asarray(x, float)), np.float64)


def platt(scores: npt.ArrayLike, truth: npt.ArrayLike) -> Map:
    """Fit 1 / (1 + exp(-(a + b score))) to 0/1 truth, with Platt's smoothed targets."""
    from scipy.optimize import minimize

    x, y = _complete(scores, truth)
    if not np.isin(y, (0, 1)).all():
        raise ValueError("Platt scaling needs a truth of 0 and 1")
    centre, spread = float(x.mean()), float(x.std()) or 1.0
    z = (x - centre) / spread
    positive = y.sum()
    target = np.where(y == 1, (positive + 1) / (positive + 2), 1 / (len(y) - positive + 2))

    def loss(parameters: Floats) -> tuple[float, Floats]:
        line = parameters[0] + parameters[1] * z
        miss = _logistic(line) - target
        return float((np.logaddexp(0, line) - target * line).sum()), np.array([miss.sum(), (miss * z).sum()])

    a, b = minimize(loss, np.zeros(2), jac=True, method="BFGS").x
    return lambda new: _logistic(a + b * (np.asarray(new, np.float64) - centre) / spread)


def _complete(scores: npt.ArrayLike, truth: npt.ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(scores, np.float64), np.asarray(truth, np.float64)
    if x.shape != y.shape or x.ndim != 1 or not len(x):
        raise ValueError("scores and truth must be two lists of one length, and not empty")
    if not np.isfinite(x).all() or not np.isfinite(y).all():
        raise ValueError("a map is fitted on items that have a score and a truth; leave the others out")
    return x, y


def _logistic(line: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(line, -700, 700))))


def cross_fitted(
    scores: npt.ArrayLike,
    truth: npt.ArrayLike,
    clusters: Labels | None = None,
    *,
    method: Method = "isotonic",
    folds: int = 5,
    seed: int = 0,
) -> Floats:
    """Return each item's calibrated score from a map fitted on the other folds of dialogues.

    ValueError with fewer clusters than folds. Folds are drawn from the seed.
    """
    x, y = _complete(scores, truth)
    units = cluster_codes(clusters, len(x))
    n = len(np.unique(units))
    if folds < 2 or n < folds:
        raise ValueError(f"{folds} folds need at least as many clusters (and two); there are {n}")
    fold_of = np.random.default_rng(seed).permutation(n) % folds
    out = np.empty(len(x))
    fit = isotonic if method == "isotonic" else platt
    for fold in range(folds):
        held = fold_of[units] == fold
        out[held] = fit(x[~held], y[~held])(x[held])
    return out


@dataclass(frozen=True)
class Reliability:
    """One bin of a reliability curve: its edges, items, mean probability and share of positives."""

    low: float
    high: float
    n: int
    predicted: float
    observed: float


def reliability_curve(
    probabilities: npt.ArrayLike, truth: npt.ArrayLike, *, bins: int = 10, rule: Bins = "equal_width"
) -> tuple[Reliability, ...]:
    """Return the non-empty bins of probabilities against 0/1 truth; an edge belongs to the bin above."""
    p, y = _checked(probabilities, truth)
    which, edges = _binned(p, bins, rule)
    out = []
    for b in np.unique(which):
        mine = which == b
        out.append(
            Reliability(
                float(edges[b]),
                float(edges[b + 1]),
                int(mine.sum()),
                float(p[mine].mean()),
                float(y[mine].mean()),
            )
        )
    return tuple(out)


def expected_calibration_error(
    probabilities: npt.ArrayLike,
    truth: npt.ArrayLike,
    clusters: Labels | None = None,
    *,
    bins: int = 10,
    rule: Bins = "equal_width",
    plan: Plan | None = None,
) -> Result:
    """Mean distance of predicted and observed shares over bins, weighted by their items.

    It depends on the bins (which the method states), and is biased upwards on few items.
    """
    plan = plan or Plan()
    p, y = _checked(probabilities, truth)
    which, _ = _binned(p, bins, rule)
    rows = np.zeros((len(p), 1 + bins))
    rows[:, 0] = 1
    rows[np.arange(len(p)), 1 + which] = y - p
    return _resampled(
        "expected_calibration_error",
        rows,
        lambda t: np.abs(t[:, 1:]).sum(axis=1) / t[:, 0],
        clusters,
        plan,
        f"{bins} bins of {rule.replace('_', ' ')}",
    )


def brier(
    probabilities: npt.ArrayLike,
    truth: npt.ArrayLike,
    clusters: Labels | None = None,
    plan: Plan | None = None,
) -> Result:
    """Mean squared distance of probabilities from 0/1 truth."""
    p, y = _checked(probabilities, truth)
    rows = np.column_stack([np.ones(len(p)), (p - y) ** 2])
    return _resampled(
        "brier", rows, lambda t: t[:, 1] / t[:, 0], clusters, plan or Plan(), "mean squared error"
    )


@dataclass(frozen=True)
class BrierParts:
    """Brier = reliability - resolution + uncertainty (exact where a bin has one probability) + ``within``."""

    reliability: float
    resolution: float
    uncertainty: float
    within: float


def brier_parts(probabilities: npt.ArrayLike, truth: npt.ArrayLike, bins: int | None = None) -> BrierParts:
    """Return Murphy's decomposition over distinct probabilities, or over equal-width bins where given.

    With bins, ``within`` is what they hide: Brier less the three parts.
    """
    p, y = _checked(probabilities, truth)
    which = (
        np.unique(p, return_inverse=True)[1].ravel() if bins is None else _binned(p, bins, "equal_width")[0]
    )
    n = np.bincount(which).astype(np.float64)
    used = n > 0
    n_used = n[used]
    observed = np.bincount(which, weights=y)[used] / n_used
    predicted = np.bincount(which, weights=p)[used] / n_used
    base = y.mean()
    reliability = float((n_used * (predicted - observed) ** 2).sum() / len(p))
    resolution = float((n_used * (observed - base) ** 2).sum() / len(p))
    uncertainty = float(base * (1 - base))
    whole = float(((p - y) ** 2).mean())
    within = whole - reliability + resolution - uncertainty
    return BrierParts(reliability, resolution, uncertainty, 0.0 if bins is None else within)


def _checked(probabilities: npt.ArrayLike, truth: npt.ArrayLike) -> tuple[Floats, Floats]:
    p, y = np.asarray(probabilities, np.float64), np.asarray(truth, np.float64)
    if p.shape != y.shape or p.ndim != 1:
        raise ValueError("probabilities and truth must be two lists of one length")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("probabilities lie between 0 and 1")
    if not np.isin(y, (0, 1)).all():
        raise ValueError("the truth is 0 or 1")
    return p, y


def _binned(p: Floats, bins: int, rule: Bins) -> tuple[Ints, Floats]:
    if bins < 1:
        raise ValueError(f"at least one bin, not {bins}")
    edges = np.arange(bins + 1) / bins  # 3 / 10 is 0.3; equal steps of 0.1 are not
    if rule == "equal_count" and len(p):
        edges = np.quantile(p, edges)
    return np.clip(np.searchsorted(edges, p, side="right") - 1, 0, bins - 1), edges


def _resampled(
    name: str,
    rows: Floats,
    compute: Callable[[Floats], Floats],
    clusters: Labels | None,
    plan: Plan,
    method: str,
) -> Result:
    if not len(rows):
        return Result(name, status="insufficient", reason="no items", method=method)
    units = cluster_codes(clusters, len(rows))
    point, replicates = resampled(units, rows, compute, plan)
    return finished(
        name,
        point,
        replicates,
        plan,
        n_items=len(rows),
        n_clusters=len(np.unique(units)),
        n_raters=1,
        method=method,
    )
