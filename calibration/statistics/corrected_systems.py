"""Systems as people would have rated them: a judge's shares and means corrected, and their differences.

A judge answered all items of some systems, people only some. For each system:

* ``judge``: the judge's own mean. Valid only if its errors cancel.
* ``prediction_powered``: A + lambda * B with the people's mean A over the items that they rated and B the
  judge's mean over the other items less that over the rated ones (PPI++, Angelopoulos, Duchi and Zrnic 2023,
  eq. 3 and 4). Where items were drawn with unequal probabilities, A and the judge's mean over rated items are
  weighted by 1 / probability (Hajek), and B starts from the judge's mean over all items. Valid if the rated
  items are a random sample of the same items, or one with known probabilities.
* ``confusion``: the categories p that solve M p = q, with q the judge's shares and M[j, k] the share of
  answers j by the judge where people answer k, over the rated items of all systems; least squares on the
  simplex where the solution leaves it. For yes and no this is Rogan and Gladen (1978). Valid if the judge
  errs alike where that was measured and where it is used.
* ``people``: the people's mean over the items that they rated.

Every mean is linearised: each item has an influence on it, and the variance is that of the influences summed
by cluster. A difference of two systems has the difference of the influences, so systems that share dialogues
are compared in pairs and others are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy import special

from calibration.statistics.analysis import corrected_p_values
from calibration.statistics.core.engine import Counts, Result, Status, finished
from calibration.statistics.core.ratings import CATEGORIES, Floats, Ints, Ratings
from calibration.statistics.core.resampling import Plan, Resampling
from calibration.statistics.prevalence import (
    REFUSED,
    MeanEstimate,
    few_labelled,
    with_interval,
)
from calibration.statistics.strata import Mask

LEAST_RATED = 10
"""Fewest items of a system that people must have rated."""
MOST_SYSTEMS = 20
"""Most systems of which all pairs are compared."""
LEAST_SINGULAR = 0.1
"""Smallest singular value of a confusion matrix that is inverted: below it, errors grow over tenfold."""
FIGURES = ("judge", "prediction_powered", "confusion", "people")
"""Figures of a system, in the order they are read."""
PREFIX = "system_"
"""Prefix of the names of their results."""
TITLES = {
    "judge": "Judge alone",
    "prediction_powered": "Corrected, prediction-powered",
    "confusion": "Corrected by the confusion matrix",
    "people": "People, where they rated",
    "judge_difference": "Difference, judge alone",
    "prediction_powered_difference": "Difference, corrected",
}
ASSUMPTIONS = (
    "The prediction-powered figures hold if the items that people rated are a random sample of the same "
    "items, or one with known probabilities; those by the confusion matrix if the judge errs alike where its "
    "errors were measured and where they are corrected."
)


@dataclass(frozen=True)
class JudgedItems:
    """Items that a judge answered, and people's answers to some of them.

    ``judge`` and ``systems`` have one entry an item, ``people`` is items x people, NaN where missing.
    ``clusters`` are codes. ``categories`` are the values that may occur, None for any number. ``weights`` are
    1 / probability for items drawn for people to rate and NaN for others; None where all items were equally
    likely. ``not_random`` is why the rated items are not a sample with known probabilities, and
    ``other_errors`` why the judge may err differently on them than on others; both empty if there is none.
    """

    judge: Floats
    people: Floats
    systems: Ints
    clusters: Ints
    categories: tuple[float, ...] | None = None
    weights: Floats | None = None
    not_random: str = ""
    other_errors: str = ""

    def __post_init__(self) -> None:
        """Reject arrays that do not fit each other, and items without the judge's answer."""
        n = len(self.judge)
        if self.people.shape[:1] != (n,) or len(self.systems) != n or len(self.clusters) != n:
            raise ValueError(f"{n} items need as many rows of people's answers, systems and clusters")
        if np.isnan(self.judge).any():
            raise ValueError("leave out the items that the judge did not answer")

    def as_marks(self, category: float) -> JudgedItems:
        """Return the items with 1 for this category and 0 for any other."""
        people = np.where(np.isnan(self.people), np.nan, self.people == category)
        return replace(
            self, judge=(self.judge == category).astype(np.float64), people=people, categories=(0.0, 1.0)
        )

    @cached_property
    def truth(self) -> Floats:
        """Mean of the people's answers to each item; NaN where there is none, or where it was not drawn."""
        present = ~np.isnan(self.people)
        n = present.sum(axis=1)
        total = np.where(present, self.people, 0.0).sum(axis=1)
        usable = n > 0 if self.weights is None else (n > 0) & ~np.isnan(self.weights)
        return np.where(usable, total / np.maximum(n, 1), np.nan)

    @cached_property
    def unequal_weights(self) -> Floats | None:
        """The weights, None where those of all rated items are equal."""
        if self.weights is None:
            return None
        of_rated = self.weights[~np.isnan(self.truth)]
        return self.weights if len(of_rated) and np.ptp(of_rated) > 1e-9 * of_rated.max() else None


