"""The alternative annotator test: may this judge stand in for a human annotator?

Source: Calderon, Reichart and Dror (2025). Each annotator j in turn is left out. On every item, the judge
and j are scored against the remaining annotators; the judge wins or ties (W_f = 1) where its score is at
least j's, j wins or ties (W_h = 1) where it is at least the judge's. The test per annotator is one-sided:
mean(W_h - W_f) < epsilon. The winning rate is the share of annotators whose test survives the
Benjamini-Yekutieli correction; the advantage probability is the mean over annotators of mean(W_f).
A winning rate of 0.5 or more is the authors' bar for replacing annotators.

Where several judges are tested, each at q, and one of them is chosen afterwards, its share of wrongly
claimed replacements is no longer held at q: the choice favours luck. The corrected winning rate tests each
judge at q divided by the number of judges (Bonferroni over judges, Benjamini-Yekutieli within each, as
before). The largest of the judges' shares of false claims is at most their sum, so its expectation is at most
q, and so is that of whichever judge is chosen, under any dependence. The authors correct within a judge
alone.

A judge that gave one value throughout has no winning rate here: where most answers are alike it would win
every contest without having read an item. For the same reason a winning rate of 0.5 or more is a pass only
where the judge agrees with people beyond chance and no constant answer scores as well (`stand_in`), and
where three people or more can be tested, as the authors ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special

from calibration.statistics.core.engine import (
    UNWEIGHTABLE,
    Counts,
    InReports,
    JudgeTest,
    Result,
    Status,
    interval_of,
)
from calibration.statistics.core.ratings import Floats, Ints, Ratings
from calibration.statistics.core.resampling import Plan, Resampling, cluster_flags, resampling_of
from calibration.statistics.core.samples import additive

# Contests of the alternative annotator test: a judge and one left-out annotator, item by item.

Score = Literal["accuracy", "neg_rmse", "similarity"]
Similarity = Callable[[Floats, Floats], Floats]
MIN_ITEMS, MIN_PEOPLE = 30, 3
TIE = 1e-12


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
        """The annotator's wins minus the judge's, per item: -1, 0 or 1."""
        return self.annotator_wins - self.judge_wins


@dataclass(frozen=True)
class Constant:
    """The answer that scores best against people when given to every item, and a judge's score there.

    Scores are those of the test, a mean over items. ``label`` is the answer as people write it.
    """

    label: str
    score: Score
    value: float
    judge: float

    @property
    def as_good(self) -> bool:
        """Whether the constant scores as well as the judge."""
        return self.value >= self.judge - TIE

    @property
    def in_words(self) -> str:
        """Description of a constant that scores as well: by accuracy, by error."""
        measure, sign = {"neg_rmse": ("error", -1)}.get(self.score, (self.score, 1))
        scores = f"{measure} {sign * self.value:.3f} against {sign * self.judge:.3f} of the judge"
        return f"answering {self.label} to every item does as well ({scores})"


def best_constant(
    ratings: Ratings, judge: int, people: Sequence[int], score: Score, similarity: Similarity | None
) -> Constant | None:
    """Return the best constant on the items that the judge and two people or more rated; None without any.

    Candidates are each value of the scale, and the people's mean for ordered scales without one.
    """
    others, own = ratings.values[:, list(people)], ratings.values[:, judge]
    use = ~np.isnan(own) & ((~np.isnan(others)).sum(axis=1) >= 2)
    if not use.any():
        return None
    others, own = others[use], own[use]
    tried = list(ratings.scale or ())
    if ratings.level in ("interval", "ratio"):
        tried.append(float(np.nanmean(others)))
    scored = [(float(_scores(np.full(len(own), v), others, score, similarity).mean()), v) for v in tried]
    value, best = max(scored, key=lambda pair: pair[0])
    label = ratings.label(best) if best in (ratings.scale or ()) else f"{best:.3g}"
    return Constant(label, score, value, float(_scores(own, others, score, similarity).mean()))


def is_testable(ratings: Ratings, judge: int, people: Sequence[int], *, min_items: int = MIN_ITEMS) -> bool:
    """Whether a judge can have a winning rate: three people with enough items, and two values or more."""
    present = ~np.isnan(ratings.values)
    several = present[:, judge] & (present[:, list(people)].sum(axis=1) >= 2)
    tested = sum(int((several & present[:, j]).sum()) >= min_items for j in people)
    return tested >= MIN_PEOPLE and not is_constant(ratings, judge, people)


def is_constant(ratings: Ratings, judge: int, people: Sequence[int]) -> bool:
    """Whether a judge gave the same value to all items it can be tested on: those that two people rated."""
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


def _scores(values: Floats, others: Floats, score: Score, similarity: Similarity | None) -> Floats:
    """Alignment of one value per item with the others' values of that item."""
    present = ~np.isnan(others)
    n = present.sum(axis=1)
    filled = np.where(present, others, 0.0)
    if score == "accuracy":
        return ((filled == values[:, None]) & present).sum(axis=1) / n
    if score == "neg_rmse":
        return -np.sqrt((np.where(present, filled - values[:, None], 0.0) ** 2).sum(axis=1) / n)
    assert similarity is not None
    pairs = similarity(np.broadcast_to(values[:, None], others.shape)[present], others[present])
    out = np.zeros(others.shape)
    out[present] = pairs
    return out.sum(axis=1) / n


