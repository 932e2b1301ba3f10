"""The alternative annotator test: may this judge stand in for a human annotator?

Source: Calderon, Reichart and Dror (2025). Each annotator j in turn is left out. On every item, the judge
and j are scored against the remaining annotators; the judge wins or ties (W_f = 1) where its score is at
least j's, j wins or ties (W_h = 1) where it is at least the judge's. The test per annotator is one-sided:
mean(W_h - W_f) < epsilon. The winning rate is the share of annotators whose test survives the
Benjamini-Yekutieli correction; the advantage probability is the mean over annotators of mean(W_f).
A winning rate of 0.5 or more is the authors' bar for replacing annotators.

A judge that gave one value throughout has no winning rate here: where most answers are alike it would win
every contest without having read an item.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special

from calibration.statistics.core.base import InReports, JudgeTest
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import interval_of
from calibration.statistics.core.intervals import cluster_flags
from calibration.statistics.core.resampling import Plan, Resampling, resampling_of
from calibration.statistics.core.result import Counts, Result, Status
from calibration.statistics.core.samples import additive
from calibration.statistics.core.types import Floats, Ints

Score = Literal["accuracy", "neg_rmse", "similarity"]
Similarity = Callable[[Floats, Floats], Floats]
EPSILON_BY_KIND = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
MIN_ITEMS = 30
TIE = 1e-12
SOURCE = "Calderon, Reichart and Dror (2025)"
JUDGE_TESTS: dict[str, JudgeTest] = {
    test.key: test
    for test in (
        JudgeTest(
            "alt_test_winning_rate",
            "Alternative annotator test: winning rate",
            InReports("Winning rate", "ω", "ω"),
            SOURCE,
        ),
        JudgeTest(
            "alt_test_advantage",
            "Alternative annotator test: advantage probability",
            InReports("Advantage probability", "Advantage"),
            SOURCE,
        ),
    )
}
NAMES = tuple(JUDGE_TESTS)


@dataclass(frozen=True)
class Contest:
    """One left-out annotator: on each item, whether the judge and the annotator do at least as well."""

    annotator: str
    items: Ints
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
    ``clustered`` tests with a standard error over the plan's units (dialogues unless told), since items of
    one dialogue are not independent. Annotators with fewer than ``min_items`` shared items are left out and
    named. A judge of one value throughout has no winning rate. ValueError for fewer than 2 items.
    """
    plan = plan or Plan()
    if min_items < 2:
        raise ValueError(f"a test needs two items of an annotator at least, not {min_items}")
    if clustered and plan.scheme == "crossed":
        raise ValueError("the test over clusters needs one kind of unit, not clusters and systems crossed")
    chosen: Score = score or ("accuracy" if ratings.level in ("binary", "nominal") else "neg_rmse")
    if chosen == "similarity" and similarity is None:
        raise ValueError("the similarity score needs a similarity function")
    resampling = resampling_of(ratings, plan)
    contests = contests_of(ratings, judge, people, chosen, similarity, resampling)
    kept = [c for c in contests if len(c.units) >= min_items and (not clustered or np.ptp(c.units) > 0)]
    names = {c.annotator for c in kept}
    left_out = tuple(c.annotator for c in contests if c.annotator not in names)
    setting = _Setting(
        ratings,
        kept,
        left_out,
        np.array([_margin(epsilon, c.annotator) for c in kept]),
        q,
        clustered,
        resampling,
        _method(chosen, epsilon, q, clustered, plan, _tested(kept, contests, min_items)),
        _counts(ratings, judge, people, kept),
        ratings.raters[judge] if is_constant(ratings, judge, people) else "",
    )
    if ratings.problem:
        return setting.nothing("rejected", ratings.problem)
    if not kept:
        where = " in two clusters or more" if clustered else ""
        reason = f"no annotator shares {min_items} items{where} with another annotator and the judge"
        return setting.nothing("insufficient", reason)
    return setting.tested()


def is_constant(ratings: Ratings, judge: int, people: Sequence[int]) -> bool:
    """Whether a judge gave one value to all items that it can be tested on: those that two people rated."""
    shared = (~np.isnan(ratings.values[:, list(people)])).sum(axis=1) >= 2
    own = ratings.values[shared, judge]
    own = own[~np.isnan(own)]
    return bool(own.size) and bool((own == own[0]).all())


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
                np.flatnonzero(use),
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


