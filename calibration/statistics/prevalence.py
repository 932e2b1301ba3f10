"""The true prevalence of a behaviour, estimated from a judge on all items and people on some of them.

* ``naive``: the judge's own share of positives. Valid only if its errors cancel.
* ``rogan_gladen`` (1978): (p + specificity - 1) / (sensitivity + specificity - 1). Valid if sensitivity and
  specificity are the same where they were measured and where they are used.
* ``prediction_powered`` (Angelopoulos et al. 2023; power tuning: PPI++ 2023): the labelled items' mean plus
  a correction from the judge on unlabelled ones. Valid if the labelled items are a random sample of the same
  items (by cluster); a bad judge only widens the interval.

Intervals over clusters treat the labelled and the unlabelled clusters as two independent samples: a dialogue
is labelled as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.special import ndtri

from calibration.statistics.core.engine import (
    FEW_EVENTS,
    Counts,
    Labels,
    Result,
    Status,
    cluster_codes,
    finished,
    resampled,
)
from calibration.statistics.core.ratings import Floats, Ints
from calibration.statistics.core.resampling import Plan, cluster_flags, drawn_counts

# Plain proportions: Wilson's score interval (1927), for independent items only.


def wilson_bounds(positive: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return the limits of Wilson's interval for ``positive`` of n (n > 0)."""
    z = float(ndtri((1 + level) / 2))
    p = positive / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    # At 0 and n of n the limit is exact; rounding must not push it past.
    return (0.0 if positive == 0 else max(0.0, centre - half)), (
        1.0 if positive == n else min(1.0, centre + half)
    )


def wilson(positive: int, n: int, level: float = 0.95) -> Result:
    """A proportion with Wilson's interval; too short where items come in clusters."""
    method = f"Wilson, {level:.0%}"
    if n <= 0:
        return Result("proportion", status="insufficient", reason="no items", method=method)
    if not 0 <= positive <= n:
        return Result(
            "proportion", status="rejected", reason=f"{positive} of {n} is not a proportion", method=method
        )
    low, high = wilson_bounds(positive, n, level)
    return Result("proportion", positive / n, low, high, n, n, 1, 0, method)


REFUSED = (
    "sensitivity + specificity is at most 1: the judge is no better than chance, nothing to correct with"
)


OUTSIDE = "no interval: the corrected value is impossible (there are few labels, or the judge has changed)"
_Sample = tuple[Floats, Floats]
"""People's values, and the judge's with and without a person's beside them."""


@dataclass(frozen=True)
class Labelled:
    """Items with a person's value and the judge's, and their clusters."""

    truth: Floats
    judge: Floats
    clusters: Ints

    @staticmethod
    def of(truth: npt.ArrayLike, judge: npt.ArrayLike, clusters: Labels | None = None) -> Labelled:
        """Build from array-likes of one length; ValueError for missing values."""
        y, f = np.asarray(truth, np.float64), np.asarray(judge, np.float64)
        if y.shape != f.shape or y.ndim != 1:
            raise ValueError(f"truth and judge must be two lists of one length, not {y.shape} and {f.shape}")
        if np.isnan(y).any() or np.isnan(f).any():
            raise ValueError("a labelled item needs the person's value and the judge's")
        return Labelled(y, f, cluster_codes(clusters, len(y)))

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(np.unique(self.clusters))


def _judged(judge: npt.ArrayLike) -> Floats:
    """Return the judge's values; ValueError where one is missing."""
    f = np.asarray(judge, np.float64)
    if np.isnan(f).any():
        raise ValueError(f"the judge has no value for {int(np.isnan(f).sum())} items; leave those items out")
    return f


def _weights(shares: Sequence[float] | None, sizes: Sequence[float]) -> Floats:
    """Return the strata's weights, which sum to 1: shares as given, or sizes."""
    weights = np.array(shares if shares is not None else sizes, np.float64)
    if len(weights) != len(sizes) or not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        raise ValueError(f"{len(sizes)} strata need as many shares, none negative and not all 0")
    return np.asarray(weights / weights.sum())


Stratum = tuple[Labelled, npt.ArrayLike, Labels | None]
"""A stratum's labelled items, the judge's values of its unlabelled ones, and the clusters of those."""


def naive(judge: npt.ArrayLike, clusters: Labels | None = None, plan: Plan | None = None) -> Result:
    """The judge's mean over all items, uncorrected."""
    plan = plan or Plan()
    f = _judged(judge)
    method = "judge alone, uncorrected"
    if not len(f):
        return Result("prevalence_naive", status="insufficient", reason="no items", method=method)
    units = cluster_codes(clusters, len(f))
    rows = np.column_stack([np.ones(len(f)), f])
    point, replicates = resampled(units, rows, lambda t: t[:, 1] / t[:, 0], plan)
    return finished(
        "prevalence_naive",
        point,
        replicates,
        plan,
        n_items=len(f),
        n_clusters=len(np.unique(units)),
        n_raters=1,
        method=method,
    )