SOURCE = "Calderon, Reichart and Dror (2025)"
BAR = 0.5
BY_CHANCE, CONSTANT_TOO = "by_chance", "constant_too"
"""Flags of a winning rate that reaches the bar and is no pass: a guess or a constant reaches it as well."""
CORRECTED = "alt_test_winning_rate_corrected"
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
            CORRECTED,
            "Alternative annotator test: winning rate, corrected over judges",
            InReports("Winning rate corrected over judges", "ω, over judges", "ω"),
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
RATE, ADVANTAGE = "alt_test_winning_rate", "alt_test_advantage"


State = Literal["passed", "not_passed", "cannot_say"]


@dataclass(frozen=True)
class StandIn:
    """Whether a judge can replace a person, and why not: each reason is a clause without a full stop."""

    rater: str
    state: State
    reasons: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """The reasons in one clause."""
        return "; ".join(self.reasons)


@dataclass(frozen=True)
class AltTest:
    """The test's figures, and per annotator the p-value, the advantage and whether the judge won.

    ``corrected`` is the winning rate corrected over several judges, None where only one is tested.
    ``constant`` is the answer that scores best when given to every item, None below a winning rate of 0.5.
    """

    winning_rate: Result
    advantage: Result
    p_values: dict[str, float]
    advantages: dict[str, float]
    won: tuple[str, ...]
    left_out: tuple[str, ...]
    corrected: Result | None = None
    constant: Constant | None = None

    @property
    def results(self) -> tuple[Result, ...]:
        """The available figures: winning rate, corrected where several judges are tested, advantage."""
        return tuple(r for r in (self.winning_rate, self.corrected, self.advantage) if r is not None)


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
    judges: int = 1,
) -> AltTest:
    """Run the test for a judge's column against people's columns.

    ``epsilon`` is one margin or one per annotator (the authors suggest 0.2 for experts, 0.15 for skilled
    annotators, 0.1 for crowd workers). ``score`` is accuracy for binary and nominal scales and negative RMSE
    otherwise. ``similarity`` compares two arrays of values elementwise and is needed for that score.
    ``clustered`` tests with a standard error over the plan's units (dialogues unless told), since items of
    one dialogue are not independent. Annotators with fewer than ``min_items`` shared items are left out and
    named; fewer than three others have no figure. A judge of one value throughout has no winning rate.
    ``judges`` is how many judges are tested and
    may be chosen from; of several the corrected winning rate is there as well. ValueError for fewer than 2
    items.
    """
    plan = plan or Plan()
    if min_items < 2:
        raise ValueError(f"a test needs two items of an annotator at least, not {min_items}")
    if clustered and plan.scheme == "crossed":
        raise ValueError("the test over clusters needs one kind of unit, not clusters and systems crossed")
    score_name: Score = score or ("accuracy" if ratings.level in ("binary", "nominal") else "neg_rmse")
    if score_name == "similarity" and similarity is None:
        raise ValueError("the similarity score needs a similarity function")
    resampling = resampling_of(ratings, plan)
    contests = contests_of(ratings, judge, people, score_name, similarity, resampling)
    tested = [c for c in contests if len(c.units) >= min_items and (not clustered or np.ptp(c.units) > 0)]
    names = {c.annotator for c in tested}
    left_out = tuple(c.annotator for c in contests if c.annotator not in names)
    setting = _Setting(
        ratings,
        tested,
        left_out,
        np.array([_margin(epsilon, c.annotator) for c in tested]),
        q,
        clustered,
        resampling,
        _method(score_name, epsilon, q, clustered, plan, _tested(tested, contests, min_items)),
        _counts(ratings, judge, people, tested),
        ratings.raters[judge] if is_constant(ratings, judge, people) else "",
        judges,
        lambda: best_constant(ratings, judge, people, score_name, similarity),
    )
    if ratings.problem:
        return setting.nothing("rejected", ratings.problem)
    if ratings.is_unequal:
        return setting.nothing("rejected", UNWEIGHTABLE.reason)
    if len(tested) < MIN_PEOPLE:
        shared = f"{min_items} items or more{' in two clusters or more' if clustered else ''}"
        return setting.nothing("insufficient", _too_few(len(tested), len(people), shared))
    return setting.tested()