@dataclass(frozen=True)
class Linear:
    """A mean A and a contrast B of expectation 0, with each item's influence on both.

    Items outside the estimate have influences of 0 and are in neither ``rated`` nor ``others``.
    """

    mean: float
    contrast: float
    on_mean: Floats
    on_contrast: Floats
    rated: Mask
    others: Mask

    def __sub__(self, other: Linear) -> Linear:
        return Linear(
            self.mean - other.mean,
            self.contrast - other.contrast,
            self.on_mean - other.on_mean,
            self.on_contrast - other.on_contrast,
            self.rated | other.rated,
            self.others | other.others,
        )


def _centred(values: Floats, weights: Floats, total: float) -> Floats:
    return weights * (values - (weights * values).sum() / total) / total


def _mean_of(values: Floats, mask: Mask) -> Linear:
    """Return the plain mean over some items."""
    zero = np.zeros(len(values))
    w = mask.astype(np.float64)
    filled = np.where(mask, values, 0.0)
    mean = float(filled.sum() / w.sum())
    return Linear(mean, 0.0, _centred(filled, w, w.sum()), zero, mask, np.zeros(len(values), dtype=bool))


def _powered(items: JudgedItems, truth: Floats, mask: Mask, *, by_judge: bool = True) -> Linear:
    """Return the people's mean over some items, with the judge's contrast unless it is left out."""
    rated = mask & ~np.isnan(truth)
    others = mask & ~rated
    y, f = np.where(rated, truth, 0.0), items.judge
    weights = items.unequal_weights
    w = rated.astype(np.float64) if weights is None else np.where(rated, weights, 0.0)
    total = float(w.sum())
    on_mean = _centred(y, w, total)
    mean = float((w * y).sum() / total)
    if not others.any() or not by_judge:
        return Linear(mean, 0.0, on_mean, np.zeros(len(f)), rated, others & False)
    # With equal weights the judge's mean over all items in place of the others only rescales lambda.
    base = (others if weights is None else mask).astype(np.float64)
    contrast = float((base * f).sum() / base.sum() - (w * f).sum() / total)
    on_contrast = _centred(f, base, float(base.sum())) - _centred(f, w, total)
    return Linear(mean, contrast, on_mean, on_contrast, rated, others)


def _covariance(a: Floats, b: Floats, linear: Linear, clusters: Ints) -> float:
    """Covariance of two estimates from the items' influences, summed by cluster, c / (c - 1).

    Where no cluster has both rated and other items, these are two independent samples of clusters.
    """
    is_divided = bool(np.isin(clusters[linear.rated], clusters[linear.others]).any())
    parts = [linear.rated | linear.others] if is_divided else [linear.rated, linear.others]
    total = 0.0
    for part in parts:
        if not part.any():
            continue
        _, local = np.unique(clusters[part], return_inverse=True)
        first = np.bincount(local.ravel(), weights=a[part])
        second = np.bincount(local.ravel(), weights=b[part])
        c = len(first)
        total += float(c / (c - 1) * (first * second).sum()) if c > 1 else float("nan")
    return total


