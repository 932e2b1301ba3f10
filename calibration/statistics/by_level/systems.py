"""Correlation of systems: their scores, and intervals that draw dialogues and systems both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.statistics.by_level.means import EQUAL, tied
from calibration.statistics.by_level.paired import Pair, Side, SystemScore
from calibration.statistics.by_level.scored import Mask, Units
from calibration.statistics.core.resampling import Plan, crossed_counts
from calibration.statistics.core.result import Counts, Result, Status
from calibration.statistics.core.sums import finished
from calibration.statistics.core.types import Floats
from calibration.statistics.permutation import Correlation
from calibration.statistics.weighted import correlated

LEAST = 3


@dataclass(frozen=True)
class SystemPoint:
    """A system's score by the reference (x) and by the row (y), each with its interval over dialogues."""

    system: str
    x: Result
    y: Result


class SystemDraws:
    """How often clusters and systems are drawn: one row a resample, the same for all rows of a table."""

    def __init__(self, units: Units, plan: Plan) -> None:
        self.plan = replace(plan, scheme="crossed", interval="percentile")
        self.clusters, self.systems = crossed_counts(
            np.random.default_rng(plan.seed),
            int(units.clusters.max(initial=0)) + 1,
            len(units.system_names),
            plan.resamples,
        )


@dataclass(frozen=True)
class Sums:
    """One side's numbers of scores and their totals, clusters x systems."""

    numbers: Floats
    totals: Floats

    @staticmethod
    def of(side: Side, units: Units, system_score: SystemScore, within: Mask | None = None) -> Sums:
        """Sum the items that count, or the means of the units, in the units ``within``."""
        if system_score == "all_turns":
            values, unit = side.items, side.frame.units
        else:
            values, unit = side.units, np.arange(len(units))
        use = ~np.isnan(values) & (within[unit] if within is not None else True)
        shape = int(units.clusters.max(initial=0)) + 1, len(units.system_names)
        cell = units.clusters[unit[use]] * shape[1] + units.systems[unit[use]]
        size = shape[0] * shape[1]
        numbers, totals = (
            np.bincount(cell, weights=weights, minlength=size).astype(np.float64).reshape(shape)
            for weights in (np.ones(len(cell)), values[use])
        )
        return Sums(numbers, totals)

    def means(self, drawn: Floats) -> Floats:
        """Return the systems' means (rows x systems) for rows of cluster counts; NaN for nothing drawn."""
        n = drawn @ self.numbers
        return np.where(n > 0, (drawn @ self.totals) / np.where(n > 0, n, 1.0), np.nan)

    @property
    def point(self) -> Floats:
        """The systems' means, ties kept."""
        return tied(self.means(np.ones((1, len(self.numbers))))[0])


def sums_of(
    pair: Pair, units: Units, system_score: SystemScore, within: Mask | None = None
) -> tuple[Sums, Sums]:
    """Return the sums of both sides."""
    x, y = (Sums.of(side, units, system_score, within) for side in (pair.x, pair.y))
    return x, y


def correlations(
    sums: tuple[Sums, Sums], names: tuple[str, str], wanted: Sequence[Correlation], draws: SystemDraws
) -> list[Result]:
    """Return the correlations of systems' scores."""
    x, y = (side.point for side in sums)
    both = ~np.isnan(x) & ~np.isnan(y)
    n = int(both.sum())
    n_clusters = int((sums[0].numbers + sums[1].numbers)[:, both].any(axis=1).sum())
    counts: Counts = {
        "n_items": n,
        "n_clusters": n_clusters,
        "n_raters": 2,
        "n_missing": int((~np.isnan(x) | ~np.isnan(y)).sum()) - n,
    }
    alike = [name for name, side in zip(names, (x, y), strict=True) if n and np.ptp(side[both]) == 0]
    if n < LEAST or alike:
        few = f"correlation of systems needs three, there are {n}"
        reason = few if n < LEAST else f"{alike[0]} scores all systems alike"
        flags = () if n < LEAST else ("constant_rater",)
        status: Status = "insufficient" if n < LEAST else "undefined"
        method = draws.plan.method
        return [
            Result(name, status=status, reason=reason, flags=flags, method=method, **counts)
            for name in wanted
        ]
    one = np.ones((1, len(x)))
    points = correlated(x[None, :], y[None, :], one, tuple(wanted))[0]
    drawn_x, drawn_y = (side.means(draws.clusters) for side in sums)
    replicates = correlated(drawn_x, drawn_y, draws.systems, tuple(wanted))
    return [
        finished(
            name,
            float(points[at]),
            centred(float(points[at]), replicates[:, at], n),
            draws.plan,
            method="systems' means, resampled values centred on the value (Fisher's z)",
            undefined="a side scores all systems alike",
            n_drawn=min(n, n_clusters),
            **counts,
        )
        for at, name in enumerate(wanted)
    ]


def centred(point: float, replicates: Floats, n: int) -> Floats:
    """Return resampled correlations of n systems, moved on Fisher's z so that their median is the value.

    Means over drawn dialogues are noisier than means over all of them, so that resampled correlations lie
    lower than the value by about as much as the value lies below one without noise: their spread tells of
    the value's, their place does not. A correlation of 1 is moved as if just above the largest there is
    below; whatever reaches that place then is 1 as well, so that the interval ends at the value.
    """
    if not (np.isfinite(point) and np.isfinite(replicates).any()):
        return replicates
    sizes = np.abs(np.append(replicates[np.isfinite(replicates)], point))
    most = max(1 - 1 / (n * (n - 1)), float(sizes[sizes < 1 - EQUAL].max(initial=0.0)))
    z, place = np.arctanh(np.clip(replicates, -most, most)), np.arctanh(np.clip(point, -most, most))
    moved = np.asarray(np.tanh(z + place - np.nanmedian(z)))
    if abs(point) < 1 - EQUAL:
        return moved
    return np.where(moved * np.sign(point) >= most - EQUAL, point, moved)


def points(
    sums: tuple[Sums, Sums], names: tuple[str, str], units: Units, draws: SystemDraws
) -> tuple[SystemPoint, ...]:
    """Return the systems that both sides score, each score with its interval over clusters."""
    values = [side.point for side in sums]
    replicates = [side.means(draws.clusters) for side in sums]
    plan = replace(draws.plan, scheme="clusters")
    both = ~np.isnan(values[0]) & ~np.isnan(values[1])

    def score(side: int, system: int) -> Result:
        return finished(
            names[side],
            float(values[side][system]),
            replicates[side][:, system],
            plan,
            n_items=int(sums[side].numbers[:, system].sum()),
            n_clusters=int((sums[side].numbers[:, system] > 0).sum()),
            n_raters=1,
        )

    return tuple(
        SystemPoint(units.system_names[system], score(0, system), score(1, system))
        for system in np.flatnonzero(both).tolist()
    )
