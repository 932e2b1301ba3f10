"""Calibration of a judge's scores: conversion to probabilities, and the quality of these.

Isotonic regression and Platt scaling (1999) learn from labelled items and must be evaluated on others: see
``cross_fitting``. Reliability, expected calibration error (its bins stated), Brier's score (1950) and
Murphy's (1973) three parts describe probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.engine import Labels, Result, cluster_codes, finished, totals
from calibration.statistics.core.ratings import Floats, Ints
from calibration.statistics.core.resampling import Plan

# Cross-fitting: learning from some dialogues and applying to others, so that no item is evaluated in-sample.
#
# If labels are set aside for learning (dev), a map is learned there and applied to the rest. Otherwise, the
# dialogues are split into folds, and each item gets the map learned on the other folds.

Map = Callable[[Floats], Floats]
Fit = Callable[[Floats, Floats], Map]
FOLDS = 5


def complete(scores: npt.ArrayLike, truth: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return scores and truth as arrays of one length without gaps. Raises ValueError where they are not."""
    x, y = np.asarray(scores, np.float64), np.asarray(truth, np.float64)
    if x.shape != y.shape or x.ndim != 1 or not len(x):
        raise ValueError("scores and truth must be two lists of one length, and not empty")
    if not np.isfinite(x).all() or not np.isfinite(y).all():
        raise ValueError("a map is fitted on items that have a score and a truth; leave the others out")
    return x, y


def folds_of(clusters: Labels | None, n: int, *, folds: int = FOLDS, seed: int = 0) -> Ints:
    """Return the fold of each of n items; whole clusters are assigned to folds from the seed.

    Raises ValueError with fewer clusters than folds.
    """
    units = cluster_codes(clusters, n)
    n_units = len(np.unique(units))
    if folds < 2 or n_units < folds:
        raise ValueError(f"{folds} folds need {max(folds, 2)} clusters or more; there are {n_units}")
    dealt: Ints = np.random.default_rng(seed).permutation(n_units) % folds
    return dealt[units]


def cross_fitted(
    scores: npt.ArrayLike,
    truth: npt.ArrayLike,
    clusters: Labels | None = None,
    *,
    fit: Fit,
    folds: int = FOLDS,
    seed: int = 0,
) -> Floats:
    """Return each item's mapped score, by the map that was fitted on the other folds of dialogues."""
    x, y = complete(scores, truth)
    fold = folds_of(clusters, len(x), folds=folds, seed=seed)
    out = np.empty(len(x))
    for number in range(folds):
        in_fold = fold == number
        out[in_fold] = fit(x[~in_fold], y[~in_fold])(x[in_fold])
    return out


def direction(scores: Floats, truth: Floats) -> int:
    """Return 1 where the truth rises with the scores' ranks (or neither way), else -1."""
    from scipy.stats import rankdata

    ranks = rankdata(scores)
    return -1 if float(((ranks - ranks.mean()) * (truth - truth.mean())).sum()) < -1e-9 else 1


def oriented(fit: Fit) -> Fit:
    """Return a fit that reverses scores where the truth falls with them: its map may fall, too."""

    def turned(scores: Floats, truth: Floats) -> Map:
        sign = direction(scores, truth)
        mapped = fit(sign * scores, truth)
        return lambda new: mapped(sign * np.asarray(new, np.float64))

    return turned


Bins = Literal["equal_width", "equal_count"]
BINS = 10


def isotonic(scores: npt.ArrayLike, truth: npt.ArrayLike) -> Map:
    """Fit the rising step function that is nearest to the truth in squares; outside the scores it is flat."""
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(out_of_bounds="clip").fit(*complete(scores, truth))
    return lambda x: np.asarray(fitted.predict(np.asarray(x, float)), np.float64)


def platt(scores: npt.ArrayLike, truth: npt.ArrayLike) -> Map:
    """Fit 1 / (1 + exp(-(a + b score))) to 0/1 truth, with Platt's smoothed targets."""
    from scipy.optimize import minimize

    x, y = complete(scores, truth)
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


def _logistic(line: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(line, -700, 700))))


METHODS: dict[str, Fit] = {"isotonic": isotonic, "platt": platt}


@dataclass(frozen=True)
class Reliability:
    """One bin of a reliability curve: its edges, items, mean probability, and share of positives."""

    low: float
    high: float
    n: int
    predicted: float
    observed: Result


@dataclass(frozen=True)
class BrierParts:
    """Brier = reliability - resolution + uncertainty + ``within``, the variation inside bins.

    ``within`` is 0 where a bin has one probability.
    """

    reliability: Result
    resolution: Result
    uncertainty: Result
    within: Result


@dataclass(frozen=True)
class Calibration:
    """Calibration of probabilities: all figures of the same items, bins and resamples."""

    expected_calibration_error: Result
    brier: Result
    parts: BrierParts
    curve: tuple[Reliability, ...]