def _estimate(
    linear: Linear, clusters: Ints, tuning: float | None = None, *, is_weighted: bool = False
) -> MeanEstimate:
    """Return the estimate at the lambda of least variance, or at the given one."""
    weight = 0.0
    if linear.others.any():
        spread = _covariance(linear.on_contrast, linear.on_contrast, linear, clusters)
        cross = _covariance(linear.on_mean, linear.on_contrast, linear, clusters)
        weight = tuning if tuning is not None else (-cross / spread if spread > 0 else 0.0)
    influence = linear.on_mean + weight * linear.on_contrast
    sizes = [len(np.unique(clusters[part])) for part in (linear.rated, linear.others) if part.any()]
    is_divided = bool(np.isin(clusters[linear.rated], clusters[linear.others]).any())
    smallest = sizes[0] if is_divided else min(sizes)
    return MeanEstimate(
        value=linear.mean + weight * linear.contrast,
        variance=_covariance(influence, influence, linear, clusters),
        tuning=float(weight),
        smallest=min(smallest, _effective(influence, linear, clusters)) if is_weighted else smallest,
    )


def _effective(influence: Floats, linear: Linear, clusters: Ints) -> int:
    """Clusters of equal influence that would estimate the variance as precisely, at least 2.

    The variance of c squared sums with kurtosis k is that of chi-square with 2c / (k - 1) degrees of freedom
    (Satterthwaite 1946): a few heavy weights count for less than their number.
    """
    part = linear.rated | linear.others
    _, local = np.unique(clusters[part], return_inverse=True)
    sums = np.bincount(local.ravel(), weights=influence[part])
    c, squares = len(sums), float((sums**2).sum())
    kurtosis = c * float((sums**4).sum()) / squares**2 if squares > 0 else 3.0
    return max(2, int(1 + 2 * c / max(kurtosis - 1, 1e-9)))


def _counts_of(items: JudgedItems, mask: Mask) -> Counts:
    return {"n_items": int(mask.sum()), "n_clusters": len(np.unique(items.clusters[mask])), "n_raters": 2}


def prediction_powered_mean(
    items: JudgedItems, mask: Mask | None = None, *, tuning: float | None = None, level: float = 0.95
) -> Result:
    """Return the mean that people would have given over some items (all by default).

    With equal probabilities and no cluster that has both rated and other items it equals
    `prevalence.prediction_powered`. ``tuning`` fixes lambda. Where all values lie in 0 to 1 the interval is
    made on the logit scale, by Student's t over clusters otherwise, too.
    """
    name = f"{PREFIX}prediction_powered"
    mask = np.ones(len(items.judge), dtype=bool) if mask is None else mask
    truth = items.truth
    counts = _counts_of(items, mask)
    if reason := _too_few(items, truth, mask):
        status, text = reason
        return Result(name, status=status, reason=text, method="prediction-powered mean", **counts)
    linear = _powered(items, truth, mask)
    is_weighted = items.unequal_weights is not None
    estimate = _estimate(linear, items.clusters, tuning, is_weighted=is_weighted)
    method = _method(items, estimate, has_others=bool(linear.others.any()), level=level)
    samples = [(truth[linear.rated], items.judge[mask])]
    result = with_interval(name, estimate, level, method, counts, samples)
    return result.with_flags(*_weighting_flag(items))


def _too_few(items: JudgedItems, truth: Floats, mask: Mask) -> tuple[Status, str] | None:
    """Return status and reason where there is no prediction-powered figure."""
    if items.not_random:
        return "rejected", items.not_random
    n = int((mask & ~np.isnan(truth)).sum())
    if n < LEAST_RATED:
        return "insufficient", f"people rated {n} of these items; {LEAST_RATED} are needed"
    return None


def _weighting_flag(items: JudgedItems) -> tuple[str, ...]:
    return () if items.unequal_weights is None else ("unequal_probabilities",)