def _too_few(tested: int, people: int, shared: str) -> str:
    """Return how many people could be tested of the three that the test needs, in words."""
    if people < MIN_PEOPLE:
        return f"the test needs {MIN_PEOPLE} people, and {people} answered"
    do = "does" if tested == 1 else "do"
    return (
        f"the test needs {MIN_PEOPLE} people who share {shared} with the judge and another of them; "
        f"{tested} of {people} {do}"
    )


def stand_in(test: AltTest, judge: str, agreement: Result | None, title: str = "") -> tuple[AltTest, StandIn]:
    """Return the verdict of a test, and the test with flags where its winning rate is no pass.

    ``agreement`` is the judge's agreement with people beyond chance (kappa, else a correlation), ``title``
    its name. A rate of 0.5 or more passes where that agreement lies above 0 with its interval and no constant
    answer scores as well as the judge.
    """
    rate = test.winning_rate
    if not rate.ok:
        state: State = "not_passed" if rate.status == "undefined" else "cannot_say"
        return test, StandIn(judge, state, (rate.reason,))
    if (rate.value or 0.0) < BAR:
        people = rate.n_raters - 1
        won = f"it can replace {round((rate.value or 0.0) * people)} of {people} people, fewer than half"
        return test, StandIn(judge, "not_passed", (won,))
    reasons = {}
    if reason := _not_beyond_chance(agreement, title):
        reasons[BY_CHANCE] = reason
    if test.constant is not None and test.constant.as_good:
        reasons[CONSTANT_TOO] = test.constant.in_words
    if not reasons:
        return test, StandIn(judge, "passed")
    corrected = test.corrected.with_flags(*reasons) if test.corrected is not None else None
    flagged = replace(test, winning_rate=rate.with_flags(*reasons), corrected=corrected, won=())
    return flagged, StandIn(judge, "not_passed", tuple(reasons.values()))


def _not_beyond_chance(agreement: Result | None, title: str) -> str:
    """Return why a judge's agreement with people may be only a guess's; '' where it is more."""
    if agreement is None:
        return "its agreement with people beyond chance was not measured"
    if agreement.value is None:
        return f"its {title} with people has no value ({agreement.reason})"
    ends = "no interval"
    if agreement.low is not None and agreement.high is not None:
        if agreement.low > 0:
            return ""
        ends = f"{_format_signed(agreement.low)} to {_format_signed(agreement.high)}"
    return f"its {title} with people could be chance: {_format_signed(agreement.value)} ({ends})"


