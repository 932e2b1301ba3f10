"""The alternative annotator test: may this judge stand in for a human annotator?

Source: Calderon, Reichart and Dror (2025). Each annotator j in turn is left out. On every item, the judge
and j are scored against the remaining annotators; the judge wins or ties (W_f = 1) where its score is at
least j's, j wins or ties (W_h = 1) where it is at least the judge's. The test per annotator is one-sided:
mean(W_h - W_f) < epsilon. The winning rate is the share of annotators whose test survives the
Benjamini-Yekutieli correction; the advantage probability is the mean over annotators of mean(W_f).
A winning rate of 0.5 or more is the authors' bar for replacing annotators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from calibration.statistics.data import Floats, Ints, Ratings
from calibration.statistics.engine import interval_of
from calibration.statistics.intervals import FEW_CLUSTERS
from calibration.statistics.resampling import Plan, Resampling, resampling_of
from calibration.statistics.result import Counts, Result
from calibration.statistics.samples import additive

Score = Literal["accuracy", "neg_rmse", "similarity"]
Similarity = Callable[[Floats, Floats], Floats]
EPSILON_BY_KIND = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
MIN_ITEMS = 30
TIE = 1e-12


@dataclass(frozen=True)
class Contest:
    """One left-out annotator: on each item, whether the judge and the annotator do at least as well."""

    annotator: str
    units: Ints
    clusters: Ints
    judge_wins: Floats
    annotator_wins: Floats

    @property
    def difference(self) -> Floats:
        """The annotator's wins less the judge's, per item: -1, 0 or 1."""
        return self.annotator_wins - self.judge_wins


@dataclass(frozen=True)
class AltTest:
    """The test's two figures, and per annotator the p-value, the advantage and whether the judge won."""

    winning_rate: Result
    advantage: Result
    p_values: dict[str, float]
    advantages: dict[str, float]
    won: tuple[str, ...]
    left_out: tuple[str, ...]


def alternative_annotator_test(
    ratings: Ratings,
    judge: int,
    people: Sequence[int],
    *,
    epsilon: float | Mapping[str, float] = 0.15,
    q: float = 0.05,
    score: Score | None = None,
    similarity: Similarity | None = None,
    min_items: int = MIN_ITEMS,
    clustered: bool = False,
    plan: Plan | None = None,
) -> AltTest:
    """Run the test for a judge's column against people's columns.

    ``epsilon`` is one margin or one per annotator (the authors suggest 0.2 for experts, 0.15 for skilled
    annotators, 0.1 for crowd workers). ``score`` is accuracy for binary and nominal scales and negative RMSE
    otherwise. ``similarity`` compares two arrays of values elementwise and is needed for that score.
    ``clustered`` tests with a standard error over clusters, since items of one dialogue are not independent.
    Annotators with fewer than ``min_items`` shared items are left out and named.
    """
    plan = plan or Plan()
    chosen: Score = score or ("accuracy" if ratings.level in ("binary", "nominal") else "neg_rmse")
    if chosen == "similarity" and similarity is None:
        raise ValueError("the similarity score needs a similarity function")
    resampling = resampling_of(ratings, plan)
    contests = contests_of(ratings, judge, people, chosen, similarity, resampling)
    kept = [c for c in contests if len(c.units) >= min_items]
    left_out = tuple(c.annotator for c in contests if len(c.units) < min_items)
    margins = np.array([_margin(epsilon, c.annotator) for c in kept])
    sums = (
        np.concatenate([_sums(c, resampling) for c in kept], axis=1)
        if kept
        else np.empty((resampling.n_units, 0))
    )
    return _finish(ratings, kept, left_out, margins, sums, q, clustered, resampling, f"score {chosen}")