def _method(items: JudgedItems, estimate: MeanEstimate, *, has_others: bool, level: float) -> str:
    if not has_others:
        return f"people's own mean, as they rated every item; standard error over clusters, {level:.0%}"
    weighted = ", weighted by 1 / probability" if items.unequal_weights is not None else ""
    return (
        f"prediction-powered mean, lambda {estimate.tuning:.3f}{weighted}, standard error over clusters, "
        f"{level:.0%}"
    )


# Correction by the confusion matrix, for categories and for the mean over ordered ones.


def confusion_shares(confusion: Floats, judged: Floats) -> tuple[Floats, bool]:
    """Return the categories' shares p that solve M p = q, and whether they had to be moved to the simplex.

    ``confusion`` is M, judge x people, columns sum to 1; ``judged`` is q and sums to 1. Where the solution
    has a negative share, the result is the least-squares solution among shares that are none negative and
    sum to 1 (Lawson and Hanson 1974, ch. 23). Raises LinAlgError for a singular matrix.
    """
    shares = np.linalg.solve(confusion, judged)
    if (shares >= -1e-12).all():
        return np.clip(shares, 0.0, 1.0), False
    from scipy.optimize import nnls

    heavy = 1e6  # the sum of 1 as one more equation, which outweighs all others
    moved, _ = nnls(np.vstack([confusion, np.full(len(judged), heavy)]), np.append(judged, heavy))
    return np.asarray(moved / moved.sum()), True


@dataclass(frozen=True)
class _Confusion:
    """Sums by cluster: answers of both (clusters x judge x people) and the judge's (clusters x category)."""

    both: Floats
    judged: Floats
    categories: Floats


def _sums(items: JudgedItems, categories: Floats, mask: Mask, truth: Floats) -> _Confusion:
    _, unit = np.unique(items.clusters, return_inverse=True)
    unit = unit.ravel()
    n, k = int(unit.max(initial=-1)) + 1, len(categories)
    code = np.searchsorted(categories, items.judge)
    both, judged = np.zeros((n, k, k)), np.zeros((n, k))
    np.add.at(judged, (unit[mask], code[mask]), 1.0)
    usable = ~np.isnan(truth)
    item, person = np.nonzero(~np.isnan(np.where(usable[:, None], items.people, np.nan)))
    answer = np.searchsorted(categories, items.people[item, person])
    weight = np.ones(len(item)) if items.weights is None else items.weights[item]
    np.add.at(both, (unit[item], code[item], answer), weight)
    return _Confusion(both, judged, categories)


def confusion_corrected(
    items: JudgedItems, mask: Mask, plan: Plan, resampling: Resampling | None = None
) -> Result:
    """Return the mean over the corrected shares of the categories: for yes and no, the share of yes.

    Each answer of a person counts, weighted by 1 / probability. The interval resamples clusters, rated and
    others together; its ends are cut at the lowest and highest category. Refused where the matrix is near
    singular, or where people never gave a category that the judge gave. ``resampling`` shares the resamples
    of `clusters_of` among calls.
    """
    name, method = f"{PREFIX}confusion", "confusion matrix of all rated items, inverted"
    counts = _counts_of(items, mask)
    truth = items.truth
    problem = _categories(items, truth)
    if isinstance(problem, tuple):
        status, reason = problem
        return Result(name, status=status, reason=reason, method=method, **counts)
    sums = _sums(items, problem, mask, truth)
    total = sums.both.sum(axis=0)
    matrix = total / total.sum(axis=0)
    judged = sums.judged.sum(axis=0) / sums.judged.sum()
    if _gain(matrix) <= 0:
        return Result(name, status="rejected", reason=REFUSED, method=method, **counts)
    smallest = float(np.linalg.svd(matrix, compute_uv=False)[-1])
    if smallest < LEAST_SINGULAR:
        reason = (
            f"the confusion matrix is near singular (smallest singular value {smallest:.2f}, at least "
            f"{LEAST_SINGULAR:g} is needed): the judge hardly tells the categories apart"
        )
        return Result(name, status="rejected", reason=reason, method=method, **counts)
    shares, is_moved = confusion_shares(matrix, judged)
    value = float(shares @ sums.categories)
    number = ~np.isnan(np.where(np.isnan(truth)[:, None], np.nan, items.people))
    rarest = min((items.people[number] == category).sum() for category in sums.categories)
    flags = (*few_labelled(float(rarest)), *_weighting_flag(items))
    if is_moved:
        reason = "no interval: the correction gives a category a negative share, which was moved to 0"
        return Result(name, value, reason=reason, method=method, flags=(*flags, "clipped"), **counts)
    replicates = _redrawn(sums, resampling or clusters_of(items, plan))
    return finished(name, value, replicates, plan, method=method, flags=flags, **counts)