def _format_signed(value: float) -> str:
    return f"{value:.3f}".replace("-", "\N{MINUS SIGN}")


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
    """Settings of a test, and the description of its results."""

    ratings: Ratings
    contests: Sequence[Contest]
    left_out: tuple[str, ...]
    margins: Floats
    q: float
    clustered: bool
    resampling: Resampling
    method: str
    counts: Counts
    one_value: str
    judges: int
    constant: Callable[[], Constant | None]

    def nothing(self, status: Status, reason: str) -> AltTest:
        """Return a test without figures, and the reason."""
        rate, corrected, advantage = (
            Result(name, status=status, reason=reason, method=self.method, **self.counts)
            for name in (RATE, CORRECTED, ADVANTAGE)
        )
        return AltTest(rate, advantage, {}, {}, (), self.left_out, corrected if self.judges > 1 else None)

    def tested(self) -> AltTest:
        """Return the test, its figures resampled."""
        sums = np.concatenate([self._sums(c) for c in self.contests], axis=1)
        rate, corrected, advantage, p = self._figures(sums.sum(axis=0)[None, :])
        parts = [self._figures(w @ sums)[:3] for w in self.resampling.chunks()]
        rates, corrected_rates, advantages = (
            np.concatenate([part[i] for part in parts]) if parts else np.empty(0) for i in range(3)
        )
        names = [c.annotator for c in self.contests]
        won = zip(names, by_rejected(p, self.q)[0], strict=True)
        return AltTest(
            self._rate(RATE, float(rate[0]), rates),
            self._result(ADVANTAGE, float(advantage[0]), advantages),
            dict(zip(names, p[0].tolist(), strict=True)),
            {c.annotator: float(c.judge_wins.mean()) for c in self.contests},
            () if self.one_value else tuple(name for name, w in won if w),
            self.left_out,
            self._rate(CORRECTED, float(corrected[0]), corrected_rates) if self.judges > 1 else None,
            self.constant() if rate[0] >= BAR else None,
        )

    def _rate(self, name: str, value: float, replicates: Floats) -> Result:
        """Return a winning rate; a judge that always gave the same value has none."""
        if not self.one_value:
            result = self._result(name, value, replicates)
            over = f"; q divided by {self.judges} judges"
            return replace(result, method=result.method + over) if name == CORRECTED else result
        reason = f"{self.one_value} gave one value throughout, so it cannot pass"
        flags = ("constant_rater",)
        return Result(name, status="undefined", reason=reason, method=self.method, flags=flags, **self.counts)

    def _sums(self, contest: Contest) -> Floats:
        """Sum per unit: items, differences, their squares, the judge's wins; over clusters, also products."""
        d = contest.difference
        rows = np.column_stack([np.ones_like(d), d, d * d, contest.judge_wins])
        sums = additive(contest.units, self.resampling.n_units, rows).sums
        if not self.clustered:
            return sums
        n, total = sums[:, 0], sums[:, 1]
        return np.column_stack([sums, n * n, n * total, total * total, n > 0])

    def _figures(self, flat: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return winning rate, the same corrected over judges, advantage and p-values per row of totals."""
        totals = flat.reshape(len(flat), len(self.contests), -1)
        n, total, squares, wins = np.moveaxis(totals[:, :, :4], 2, 0)
        if self.clustered:
            p = clustered_p_values(totals, self.margins)
        else:
            p = p_values(n, total, squares, self.margins)
        with np.errstate(divide="ignore", invalid="ignore"):
            advantage = (wins / n).mean(axis=1)
        rates = [by_rejected(p, q).mean(axis=1) for q in (self.q, self.q / self.judges)]
        return rates[0], rates[1], advantage, p

    def _result(self, name: str, value: float, replicates: Floats) -> Result:
        counts = self.counts
        plan = replace(self.resampling.plan, interval="percentile")
        bounds = interval_of(value, replicates, counts["n_clusters"], plan)
        flags = bounds.flags + cluster_flags(counts["n_clusters"])
        flags += ("few_items",) if self.left_out else ()
        flags += ("constant_rater",) if self.one_value else ()
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


def _tested(tested: Sequence[Contest], contests: Sequence[Contest], min_items: int) -> str:
    return f"{len(tested)} of {len(contests)} people tested, those with {min_items} items or more"


def _method(
    score: Score, epsilon: float | Mapping[str, float], q: float, clustered: bool, plan: Plan, tested: str
) -> str:
    """Describe the method; its interval is percentile, since a winning rate moves in steps."""
    margin = "epsilon per annotator" if isinstance(epsilon, Mapping) else f"epsilon {epsilon:g}"
    test = "t-test over clusters" if clustered else "t-test"
    description = f"alternative annotator test, score {score}, {margin}, {test}, Benjamini-Yekutieli q {q:g}"
    return f"{description}; {tested}; {replace(plan, interval='percentile').method}"


def _counts(ratings: Ratings, judge: int, people: Sequence[int], tested: Sequence[Contest]) -> Counts:
    items, clusters = (
        np.unique(np.concatenate([getattr(c, name) for c in tested])) if tested else np.empty(0)
        for name in ("items", "clusters")
    )
    return {
        "n_items": len(items),
        "n_clusters": len(clusters),
        "n_raters": len(tested) + 1,
        "n_missing": int(np.isnan(ratings.values[:, [judge, *people]]).sum()),
    }
