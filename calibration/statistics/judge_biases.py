"""Biases of a judge beside people: each an effect with an interval by whole clusters.

    position    wins of the response shown first above one half, from pairs shown in both orders
    length      points that a doubling of the text adds, people's answers held equal
    family      judge less people on systems of its own family, less the same on others
    severity    judge less people on the same items
    drift       judge less people, per ten turns further on

All are functions of sums over items, resampled by clusters. `weights`, a number per item, are those of items
drawn with unequal probabilities (1 / probability); an item with NaN was not drawn and is left out.
`p_values` corrects several effects together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from calibration.statistics.analysis import corrected_p_values, mean_of
from calibration.statistics.core.engine import UNEQUAL, Counts, Result, finished, resampled
from calibration.statistics.core.ratings import Floats, Ints
from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.samples import kish
from calibration.statistics.preference_strengths import FIRST, LABELS, SECOND, Vote

ROUNDING = 1e-12
SWEEPS = 20
"""Alternations of item and person means; those of ordinary designs settle within a few."""
Marks = npt.NDArray[np.bool_]


def length_slope(
    judge: Floats,
    people: Floats,
    characters: Floats,
    clusters: Ints,
    plan: Plan | None = None,
    weights: Floats | None = None,
) -> Result:
    """Points that a text of twice the length gets more from the judge, people's answers held equal.

    `people` is items x people, NaN where missing; `characters` are counts. The coefficient of log2(1 +
    characters) in the regression of the judge's answers on it and on the people's mean. As the mean of few
    people is noisy, its variance is reduced by that of their noise (errors in variables, Fuller 1987,
    Measurement Error Models, ch. 2): plain regression finds a bias of length in every judge where people
    rate longer texts higher. The noise is what people differ on an item after each person's own severity.
    For tags the unit is the probability of the positive answer.
    """
    method = "regression on log2(1 + characters) and the people's mean, its noise removed"
    weights = _plain(weights, judge)
    values = _less_severity(np.where(np.isnan(weights)[:, None], np.nan, people))
    present = ~np.isnan(values)
    n_people, mean = present.sum(axis=1), mean_of(values)
    use = ~(np.isnan(judge) | np.isnan(mean) | np.isnan(characters))
    squares = np.where(present, (values - mean[:, None]) ** 2, 0.0).sum(axis=1)[use]
    free = np.maximum(n_people - 1, 0)[use].astype(np.float64)
    raters = int(present[n_people > 1].any(axis=0).sum())
    spare = 1 - (raters - 1) / free.sum() if free.sum() else 0.0  # severities cost degrees of freedom
    if use.any() and spare <= 0:
        reason = "too few items were rated by two people, so people's own noise is not known"
        counts: Counts = {
            "n_items": int(use.sum()),
            "n_clusters": len(np.unique(clusters[use])),
            "n_raters": 2,
        }
        return Result("length_slope", status="insufficient", reason=reason, method=method, **counts)
    w, j, p, x = weights[use], judge[use], mean[use], np.log2(1 + characters[use])
    j, p, x = (v - np.average(v, weights=w) if v.size else v for v in (j, p, x))
    share = 1 / np.maximum(n_people[use], 1)
    columns = (np.ones_like(j), j, p, x, p * p, x * x, j * p, j * x, p * x, squares, free * spare, share)
    return _of_sums(
        "length_slope",
        np.column_stack([*columns, w * share]) * w[:, None],
        clusters[use],
        _controlled_slope,
        plan or Plan(),
        weights=w,
        missing=int((~use & ~np.isnan(weights)).sum()),
        undefined="the length does not vary, or people's answers vary by no more than their own noise",
        method=method,
    )


def _less_severity(people: Floats) -> Floats:
    """Return ratings less each person's severity: least squares of item + person, by alternating means."""
    present = ~np.isnan(people)
    shared = present & (present.sum(axis=1) > 1)[:, None]
    n = np.maximum(shared.sum(axis=0), 1)
    severity = np.zeros(people.shape[1])
    for _ in range(SWEEPS):
        away = people - mean_of(people - severity)[:, None]
        severity = np.where(shared, away, 0.0).sum(axis=0) / n
    return people - severity


def _controlled_slope(sums: Floats) -> Floats:
    n, j, p, x, pp, xx, jp, jx, px, squares, free, share, heavy = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = squares / free * (share - heavy / n)
        s_pp, s_xx = pp - p * p / n - noise, xx - x * x / n
        s_jp, s_jx, s_px = jp - j * p / n, jx - j * x / n, px - p * x / n
        bottom = s_xx * s_pp - s_px**2
        good = (s_pp > ROUNDING * pp) & (bottom > ROUNDING * np.abs(xx * pp))
        return np.where(good, (s_jx * s_pp - s_jp * s_px) / bottom, np.nan)