def clusters_of(items: JudgedItems, plan: Plan) -> Resampling:
    """Return the resamples of the items' clusters."""
    n = len(np.unique(items.clusters))
    return Resampling(plan, np.arange(n), n)


def _categories(items: JudgedItems, truth: Floats) -> tuple[Status, str] | Floats:
    """Return the categories in use, or status and reason where there is no confusion matrix."""
    if items.other_errors:
        return "rejected", items.other_errors
    if items.categories is None:
        return "rejected", "there is no confusion matrix of a scale without declared values"
    allowed = np.array(sorted(items.categories))
    answers = items.people[~np.isnan(truth)]
    given_by_people = np.unique(answers[~np.isnan(answers)])
    if not np.isin(items.judge, allowed).all() or not np.isin(given_by_people, allowed).all():
        return "rejected", "some answers lie between the values of the scale, such as means of several"
    if len(given_by_people) < 2:
        return "undefined", "people gave fewer than two of the values, so the judge's errors are not known"
    in_use = np.union1d(given_by_people, np.unique(items.judge))
    never = [value for value in in_use.tolist() if value not in given_by_people]
    if never:
        return "undefined", (
            f"people never gave {never[0]:g} where both answered, so it is not known how the judge errs there"
        )
    return in_use


def _gain(matrix: Floats) -> float:
    """Return sensitivity + specificity - 1 of two categories, 1 for more."""
    return float(matrix[0, 0] + matrix[1, 1] - 1) if len(matrix) == 2 else 1.0


def _redrawn(sums: _Confusion, resampling: Resampling) -> Floats:
    """Return the corrected means of resampled clusters; NaN where a resample has no invertible matrix."""
    n, k = sums.judged.shape
    replicates = []
    low, high = sums.categories[0], sums.categories[-1]
    total = sums.both.sum(axis=0)
    sign = np.sign(np.linalg.det(total / total.sum(axis=0)))
    for weights in resampling.chunks():
        both = (weights @ sums.both.reshape(n, k * k)).reshape(-1, k, k)
        judged = weights @ sums.judged
        with np.errstate(divide="ignore", invalid="ignore"):
            matrix = both / both.sum(axis=1, keepdims=True)
            shares = judged / judged.sum(axis=1, keepdims=True)
        usable = np.isfinite(matrix).all(axis=(1, 2)) & np.isfinite(shares).all(axis=1)
        values = np.full(len(weights), np.nan)
        determinant = np.zeros(len(weights))
        determinant[usable] = np.linalg.det(matrix[usable])
        # Where the determinant changes its sign the judge is worse than chance, as in the refusal above.
        usable &= determinant * sign > 1e-6
        solved = np.linalg.solve(matrix[usable], shares[usable][:, :, None])[:, :, 0]
        values[usable] = np.clip(solved @ sums.categories, low, high)
        replicates.append(values)
    return np.concatenate(replicates) if replicates else np.empty(0)


# Rows of systems and pairs of systems.


@dataclass(frozen=True)
class SystemFigures:
    """A system's figures by name; ``n_rated`` of its ``n_items`` items were rated by people.

    ``category`` is the category whose share the figures are, None for a mean or the share of yes.
    """

    system: int
    category: float | None
    n_items: int
    n_rated: int
    figures: dict[str, Result]


