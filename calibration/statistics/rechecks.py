"""A judge asked again about the same items: what changed, paired, with an equivalence margin.

The unit is an answer: the sample s of an item in the first run beside the sample s of the same item in the
later run; clusters are resampled whole, the same ones for all figures. Three questions are tested by swapping
the two runs in whole clusters, and Holm (1979) corrects the p-values over all of them:

* the shift, the mean of later minus first as a share of the scale's width (not of categories);
* the change of the agreement with the reference (people, or a gold): later minus first;
* the excess: the share of pairs of answers that differ between the runs, minus that within a run. It needs
  two samples, for only repeated answers show how much an unchanged judge changes.

Where nothing of two runs differs, resampling shows no spread. Then the limit is the exact one for the share
of clusters with a change (Clopper and Pearson 1934): 1 - ((1 - level) / 2) ** (1 / clusters)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from calibration.statistics.analysis import KAPPA, corrected_p_values
from calibration.statistics.core.engine import Counts, Result, finished, resampled, result_of
from calibration.statistics.core.engine import estimates as estimated
from calibration.statistics.core.ratings import Floats, Ints, Ratings
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.samples import Sample, additive
from calibration.statistics.judges_compared import Contender, compared_with
from calibration.statistics.permutation import PERMUTATIONS, Sums, Swapped, Swaps, permute_clusters
from calibration.statistics.table import STATISTICS

State = Literal["stable", "moved", "cannot say"]
STABLE: Final = "stable"
MOVED: Final = "moved"
CANNOT_SAY: Final = "cannot say"
MARGIN = 0.1
"""Default margin: a tenth of the scale's width, of the coefficient's unit, or of all answers."""
FIRST, LATER = "first run", "later run"


@dataclass(frozen=True)
class RunPair:
    """The answers of two runs to one question.

    ``first`` and ``later`` are items x samples, NaN where missing, as numbers on the scale (positions for
    names). ``reference`` holds people and keys over the same items.
    """

    first: Floats
    later: Floats
    reference: Ratings


@dataclass(frozen=True)
class Tested:
    """A figure with the p-value of swapping the runs, raw and corrected by Holm; p is None without a test."""

    result: Result
    p: float | None = None
    p_holm: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {**self.result.as_dict(), "p": self.p, "p_holm": self.p_holm}


@dataclass(frozen=True)
class Recomparison:
    """What changed in the answers to one question, and the state that follows from it.

    ``changed`` is the share of answers that differ between the runs, ``wobble`` that of two answers of one
    run, ``kappa`` the agreement of the runs with each other. ``agreement`` holds the first and the later
    agreement with the reference by ``statistic``.
    """

    changed: Result
    wobble: Result
    kappa: Result
    shift: Tested
    excess: Tested
    statistic: str
    agreement: tuple[Result, Result]
    agreement_change: Tested
    state: State = CANNOT_SAY

    @property
    def tests(self) -> tuple[Tested, ...]:
        """The three tested figures: shift, change of agreement, excess."""
        return (self.shift, self.agreement_change, self.excess)


def compare_runs(
    pairs: Sequence[RunPair],
    margin: float = MARGIN,
    plan: Plan | None = None,
    permutations: int = PERMUTATIONS,
) -> list[Recomparison]:
    """Compare two runs on every question; p-values are corrected over all questions and tests.

    A question has moved where a corrected p-value is at most 1 - level and its interval excludes 0; it is
    stable where every interval lies inside -margin to margin (without the agreement with the reference where
    it has no value); else nothing can be said. Raises ValueError for
    a margin that is not above 0, or for runs of different shapes.
    """
    plan = plan or Plan()
    if margin <= 0:
        raise ValueError(f"a margin is above 0, not {margin}")
    rows = [_compared(pair, plan, permutations) for pair in pairs]
    ps = [test.p for row in rows for test in row.tests if test.p is not None]
    adjusted = iter(corrected_p_values(ps, "holm").tolist())
    out = []
    for row in rows:
        tests = [
            test if test.p is None else replace(test, p_holm=min(1.0, float(next(adjusted))))
            for test in row.tests
        ]
        row = replace(row, shift=tests[0], agreement_change=tests[1], excess=tests[2])
        out.append(replace(row, state=_state(row, margin, 1 - plan.level)))
    return out


def _state(row: Recomparison, margin: float, alpha: float) -> State:
    if any(has_moved(test, alpha) for test in row.tests):
        return MOVED
    differs = row.excess.result if row.excess.result.ok else row.changed
    needed = [differs, *(test.result for test in (row.shift, row.agreement_change) if test.result.ok)]
    inside = [
        figure.low is not None and figure.high is not None and -margin < figure.low and figure.high < margin
        for figure in needed
    ]
    return STABLE if all(inside) else CANNOT_SAY


def has_moved(test: Tested, alpha: float) -> bool:
    """Whether a tested figure differs from 0: after correction, and by its interval."""
    low, high = test.result.low, test.result.high
    if test.p_holm is None or low is None or high is None:
        return False
    return test.p_holm <= alpha and (low > 0 or high < 0)


def _compared(pair: RunPair, plan: Plan, permutations: int) -> Recomparison:
    first, later, reference = pair.first, pair.later, pair.reference
    if first.shape != later.shape or len(first) != reference.n_items:
        raise ValueError(f"runs of {first.shape} and {later.shape} answers on {reference.n_items} items")
    both = ~np.isnan(first) & ~np.isnan(later)
    first, later = np.where(both, first, np.nan), np.where(both, later, np.nan)
    items, samples = np.nonzero(both)
    clusters = np.unique(reference.clusters[items], return_inverse=True)[1].ravel()
    x, y = first[items, samples], later[items, samples]
    answers = _Answers(x, y, clusters, int((~both).sum()), plan, permutations)
    wobble, excess = _wobble(first, later, reference.clusters, plan, permutations)
    statistic = KAPPA.get(reference.level, "spearman")
    sides = _agreement(replace(pair, first=first, later=later), statistic, plan, permutations)
    change = sides[2]
    if answers.n and not (x != y).any() and sides[0].ok:
        limit = answers.limit
        zero = replace(change.result, value=0.0, low=-limit, high=limit, status="ok", reason="")
        change = Tested(replace(zero, method="no answer changed: exact limit of the share of clusters"))
    return Recomparison(
        answers.changed(),
        wobble,
        _between(first, later, reference, statistic, plan),
        answers.shift(reference),
        excess,
        statistic,
        (sides[0], sides[1]),
        change,
    )


@dataclass(frozen=True)
class _Answers:
    """Paired answers, one pair a row."""

    x: Floats
    y: Floats
    clusters: Ints
    n_missing: int
    plan: Plan
    permutations: int

    @property
    def n(self) -> int:
        return len(self.x)

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.clusters))

    @property
    def counts(self) -> Counts:
        return {
            "n_items": self.n,
            "n_clusters": self.n_clusters,
            "n_raters": 2,
            "n_missing": self.n_missing,
        }

    @property
    def limit(self) -> float:
        """Upper limit of the share of clusters with a change where none has one."""
        return float(1 - ((1 - self.plan.level) / 2) ** (1 / max(self.n_clusters, 1)))

    def changed(self) -> Result:
        """Share of answers that differ."""
        return self._mean("share_changed", (self.x != self.y).astype(np.float64), nonnegative=True)

    def shift(self, reference: Ratings) -> Tested:
        """Mean of later minus first, as a share of the scale's width; none for categories."""
        if reference.level == "nominal" or reference.names is not None:
            reason = "categories have no order"
            return Tested(Result("shift", status="undefined", reason=reason, **self.counts))
        if reference.scale and len(reference.scale) > 1:
            width = max(reference.scale) - min(reference.scale)
        else:
            both = np.concatenate([self.x, self.y])
            width = float(np.ptp(both)) if both.size else 0.0
        width = width or 1.0
        difference = (self.y - self.x) / width
        if reference.level == "binary" and reference.positive is not None:
            marks = [(side == reference.positive).astype(np.float64) for side in (self.x, self.y)]
            difference = marks[1] - marks[0]
        result = self._mean("shift", difference)
        if not result.ok or not (self.x != self.y).any():
            return Tested(result)
        sides = np.concatenate([np.zeros(self.n), difference])
        return Tested(result, _swapped(sides, self.clusters, self.permutations, self.plan.seed))

    def _mean(self, name: str, values: Floats, *, nonnegative: bool = False) -> Result:
        if not self.n:
            reason = "no item was answered in both runs"
            return Result(name, status="insufficient", reason=reason, method=self.plan.method, **self.counts)
        if not (self.x != self.y).any():
            low = 0.0 if nonnegative else -self.limit
            how = "no answer changed: exact limit of the share of clusters"
            return Result(name, 0.0, low, self.limit, method=how, **self.counts)
        rows = np.column_stack([np.ones(self.n), values])
        point, replicates = resampled(self.clusters, rows, _ratio, self.plan)
        counts = self.counts
        return finished(name, point, replicates, self.plan, **counts)