def judge_severity(
    judge: Floats, people: Floats, clusters: Ints, plan: Plan | None = None, weights: Floats | None = None
) -> Result:
    """Mean of judge minus people's mean over the items that both answered: above 0 the judge is lenient."""
    weights = _plain(weights, judge)
    use = ~(np.isnan(judge) | np.isnan(people) | np.isnan(weights))
    w, gap = weights[use], (judge - people)[use]
    return _of_sums(
        "judge_severity",
        np.column_stack([w, w * gap]),
        clusters[use],
        lambda sums: sums[:, 1] / sums[:, 0],
        plan or Plan(),
        weights=w,
        missing=int((~use & ~np.isnan(weights)).sum()),
        undefined="no item was answered by both the judge and people",
        method="mean of judge less people's mean on the same items",
    )


def first_excess(
    votes: Sequence[Vote], plan: Plan | None = None, weights: Mapping[str, float] | None = None
) -> Result:
    """Share of wins of the response shown first, above one half: -0.5 to 0.5, a tie counts half.

    Read from the pairs that a rater answered in both orders: then the responses themselves cancel. Without
    such pairs the mean of both orders, over different pairs, is read; that is valid where the order was
    drawn at random. Insufficient where only one order was shown. `weights` are by item, of those drawn.
    """
    plan, name = plan or Plan(), "first_excess"
    by_pair: dict[tuple[str, str], tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    place: dict[tuple[str, str], str] = {}
    for vote in votes:
        is_drawn = weights is None or vote.item in weights
        if is_drawn and vote.swapped is not None and vote.label in LABELS:
            pair = vote.item, vote.rater
            place[pair] = vote.place
            by_pair[pair][vote.swapped].append(_first_wins(vote))
    both = [pair for pair, (straight, swapped) in by_pair.items() if straight and swapped]
    pairs = both or list(by_pair)
    orders = [any(by_pair[pair][order] for pair in pairs) for order in (False, True)]
    counts: Counts = {
        "n_items": len({item for item, _ in pairs}),
        "n_clusters": len({place[pair] for pair in pairs}),
        "n_raters": len({rater for _, rater in pairs}),
        "n_missing": len(by_pair) - len(pairs),
    }
    if not all(orders):
        reason = (
            "every pair was shown in one order, so position and response cannot be told apart"
            if pairs
            else "the order in which the pairs were shown is not known"
        )
        return Result(name, status="insufficient", reason=reason, **counts)
    means = [
        [(1.0, float(np.mean(wins))) if wins else (0.0, 0.0) for wins in by_pair[pair]] for pair in pairs
    ]
    w = np.array([1.0 if weights is None else weights[item] for item, _ in pairs])
    rows = np.array(means).reshape(len(pairs), 4) * w[:, None]
    _, units = np.unique([place[pair] for pair in pairs], return_inverse=True)
    point, replicates = resampled(units, rows, _mean_of_orders, plan)
    how = "pairs answered in both orders" if both else "pairs in either order, each order weighing half"
    method = f"wins of the response shown first, less one half; {how}"
    effective = _effective(units, w)
    flags = () if effective is None else (UNEQUAL,)
    return finished(name, point, replicates, plan, method=method, flags=flags, n_drawn=effective, **counts)


def _first_wins(vote: Vote) -> float:
    if vote.label not in (FIRST, SECOND):
        return 0.5
    return float((vote.label == SECOND) == vote.swapped)


def _mean_of_orders(sums: Floats) -> Floats:
    n, straight, m, swapped = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((n > 0) & (m > 0), (straight / n + swapped / m - 1) / 2, np.nan)


def p_values(effects: Sequence[Result], level: float = 0.95) -> list[tuple[Result, Result]]:
    """Return the p-value of no effect for each effect, alone and by Holm's correction over all of them.

    From the interval: its half width over the t quantile of its clusters is the standard error (Altman and
    Bland 2011, BMJ 343:d2304). An effect without an interval has no p-value.
    """
    raw = [_p_value(effect, level) for effect in effects]
    values = [p.value for p in raw if p.value is not None]
    corrected = iter(corrected_p_values(values, "holm").tolist() if values else [])
    how = f"; Holm over {len(values)} checks of the judge"
    return [
        (
            p,
            replace(p, name="p_holm", value=next(corrected), method=p.method + how)
            if p.ok
            else replace(p, name="p_holm"),
        )
        for p in raw
    ]


def _p_value(effect: Result, level: float) -> Result:
    method = "from the interval, t of its clusters"
    counts: Counts = {"n_items": effect.n_items, "n_clusters": effect.n_clusters, "n_raters": effect.n_raters}
    if effect.value is None or effect.low is None or effect.high is None or effect.n_clusters < 2:
        reason = effect.reason or "no interval"
        return Result("p", status="insufficient", reason=reason, method=method, **counts)
    free = effect.n_clusters - 1
    error = (effect.high - effect.low) / 2 / float(stdtrit(free, (1 + level) / 2))
    ratio = abs(effect.value) / error if error > 0 else (np.inf if effect.value else 0.0)
    return Result("p", float(2 * stdtr(free, -ratio)), method=method, **counts)


def excludes_zero(effect: Result) -> bool:
    """Whether an effect has an interval, and 0 lies outside it."""
    return effect.low is not None and effect.high is not None and not effect.low <= 0 <= effect.high


def is_clear(effect: Result, p_holm: Result, level: float = 0.95) -> bool:
    """Whether an effect's interval excludes 0 and so does its test after correction."""
    return excludes_zero(effect) and p_holm.value is not None and p_holm.value <= 1 - level


def family_preference(
    judge: Floats,
    people: Floats,
    own: Marks,
    clusters: Ints,
    plan: Plan | None = None,
    weights: Floats | None = None,
) -> Result:
    """Mean of judge minus people over systems of its own family, minus that over all others.

    Above 0: the judge is more lenient with its own family than people are, relative to its treatment of
    others.
    """
    weights = _plain(weights, judge)
    use = ~(np.isnan(judge) | np.isnan(people) | np.isnan(weights))
    w, gap, mine = weights[use], (judge - people)[use], own[use]
    rows = np.column_stack([mine, mine * gap, ~mine, ~mine * gap]) * w[:, None]
    return _of_sums(
        "family_preference",
        rows,
        clusters[use],
        _difference,
        plan or Plan(),
        weights=w,
        missing=int((~use & ~np.isnan(weights)).sum()),
        undefined="no item of its own family, or none of another, has both a judge's and people's answer",
        method="judge less people, own family less others",
    )


def turn_drift(
    judge: Floats, people: Floats, position: Floats, clusters: Ints, plan: Plan | None = None
) -> Result:
    """Slope of judge minus people over the turn's position: scale points per ten turns further on.

    The least-squares slope over all items. Above 0: the judge grows more lenient than people as the dialogue
    gets longer.
    """
    use = ~(np.isnan(judge) | np.isnan(people) | np.isnan(position))
    gap, x = (judge - people)[use], position[use] / 10
    x = x - x.mean() if x.size else x
    rows = np.column_stack([np.ones_like(x), x, gap, x * x, x * gap])
    return _of_sums(
        "turn_drift",
        rows,
        clusters[use],
        _slope,
        plan or Plan(),
        missing=int((~use).sum()),
        undefined="all items stand at the same place",
        method="least-squares slope of judge less people, per ten turns",
    )


def _of_sums(
    name: str,
    rows: Floats,
    clusters: Ints,
    compute: Callable[[Floats], Floats],
    plan: Plan,
    *,
    missing: int,
    undefined: str,
    method: str,
    weights: Floats | None = None,
) -> Result:
    counts: Counts = {"n_items": len(rows), "n_clusters": len(np.unique(clusters)), "n_raters": 2}
    if not len(rows):
        reason = "no item was answered by both the judge and people"
        return Result(
            name, status="insufficient", reason=reason, method=method, n_missing=missing, n_raters=2
        )
    _, units = np.unique(clusters, return_inverse=True)
    point, replicates = resampled(units, rows, compute, plan)
    effective = _effective(units, weights)
    return finished(
        name,
        point,
        replicates,
        plan,
        method=method,
        flags=() if effective is None else (UNEQUAL,),
        undefined=undefined,
        n_drawn=effective,
        **counts | {"n_missing": missing},
    )


def _effective(units: Ints, weights: Floats | None) -> int | None:
    """Return the effective number of clusters, by the sums of their weights; None where all count alike."""
    if weights is None or not np.ptp(weights):
        return None
    return round(kish(np.bincount(units, weights).astype(np.float64)))


def _plain(weights: Floats | None, judge: Floats) -> Floats:
    """Return the weights of items, 1 for each where all count alike."""
    return np.ones(len(judge)) if weights is None else weights


def _difference(sums: Floats) -> Floats:
    n, own, m, others = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((n > 0) & (m > 0), own / n - others / m, np.nan)


def _slope(sums: Floats) -> Floats:
    n, x, y, xx, xy = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = xx - x * x / n
        return np.where(spread > ROUNDING * np.maximum(xx, 1), (xy - x * y / n) / spread, np.nan)
