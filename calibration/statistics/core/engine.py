"""Computes statistics of samples: point values, resampled values and results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from calibration.statistics.core.base import Statistic, Verdict
from calibration.statistics.core.features import Draw
from calibration.statistics.core.intervals import Bounds, bounds_of, cluster_flags
from calibration.statistics.core.resampling import Plan, Resampling
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats

EMPTY: Floats = np.empty(0)
SAME = 1e-9  # how far a value may lie from the library's by rounding


class Disagreement(ArithmeticError):
    """A value that a library computes differently: an internal error, never a matter of taste."""


@dataclass(frozen=True)
class Estimate:
    """A statistic of a sample: its verdict, its value (NaN where there is none) and its resampled values."""

    statistic: Statistic
    verdict: Verdict
    point: float
    replicates: Floats
    leave_one_out: Floats | None = None

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.verdict.status == "ok"


def estimates(sample: Sample, statistics: Sequence[Statistic], resampling: Resampling) -> list[Estimate]:
    """Compute statistics of one sample, all on the same resamples."""
    verdicts = {s.key: s.verdict(sample) for s in statistics}
    todo = [s for s in statistics if verdicts[s.key].status == "ok"]
    points = _values(sample, todo, [np.ones((1, resampling.n_units))])
    kept = _values(sample, todo, resampling.chunks() if resampling.plan.resamples else [])
    if resampling.plan.interval == "bca":
        left = _values(sample, todo, resampling.leave_one_out())
    out = []
    for statistic in statistics:
        verdict, key = verdicts[statistic.key], statistic.key
        if verdict.status != "ok":
            out.append(Estimate(statistic, verdict, np.nan, EMPTY))
            continue
        point = _checked(statistic, sample, float(points[key][0]))
        if not np.isfinite(point):
            verdict = Verdict("undefined", "not defined on these ratings", verdict.flags)
        jackknife = left[key] if resampling.plan.interval == "bca" else None
        out.append(Estimate(statistic, verdict, point, kept[key], jackknife))
    return out


@dataclass
class SecondOpinions:
    """How many values a library was asked for once more."""

    asked: int = 0


_OPINIONS: ContextVar[SecondOpinions | None] = ContextVar("second opinions", default=None)


@contextmanager
def second_opinions() -> Iterator[SecondOpinions]:
    """Compute each value that has a `second_opinion` by its library too; the values stay ours.

    Raises Disagreement, from within, where one differs.
    """
    counted = SecondOpinions()
    token = _OPINIONS.set(counted)
    try:
        yield counted
    finally:
        _OPINIONS.reset(token)


def _checked(statistic: Statistic, sample: Sample, point: float) -> float:
    """Return a library's value, where a statistic has one. Raises Disagreement where ours is another."""
    if not np.isfinite(point):
        return point
    if (opinions := _OPINIONS.get()) is not None and statistic.second_opinion is not None:
        opinions.asked += 1
        _compare(statistic, sample, point, statistic.second_opinion(sample))
    theirs = statistic.library(sample) if statistic.library is not None else None
    if theirs is None:
        return point
    _compare(statistic, sample, point, theirs)
    return theirs


def _compare(statistic: Statistic, sample: Sample, point: float, theirs: float) -> None:
    if not abs(theirs - point) <= SAME:
        raise Disagreement(
            f"{statistic.key} of {sample.n_items} items is {point!r} here and {theirs!r} by the library: "
            "a defect of one of them, please report it with the ratings"
        )


def _values(sample: Sample, statistics: Sequence[Statistic], chunks: object) -> dict[str, Floats]:
    parts: dict[str, list[Floats]] = {s.key: [] for s in statistics}
    if statistics:
        for weights in chunks:  # type: ignore[attr-defined]
            draw = Draw(sample, weights)
            for statistic in statistics:
                parts[statistic.key].append(statistic.compute(draw))
    return {key: np.concatenate(found) if found else EMPTY for key, found in parts.items()}


def result_of(estimate: Estimate, sample: Sample, plan: Plan) -> Result:
    """Return the result of an estimate, with its interval and counts."""
    verdict, statistic = estimate.verdict, estimate.statistic
    used = statistic.used(sample) if statistic.used is not None and sample.n_items else None
    n_clusters = sample.n_clusters if used is None else len(np.unique(sample.clusters[used]))
    counts: Counts = {
        "n_items": sample.n_items if used is None else int(used.sum()),
        "n_clusters": n_clusters,
        "n_raters": sample.n_raters,
        "n_missing": sample.n_missing,
    }
    singles = ""
    if statistic.reads_singles and sample.n_items and (sample.per_item == 1).any():
        rated = sample.per_item >= 1
        counts["n_items"] = int(rated.sum())
        counts["n_clusters"] = len(np.unique(sample.ratings.clusters[rated]))
        singles = f"; agreement on {sample.n_items} items rated twice or more, chance on all {rated.sum()}"
    if not estimate.ok:
        return Result(
            statistic.key,
            status=verdict.status,
            reason=verdict.reason,
            flags=verdict.flags,
            method=f"{plan.method}{singles}",
            **counts,
        )
    n_drawn = sample.resampling.n_drawn(sample.units if used is None else sample.units[used])
    bounds = interval_of(
        estimate.point, estimate.replicates, n_drawn, plan, estimate.leave_one_out, verdict.flags
    )
    flags = verdict.flags + bounds.flags + cluster_flags(n_drawn)
    remark = statistic.remark(sample) if statistic.remark is not None else ""
    return Result(
        statistic.key,
        estimate.point,
        bounds.low,
        bounds.high,
        method=f"{plan.method}; {remark}" if remark else f"{plan.method}{singles}",
        reason=bounds.reason,
        flags=flags,
        **counts,
    )


TOO_FEW = "no interval: fewer than 10 of the rarer answer, where simulated intervals miss the truth too often"


def interval_of(
    point: float,
    replicates: Floats,
    n_drawn: int,
    plan: Plan,
    leave_one_out: Floats | None = None,
    flags: Sequence[str] = (),
) -> Bounds:
    """Return the interval, or none where a single cluster (or system, or item) is drawn from.

    None either where a figure is flagged to rest on too few of the rarer answer.
    """
    if n_drawn < 2:
        unit = "cluster or system" if plan.scheme == "crossed" else plan.scheme.removesuffix("s")
        return Bounds(reason=f"no interval: there is a single {unit}")
    bounds = bounds_of(point, replicates, plan, leave_one_out)
    return Bounds(reason=TOO_FEW) if bounds.low is not None and "too_few_events" in flags else bounds
