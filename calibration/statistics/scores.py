"""A judge's or metric's scores in people's terms: thresholds, probabilities, and maps to people's scale.

For a yes/no question the truth is people's majority (items on which they tie are left out and counted); for
scales it is people's mean. Whatever is learned is learned on other dialogues than those that are shown: on a
part set aside for it, or on the other folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from calibration.statistics.analysis import mean_of
from calibration.statistics.core.engine import Estimate, Result, estimates, finished, result_of, totals
from calibration.statistics.core.ratings import ORDERED, Floats, Ints, Ratings
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.samples import Sample
from calibration.statistics.planning import people_of
from calibration.statistics.score_calibration import (
    FOLDS,
    METHODS,
    Calibration,
    Fit,
    calibration_of,
    complete,
    cross_fitted,
    direction,
    folds_of,
    oriented,
)
from calibration.statistics.table import STATISTICS

# A threshold that turns scores into marks: learned from labelled items by a named rule.
#
# Candidates lie midway between neighbouring scores. The rule is the best balanced accuracy (the same as the
# best of Youden's J, 1950) or the best MCC. Of equally good thresholds the one is taken whose number of marks
# is closest to people's, and of those the lowest.

SAME = 1e-12


def balanced_accuracy(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    """Return the mean of recall and specificity: (Youden's J + 1) / 2."""
    return (tp / (tp + fn) + tn / (tn + fp)) / 2


def matthews(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    """Return Matthews' correlation coefficient."""
    bottom = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return np.asarray((tp * tn - fp * fn) / bottom)


@dataclass(frozen=True)
class Rule:
    """Criterion for the best threshold: its key, its name in a sentence, and its quality per 2 x 2 table."""

    key: str
    name: str
    quality: Callable[[Floats, Floats, Floats, Floats], Floats]


RULES: dict[str, Rule] = {
    rule.key: rule
    for rule in (
        Rule("balanced_accuracy", "best balanced accuracy", balanced_accuracy),
        Rule("mcc", "best MCC", matthews),
    )
}


@dataclass(frozen=True)
class Threshold:
    """A threshold: items are marked whose score is at least (falling: at most) the value."""

    value: float
    rising: bool

    def __call__(self, scores: npt.ArrayLike) -> Floats:
        """Return 1 where a score is marked, 0 where it is not; missing (NaN) stays missing."""
        x = np.asarray(scores, np.float64)
        marked = x >= self.value if self.rising else x <= self.value
        return np.where(np.isnan(x), np.nan, marked.astype(np.float64))


def learned(scores: npt.ArrayLike, truth: npt.ArrayLike, rule: str = "balanced_accuracy") -> Threshold:
    """Return the threshold that is best on these items by a rule, whichever way the scores run.

    ``scores`` (n) are numbers, ``truth`` (n) is 0 or 1. KeyError for a rule that does not exist; ValueError
    where all scores are the same, or all truths.
    """
    x, y = complete(scores, truth)
    if not np.isin(y, (0, 1)).all():
        raise ValueError("the truth is 0 or 1")
    if y.min() == y.max():
        raise ValueError(f"no threshold can be learned: people say {'yes' if y[0] else 'no'} throughout")
    sign = direction(x, y)
    values, place = np.unique(sign * x, return_inverse=True)
    if len(values) < 2:
        raise ValueError("no threshold can be learned: the score is the same throughout")
    items = np.bincount(place.ravel(), minlength=len(values)).astype(np.float64)
    positive = np.bincount(place.ravel(), weights=y, minlength=len(values))
    tp = (positive.sum() - np.cumsum(positive))[:-1]
    marked = (items.sum() - np.cumsum(items))[:-1]
    fp, fn = marked - tp, positive.sum() - tp
    tn = len(y) - positive.sum() - fp
    quality = RULES[rule].quality(tp, fp, fn, tn)
    good = np.flatnonzero(quality >= quality.max() - SAME)
    off = np.abs(marked[good] - positive.sum())
    best = int(good[np.flatnonzero(off == off.min())[0]])
    return Threshold(float(sign * (values[best] + values[best + 1]) / 2), sign > 0)


# Maps between scales, such as people's 0-4 and a judge's 1-5: explicit, and recorded with the result.
#
# A map is data: its pairs of values. Linear rescaling uses only the ends of the two scales; rank rescaling
# (equipercentile linking) and the ordinal map also use how often values occur or occur together, so they must
# come from other items than those they are evaluated on.


@dataclass(frozen=True)
class Rescaling:
    """A map given by points; between them linear, beyond them flat. ``method`` says how it was made."""

    sources: tuple[float, ...]
    targets: tuple[float, ...]
    method: str

    def __post_init__(self) -> None:
        """Reject points that do not form a map."""
        if len(self.sources) != len(self.targets) or not self.sources:
            raise ValueError("a map needs as many targets as sources, and at least one")
        if any(b <= a for a, b in zip(self.sources, self.sources[1:], strict=False)):
            raise ValueError("the sources of a map must rise")

    def __call__(self, values: npt.ArrayLike) -> Floats:
        """Return the mapped values; missing (NaN) stays missing."""
        x = np.asarray(values, np.float64)
        return np.where(np.isnan(x), np.nan, np.interp(x, self.sources, self.targets))


def linear(source: tuple[float, float], target: tuple[float, float]) -> Rescaling:
    """Map the ends of one scale to the ends of the other."""
    if source[0] >= source[1]:
        raise ValueError("the source scale needs a lowest value below its highest")
    text = f"linear, {source[0]:g}-{source[1]:g} to {target[0]:g}-{target[1]:g}"
    return Rescaling(source, target, text)


def by_rank(source: npt.ArrayLike, target: npt.ArrayLike) -> Rescaling:
    """Map each source value to the target value of the same mid-percentile (equipercentile linking)."""
    x, y = _present(source), _present(target)
    if not len(x) or not len(y):
        raise ValueError("rank rescaling needs values on both scales")
    values, counts = np.unique(x, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(x)
    reached, reached_counts = np.unique(y, return_counts=True)
    share = (np.cumsum(reached_counts) - reached_counts / 2) / len(y)
    targets = np.interp(middle, share, reached)
    return Rescaling(
        tuple(values.tolist()), tuple(targets.tolist()), f"rank, from {len(x)} and {len(y)} values"
    )


def ordinal(source: npt.ArrayLike, target: npt.ArrayLike, scale: Sequence[float] | None = None) -> Rescaling:
    """Map each source value to the rising fit of the target on it; to the nearest of ``scale`` if given."""
    from sklearn.isotonic import IsotonicRegression

    x, y = np.asarray(source, np.float64), np.asarray(target, np.float64)
    both = ~np.isnan(x) & ~np.isnan(y)
    if not both.any():
        raise ValueError("the ordinal map needs items with values on both scales")
    values = np.unique(x[both])
    fitted = np.asarray(IsotonicRegression().fit(x[both], y[both]).predict(values), np.float64)
    if scale is not None:
        steps = np.array(sorted(scale), np.float64)
        fitted = steps[np.abs(fitted[:, None] - steps).argmin(axis=1)]
    text = f"ordinal, from {int(both.sum())} items" + (", rounded to the scale" if scale is not None else "")
    return Rescaling(tuple(values.tolist()), tuple(fitted.tolist()), text)


def constant(target: npt.ArrayLike) -> Rescaling:
    """Map every source value to the targets' mean: the baseline for a map."""
    y = _present(target)
    if not len(y):
        raise ValueError("a constant map needs a value")
    return Rescaling((0.0,), (float(y.mean()),), f"the mean of {len(y)} values")


def _present(values: npt.ArrayLike) -> Floats:
    x = np.asarray(values, np.float64).ravel()
    return x[~np.isnan(x)]


MARKS = ("precision", "recall", "f1", "balanced_accuracy", "cohen_kappa", "mcc")
"""The figures of marks made by a threshold, people's majority as the reference."""
ERRORS = ("mae", "rmse", "mean_error")
MAPS = {
    "as_is": "as given",
    "linear": "linear, end to end",
    "rank": "by rank",
    "ordinal": "rising fit",
    "ordinal_rounded": "rising fit, rounded to the scale",
    "mean": "people’s mean for all",
}
"""Maps of scores to people's scale; the last one ignores the scores, and is the baseline for the others."""
SCORING = ("judge", "metric")


@dataclass(frozen=True)
class Marks:
    """Marks from a threshold on one score.

    ``threshold`` is learned from all available labels (None with a ``reason``); over the folds it lay between
    ``least`` and ``most``. ``results`` are those of MARKS.
    """

    rater: str
    rule: str
    threshold: Threshold | None
    least: float | None
    most: float | None
    n_learned: int
    n_ties: int
    results: tuple[Result, ...]
    reason: str = ""


@dataclass(frozen=True)
class Probabilities:
    """A score as probabilities by one method, with their calibration; otherwise ``reason``."""

    rater: str
    method: str
    n_learned: int
    calibration: Calibration | None
    reason: str = ""

    @property
    def results(self) -> tuple[Result, ...]:
        """The calibration error, the Brier score and its parts; none without a calibration."""
        if self.calibration is None:
            return ()
        parts = self.calibration.parts
        own = (self.calibration.expected_calibration_error, self.calibration.brier)
        return (*own, parts.reliability, parts.resolution, parts.uncertainty, parts.within)


@dataclass(frozen=True)
class Mapped:
    """A score on people's scale by one map: results are those of ERRORS; otherwise ``reason``."""

    rater: str
    map: str
    n_learned: int
    results: tuple[Result, ...]
    reason: str = ""


@dataclass(frozen=True)
class ScoreAnalysis:
    """All figures of a question's scores; ``held_out``: learned on a part of its own, otherwise on folds."""

    held_out: bool
    marks: tuple[Marks, ...] = ()
    probabilities: tuple[Probabilities, ...] = ()
    mapped: tuple[Mapped, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.marks or self.probabilities or self.mapped)


def of_scores(
    ratings: Ratings,
    learning: Ratings | None = None,
    *,
    ends: Mapping[str, tuple[float, float]] | None = None,
    plan: Plan | None = None,
) -> ScoreAnalysis:
    """Evaluate the scores of a question against people's ratings, on these items.

    ``learning`` are the ratings that maps are learned from, of other dialogues; None cross-fits over FOLDS
    folds of the dialogues shown. ``ends`` are the lowest and highest value of scores that have a declared
    scale. Scores are those of judges and metrics that are not on the question's own scale. Intervals are
    percentile over clusters, the learned maps held fixed.
    """
    plan = replace(plan or Plan(), interval="percentile")
    people = people_of(ratings)
    raters = [
        name
        for name, kind, on in zip(ratings.raters, ratings.kinds, ratings.on_scale, strict=True)
        if kind in SCORING and not on
    ]
    held_out = learning is not None
    if not people or not raters or ratings.problem or ratings.level == "nominal":
        return ScoreAnalysis(held_out)
    meetings = [_Meeting(ratings, learning, rater, plan) for rater in raters]
    if ratings.level == "binary":
        return ScoreAnalysis(
            held_out,
            tuple(_marks(meeting, rule) for meeting in meetings for rule in RULES),
            tuple(_probabilities(meeting, method) for meeting in meetings for method in METHODS),
        )
    ends_of_rater = ends or {}
    return ScoreAnalysis(
        held_out,
        mapped=tuple(mapping for m in meetings for mapping in _mapped(m, ends_of_rater.get(m.rater))),
    )


class _Meeting:
    """One score and people's truth, on the items that have both: those shown, and those learned from."""

    def __init__(self, ratings: Ratings, learning: Ratings | None, rater: str, plan: Plan) -> None:
        self.rater, self.plan, self.ratings = rater, plan, ratings
        self.scores, self.truth, self.clusters, self.n_ties = _paired(ratings, rater)
        self.learning = None if learning is None else _paired(learning, rater)[:2]

    @property
    def n_learned(self) -> int:
        """Number of items that maps are learned from."""
        return len(self.truth if self.learning is None else self.learning[1])

    def applied(self, fit: Fit) -> Floats:
        """Return the mapped scores of the items shown. ValueError where the map cannot be learned."""
        self.check()
        if self.learning is None:
            return cross_fitted(self.scores, self.truth, self.clusters, fit=fit, seed=self.plan.seed)
        return fit(*self.learning)(self.scores)

    def check(self) -> None:
        """Raise ValueError where there is nothing to learn from, or nothing to show."""
        if not len(self.truth):
            raise ValueError("no item has both this score and people’s answers")
        if self.learning is not None and not len(self.learning[1]):
            raise ValueError("no item of dev has both this score and people’s answers")

    @property
    def how(self) -> str:
        """Description of how figures are separated from the items they were learned on."""
        if self.learning is not None:
            return f"learned on {self.n_learned} items of dev"
        return f"cross-fitted over {FOLDS} folds of dialogues"


def _paired(ratings: Ratings, rater: str) -> tuple[Floats, Floats, Ints, int]:
    """Return scores, truth and clusters of the items that have both, and on how many people tie."""
    if rater not in ratings.raters:
        empty = np.empty(0)
        return empty, empty, np.empty(0, np.int64), 0
    truth = truth_of(ratings)
    scores = ratings.values[:, ratings.column(rater)]
    tied = (truth == TIE) & ~np.isnan(scores)
    both = ~np.isnan(truth) & ~np.isnan(scores) & ~tied
    return scores[both], truth[both], ratings.clusters[both], int(tied.sum())


TIE = -1.0


def truth_of(ratings: Ratings) -> Floats:
    """Return people's truth per item: their mean; for a yes/no question 1 or 0 by majority, else TIE."""
    block = ratings.values[:, list(people_of(ratings))]
    if ratings.level != "binary":
        return mean_of(block)
    share = mean_of(np.where(np.isnan(block), np.nan, (block == ratings.positive).astype(np.float64)))
    return np.where(np.isnan(share), np.nan, np.where(share == 0.5, TIE, (share > 0.5).astype(np.float64)))


def _marks(meeting: _Meeting, rule: str) -> Marks:
    def fit(scores: Floats, truth: Floats) -> Threshold:
        return learned(scores, truth, rule)

    try:
        marks = meeting.applied(fit)
        source = (meeting.scores, meeting.truth) if meeting.learning is None else meeting.learning
        on_all = fit(*source)
    except ValueError as error:
        return Marks(meeting.rater, rule, None, None, None, meeting.n_learned, meeting.n_ties, (), str(error))
    values = [threshold.value for threshold in _of_folds(meeting, fit)]
    how = f"threshold by {RULES[rule].name}, {meeting.how}"
    return Marks(
        meeting.rater,
        rule,
        on_all,
        min(values, default=None),
        max(values, default=None),
        meeting.n_learned,
        meeting.n_ties,
        tuple(replace(r, method=f"{how}; {r.method}") for r in _against(meeting, marks)),
    )


def _of_folds(meeting: _Meeting, fit: Callable[[Floats, Floats], Threshold]) -> Iterator[Threshold]:
    """Yield the threshold of each fold; none where it was learned on a part of its own."""
    if meeting.learning is not None:
        return
    fold = folds_of(meeting.clusters, len(meeting.truth), seed=meeting.plan.seed)
    for number in range(FOLDS):
        yield fit(meeting.scores[fold != number], meeting.truth[fold != number])


def _against(meeting: _Meeting, marks: Floats) -> list[Result]:
    """Return the figures of marks against people's majority, which is the reference."""
    ratings = Ratings.from_matrix(
        np.column_stack([meeting.truth, marks]),
        level="binary",
        raters=("people", meeting.rater),
        clusters=meeting.clusters,
    )
    resampling = resampling_of(ratings, meeting.plan)
    sample = Sample(ratings, (0, 1), resampling)
    keys = ["specificity", *(key for key in MARKS if key in STATISTICS)]
    by_key = {e.statistic.key: e for e in estimates(sample, [STATISTICS[key] for key in keys], resampling)}
    results = {key: result_of(estimate, sample, meeting.plan) for key, estimate in by_key.items()}
    results["balanced_accuracy"] = _balanced(
        by_key["recall"], by_key["specificity"], results["recall"], meeting
    )
    return [results[key] for key in MARKS]


def _balanced(recall: Estimate, specificity: Estimate, like: Result, meeting: _Meeting) -> Result:
    """Return the mean of recall and specificity, on the same resamples."""
    reason = next(
        (e.verdict.reason for e in (recall, specificity) if not e.ok), "not defined on these ratings"
    )
    both = recall.ok and specificity.ok
    return finished(
        "balanced_accuracy",
        (recall.point + specificity.point) / 2 if both else np.nan,
        (recall.replicates + specificity.replicates) / 2 if both else np.empty(0),
        meeting.plan,
        n_items=like.n_items,
        n_clusters=like.n_clusters,
        n_raters=2,
        undefined=reason,
    )


def _probabilities(meeting: _Meeting, method: str) -> Probabilities:
    def fit(scores: Floats, truth: Floats) -> Callable[[Floats], Floats]:
        if truth.min() == truth.max():
            only_answer = "yes" if truth[0] else "no"
            raise ValueError(f"no probability can be learned: people say {only_answer} throughout")
        return METHODS[method](scores, truth)

    try:
        probabilities = np.clip(meeting.applied(oriented(fit)), 0.0, 1.0)
        calibration = calibration_of(probabilities, meeting.truth, meeting.clusters, plan=meeting.plan)
    except ValueError as error:
        return Probabilities(meeting.rater, method, meeting.n_learned, None, str(error))
    return Probabilities(meeting.rater, method, meeting.n_learned, calibration)


def _mapped(meeting: _Meeting, ends: tuple[float, float] | None) -> Iterator[Mapped]:
    for name, fit in _fits(meeting.ratings, ends).items():
        try:
            values = meeting.applied(fit)
        except ValueError as error:
            yield Mapped(meeting.rater, name, meeting.n_learned, (), str(error))
            continue
        learns = name != "as_is" and not (name == "linear" and ends)
        how = f"{MAPS[name]}, {meeting.how if learns else 'nothing learned'}"
        yield Mapped(
            meeting.rater, name, meeting.n_learned if learns else 0, tuple(_errors(meeting, values, how))
        )


def _fits(ratings: Ratings, ends: tuple[float, float] | None) -> dict[str, Fit]:
    """Return the maps that apply: unchanged only where both scales are declared, rounded only to a scale."""
    scale = ratings.scale if ratings.level in ORDERED else None
    fits: dict[str, Fit] = {}
    if ends:
        fits["as_is"] = lambda x, y: lambda new: np.asarray(new, np.float64)
    fits["linear"] = _linear(ends, (scale[0], scale[-1]) if scale else None)
    fits["rank"] = oriented(by_rank)
    fits["ordinal"] = oriented(ordinal)
    if scale and ratings.level == "ordinal":
        fits["ordinal_rounded"] = oriented(lambda x, y: ordinal(x, y, scale))
    fits["mean"] = lambda x, y: constant(y)
    return fits


def _linear(ends: tuple[float, float] | None, target: tuple[float, float] | None) -> Fit:
    """Return the linear map between two scales' ends; those of an undeclared scale are learned."""
    if ends and target:
        return lambda x, y: linear(ends, target)
    return oriented(
        lambda x, y: linear((float(x.min()), float(x.max())), target or (float(y.min()), float(y.max())))
    )


def _errors(meeting: _Meeting, values: Floats, how: str) -> Iterator[Result]:
    """Yield mean absolute error, root mean squared error, and mean error (value less people's mean)."""
    off = values - meeting.truth
    rows = np.column_stack([np.ones(len(off)), np.abs(off), off**2, off])
    units = np.unique(meeting.clusters, return_inverse=True)[1].ravel()
    total, resampled = totals(units, rows, meeting.plan)
    for place, name in enumerate(ERRORS, 1):
        values_of = [t[:, place] / t[:, 0] for t in (total, resampled)]
        point, replicates = (np.sqrt(f) if name == "rmse" else f for f in values_of)
        yield finished(
            name,
            float(point[0]),
            replicates,
            meeting.plan,
            n_items=len(off),
            n_clusters=len(np.unique(units)),
            n_raters=2,
            method=how,
        )