@dataclass(frozen=True)
class SystemPair:
    """The first system's mean less the second's: by the judge alone, and corrected.

    ``p`` is that of the corrected difference, two-sided, and ``p_holm`` the same corrected over all pairs and
    categories after Holm; None where there is no corrected difference.
    """

    first: int
    second: int
    category: float | None
    judge: Result
    corrected: Result
    p: float | None = None
    p_holm: float | None = None


@dataclass(frozen=True)
class CorrectedSystems:
    """All systems and pairs of one question. ``no_pairs`` is why there are no pairs, or empty."""

    systems: tuple[SystemFigures, ...]
    pairs: tuple[SystemPair, ...]
    no_pairs: str = ""


def corrected_systems(
    items: JudgedItems, plan: Plan | None = None, *, shares_of: Sequence[float] | None = None
) -> CorrectedSystems:
    """Return every system's figures, and the differences of all pairs of systems.

    The figures are means of the answers; with ``shares_of`` they are the shares of each of these categories,
    as for nominal questions.
    """
    plan = plan or Plan()
    codes = np.unique(items.systems).tolist()
    measures: list[tuple[float | None, JudgedItems]] = (
        [(None, items)] if shares_of is None else [(c, items.as_marks(c)) for c in shares_of]
    )
    shared = clusters_of(items, plan)
    rows = [_row(own, code, category, plan, shared) for code in codes for category, own in measures]
    if len(codes) > MOST_SYSTEMS:
        reason = f"pairs are compared for at most {MOST_SYSTEMS} systems, and there are {len(codes)}"
        return CorrectedSystems(tuple(rows), (), reason)
    pairs = [
        _pair(own, first, second, category, plan)
        for first, second in combinations(codes, 2)
        for category, own in measures
    ]
    return CorrectedSystems(tuple(rows), tuple(_with_holm(pairs)))


def _row(
    items: JudgedItems, code: int, category: float | None, plan: Plan, shared: Resampling
) -> SystemFigures:
    mask = items.systems == code
    truth = items.truth
    rated = mask & ~np.isnan(truth)
    name = f"{PREFIX}people"
    people = Result(name, status="insufficient", reason="people rated none of these items", n_raters=1)
    if rated.any():
        people = _interval(items, _powered(items, truth, mask, by_judge=False), truth[rated], name, plan)
        people = people.with_flags(*_weighting_flag(items))
    if rated.any() and items.not_random:
        people = replace(people, low=None, high=None, reason=items.not_random)
    figures = {
        "judge": _interval(items, _mean_of(items.judge, mask), items.judge[mask], f"{PREFIX}judge", plan),
        "prediction_powered": prediction_powered_mean(items, mask, level=plan.level),
        "confusion": confusion_corrected(items, mask, plan, shared),
        "people": people,
    }
    return SystemFigures(code, category, int(mask.sum()), int(rated.sum()), figures)


def _interval(items: JudgedItems, linear: Linear, values: Floats, name: str, plan: Plan) -> Result:
    estimate = _estimate(linear, items.clusters)
    counts = _counts_of(items, linear.rated) | {"n_raters": 1}
    method = f"mean, standard error over clusters, {plan.level:.0%}"
    return with_interval(name, estimate, plan.level, method, counts, [(values, values)])


def _pair(items: JudgedItems, first: int, second: int, category: float | None, plan: Plan) -> SystemPair:
    masks = [items.systems == code for code in (first, second)]
    truth = items.truth
    by_judge = _mean_of(items.judge, masks[0]) - _mean_of(items.judge, masks[1])
    judge, _ = _difference(items, by_judge, f"{PREFIX}judge_difference", plan)
    name = f"{PREFIX}prediction_powered_difference"
    reasons = [reason for mask in masks if (reason := _too_few(items, truth, mask))]
    if reasons:
        status, text = reasons[0]
        counts = _counts_of(items, masks[0] | masks[1])
        refused = Result(name, status=status, reason=text, **counts)
        return SystemPair(first, second, category, judge, refused)
    linear = _powered(items, truth, masks[0]) - _powered(items, truth, masks[1])
    corrected, p = _difference(items, linear, name, plan)
    return SystemPair(first, second, category, judge, corrected.with_flags(*_weighting_flag(items)), p)


