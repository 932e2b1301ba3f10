"""Many-facet severity: how much lower or higher each rater rates, items held equal.

The model is value = item + rater + error by least squares (the two-way additive model, Scheffe 1959, ch. 4;
the linear form of a many-facet model, Linacre 1989), so that nobody looks severe for having had the weak
items. It assumes that a rater is off by the same amount on every item and reads the values as equally spaced.
Raters are comparable only where items join them, directly or through others: groups that no item joins are
fitted each by itself, with a zero of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtrit

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.features import pair_tables
from calibration.statistics.core.resampling import Resampling
from calibration.statistics.core.result import Result
from calibration.statistics.core.samples import additive
from calibration.statistics.core.sums import finished
from calibration.statistics.core.types import Floats, Ints

SEVERITY, MISFIT = "rater_severity", "rater_misfit"
CELLS = 20_000_000  # cells of all matrices solved at a time
MOST_RESAMPLED = 150  # raters; above, resampling takes minutes and intervals come from standard errors
HOW = "least squares of item + rater"
ALONE = "shares no item with another rater"


@dataclass(frozen=True)
class RaterEffect:
    """A rater's severity (below 0: lower ratings) and misfit, in its group; group 0 shares items with nobody.

    ``misfit`` is the mean square of the rater's residuals over that of all raters of the group, both by their
    degrees of freedom (an infit mean square): above 1 a rater is less predictable than the others.
    """

    rater: str
    group: int
    severity: Result
    misfit: Result


def groups_of(block: Floats) -> Ints:
    """Return each rater's group of raters whom items join, numbered from 1 by ratings; 0 for one alone.

    ``block`` is items x raters, NaN where missing.
    """
    given = (~np.isnan(block)).astype(np.float64)
    if not given.shape[1]:
        return np.zeros(0, np.int64)
    _, found = connected_components(given.T @ given, directed=False)
    sizes, members = np.bincount(found, weights=given.sum(axis=0)), np.bincount(found)
    several = [g for g in np.argsort(-sizes, kind="stable") if members[g] > 1]
    number = {int(group): place for place, group in enumerate(several, 1)}
    return np.array([number.get(int(group), 0) for group in found], np.int64)


def rater_effects(
    ratings: Ratings, block: Floats, columns: Sequence[int], zero: Sequence[int], resampling: Resampling
) -> tuple[RaterEffect, ...]:
    """Fit the model and return the effect of each rater of ``columns``, with intervals by resampling.

    ``block`` holds the values as numbers, items x raters of ``ratings``. The severities of the raters of
    ``zero`` (of all raters of a group that has none of them), each weighing by its ratings, average 0. In a
    group of more than MOST_RESAMPLED raters intervals rest on cluster-robust standard errors (Liang and
    Zeger 1986).
    """
    mine = block[:, list(columns)]
    groups = groups_of(mine)
    effects: dict[int, RaterEffect] = {}
    for group in range(1, int(groups.max(initial=0)) + 1):
        places = [int(place) for place in np.flatnonzero(groups == group)]
        zeros = np.array([columns[p] in zero for p in places])
        fitted = _Fit(mine[:, places], resampling, zeros if zeros.any() else ~zeros, _named(group, groups))
        for place, severity, misfit in zip(places, fitted.severities(), fitted.misfits(), strict=True):
            effects[place] = RaterEffect(ratings.raters[columns[place]], group, severity, misfit)
    return tuple(effects.get(p, _alone(ratings.raters[column])) for p, column in enumerate(columns))


def _named(group: int, groups: Ints) -> str:
    """Return how a fit is called: by its group, where others cannot be compared with it."""
    return f"{HOW}, within group {group}" if (groups != group).any() else HOW


def _alone(rater: str) -> RaterEffect:
    severity, misfit = (
        Result(name, status="insufficient", reason=ALONE, n_raters=1, method=HOW)
        for name in (SEVERITY, MISFIT)
    )
    return RaterEffect(rater, 0, severity, misfit)


class _Fit:
    """The model of one group of raters whom items join."""

    def __init__(self, block: Floats, resampling: Resampling, zeros: npt.NDArray[np.bool_], how: str) -> None:
        self.how = how
        used = (~np.isnan(block)).sum(axis=1) >= 2
        self.block, self.units, self.zeros = block[used], resampling.units[used], zeros
        self.resampling, self.plan = resampling, resampling.plan
        self.given = (~np.isnan(self.block)).astype(np.float64)
        self.n = self.given.sum(axis=1)
        filled = np.where(self.given > 0, self.block, 0.0)
        self.away = np.where(self.given > 0, filled - (filled.sum(axis=1) / self.n)[:, None], 0.0)
        self.size = block.shape[1]
        sums = [self.given * (1 - 1 / self.n)[:, None], self.given, self.away]
        self.diagonal, self.counts, self.reduced = (
            additive(self.units, resampling.n_units, rows).sums for rows in sums
        )
        self.shared = self._shared()
        self.effects = self._solved(np.ones((1, resampling.n_units)))[0]

    def _shared(self) -> sparse.csr_array:
        """Return, per unit, the sum over its items of 1 / raters for every two raters of the item."""
        patterns, first, which = np.unique(self.given, axis=0, return_index=True, return_inverse=True)
        shape = (self.resampling.n_units, len(patterns))
        member = sparse.csr_array((np.ones(len(self.units)), (self.units, which.ravel())), shape=shape)
        return member @ pair_tables(patterns, self.n[first])

    def _solved(self, weights: Floats) -> Floats:
        """Return the effects of rows of weights (rows x units); NaN for raters whom the row does not join."""
        k, counts = self.size, weights @ self.counts
        matrix = -np.asarray((self.shared.T @ weights.T).T).reshape(len(weights), k, k)
        joined = _reached(matrix, counts.argmax(axis=1))
        both = joined[:, :, None] & joined[:, None, :]
        matrix = np.where(both, matrix + 1 / k, 0.0)
        diagonal = np.arange(k)
        matrix[:, diagonal, diagonal] += np.where(joined, weights @ self.diagonal, 1.0)
        right = np.where(joined, weights @ self.reduced, 0.0)
        effects = np.linalg.solve(matrix, right[:, :, None])[:, :, 0]
        share = np.where(joined & self.zeros, counts, 0.0)
        total = share.sum(axis=1, keepdims=True)
        zero = np.where(total > 0, (share * effects).sum(axis=1, keepdims=True), np.nan)
        return np.where(joined, effects - zero / np.where(total > 0, total, 1.0), np.nan)

    def _replicates(self) -> Floats:
        rows = max(1, CELLS // self.size**2)
        parts = [
            self._solved(weights[start : start + rows])
            for weights in self.resampling.chunks()
            for start in range(0, len(weights), rows)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.size))

    def severities(self) -> list[Result]:
        """Return each rater's effect."""
        if self.size > MOST_RESAMPLED:
            return self._with_standard_errors()
        replicates = self._replicates()
        return [
            self._finished(SEVERITY, j, float(self.effects[j]), replicates[:, j], self.how)
            for j in range(self.size)
        ]

    def _with_standard_errors(self) -> list[Result]:
        """Return each rater's effect with an interval from the sandwich over units, C / (C - 1) corrected."""
        scores = additive(self.units, self.resampling.n_units, self._residuals()).sums
        seen = len(np.unique(self.units))
        share = np.where(self.zeros, self.counts.sum(axis=0), 0.0)
        contrast = np.eye(self.size) - share / share.sum()
        half = scores @ self._inverse() @ contrast.T * np.sqrt(seen / max(seen - 1, 1))
        errors = np.sqrt((half**2).sum(axis=0))
        found = []
        for j in range(self.size):
            n = len(np.unique(self.units[self.given[:, j] > 0]))
            width = float(stdtrit(max(n - 1, 1), (1 + self.plan.level) / 2) * errors[j])
            ends = self.effects[j] + np.array([-width, width])
            plain = self._finished(SEVERITY, j, float(self.effects[j]), np.empty(0), self.how)
            how = f"{self.how}, {self.plan.level:g} interval by the cluster-robust standard error"
            if n > 1:
                plain = replace(plain, low=float(ends[0]), high=float(ends[1]), reason="")
            found.append(replace(plain, method=how))
        return found

    def misfits(self) -> list[Result]:
        """Return each rater's mean square of residuals over that of all; the fit itself is not resampled."""
        left = len(self.block) + self.size - 1
        if self.given.sum() <= left:
            reason = "the model explains so few ratings fully: no residuals are left"
            return [self._missing(j, reason) for j in range(self.size)]
        squares, free = self._residuals() ** 2, self._freedom()
        if squares.sum() <= 1e-18 * max(1.0, float((self.away**2).sum())):
            reason = "the raters differ by the same amount on every item: no residuals are left"
            return [self._missing(j, reason) for j in range(self.size)]
        n_units = self.resampling.n_units
        by_unit, free_by_unit = (additive(self.units, n_units, rows).sums for rows in (squares, free))
        point = _ratio(squares.sum(axis=0)[None, :], free.sum(axis=0)[None, :])[0]
        parts = [_ratio(weights @ by_unit, weights @ free_by_unit) for weights in self.resampling.chunks()]
        replicates = np.concatenate(parts) if parts else np.empty((0, self.size))
        how = f"mean square of residuals over that of all, {self.how}, the fit held"
        return [
            self._finished(MISFIT, j, float(point[j]), replicates[:, j], how)
            if free[:, j].sum() > 1e-9
            else self._missing(j, "the model explains all of these ratings")
            for j in range(self.size)
        ]

    def _residuals(self) -> Floats:
        """Return what the model leaves per cell, 0 where there is no rating."""
        mean = (self.given * self.effects).sum(axis=1) / self.n
        return np.where(self.given > 0, self.away - self.effects + mean[:, None], 0.0)

    def _inverse(self) -> Floats:
        """Return the pseudo-inverse of the raters' normal equations, items removed."""
        k = self.size
        matrix = np.diag(self.diagonal.sum(axis=0)) - np.asarray(self.shared.sum(axis=0)).reshape(k, k)
        return np.asarray(np.linalg.inv(matrix + 1 / k) - 1 / k)

    def _freedom(self) -> Floats:
        """Return 1 - leverage per cell, 0 where there is no rating."""
        inverse = self._inverse()
        along = self.given @ inverse / self.n[:, None]
        within = (along * self.given).sum(axis=1) / self.n
        leverage = (1 / self.n)[:, None] + inverse.diagonal() - 2 * along + within[:, None]
        return np.where(self.given > 0, np.clip(1 - leverage, 0.0, 1.0), 0.0)

    def _finished(self, name: str, j: int, point: float, replicates: Floats, method: str) -> Result:
        rated = self.given[:, j] > 0
        values = self.block[rated, j]
        return finished(
            name,
            point,
            replicates,
            self.plan,
            n_items=int(rated.sum()),
            n_clusters=len(np.unique(self.units[rated])),
            n_raters=self.size,
            method=method,
            flags=("constant_rater",) if len(values) > 1 and (values == values[0]).all() else (),
        )

    def _missing(self, j: int, reason: str) -> Result:
        rated = self.given[:, j] > 0
        return Result(
            MISFIT,
            status="undefined",
            reason=reason,
            n_items=int(rated.sum()),
            n_clusters=len(np.unique(self.units[rated])),
            n_raters=self.size,
            method=self.how,
        )


def _ratio(squares: Floats, free: Floats) -> Floats:
    """Return rows of (own squares / own freedom) / (all squares / all freedom)."""
    own = squares / np.where(free > 1e-9, free, np.nan)
    every, freedom = squares.sum(axis=1, keepdims=True), free.sum(axis=1, keepdims=True)
    return np.asarray(own * freedom / np.where(every > 0, every, np.nan))


def _reached(matrix: Floats, start: Ints) -> npt.NDArray[np.bool_]:
    """Return, per row, which raters the start is joined to (rows x k), itself included."""
    rows = np.arange(len(matrix))
    joined = np.zeros(matrix.shape[:2], dtype=np.bool_)
    joined[rows, start] = True
    links = matrix != 0
    while True:
        wider = joined | (links & joined[:, None, :]).any(axis=2)
        if (wider == joined).all():
            return joined
        joined = wider