def _ratio(totals: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: Floats = totals[:, 1] / totals[:, 0]
    return shares


def _swapped(values: Floats, clusters: Ints, permutations: int, seed: int) -> float:
    """Return the p-value of swapping whole clusters; ``values`` are those of one side above the other's."""
    n = int(clusters.max()) + 1
    rows = np.column_stack([np.ones(len(values)), values])
    sums = additive(np.concatenate([clusters, clusters + n]), 2 * n, rows)
    return permute_clusters([Swapped(Sums(sums, n, clusters), _ratio)], n, Swaps(permutations, seed)).p


def _wobble(
    first: Floats, later: Floats, clusters: Ints, plan: Plan, permutations: int
) -> tuple[Result, Tested]:
    """Return how often two answers of one run differ, and how much more often two of different runs do.

    Only items with every sample in both runs count. Under the hypothesis that the runs are alike, any half of
    an item's answers may be those of the first run: the test draws the halves anew, whole clusters alike.
    """
    n_samples = first.shape[1]
    complete = ~np.isnan(first).any(axis=1) & ~np.isnan(later).any(axis=1)
    units = np.unique(clusters[complete], return_inverse=True)[1].ravel()
    n_clusters = int(units.max()) + 1 if units.size else 0
    counts: Counts = {"n_items": int(complete.sum()), "n_clusters": n_clusters, "n_raters": 2}
    if n_samples < 2 or not n_clusters:
        reason = "each item was asked once a run: two samples show how much an unchanged judge changes"
        none = Result("wobble", status="insufficient", reason=reason, **counts)
        return none, Tested(replace(none, name="excess"))
    both = np.concatenate([first[complete], later[complete]], axis=1)
    apart = (both[:, :, None] != both[:, None, :]).astype(np.float64)
    table = additive(units, n_clusters, apart.reshape(len(both), -1)).sums
    size = np.bincount(units, minlength=n_clusters).astype(np.float64)
    within, between = _splits(n_samples, np.arange(n_samples)[None, :])
    rows = np.column_stack([size, table @ within.T, table @ between.T])
    point, replicates = resampled(np.arange(n_clusters), rows[:, :2], _ratio, plan)
    wobble = finished("wobble", point, replicates, plan, **counts)
    gap = np.column_stack([size, rows[:, 2] - rows[:, 1]])
    point, replicates = resampled(np.arange(n_clusters), gap, _ratio, plan)
    excess = finished("excess", point, replicates, plan, **counts)
    if not rows[:, 1].any():
        limit = float(1 - ((1 - plan.level) / 2) ** (1 / n_clusters))
        how = "no answer changed: exact limit of the share of clusters"
        wobble = Result("wobble", 0.0, 0.0, limit, method=how, **counts)
        if not apart.any():
            return wobble, Tested(Result("excess", 0.0, -limit, limit, method=how, **counts))
    rng = np.random.default_rng(plan.seed)
    extreme = 0
    for _ in range(permutations):
        order = np.argsort(rng.random((n_clusters, 2 * n_samples)), axis=1)[:, :n_samples]
        inside, across = _splits(n_samples, order)
        resampled_gap = float((table * (across - inside)).sum() / size.sum())
        extreme += resampled_gap >= float(gap[:, 1].sum() / size.sum()) - 1e-12
    return wobble, Tested(excess, (extreme + 1) / (permutations + 1))


def _splits(n_samples: int, order: Ints) -> tuple[Floats, Floats]:
    """Return the weights of pairs of answers within and between two halves (rows x pairs), by first half."""
    n = 2 * n_samples
    is_first = np.zeros((len(order), n), np.bool_)
    is_first[np.arange(len(order))[:, None], order] = True
    same = (is_first[:, :, None] == is_first[:, None, :]) & ~np.eye(n, dtype=np.bool_)
    across = is_first[:, :, None] != is_first[:, None, :]
    return (
        same.reshape(len(order), -1) / (2 * n_samples * (n_samples - 1)),
        across.reshape(len(order), -1) / (2 * n_samples**2),
    )


def _rows_of(pair: RunPair) -> tuple[Ratings, Floats, Floats]:
    """Return reference, first and later with a row per item and sample."""
    n = pair.first.shape[1]
    reference = pair.reference
    repeated = replace(
        reference,
        values=np.repeat(reference.values, n, axis=0),
        items=tuple(f"{item} {sample}" for item in reference.items for sample in range(n)),
        clusters=np.repeat(reference.clusters, n),
        firsts={name: np.repeat(values, n) for name, values in reference.firsts.items()},
        systems=None,
        continuations=None,
    )
    return repeated, pair.first.ravel(), pair.later.ravel()


def _agreement(pair: RunPair, statistic: str, plan: Plan, permutations: int) -> tuple[Result, Result, Tested]:
    """Return the first and the later agreement with the reference, and the tested change."""
    ratings, first, later = _rows_of(pair)
    before, after = (Contender(name, "judge", v, True) for name, v in ((FIRST, first), (LATER, later)))
    rows = compared_with(
        ratings, [after], before, statistics=(statistic,), plan=plan, permutations=permutations
    ).pairs
    row = next((row for row in rows if row.statistic == statistic), None)
    if row is None:
        reason = "nobody else answered these items"
        none = Result(statistic, status="insufficient", reason=reason, method=plan.method)
        return none, none, Tested(replace(none, name=f"difference_{statistic}"))
    p = row.p.value if row.difference.ok and (first != later)[~np.isnan(first)].any() else None
    return row.second, row.first, Tested(row.difference, p)


def _between(first: Floats, later: Floats, reference: Ratings, statistic: str, plan: Plan) -> Result:
    """Return the agreement of the two runs with each other."""
    pair = RunPair(first, later, reference)
    ratings, x, y = _rows_of(pair)
    both = replace(
        ratings,
        values=np.column_stack([x, y]),
        raters=(FIRST, LATER),
        kinds=("judge", "judge"),
        identified=(True, True),
        on_scale=(True, True),
        firsts={},
    )
    resampling = resampling_of(both, plan)
    sample = Sample(both, (0, 1), resampling)
    return result_of(estimated(sample, [STATISTICS[statistic]], resampling)[0], sample, plan)