def contests_of(
    ratings: Ratings,
    judge: int,
    people: Sequence[int],
    score: Score,
    similarity: Similarity | None,
    resampling: Resampling,
) -> list[Contest]:
    """Return the contest of each person with the judge on items that another person rated as well."""
    values, f = ratings.values[:, list(people)], ratings.values[:, judge]
    out = []
    for position, column in enumerate(people):
        others = np.delete(values, position, axis=1)
        own = values[:, position]
        use = ~np.isnan(own) & ~np.isnan(f) & (~np.isnan(others)).any(axis=1)
        of_judge = _scores(f[use], others[use], score, similarity)
        of_person = _scores(own[use], others[use], score, similarity)
        out.append(
            Contest(
                ratings.raters[column],
                resampling.units[use],
                ratings.clusters[use],
                (of_judge >= of_person - TIE).astype(np.float64),
                (of_person >= of_judge - TIE).astype(np.float64),
            )
        )
    return out


def _scores(one: Floats, others: Floats, score: Score, similarity: Similarity | None) -> Floats:
    """Alignment of one value per item with the others' values of that item."""
    given = ~np.isnan(others)
    n = given.sum(axis=1)
    filled = np.where(given, others, 0.0)
    if score == "accuracy":
        return ((filled == one[:, None]) & given).sum(axis=1) / n
    if score == "neg_rmse":
        return -np.sqrt((np.where(given, filled - one[:, None], 0.0) ** 2).sum(axis=1) / n)
    assert similarity is not None
    pairs = similarity(np.broadcast_to(one[:, None], others.shape)[given], others[given])
    out = np.zeros(others.shape)
    out[given] = pairs
    return out.sum(axis=1) / n


def _margin(epsilon: float | Mapping[str, float], annotator: str) -> float:
    return float(epsilon[annotator]) if isinstance(epsilon, Mapping) else float(epsilon)


def _sums(contest: Contest, resampling: Resampling) -> Floats:
    d = contest.difference
    rows = np.column_stack([np.ones_like(d), d, d * d, contest.judge_wins])
    return additive(contest.units, resampling.n_units, rows).sums


def p_values(n: Floats, total: Floats, squares: Floats, margins: Floats) -> Floats:
    """One-sided t-test p-values of mean < margin; without variation 0 or 1 by the side the mean lies on."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / n
        variance = np.maximum(squares - n * mean**2, 0) / (n - 1)
        t = (mean - margins) / np.sqrt(variance / n)
        tested = special.stdtr(n - 1, t)
    certain = np.where(mean < margins, 0.0, 1.0)
    flat = variance <= 1e-14
    return np.where(n < 2, np.nan, np.where(flat, certain, tested))


def clustered_p_values(contests: Sequence[Contest], margins: Floats) -> Floats:
    """As above, with the standard error of the mean taken over clusters (linearised ratio)."""
    out = []
    for contest, margin in zip(contests, margins, strict=True):
        _, codes = np.unique(contest.clusters, return_inverse=True)
        sizes = np.bincount(codes).astype(np.float64)
        mean = contest.difference.mean()
        residual = np.bincount(codes, weights=contest.difference) - mean * sizes
        c = len(sizes)
        error = np.sqrt(c / (c - 1) * (residual**2).sum()) / sizes.sum() if c > 1 else np.nan
        flat = not error > 0
        out.append(
            (0.0 if mean < margin else 1.0) if flat else float(special.stdtr(c - 1, (mean - margin) / error))
        )
    return np.array(out)


def by_rejected(p: Floats, q: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Benjamini-Yekutieli rejections per row of p-values (rows x tests); NaN is never rejected."""
    m = p.shape[1]
    filled = np.where(np.isnan(p), 1.0, p)
    order = np.argsort(filled, axis=1, kind="stable")
    ranks = np.arange(1, m + 1)
    below = np.take_along_axis(filled, order, axis=1) <= ranks / m * q / (1 / ranks).sum()
    last = np.where(below.any(axis=1), m - below[:, ::-1].argmax(axis=1), 0)
    out = np.zeros(p.shape, dtype=np.bool_)
    np.put_along_axis(out, order, ranks[None, :] <= last[:, None], axis=1)
    return out