def rogan_gladen(
    positive: int, n: int, sensitivity: float, specificity: float, level: float = 0.95
) -> Result:
    """Corrected prevalence with known sensitivity and specificity; Wilson's limits carried through.

    The interval ignores that sensitivity and specificity are estimates, and that items are clustered.
    """
    method = (
        f"Rogan-Gladen, sensitivity {sensitivity:g} and specificity {specificity:g} taken as known, Wilson"
    )
    name = "prevalence_rogan_gladen"
    if n <= 0:
        return Result(name, status="insufficient", reason="no items", method=method)
    counts: Counts = {"n_items": n, "n_clusters": n, "n_raters": 1}
    refused = _refused(positive, n, sensitivity, specificity)
    if refused:
        return Result(name, status="rejected", reason=refused, method=method, **counts)
    ends = [positive / n, *wilson_bounds(positive, n, level)]
    corrected = [(p + specificity - 1) / (sensitivity + specificity - 1) for p in ends]
    value, low, high = (float(np.clip(p, 0, 1)) for p in corrected)
    flags = ("clipped",) if value != corrected[0] else ()
    if low == high:
        reason = (
            "no interval: all of it lies outside 0 to 1, so the judge does not err here as it was measured"
        )
        return Result(name, value, method=method, reason=reason, flags=flags, **counts)
    return Result(name, value, low, high, method=method, flags=flags, **counts)


def _refused(positive: int, n: int, sensitivity: float, specificity: float) -> str:
    """Return why there is no correction with these figures, or nothing."""
    if not 0 <= positive <= n:
        return f"{positive} of {n} is not a share"
    if not (0 <= sensitivity <= 1 and 0 <= specificity <= 1):
        return f"sensitivity {sensitivity:g} and specificity {specificity:g} must lie between 0 and 1"
    return REFUSED if sensitivity + specificity <= 1 else ""


def rogan_gladen_estimated(
    labelled: Labelled, judge: npt.ArrayLike, clusters: Labels | None = None, plan: Plan | None = None
) -> Result:
    """Corrected prevalence with sensitivity and specificity from labelled items; all three resampled.

    Values are 0 and 1 (ValueError otherwise). The estimate is not clipped, so that it stays unbiased; where
    it lies outside 0 to 1 it has the flag ``outside_range`` and no interval. Ends of an interval are cut at
    0 and 1.
    """
    return stratified_rogan_gladen([(labelled, judge, clusters)], plan=plan)


def stratified_rogan_gladen(
    strata: Sequence[Stratum], shares: Sequence[float] | None = None, plan: Plan | None = None
) -> Result:
    """Corrected prevalence over strata, each with a sensitivity and specificity of its own.

    Strata weigh ``shares``, or their numbers of items, labelled or not.
    """
    plan = plan or Plan()
    name = "prevalence_rogan_gladen"
    method = "Rogan-Gladen, sensitivity and specificity from labelled items, both samples resampled"
    method += f", {len(strata)} strata" if len(strata) > 1 else ""
    sums = [_rogan_gladen_sums(*stratum) for stratum in strata]
    counts: Counts = {
        "n_items": int(sum(labelled[:, [0, 2]].sum() + seen[:, 0].sum() for labelled, seen in sums)),
        "n_clusters": sum(len(labelled) + len(seen) for labelled, seen in sums),
        "n_raters": 2,
    }
    refusal = next((r for r in (_refusal(labelled.sum(axis=0), seen) for labelled, seen in sums) if r), None)
    if refusal is not None or not sums:
        status, reason = refusal or ("insufficient", "no strata")
        return Result(name, status=status, reason=reason, method=method, **counts)
    weights = _weights(shares, [labelled[:, [0, 2]].sum() + seen[:, 0].sum() for labelled, seen in sums])
    point = float(
        sum(
            w * _corrected(k.sum(0)[None], s.sum(0)[None])[0] for w, (k, s) in zip(weights, sums, strict=True)
        )
    )
    rng = np.random.default_rng(plan.seed)
    replicates = np.zeros(plan.resamples)
    for w, (labelled, seen) in zip(weights, sums, strict=True):
        corrected_values = [
            _corrected(_redrawn(rng, labelled), _redrawn(rng, seen))[0] for _ in range(plan.resamples)
        ]
        replicates += w * np.array(corrected_values)
    events = min(min(labelled[:, 0].sum(), labelled[:, 2].sum()) for labelled, _ in sums)
    flags = few_labelled(events)
    return within_range(
        finished(name, point, np.clip(replicates, 0, 1), plan, method=method, flags=flags, **counts)
    )