def calibration_of(
    probabilities: npt.ArrayLike,
    truth: npt.ArrayLike,
    clusters: Labels | None = None,
    *,
    bins: int | None = BINS,
    rule: Bins = "equal_width",
    plan: Plan | None = None,
) -> Calibration:
    """Return the figures of probabilities (n, from 0 to 1) against 0/1 truth (n).

    The expected calibration error is the mean distance of predicted and observed shares over bins, weighted
    by their items; it depends on the bins (which the method states), and is biased upwards on few items. The
    parts are Murphy's (1973). ``bins`` None takes each distinct probability as a bin. ValueError for what is
    no probability or no truth, and without items. Chance alone makes distances of bins larger, and
    resampling once more: their intervals are moved back by what the resamples are larger on average.
    """
    plan = plan or Plan()
    p, y = _checked(probabilities, truth)
    if not len(p):
        raise ValueError("no items with a probability and a truth")
    if bins is None:
        values, which = np.unique(p, return_inverse=True)
        which, edges = which.ravel(), np.append(values, values[-1])
        how = "each probability a bin"
    else:
        which, edges = _binned(p, bins, rule)
        how = f"{bins} bins of {rule.replace('_', ' ')}"
    run = _Binned(p, y, which, cluster_codes(clusters, len(p)), plan, how)
    parts = BrierParts(*(run.result(name, run.part(name)) for name in PARTS))
    curve = tuple(run.bin(number, edges) for number in range(len(run.used)))
    return Calibration(
        run.result("expected_calibration_error", run.error),
        run.result("brier", lambda t: t[:, 1] / t[:, 0], "mean squared error"),
        parts,
        curve,
    )


PARTS = ("reliability", "resolution", "uncertainty", "within")
UPWARD = ("expected_calibration_error", "reliability", "resolution")
"""Distances of bins: chance makes them larger, and resampling does so once more."""


class _Binned:
    """Sums over items: n, squared error, positives; then per bin that occurs n, probability and positives."""

    def __init__(self, p: Floats, y: Floats, which: Ints, units: Ints, plan: Plan, how: str) -> None:
        self.used, place = np.unique(which, return_inverse=True)
        inside = np.zeros((len(p), len(self.used)))
        inside[np.arange(len(p)), place.ravel()] = 1
        rows = [np.ones((len(p), 1)), ((p - y) ** 2)[:, None], y[:, None]]
        rows += [inside, inside * p[:, None], inside * y[:, None]]
        self.total, self.resampled = totals(units, np.concatenate(rows, axis=1), plan)
        self.units, self.place, self.plan, self.how = units, place.ravel(), plan, how

    def result(self, name: str, compute: Callable[[Floats], Floats], how: str = "") -> Result:
        """Return a figure of all items, resampled by cluster."""
        return self._finished(name, compute, how or self.how, np.ones(len(self.units), np.bool_))

    def _finished(
        self, name: str, compute: Callable[[Floats], Floats], how: str, items: npt.NDArray[np.bool_]
    ) -> Result:
        point = float(compute(self.total)[0])
        replicates = compute(self.resampled) if len(self.resampled) else np.empty(0)
        if name in UPWARD and len(replicates):
            replicates = np.maximum(replicates - (np.nanmean(replicates) - point), 0.0)
            how = f"{how}, interval moved by as much as resampling moves the figure"
        return finished(
            name,
            point,
            replicates,
            self.plan,
            n_items=int(items.sum()),
            n_clusters=len(np.unique(self.units[items])),
            n_raters=1,
            method=how,
        )

    def _bins(self, t: Floats) -> tuple[Floats, Floats, Floats]:
        """Return per row and bin the items, and the sums of probabilities and of positives."""
        n, predicted, observed = np.split(t[:, 3:], 3, axis=1)
        return n, predicted, observed

    def error(self, t: Floats) -> Floats:
        """Return the expected calibration error per row of totals."""
        _, predicted, observed = self._bins(t)
        return np.asarray(np.abs(predicted - observed).sum(axis=1) / t[:, 0])

    def part(self, name: str) -> Callable[[Floats], Floats]:
        """The function that computes one term of Murphy's decomposition."""
        return lambda t: self._parts(t)[name]

    def _parts(self, t: Floats) -> dict[str, Floats]:
        n, predicted, observed = self._bins(t)
        safe = np.maximum(n, 1e-300)  # an empty bin weighs nothing
        base = t[:, 2] / t[:, 0]
        reliability = (n * ((predicted - observed) / safe) ** 2).sum(axis=1) / t[:, 0]
        resolution = (n * (observed / safe - base[:, None]) ** 2).sum(axis=1) / t[:, 0]
        uncertainty = base * (1 - base)
        within = t[:, 1] / t[:, 0] - reliability + resolution - uncertainty
        within = np.where(np.abs(within) < 1e-12, 0.0, within)
        return dict(zip(PARTS, (reliability, resolution, uncertainty, within), strict=True))

    def bin(self, number: int, edges: Floats) -> Reliability:
        """Return one bin of the curve, its share of positives resampled."""

        def share(t: Floats) -> Floats:
            n, _, observed = self._bins(t)
            own = n[:, number]
            return np.where(own > 0, observed[:, number] / np.where(own > 0, own, 1.0), np.nan)

        items = self.place == number
        n, predicted, _ = self._bins(self.total)
        at = int(self.used[number])
        return Reliability(
            float(edges[at]),
            float(edges[at + 1]),
            int(items.sum()),
            float(predicted[0, number] / n[0, number]),
            self._finished("observed", share, "share of positives", items),
        )


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