def paired_difference(
    items: JudgedItems, first: int, second: int, *, tuning: float | None = None, plan: Plan | None = None
) -> Result:
    """Return the corrected difference of two systems, first less second; ``tuning`` fixes its lambda."""
    masks = [items.systems == code for code in (first, second)]
    linear = _powered(items, items.truth, masks[0]) - _powered(items, items.truth, masks[1])
    result, _ = _difference(
        items, linear, f"{PREFIX}prediction_powered_difference", plan or Plan(), tuning=tuning
    )
    return result


def _difference(
    items: JudgedItems, linear: Linear, name: str, plan: Plan, tuning: float | None = None
) -> tuple[Result, float | None]:
    """Return a difference with its t interval over clusters, and its two-sided p-value."""
    is_weighted = items.unequal_weights is not None and bool(linear.on_contrast.any())
    estimate = _estimate(linear, items.clusters, tuning, is_weighted=is_weighted)
    mask = linear.rated | linear.others
    method = f"lambda {estimate.tuning:.3f}, " if linear.others.any() else ""
    method = f"difference, {method}standard error over clusters, {plan.level:.0%}"
    counts = _counts_of(items, mask)
    result = with_interval(name, estimate, plan.level, method, counts, [], is_difference=True)
    if result.low is None:
        return result, None
    t = abs(estimate.value) / estimate.variance**0.5
    return result, float(2 * special.stdtr(estimate.smallest - 1, -t))


def _with_holm(pairs: Sequence[SystemPair]) -> list[SystemPair]:
    ps = [pair.p for pair in pairs if pair.p is not None]
    adjusted = iter(corrected_p_values(ps, "holm"))
    return [pair if pair.p is None else replace(pair, p_holm=float(next(adjusted))) for pair in pairs]


# The same from ratings of one question, such as those of a file with a column of systems.


@dataclass(frozen=True)
class JudgeSystems:
    """A judge's corrected systems; ``names`` are the systems' names by code."""

    judge: str
    people: tuple[str, ...]
    names: tuple[str, ...]
    result: CorrectedSystems


def systems_of_ratings(
    ratings: Ratings, plan: Plan | None = None, *, refusal: str = ""
) -> tuple[JudgeSystems, ...]:
    """Return the corrected systems of each judge that answered items which people did not, in their order.

    Binary questions give the share of the positive class, nominal ones a share per category, others the mean.
    A metric that uses the question's categories counts as a judge. None where the items have no named
    systems. With ``refusal``, why the items that people rated cannot correct the judge, nothing is corrected.
    """
    people = [j for j in ratings.of_kind("human") if ratings.on_scale[j]]
    is_categories = ratings.level in CATEGORIES
    judges = [j for j in ratings.of_kind("judge") if ratings.on_scale[j] or not is_categories]
    judges += [j for j in ratings.of_kind("metric") if ratings.on_scale[j]]
    if ratings.systems is None or not ratings.system_names or ratings.problem or not people:
        return ()
    if ratings.level == "binary" and ratings.positive is None:
        return ()
    results = []
    for judge in judges:
        answered = ~np.isnan(ratings.values[:, judge]) & ratings.could_be_drawn()
        answers = ratings.values[answered][:, people]
        is_rated = ~np.isnan(answers).all(axis=1)
        if not is_rated.any() or is_rated.all():
            continue
        items = JudgedItems(
            ratings.values[answered, judge],
            answers,
            ratings.systems[answered],
            ratings.clusters[answered],
            ratings.scale,
            ratings.weights_of(answered),
            refusal,
            refusal,
        )
        if ratings.level == "binary":
            items = items.as_marks(float(ratings.positive or 0.0))
        shares = ratings.scale if ratings.level == "nominal" else None
        result = corrected_systems(items, plan, shares_of=shares)
        own = tuple(ratings.raters[j] for j in people)
        results.append(JudgeSystems(ratings.raters[judge], own, ratings.system_names, result))
    return tuple(results)