def within_range(result: Result, most: float = 1.0) -> Result:
    """Return the result; without an interval, and flagged, where its value lies outside 0 to ``most``."""
    if result.value is None or 0 <= result.value <= most:
        return result
    return replace(result, low=None, high=None, reason=OUTSIDE).with_flags("outside_range")


def few_labelled(events: float) -> tuple[str, ...]:
    """Return the flag of fewer than 30 labelled items of the rarer class, or none."""
    return ("few_events",) if events < FEW_EVENTS else ()


def _rogan_gladen_sums(
    labelled: Labelled, judge: npt.ArrayLike, clusters: Labels | None
) -> tuple[Floats, Floats]:
    """Return per cluster what sensitivity and specificity need, and what the judge's share needs."""
    y, g, f = labelled.truth, labelled.judge, _judged(judge)
    if not all(np.isin(values, (0, 1)).all() for values in (y, g, f)):
        raise ValueError("Rogan-Gladen is for values of 0 and 1")
    labelled_sums = _unit_sums(labelled.clusters, np.column_stack([y, y * g, 1 - y, (1 - y) * (1 - g)]))
    return labelled_sums, _unit_sums(cluster_codes(clusters, len(f)), np.column_stack([np.ones(len(f)), f]))


def _refusal(totals: Floats, seen: Floats) -> tuple[Status, str] | None:
    """Return why there is no correction, or None."""
    if not len(seen):
        return "insufficient", "no unlabelled items"
    for count, missing in ((totals[0], "positives"), (totals[2], "negatives")):
        if count == 0:
            return "undefined", f"no {missing} among the labelled items"
    if totals[1] / totals[0] + totals[3] / totals[2] <= 1:
        return "rejected", REFUSED
    return None