def _figures(totals: Floats, margins: Floats, q: float) -> tuple[Floats, Floats, Floats]:
    """Return winning rate, advantage and p-values per row of totals (rows x annotators x 4)."""
    n, total, squares, wins = np.moveaxis(totals, 2, 0)
    p = p_values(n, total, squares, margins)
    with np.errstate(divide="ignore", invalid="ignore"):
        advantage = (wins / n).mean(axis=1)
    return by_rejected(p, q).mean(axis=1), advantage, p


def _finish(
    ratings: Ratings,
    kept: Sequence[Contest],
    left_out: tuple[str, ...],
    margins: Floats,
    sums: Floats,
    q: float,
    clustered: bool,
    resampling: Resampling,
    scored: str,
) -> AltTest:
    plan, m = resampling.plan, len(kept)
    margin = f"epsilon {margins[0]:g}" if m and (margins == margins[0]).all() else "epsilon per annotator"
    test = "t-test over clusters" if clustered else "t-test"
    method = (
        f"alternative annotator test, {scored}, {margin}, {test}, Benjamini-Yekutieli q {q:g}; {plan.method}"
    )
    counts = _counts(ratings, kept)
    if m == 0:
        reason = f"no annotator shares {MIN_ITEMS} items with another annotator and the judge"
        none = [
            Result(name, status="insufficient", reason=reason, method=method, **counts)
            for name in ("alt_test_winning_rate", "alt_test_advantage")
        ]
        return AltTest(none[0], none[1], {}, {}, (), left_out)
    rate, advantage, p = _figures(sums.sum(axis=0).reshape(1, m, 4), margins, q)
    won = by_rejected(p, q)[0]
    if clustered:
        p = clustered_p_values(kept, margins)[None, :]
        won = by_rejected(p, q)[0]
        rate = np.array([won.mean()])
    parts = [_figures((w @ sums).reshape(-1, m, 4), margins, q)[:2] for w in resampling.chunks()]
    rates, advantages = (
        np.concatenate([part[i] for part in parts]) if parts else np.empty(0) for i in range(2)
    )
    results = [
        _result("alt_test_winning_rate", float(rate[0]), rates, counts, method, plan, left_out),
        _result("alt_test_advantage", float(advantage[0]), advantages, counts, method, plan, left_out),
    ]
    names = [c.annotator for c in kept]
    return AltTest(
        results[0],
        results[1],
        dict(zip(names, p[0].tolist(), strict=True)),
        {c.annotator: float(c.judge_wins.mean()) for c in kept},
        tuple(name for name, w in zip(names, won, strict=True) if w),
        left_out,
    )


def _counts(ratings: Ratings, kept: Sequence[Contest]) -> Counts:
    clusters = np.unique(np.concatenate([c.clusters for c in kept])) if kept else np.empty(0)
    return {
        "n_items": max((len(c.units) for c in kept), default=0),
        "n_clusters": len(clusters),
        "n_raters": len(kept) + 1,
    }


def _result(
    name: str,
    value: float,
    replicates: Floats,
    counts: Counts,
    method: str,
    plan: Plan,
    left_out: tuple[str, ...],
) -> Result:
    percentile = Plan(plan.resamples, plan.seed, plan.level, "percentile", plan.scheme, plan.max_undefined)
    bounds = interval_of(value, replicates, counts["n_clusters"], percentile)
    flags = bounds.flags + (("few_clusters",) if counts["n_clusters"] < FEW_CLUSTERS else ())
    flags += ("dropped_raters",) if left_out else ()
    flags += ("few_raters",) if counts["n_raters"] < 4 else ()
    return Result(
        name, value, bounds.low, bounds.high, method=method, reason=bounds.reason, flags=flags, **counts
    )