def clustered_p_values(totals: Floats, margins: Floats) -> Floats:
    """As above, with the standard error of the mean taken over clusters (linearised ratio).

    ``totals`` (rows x annotators x 8) are those of ``_sums``. One cluster has no such error, and no p-value.
    """
    n, total, _, _, sizes_squared, size_by_sum, sums_squared, clusters = np.moveaxis(totals, 2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / n
        raw = sums_squared + mean**2 * sizes_squared
        residual = np.maximum(raw - 2 * mean * size_by_sum, 0)
        error = np.sqrt(clusters / (clusters - 1) * residual) / n
        tested = special.stdtr(clusters - 1, (mean - margins) / error)
    certain = np.where(mean < margins, 0.0, 1.0)
    return np.where(clusters < 2, np.nan, np.where(residual <= 1e-12 * raw, certain, tested))


def by_rejected(p: Floats, q: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Benjamini-Yekutieli rejections per row of p-values (rows x tests); NaN is not a test."""
    m = p.shape[1]
    order = np.argsort(p, axis=1, kind="stable")  # NaN last
    ranks = np.arange(1, m + 1)
    tests = (~np.isnan(p)).sum(axis=1)
    harmonic = np.concatenate([[np.inf], np.cumsum(1 / ranks)])[tests]
    limits = ranks * (q / (np.maximum(tests, 1) * harmonic))[:, None]
    below = np.take_along_axis(p, order, axis=1) <= limits
    last = np.where(below.any(axis=1), m - below[:, ::-1].argmax(axis=1), 0)
    out = np.zeros(p.shape, dtype=np.bool_)
    np.put_along_axis(out, order, ranks[None, :] <= last[:, None], axis=1)
    return out


@dataclass(frozen=True)
class _Setting:
    """What a test rests on, and how its results are described."""

    ratings: Ratings
    kept: Sequence[Contest]
    left_out: tuple[str, ...]
    margins: Floats
    q: float
    clustered: bool
    resampling: Resampling
    method: str
    counts: Counts
    constant: str

    def nothing(self, status: Status, reason: str) -> AltTest:
        """Return a test without figures, and why."""
        rate, advantage = (
            Result(name, status=status, reason=reason, method=self.method, **self.counts) for name in NAMES
        )
        return AltTest(rate, advantage, {}, {}, (), self.left_out)

    def tested(self) -> AltTest:
        """Return the test, its two figures resampled."""
        sums = np.concatenate([self._sums(c) for c in self.kept], axis=1)
        rate, advantage, p = self._figures(sums.sum(axis=0)[None, :])
        parts = [self._figures(w @ sums)[:2] for w in self.resampling.chunks()]
        rates, advantages = (
            np.concatenate([part[i] for part in parts]) if parts else np.empty(0) for i in range(2)
        )
        names = [c.annotator for c in self.kept]
        won = zip(names, by_rejected(p, self.q)[0], strict=True)
        return AltTest(
            self._no_rate() if self.constant else self._result(NAMES[0], float(rate[0]), rates),
            self._result(NAMES[1], float(advantage[0]), advantages),
            dict(zip(names, p[0].tolist(), strict=True)),
            {c.annotator: float(c.judge_wins.mean()) for c in self.kept},
            () if self.constant else tuple(name for name, w in won if w),
            self.left_out,
        )

    def _no_rate(self) -> Result:
        """Return the winning rate of a judge that gave one value throughout: none."""
        reason = f"{self.constant} gave one value throughout, which passes nothing"
        flags = ("constant_rater",)
        return Result(
            NAMES[0], status="undefined", reason=reason, method=self.method, flags=flags, **self.counts
        )

    def _sums(self, contest: Contest) -> Floats:
        """Sum per unit: items, differences, their squares, the judge's wins; over clusters, also products."""
        d = contest.difference
        rows = np.column_stack([np.ones_like(d), d, d * d, contest.judge_wins])
        sums = additive(contest.units, self.resampling.n_units, rows).sums
        if not self.clustered:
            return sums
        n, total = sums[:, 0], sums[:, 1]
        return np.column_stack([sums, n * n, n * total, total * total, n > 0])

    def _figures(self, flat: Floats) -> tuple[Floats, Floats, Floats]:
        """Return winning rate, advantage and p-values per row of totals."""
        totals = flat.reshape(len(flat), len(self.kept), -1)
        n, total, squares, wins = np.moveaxis(totals[:, :, :4], 2, 0)
        if self.clustered:
            p = clustered_p_values(totals, self.margins)
        else:
            p = p_values(n, total, squares, self.margins)
        with np.errstate(divide="ignore", invalid="ignore"):
            advantage = (wins / n).mean(axis=1)
        return by_rejected(p, self.q).mean(axis=1), advantage, p

    def _result(self, name: str, value: float, replicates: Floats) -> Result:
        counts = self.counts
        plan = replace(self.resampling.plan, interval="percentile")
        bounds = interval_of(value, replicates, counts["n_clusters"], plan)
        flags = bounds.flags + cluster_flags(counts["n_clusters"])
        flags += ("few_items",) if self.left_out else ()
        flags += ("constant_rater",) if self.constant else ()
        flags += ("few_raters",) if counts["n_raters"] < 4 else ()
        return Result(
            name,
            value,
            bounds.low,
            bounds.high,
            method=self.method,
            reason=bounds.reason,
            flags=flags,
            **counts,
        )


def _tested(kept: Sequence[Contest], contests: Sequence[Contest], min_items: int) -> str:
    return f"{len(kept)} of {len(contests)} people tested, those with {min_items} items or more"


def _method(
    score: Score, epsilon: float | Mapping[str, float], q: float, clustered: bool, plan: Plan, tested: str
) -> str:
    """Say how the test was made; its interval is percentile, since a winning rate moves in steps."""
    margin = "epsilon per annotator" if isinstance(epsilon, Mapping) else f"epsilon {epsilon:g}"
    test = "t-test over clusters" if clustered else "t-test"
    said = f"alternative annotator test, score {score}, {margin}, {test}, Benjamini-Yekutieli q {q:g}"
    return f"{said}; {tested}; {replace(plan, interval='percentile').method}"


def _counts(ratings: Ratings, judge: int, people: Sequence[int], kept: Sequence[Contest]) -> Counts:
    items, clusters = (
        np.unique(np.concatenate([getattr(c, name) for c in kept])) if kept else np.empty(0)
        for name in ("items", "clusters")
    )
    return {
        "n_items": len(items),
        "n_clusters": len(clusters),
        "n_raters": len(kept) + 1,
        "n_missing": int(np.isnan(ratings.values[:, [judge, *people]]).sum()),
    }