def _corrected(labelled: Floats, seen: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        sensitivity, specificity = labelled[:, 1] / labelled[:, 0], labelled[:, 3] / labelled[:, 2]
        gain = sensitivity + specificity - 1
        value = (seen[:, 1] / seen[:, 0] + specificity - 1) / gain
    return np.where(gain > 0, value, np.nan)


def _unit_sums(units: Ints, rows: Floats) -> Floats:
    unit_codes, local = np.unique(units, return_inverse=True)
    out = np.zeros((len(unit_codes), rows.shape[1]))
    np.add.at(out, local.ravel(), rows)
    return out


def _redrawn(rng: np.random.Generator, sums: Floats) -> Floats:
    return drawn_counts(rng, len(sums), 1) @ sums


def prediction_powered(
    labelled: Labelled,
    judge: npt.ArrayLike,
    clusters: Labels | None = None,
    *,
    tuning: float | None = None,
    level: float = 0.95,
) -> Result:
    """Mean of the truth over all items, from labelled items and the judge on unlabelled ones.

    lambda * mean(judge, unlabelled) + mean(truth - lambda * judge, labelled). ``tuning`` fixes lambda (1 is
    plain prediction-powered inference, 0 ignores the judge); otherwise lambda minimises the estimated
    variance over clusters. The interval uses Student's t by the smaller number of clusters; where truth and
    judge lie in 0 to 1 (answers, or shares of people) it is made on the logit scale, since a rare share is
    skewed. A value outside 0 to 1 has no interval, and the flag ``outside_range``.
    """
    f = _judged(judge)
    units = cluster_codes(clusters, len(f))
    estimate = _powered(labelled, f, units, tuning)
    name = "prevalence_prediction_powered"
    counts: Counts = {
        "n_items": len(labelled.truth) + len(f),
        "n_clusters": labelled.n_clusters + len(np.unique(units)),
        "n_raters": 2,
    }
    if estimate is None:
        return Result(name, status="insufficient", reason="no labelled or no unlabelled items", **counts)
    method = (
        f"prediction-powered mean, lambda {estimate.tuning:.3f}, standard error over clusters, {level:.0%}"
    )
    return with_interval(
        name, estimate, level, method, counts, [(labelled.truth, np.append(labelled.judge, f))]
    )


@dataclass(frozen=True)
class MeanEstimate:
    """A mean with its variance, lambda, and the smaller number of clusters it rests on."""

    value: float
    variance: float
    tuning: float
    smallest: int


def _powered(labelled: Labelled, f: Floats, units: Ints, tuning: float | None) -> MeanEstimate | None:
    y, g = labelled.truth, labelled.judge
    if not len(y) or not len(f):
        return None
    seen = cluster_covariance(f, f, units)
    own = cluster_covariance(g, g, labelled.clusters)
    cross = cluster_covariance(y, g, labelled.clusters)
    spread = seen + own
    weight = tuning if tuning is not None else (cross / spread if spread > 0 else 0.0)
    value = float(weight * f.mean() + (y - weight * g).mean())
    rest = y - weight * g
    variance = cluster_covariance(rest, rest, labelled.clusters) + weight**2 * seen
    return MeanEstimate(value, variance, float(weight), min(labelled.n_clusters, len(np.unique(units))))


def cluster_covariance(a: Floats, b: Floats, clusters: Ints) -> float:
    """Covariance of two means over items drawn by cluster (linearised ratio, c / (c - 1))."""
    _, local = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(local.ravel())
    c = len(sizes)
    if c < 2:
        return float("nan")
    first = np.bincount(local.ravel(), weights=a - a.mean())
    second = np.bincount(local.ravel(), weights=b - b.mean())
    return float(c / (c - 1) * (first * second).sum() / len(a) ** 2)


def stratified(
    strata: Sequence[Stratum],
    shares: Sequence[float] | None = None,
    *,
    tuning: float | None = None,
    level: float = 0.95,
) -> Result:
    """Prediction-powered mean over strata, each corrected by itself, weighted by ``shares``.

    Shares default to the strata's numbers of items, labelled or not. Valid if labelled clusters were drawn at
    random within each stratum.
    """
    estimates = []
    samples: list[_Sample] = []
    sizes = []
    n_clusters = 0
    for labelled, judge, clusters in strata:
        f = _judged(judge)
        units = cluster_codes(clusters, len(f))
        estimates.append(_powered(labelled, f, units, tuning))
        samples.append((labelled.truth, np.append(labelled.judge, f)))
        n_clusters += labelled.n_clusters + len(np.unique(units))
        sizes.append(len(labelled.truth) + len(f))
    name = "prevalence_stratified"
    n_items = sum(sizes)
    counts: Counts = {"n_items": n_items, "n_clusters": n_clusters, "n_raters": 2}
    if not estimates or any(e is None for e in estimates):
        return Result(
            name, status="insufficient", reason="a stratum has no labelled or no unlabelled items", **counts
        )
    weights = _weights(shares, sizes)
    good = [e for e in estimates if e is not None]
    total = MeanEstimate(
        value=float(sum(w * e.value for w, e in zip(weights, good, strict=True))),
        variance=float(sum(w**2 * e.variance for w, e in zip(weights, good, strict=True))),
        tuning=float("nan"),
        smallest=sum(e.smallest - 1 for e in good) + 1,
    )
    method = f"stratified prediction-powered mean over {len(good)} strata, {level:.0%}"
    return with_interval(name, total, level, method, counts, samples)


def with_interval(
    name: str,
    estimate: MeanEstimate,
    level: float,
    method: str,
    counts: Counts,
    samples: Sequence[_Sample],
    *,
    is_difference: bool = False,
) -> Result:
    """Return the estimate with its t interval, on the logit scale where all values lie in 0 to 1.

    ``samples`` are people's values and the judge's; a difference has none and no logit scale.
    """
    value, spread = estimate.value, estimate.variance**0.5
    flags = cluster_flags(estimate.smallest)
    is_share = not is_difference and all(_within(side) for sample in samples for side in sample)
    if is_share and all(bool(np.isin(judge, (0, 1)).all()) for _, judge in samples):
        yes = sum(float(truth.sum()) for truth, _ in samples)
        flags += few_labelled(min(yes, sum(len(truth) for truth, _ in samples) - yes))
    reason = ""
    if not np.isfinite(spread):
        reason = "no interval: fewer than two clusters"
    elif spread == 0:
        reason = "no interval: labels and judge do not vary"
    elif is_share and not 0 < value < 1:
        reason = OUTSIDE if value not in (0, 1) else "no interval: the corrected value is an end of 0 to 1"
    if reason:
        result = Result(name, value, method=method, reason=reason, flags=flags, **counts)
        return within_range(result) if is_share else result
    half = float(special.stdtrit(estimate.smallest - 1, (1 + level) / 2)) * spread
    if is_share:
        half /= value * (1 - value)
        low, high = (float(special.expit(special.logit(value) + sign * half)) for sign in (-1, 1))
        return Result(name, value, low, high, method=f"{method}, logit scale", flags=flags, **counts)
    return Result(name, value, value - half, value + half, method=method, flags=flags, **counts)


def _within(values: Floats) -> bool:
    """Whether all values lie in 0 to 1: answers, or shares of people or of turns."""
    return bool(((values >= 0) & (values <= 1)).all())
