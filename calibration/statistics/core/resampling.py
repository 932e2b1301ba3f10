"""Resampling weights, drawn once and shared by every statistic of an analysis.

A resample is a row of weights: how often each unit (a cluster, an item, a system, or a cluster-by-system
cell) was drawn. Statistics read weighted counts, so nothing is copied, and because all of them see the same
rows, differences between them are paired.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from calibration.statistics.core.ratings import Floats, Ints, Ratings

Interval = Literal["percentile", "bca"]
Scheme = Literal["clusters", "items", "systems", "crossed"]
CHUNK = 2_000_000  # weights held at a time
MOST_FOR_BCA = 20_000
KEEP = 8_000_000  # weights kept between statistics, ready for multiplication
KEEP_SMALL = 250_000_000  # weights kept as one-byte integers, where there are more of them


@dataclass(frozen=True)
class Plan:
    """Settings of intervals: by default 2,000 cluster resamples, 95% percentile interval, seed 0."""

    resamples: int = 2000
    seed: int = 0
    level: float = 0.95
    interval: Interval = "percentile"
    scheme: Scheme = "clusters"
    max_undefined: float = 0.05

    def __post_init__(self) -> None:
        """Reject a plan that cannot be carried out."""
        if self.resamples < 0:
            raise ValueError(f"resamples must not be negative, got {self.resamples}")
        if not 0 < self.level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {self.level}")
        if self.interval not in ("percentile", "bca"):
            raise ValueError(f"interval is percentile or bca, not {self.interval!r}")
        if self.interval == "bca" and self.scheme == "crossed":
            raise ValueError("BCa needs one kind of unit; use the percentile interval for crossed resampling")

    @property
    def method(self) -> str:
        """One-line description of the interval method."""
        unit = {"clusters": "cluster", "items": "item", "systems": "system", "crossed": "cluster x system"}
        kind = "BCa" if self.interval == "bca" else "percentile"
        draws = f"{self.resamples} resamples, seed {self.seed}"
        return f"{unit[self.scheme]} bootstrap, {kind} {self.level:g} interval, {draws}"


@dataclass
class Resampling:
    """The units of a plan over given items, and the rows of weights.

    ``units`` gives each item's unit. For crossed resampling ``axes`` holds each unit's cluster and system; a
    unit's weight is the product of both.
    """

    plan: Plan
    units: Ints
    n_units: int
    axes: tuple[Ints, Ints] | None = None
    _stored_chunks: list[npt.NDArray[np.number]] = field(default_factory=list, repr=False)

    def chunks(self) -> Iterator[Floats]:
        """Yield weights (rows x units) until the plan's resamples are drawn; the same each time."""
        if self._stored_chunks:
            yield from (weights_chunk.astype(np.float64, copy=False) for weights_chunk in self._stored_chunks)
            return
        if self.n_units == 0:
            return
        size = self.plan.resamples * self.n_units
        chunks: list[npt.NDArray[np.number]] = []
        rng = np.random.default_rng(self.plan.seed)
        rows = max(1, CHUNK // self.n_units)
        for start in range(0, self.plan.resamples, rows):
            weights = self._draw(rng, min(rows, self.plan.resamples - start))
            if size <= KEEP_SMALL:
                chunks.append(weights if size <= KEEP else _small(weights))
            yield weights
        self._stored_chunks = chunks

    def _draw(self, rng: np.random.Generator, rows: int) -> Floats:
        if self.axes is None:
            return drawn_counts(rng, self.n_units, rows)
        n_clusters, n_systems = (int(axis.max()) + 1 for axis in self.axes)
        by_cluster, by_system = crossed_counts(rng, n_clusters, n_systems, rows)
        return by_cluster[:, self.axes[0]] * by_system[:, self.axes[1]]

    def n_drawn(self, units: Ints) -> int:
        """Return the number of clusters, items or systems behind these units; the smaller where crossed."""
        if self.axes is None:
            return len(np.unique(units))
        return min(len(np.unique(axis[units])) for axis in self.axes)

    def leave_one_out(self) -> Iterator[Floats]:
        """Yield weights (rows x units) that leave out one unit at a time."""
        rows = max(1, CHUNK // max(1, self.n_units))
        for start in range(0, self.n_units, rows):
            stop = min(start + rows, self.n_units)
            weights = np.ones((stop - start, self.n_units))
            weights[np.arange(stop - start), np.arange(start, stop)] = 0.0
            yield weights


def _small(weights: Floats) -> npt.NDArray[np.number]:
    """Return weights, all integers, in the smallest type that holds them: drawing again costs more."""
    return weights.astype(np.min_scalar_type(int(weights.max(initial=0))))


def drawn_counts(rng: np.random.Generator, n: int, rows: int) -> Floats:
    """Return how often each of n units is drawn, for rows samples of n with replacement."""
    draws = rng.integers(0, n, size=(rows, n))
    draws += np.arange(rows)[:, None] * n
    return np.bincount(draws.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def crossed_counts(
    rng: np.random.Generator, n_clusters: int, n_systems: int, rows: int
) -> tuple[Floats, Floats]:
    """Return draw counts of clusters and of systems, drawn independently, with the given number of rows each.

    One row at a time, so that the digits do not depend on how many rows are requested at once.
    """
    by_cluster, by_system = np.empty((rows, n_clusters)), np.empty((rows, n_systems))
    for row in range(rows):
        by_cluster[row] = drawn_counts(rng, n_clusters, 1)[0]
        by_system[row] = drawn_counts(rng, n_systems, 1)[0]
    return by_cluster, by_system


def resampling_of(ratings: Ratings, plan: Plan) -> Resampling:
    """Return the plan's resampling of these ratings' items.

    Raises ValueError if systems are needed and unknown, or if BCa would leave out one of very many units.
    """
    resampling = _resampling_of(ratings, plan)
    if plan.interval == "bca" and resampling.n_units > MOST_FOR_BCA:
        raise ValueError(
            f"BCa leaves out one unit at a time; with {resampling.n_units} units use percentile intervals"
        )
    return resampling


def _resampling_of(ratings: Ratings, plan: Plan) -> Resampling:
    if plan.scheme == "clusters":
        return Resampling(plan, ratings.clusters, ratings.n_clusters)
    if plan.scheme == "items":
        return Resampling(plan, np.arange(ratings.n_items), ratings.n_items)
    if ratings.systems is None:
        raise ValueError(f"resampling by {plan.scheme} needs the system of each item")
    if plan.scheme == "systems":
        return Resampling(plan, ratings.systems, int(ratings.systems.max()) + 1)
    n_systems = int(ratings.systems.max()) + 1
    cells, units = np.unique(ratings.clusters * n_systems + ratings.systems, return_inverse=True)
    return Resampling(plan, units, len(cells), (cells // n_systems, cells % n_systems))


# Intervals from resampled values: percentile and BCa (Efron 1987; Efron and Tibshirani 1993, ch. 13-14).

FEW_CLUSTERS = 50
MODERATE_CLUSTERS = 150


@dataclass(frozen=True)
class Bounds:
    """An interval, or the reason why there is none."""

    low: float | None = None
    high: float | None = None
    reason: str = ""
    flags: tuple[str, ...] = ()


def cluster_flags(n_clusters: int) -> tuple[str, ...]:
    """Return the flag of an interval over this many clusters; none from 150 on.

    The thresholds are where simulated 95% intervals cover the truth less often than 93 times in 100 (see
    ``benchmarks/coverage.py``).
    """
    if n_clusters < FEW_CLUSTERS:
        return ("few_clusters",)
    return ("moderate_clusters",) if n_clusters < MODERATE_CLUSTERS else ()


def bounds_of(point: float, replicates: Floats, plan: Plan, leave_one_out: Floats | None = None) -> Bounds:
    """Return the interval of resampled values (NaN where a resample left the statistic undefined)."""
    if not replicates.size:
        return Bounds(reason="no interval: no resamples were asked for")
    defined = replicates[~np.isnan(replicates)]
    share = 1 - defined.size / replicates.size
    if share > plan.max_undefined:
        reason = f"no interval: undefined in {share:.0%} of the resamples"
        return Bounds(reason=reason, flags=("undefined_resamples",))
    if np.ptp(defined) <= 1e-12 * max(1.0, float(np.abs(defined).max())):
        return Bounds(reason="no interval: the same in every resample", flags=("degenerate_resamples",))
    tail = (1 - plan.level) / 2
    if plan.interval == "percentile":
        low, high = np.quantile(defined, [tail, 1 - tail])
        return Bounds(float(low), float(high))
    return _bca(point, defined, np.array([tail, 1 - tail]), leave_one_out)


def _bca(point: float, defined: Floats, tails: Floats, leave_one_out: Floats | None) -> Bounds:
    """Shift the percentiles by the bias z0 and the acceleration a of the leave-one-out values."""
    below = (np.count_nonzero(defined < point) + np.count_nonzero(defined <= point)) / (2 * defined.size)
    if leave_one_out is None or np.isnan(leave_one_out).any():
        return Bounds(reason="no interval: undefined when one cluster is left out, which BCa needs")
    if not 0 < below < 1:
        return Bounds(reason="no interval: all resamples lie on one side of the value, BCa is not defined")
    away = leave_one_out.mean() - leave_one_out
    spread = float((away**2).sum()) ** 1.5
    if spread == 0:
        return Bounds(reason="no interval: no cluster changes the value", flags=("degenerate_resamples",))
    bias, acceleration = ndtri(below), float((away**3).sum()) / (6 * spread)
    shifted = bias + ndtri(tails)
    adjusted = ndtr(bias + shifted / (1 - acceleration * shifted))
    low, high = np.quantile(defined, adjusted)
    return Bounds(float(low), float(high))
