"""One label per item from several raters: majority, mean, medians, trimmed mean, severity-adjusted mean.

Every function reports the number of ratings per item and the confidence of the label; an item without a label
is NaN and counted, never guessed. More are in ``dawid_skene``, ``mace``, ``weighting`` and ``adjudication``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import digamma, gammaln, logsumexp

from calibration.statistics.core.ratings import CATEGORIES, Floats, Ints, Ratings, row_means
from calibration.statistics.pairwise import disagreement_weights, kappa_of

Ties = Literal["none", "lowest", "highest", "first"]


@dataclass(frozen=True)
class Estimation:
    """End state of an iterative estimate.

    ``log_likelihood`` is the logarithm of the answers' probability under the estimate, or a lower bound on it
    where the method maximises one.
    """

    rounds: int
    log_likelihood: float
    converged: bool


@dataclass(frozen=True)
class GoldLabels:
    """Labels in the order of ``items``; ``confidence`` runs from 0 to 1 (see the function that produced it).

    ``n_ratings`` counts the ratings used per item, ``tied`` marks items whose leading values were tied
    (whatever the policy then did). ``reasons`` explains per row why it has no label, where the cause is
    neither a tie nor a lack of ratings. ``sources`` names per item the source of its label, where a method
    has several sources. ``raters`` holds the estimates about each rater, by name; ``remarks`` are clauses
    about all labels. ``estimation`` describes how an iterative method ended.
    """

    values: Floats
    confidence: Floats
    n_ratings: Ints
    tied: npt.NDArray[np.bool_]
    items: tuple[str, ...]
    method: str
    reasons: Mapping[int, str] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    raters: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    estimation: Estimation | None = None

    @property
    def n_without(self) -> int:
        """Number of items without a label."""
        return int(np.isnan(self.values).sum())


def majority(ratings: Ratings, *, columns: Sequence[int] | None = None, ties: Ties = "none") -> GoldLabels:
    """Most frequent value per item; confidence is its share of the item's ratings.

    Ties give no label (``none``), the lowest or highest of the tied values, or the tied value that the
    earliest rater in column order gave (``first``).
    """
    block = _block(ratings, columns)
    grid = np.unique(block[~np.isnan(block)])
    counts = (block[:, :, None] == grid).sum(axis=1)
    n = counts.sum(axis=1)
    best = counts.max(axis=1) if grid.size else np.zeros(len(block), dtype=np.int64)
    leads = (counts == best[:, None]) & (best > 0)[:, None]
    tied = leads.sum(axis=1) > 1
    values = np.full(len(block), np.nan)
    rated = n > 0
    if grid.size:
        values[rated] = grid[_leader(block, grid, leads, ties)][rated]
    if ties == "none":
        values[tied] = np.nan
    confidence = np.where(rated, best / np.maximum(n, 1), np.nan)
    return GoldLabels(values, confidence, n, tied, ratings.items, f"majority, ties {ties}")


def _leader(block: Floats, grid: Floats, leads: npt.NDArray[np.bool_], ties: Ties) -> Ints:
    if ties == "highest":
        return np.asarray(len(grid) - 1 - leads[:, ::-1].argmax(axis=1))
    if ties == "first":
        positions = np.searchsorted(grid, np.where(np.isnan(block), grid[0], block))
        is_lead = np.take_along_axis(leads, positions, axis=1) & ~np.isnan(block)
        return np.asarray(positions[np.arange(len(block)), is_lead.argmax(axis=1)])
    return np.asarray(leads.argmax(axis=1))


def union(ratings: Ratings) -> GoldLabels:
    """The positive answer wherever any rater gave it; confidence is the share of raters who say the same."""
    block = ratings.values
    n = (~np.isnan(block)).sum(axis=1)
    rated, positive = n > 0, (block == ratings.positive).any(axis=1)
    values = np.full(len(block), np.nan)
    values[rated] = np.where(
        positive[rated], ratings.positive, np.nanmax(block[rated], axis=1, initial=-np.inf)
    )
    same = (block == values[:, None]).sum(axis=1)
    confidence = np.where(rated, same / np.maximum(n, 1), np.nan)
    return GoldLabels(values, confidence, n, np.zeros(len(block), np.bool_), ratings.items, "union")


def mean(ratings: Ratings, *, columns: Sequence[int] | None = None) -> GoldLabels:
    """Mean per item; confidence is 1 minus the item's standard deviation over the largest possible one."""
    block = _numeric(ratings, columns)
    return _central(ratings, block, row_means(block), "mean")


def median(ratings: Ratings, *, columns: Sequence[int] | None = None) -> GoldLabels:
    """Median per item (the middle of two, where their number is even); confidence as for the mean."""
    block = _numeric(ratings, columns)
    values = np.full(len(block), np.nan)
    rated = (~np.isnan(block)).any(axis=1)
    values[rated] = np.nanmedian(block[rated], axis=1)
    return _central(ratings, block, values, "median")


def median_low(ratings: Ratings, *, columns: Sequence[int] | None = None) -> GoldLabels:
    """Median per item, the lower of two in the middle: always a value that somebody gave.

    Confidence as for the mean.
    """
    block = np.sort(_numeric(ratings, columns), axis=1)  # NaN last
    n = (~np.isnan(block)).sum(axis=1)
    values = np.full(len(block), np.nan)
    rated = n > 0
    values[rated] = block[rated, (n[rated] - 1) // 2]
    return _central(ratings, block, values, "lower median")


def trimmed_mean(ratings: Ratings, *, columns: Sequence[int] | None = None, share: float = 0.2) -> GoldLabels:
    """Mean per item without its floor(share * n) lowest and as many highest ratings (0 <= share < 0.5).

    The mean is scipy's ``trim_mean``; confidence is that of the mean, of all of the item's ratings.
    """
    if not 0 <= share < 0.5:
        raise ValueError(f"the trimmed share lies in [0, 0.5), not {share}")
    block = np.sort(_numeric(ratings, columns), axis=1)  # NaN last
    n = (~np.isnan(block)).sum(axis=1)
    values = np.full(len(block), np.nan)
    for size in np.unique(n[n > 0]):
        rows = n == size
        values[rows] = scipy.stats.trim_mean(block[rows, :size], share, axis=1)
    labels = _central(ratings, block, values, f"trimmed mean, {share:g} at each end")
    cut = (share * n).astype(np.int64) > 0
    if share > 0 and n.any() and not cut.any():
        remark = f"no item has the {int(np.ceil(1 / share))} ratings of which a share of {share:g} is one"
        return replace(labels, remarks=(f"nothing was cut: {remark}",))
    return labels


def severity_adjusted(ratings: Ratings, *, columns: Sequence[int] | None = None) -> GoldLabels:
    """Mean per item after each rater's severity is removed.

    Least squares of value = item + rater with the raters' severities summing to 0 (the two-way additive
    model, Scheffe 1959, ch. 4), so that an item rated by severe raters is not scored down. It assumes that
    each rater is off by the same amount on all items. Values are not clipped to the scale. Confidence is that
    of the mean, of the adjusted ratings. Reported per rater are the severity, as it is added to the ratings
    (below 0: stricter than the panel), and the number of ratings.

    Raters who share no item, directly or through others, cannot be compared: the largest group that can (by
    ratings) is adjusted, and items of the other raters have no label, with that reason.
    """
    block = _numeric(ratings, columns)
    places = list(range(block.shape[1])) if columns is None else list(columns)
    main = comparable(block)
    inside = np.where(main[None, :], block, np.nan)
    severity = np.full(block.shape[1], np.nan)
    severity[main] = severities(block[:, main])
    adjusted = inside - np.where(main, severity, 0.0)[None, :]
    labels = _central(ratings, adjusted, row_means(adjusted), "severity-adjusted mean")
    outside = (~np.isnan(block)).any(axis=1) & (labels.n_ratings == 0)
    alone = "its raters share no item with the others: their severity is unknown"
    rater_details = {
        ratings.raters[places[j]]: {"severity": float(severity[j]), "n": int((~np.isnan(block[:, j])).sum())}
        for j in np.flatnonzero(main)
    }
    return replace(labels, reasons={int(row): alone for row in np.flatnonzero(outside)}, raters=rater_details)


def comparable(block: Floats) -> npt.NDArray[np.bool_]:
    """Return which raters are in the largest group (by ratings) whose items connect them to each other.

    A single rater is a group; of two equally large groups the one with the earlier rater is returned.
    """
    present = (~np.isnan(block)).astype(np.float64)
    if not present.shape[1]:
        return np.zeros(0, dtype=np.bool_)
    _, groups = connected_components(present.T @ present, directed=False)
    sizes = np.bincount(groups, weights=present.sum(axis=0))
    return np.asarray(groups == sizes.argmax())


def severities(block: Floats) -> Floats:
    """Return each rater's deviation from the panel, by least squares of item + rater; they sum to 0."""
    present = (~np.isnan(block)).astype(np.float64)
    n = np.maximum(present.sum(axis=1), 1)
    filled = np.where(present > 0, block, 0.0)
    away = np.where(present > 0, filled - (filled.sum(axis=1) / n)[:, None], 0.0)
    matrix = np.diag(present.sum(axis=0)) - present.T @ (present / n[:, None])
    effects = np.linalg.pinv(matrix, hermitian=True) @ away.sum(axis=0)
    return np.asarray(effects - effects.mean())


def from_posterior(
    ratings: Ratings, posterior: Floats, grid: Floats, n: Ints, *, ties: Ties, method: str
) -> GoldLabels:
    """Return the most probable value per item; confidence is its probability.

    ``posterior`` is items x values of ``grid``, NaN for items without ratings. Values whose probabilities are
    within 1e-9 of the highest are tied; ``ties`` sets how they are resolved, as for ``majority``.
    """
    rated = ~np.isnan(posterior).any(axis=1) & (n > 0)
    best = np.where(rated, np.nan_to_num(posterior).max(axis=1, initial=0), np.nan)
    leads = np.isclose(posterior, best[:, None], rtol=0, atol=1e-9) & rated[:, None]
    tied = leads.sum(axis=1) > 1
    values = np.full(len(posterior), np.nan)
    if grid.size:
        first, last = leads.argmax(axis=1), len(grid) - 1 - leads[:, ::-1].argmax(axis=1)
        values[rated] = grid[last if ties == "highest" else first][rated]
    reasons: dict[int, str] = {}
    if ties == "none":
        values[tied] = np.nan
        for row in np.flatnonzero(tied):
            names = " and ".join(ratings.label(float(value)) for value in grid[leads[row]])
            reasons[int(row)] = f"tie: {names} with a probability of {best[row]:.2g} each"
    return GoldLabels(values, best, n, tied, ratings.items, method, reasons=reasons)


def _block(ratings: Ratings, columns: Sequence[int] | None) -> Floats:
    return ratings.values if columns is None else ratings.values[:, list(columns)]


def _numeric(ratings: Ratings, columns: Sequence[int] | None) -> Floats:
    if ratings.level == "nominal" or (ratings.names is not None and ratings.level == "binary"):
        raise ValueError("categories have no mean; use the majority")
    return _block(ratings, columns)


def _central(ratings: Ratings, block: Floats, values: Floats, method: str) -> GoldLabels:
    n = (~np.isnan(block)).sum(axis=1)
    centre = row_means(block)
    spread = np.sqrt(row_means((block - centre[:, None]) ** 2))
    low, high = value_range(ratings, block)
    largest = (high - low) / 2
    confidence = np.clip(1 - spread / largest, 0, 1) if largest > 0 else np.where(n > 0, 1.0, np.nan)
    return GoldLabels(values, confidence, n, np.zeros(len(n), dtype=np.bool_), ratings.items, method)


def value_range(ratings: Ratings, block: Floats) -> tuple[float, float]:
    """Return the ends of the scale, or the lowest and highest value given where it has none."""
    if ratings.scale is not None:
        return ratings.scale[0], ratings.scale[-1]
    observed = block[~np.isnan(block)]
    return (float(observed.min()), float(observed.max())) if observed.size else (0.0, 0.0)


# Adjudicators' decisions come first; items without a decision get a label by another method.

Bools = npt.NDArray[np.bool_]
DECIDED = "adjudication"


def adjudicated_first(
    ratings: Ratings,
    decisions: Ratings,
    *,
    empty: Collection[str] = (),
    fallback: GoldLabels | None,
    name: str,
) -> GoldLabels:
    """Return each item's decision, otherwise the fallback's label; ``sources`` distinguishes the two.

    ``decisions`` is items x adjudicators, over the items of ``ratings``. Adjudicators who decided differently
    leave no label, nor does a decision that there is no answer (items named in ``empty``). Confidence of a
    decision is the share of the item's ratings that agree with it, NaN where there are none; ``n_ratings``
    then counts adjudicators. ``name`` is the name of the fallback. Without a fallback, undecided items have
    no label.
    """
    has_decision = ~np.isnan(decisions.values)
    n_decisions = has_decision.sum(axis=1)
    nothing = np.array([item in empty for item in ratings.items], dtype=np.bool_)
    reached = (n_decisions > 0) | nothing
    low = np.where(has_decision, decisions.values, np.inf).min(axis=1, initial=np.inf)
    high = np.where(has_decision, decisions.values, -np.inf).max(axis=1, initial=-np.inf)
    agreed = (n_decisions > 0) & (low == high) & ~nothing
    n = np.where(reached, n_decisions, fallback.n_ratings if fallback else 0)
    other = fallback.values if fallback else np.full(len(reached), np.nan)
    values = np.where(agreed, low, np.where(reached, np.nan, other))
    unsure = fallback.confidence if fallback else np.full(len(reached), np.nan)
    confidence = np.where(agreed, _share(ratings, low), np.where(reached, np.nan, unsure))
    return GoldLabels(
        values,
        confidence,
        n,
        np.where(reached, False, fallback.tied if fallback else False),
        ratings.items,
        f"adjudicated, else {name or 'none'}",
        reasons=_reasons(ratings, decisions, reached, agreed, nothing, fallback),
        sources=tuple(DECIDED if decided else name for decided in reached),
        raters=fallback.raters if fallback else {},
        remarks=(
            f"{int(agreed.sum())} of {len(reached)} items were decided by adjudication",
            *(fallback.remarks if fallback else ()),
        ),
        estimation=fallback.estimation if fallback else None,
    )


def _share(ratings: Ratings, decided: Floats) -> Floats:
    n = (~np.isnan(ratings.values)).sum(axis=1)
    same = (ratings.values == decided[:, None]).sum(axis=1)
    return np.where(n > 0, same / np.maximum(n, 1), np.nan)


def _reasons(
    ratings: Ratings,
    decisions: Ratings,
    reached: Bools,
    agreed: Bools,
    nothing: Bools,
    fallback: GoldLabels | None,
) -> dict[int, str]:
    fallback_reasons = dict(fallback.reasons) if fallback else {}
    reasons = {row: reason for row, reason in fallback_reasons.items() if not reached[row]}
    if fallback is None:
        reasons |= {int(row): "it was not adjudicated" for row in np.flatnonzero(~reached)}
    for row in np.flatnonzero(reached & ~agreed):
        values = np.unique(decisions.values[row][~np.isnan(decisions.values[row])])
        if not len(values):
            reasons[int(row)] = "adjudicated as having no answer"
            continue
        names = [decisions.label(float(value)) for value in values] + ["no answer"] * bool(nothing[row])
        reasons[int(row)] = f"adjudicators decided differently: {' and '.join(names)}"
    return reasons


# Labels weighted by how well each rater agrees with the others on some of the items: the dev part.
#
# The weight of a rater is the agreement beyond chance with each other rater on the items both rated there,
# averaged over the other raters by the number of those items, and at least 0. Agreement is Cohen's kappa
# (1960) for categories and kappa with quadratic weights (Cohen 1968) for ordered values, which is Lin's
# concordance correlation (1989) and needs no declared scale.

LEAST = 10
EQUAL = 1e-12
"""Sums of weights closer than this are equal: they come in different orders of addition."""


@dataclass(frozen=True)
class Weights:
    """Per rater: the weight, the agreement it comes from (NaN: none could be measured) and its items.

    ``n_items`` counts the items learned from that the rater shares with another rater.
    """

    weights: Floats
    agreement: Floats
    n_items: Ints


def learned(ratings: Ratings, learn: npt.NDArray[np.bool_], *, least: int = LEAST) -> Weights:
    """Learn weights from the items that ``learn`` marks; no other item is read.

    Two raters are compared where they share at least ``least`` of these items; a rater compared with nobody
    has no weight. Pairs whose agreement is undefined (both always gave the same single value) are left out.
    """
    block = ratings.values[learn]
    present = ~np.isnan(block)
    k = block.shape[1]
    totals, counts = np.zeros(k), np.zeros(k)
    for first in range(k):
        for second in range(first + 1, k):
            both = present[:, first] & present[:, second]
            n = int(both.sum())
            pair_agreement = (
                agreement_of(ratings, block[both, first], block[both, second]) if n >= least else np.nan
            )
            if not np.isnan(pair_agreement):
                totals[[first, second]] += n * pair_agreement
                counts[[first, second]] += n
    agreement = np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)
    shared = (present & (present.sum(axis=1) > 1)[:, None]).sum(axis=0)
    return Weights(np.maximum(np.nan_to_num(agreement), 0.0), agreement, shared)


def weighted(
    ratings: Ratings, learn: npt.NDArray[np.bool_], *, ties: Ties = "none", least: int = LEAST
) -> GoldLabels:
    """Return the value with the greatest total weight (categories), or the weighted mean (ordered scales).

    Confidence is its share of the weight; of a mean, 1 minus the weighted standard deviation over the largest
    possible one. Ratings of raters without a weight do not count.
    """
    weights = learned(ratings, learn, least=least)
    block = np.where(weights.weights[None, :] > 0, ratings.values, np.nan)
    if _is_vote(ratings):
        labels = _vote(ratings, block, weights.weights, ties)
    else:
        labels = _mean_of_weighting(ratings, block, weights.weights)
    unknown = (~np.isnan(ratings.values)).any(axis=1) & (labels.n_ratings == 0)
    nobody = "none of its raters has a weight learned on dev"
    reasons = dict(labels.reasons) | {int(row): nobody for row in np.flatnonzero(unknown)}
    rater_details = {
        name: {"weight": float(weight), "agreement": float(agreement), "n": int(n)}
        for name, weight, agreement, n in zip(
            ratings.raters, weights.weights, weights.agreement, weights.n_items, strict=True
        )
    }
    return replace(labels, reasons=reasons, raters=rater_details)


def _is_vote(ratings: Ratings) -> bool:
    return ratings.level in CATEGORIES


def agreement_of(ratings: Ratings, first: Floats, second: Floats) -> float:
    """Return the agreement beyond chance of two raters on items both rated, NaN where it is undefined."""
    if _is_vote(ratings):
        grid, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
        table = np.zeros((1, len(grid), len(grid)))
        np.add.at(table[0], (codes[: len(first)], codes[len(first) :]), 1)
        return float(kappa_of(table, disagreement_weights(len(grid), "unweighted"))[0])
    expected = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    return float(1 - ((first - second) ** 2).mean() / expected) if expected > 0 else np.nan


def _vote(ratings: Ratings, block: Floats, weights: Floats, ties: Ties) -> GoldLabels:
    grid = np.unique(block[~np.isnan(block)])
    n = (~np.isnan(block)).sum(axis=1)
    votes = np.zeros((len(block), len(grid)))
    for place, value in enumerate(grid):
        votes[:, place] = (block == value) @ weights
    total = votes.sum(axis=1)
    best = votes.max(axis=1, initial=0.0)
    leads = np.isclose(votes, best[:, None], rtol=0, atol=EQUAL) & (n > 0)[:, None]
    tied = leads.sum(axis=1) > 1
    values = np.full(len(block), np.nan)
    if grid.size:
        place = len(grid) - 1 - leads[:, ::-1].argmax(axis=1) if ties == "highest" else leads.argmax(axis=1)
        values[n > 0] = grid[place][n > 0]
    reasons = {}
    if ties == "none":
        values[tied] = np.nan
        for row in np.flatnonzero(tied):
            names = " and ".join(ratings.label(float(value)) for value in grid[leads[row]])
            reasons[int(row)] = f"tie: {names} with the same weight"
    confidence = np.where(n > 0, best / np.where(total > 0, total, 1), np.nan)
    return GoldLabels(
        values, confidence, n, tied, ratings.items, f"weighted vote, ties {ties}", reasons=reasons
    )


def _mean_of_weighting(ratings: Ratings, block: Floats, weights: Floats) -> GoldLabels:
    n = (~np.isnan(block)).sum(axis=1)
    shares = np.where(np.isnan(block), 0.0, weights[None, :])
    total = np.where(n > 0, shares.sum(axis=1), 1.0)
    values = np.where(n > 0, (np.nan_to_num(block) * shares).sum(axis=1) / total, np.nan)
    away = np.where(np.isnan(block), 0.0, (block - values[:, None]) ** 2)
    spread = np.sqrt((away * shares).sum(axis=1) / total)
    low, high = value_range(ratings, ratings.values)
    largest = (high - low) / 2
    sure = np.clip(1 - spread / largest, 0, 1) if largest > 0 else np.ones(len(n))
    none = np.zeros(len(n), dtype=np.bool_)
    return GoldLabels(values, np.where(n > 0, sure, np.nan), n, none, ratings.items, "weighted mean")


# Dawid and Skene (1979): labels and each rater's confusion matrix together, by expectation maximisation.
#
# Each item has one true class; given it, raters answer independently by their own confusion matrix. The
# likelihood rises in every round; rounds continue until it no longer does. Raters who agree for a shared
# wrong reason are taken to be right.

DAWID_SKENE_ROUNDS = 20_000
TOLERANCE = 1e-12
"""Smallest gain of a round, as a share of the log-likelihood, for which another round follows."""


@dataclass(frozen=True)
class DawidSkene:
    """The gold labels (confidence is the class's posterior probability) and the estimates behind them.

    ``shares`` is each value's prevalence and ``confusion[rater][true, given]`` each rater's probabilities,
    both in the order of ``grid``; a row is NaN where no item has that true value.
    """

    gold: GoldLabels
    grid: tuple[float, ...]
    shares: Floats
    confusion: Mapping[str, Floats]
    posterior: Floats


def dawid_skene(
    ratings: Ratings,
    *,
    columns: Sequence[int] | None = None,
    same_rater: Mapping[str, str] | None = None,
    ties: Ties = "none",
    rounds: int = DAWID_SKENE_ROUNDS,
    tolerance: float = TOLERANCE,
) -> DawidSkene:
    """Fit the model to categorical ratings; items nobody rated get no label.

    ``same_rater`` maps column names to one rater where a rater answered more than once. ``ties`` is for
    values of the same posterior probability. Reported per rater are the probability of a right answer (the
    confusion matrix's diagonal, weighted by the values' shares) and the number of answers. Raises ValueError
    without any rating.
    """
    panel = list(range(len(ratings.raters))) if columns is None else list(columns)
    names = [(same_rater or {}).get(ratings.raters[j], ratings.raters[j]) for j in panel]
    block = ratings.values[:, panel]
    rows, places = np.nonzero(~np.isnan(block))
    if not len(rows):
        raise ValueError("there are no ratings")
    raters = list(dict.fromkeys(names))
    rater_codes = np.array([raters.index(name) for name in names])[places]
    grid, codes = np.unique(block[rows, places], return_inverse=True)
    rated, items = np.unique(rows, return_inverse=True)
    answers = _AnswersDawidSkene.of(items.ravel(), rater_codes, codes.ravel(), len(raters), len(grid))
    fit = answers.fitted(rounds, tolerance)

    posterior = np.full((len(block), len(grid)), np.nan)
    posterior[rated] = fit.posterior
    n = (~np.isnan(block)).sum(axis=1)
    gold = from_posterior(ratings, posterior, grid, n, ties=ties, method="Dawid-Skene")
    counted = np.bincount(rater_codes, minlength=len(raters))
    confusion = {name: fit.confusion[at] for at, name in enumerate(raters)}
    learned = {
        name: {
            "accuracy": float(fit.shares @ np.nan_to_num(np.diag(confusion[name]))),
            "n": int(counted[at]),
        }
        for at, name in enumerate(raters)
        if counted[at]
    }
    gold = replace(gold, raters=learned, estimation=fit.estimation)
    return DawidSkene(gold, tuple(grid.tolist()), fit.shares, confusion, posterior)


@dataclass(frozen=True)
class _FitDawidSkene:
    posterior: Floats
    shares: Floats
    confusion: Floats
    estimation: Estimation


@dataclass(frozen=True)
class _AnswersDawidSkene:
    """Number of times each rater gave each value to an item: items x (raters x values), sparse."""

    counts: csr_array
    n_raters: int
    n_values: int

    @staticmethod
    def of(items: Ints, raters: Ints, codes: Ints, n_raters: int, n_values: int) -> _AnswersDawidSkene:
        """Count answers; one rater may answer an item several times."""
        shape = int(items.max()) + 1, n_raters * n_values
        unit_counts = np.ones(len(items))
        return _AnswersDawidSkene(
            csr_array((unit_counts, (items, raters * n_values + codes)), shape), n_raters, n_values
        )

    def fitted(self, rounds: int, tolerance: float) -> _FitDawidSkene:
        """Estimate, starting from the shares of each item's answers, until the likelihood no longer rises."""
        posterior = np.asarray(self.counts @ np.tile(np.eye(self.n_values), (self.n_raters, 1)))
        posterior /= posterior.sum(axis=1, keepdims=True)
        likelihood, converged, done = -np.inf, False, 0
        while done < rounds and not converged:
            shares, confusion = self.maximised(posterior)
            posterior, new = self.expected(shares, confusion)
            done += 1
            converged = bool(new - likelihood <= tolerance * abs(new))
            likelihood = new
        shares, confusion = self.maximised(posterior)
        return _FitDawidSkene(posterior, shares, confusion, Estimation(done, likelihood, converged))

    def maximised(self, posterior: Floats) -> tuple[Floats, Floats]:
        """Return the values' shares and P(given | true) as raters x true x given."""
        counts = np.asarray(self.counts.T @ posterior).reshape(self.n_raters, self.n_values, self.n_values)
        counts = counts.transpose(0, 2, 1)
        total = counts.sum(axis=2, keepdims=True)
        confusion = np.where(total > 0, counts / np.where(total > 0, total, 1.0), np.nan)
        return posterior.mean(axis=0), confusion

    def expected(self, shares: Floats, confusion: Floats) -> tuple[Floats, float]:
        """Return each item's probabilities of the values and the log-likelihood."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.nan_to_num(confusion)).transpose(0, 2, 1).reshape(-1, self.n_values)
            joint = np.asarray(self.counts @ logs) + np.log(shares)
        marginal = logsumexp(joint, axis=1, keepdims=True)
        return np.exp(joint - marginal), float(marginal.sum())


# MACE (Hovy et al. 2013): labels, and how often each rater knows the answer instead of guessing.
#
# Each item has one true value, all values equally probable a priori. A rater knows it with an individual
# probability (competence) and otherwise answers by an individual habit, whatever the item. Estimated by
# variational Bayes with the paper's priors from several random starts, each until the lower bound on the
# log-likelihood no longer rises; the start with the highest bound counts.

RESTARTS = 10
MACE_ROUNDS = 10_000
KNOWING, HABITS = 0.5, 10.0
"""Prior counts: of knowing and of guessing, and of each value among a rater's guesses."""


def mace(
    ratings: Ratings,
    *,
    ties: Ties = "none",
    seed: int = 0,
    restarts: int = RESTARTS,
    rounds: int = MACE_ROUNDS,
) -> GoldLabels:
    """Return the most probable value per item; confidence is its probability.

    The same ratings and ``seed`` give the same labels, whatever the order of items and raters. Reported per
    rater are the competence (0 to 1) and the number of answers. Raises ValueError without any rating.
    """
    order = sorted(range(len(ratings.items)), key=lambda row: ratings.items[row])
    columns = sorted(range(len(ratings.raters)), key=lambda column: ratings.raters[column])
    block = ratings.values[np.ix_(order, columns)]
    rows, places = np.nonzero(~np.isnan(block))
    if not len(rows):
        raise ValueError("there are no ratings")
    grid, codes = np.unique(block[rows, places], return_inverse=True)
    rated, items = np.unique(rows, return_inverse=True)
    present, raters = np.unique(places, return_inverse=True)
    answers = _Answers(items.ravel(), raters.ravel(), codes.ravel(), (len(rated), len(present), len(grid)))
    rng = np.random.default_rng(seed)
    fits = [answers.fitted(rng, rounds) for _ in range(restarts)]
    best = max(fits, key=lambda fit: fit.estimation.log_likelihood)

    probability = np.full((len(block), len(grid)), np.nan)
    probability[np.array(order)[rated]] = best.posterior
    n = (~np.isnan(ratings.values)).sum(axis=1)
    labels = from_posterior(ratings, probability, grid, n, ties=ties, method=f"MACE, seed {seed}")
    counted = np.bincount(raters.ravel())
    learned = {
        ratings.raters[columns[place]]: {"competence": float(best.competence[at]), "n": int(counted[at])}
        for at, place in enumerate(present)
    }
    return replace(labels, raters=learned, estimation=best.estimation)


@dataclass(frozen=True)
class _Fit:
    posterior: Floats
    competence: Floats
    estimation: Estimation


@dataclass(frozen=True)
class _Answers:
    """Each answer's item, rater and value, by codes; ``shape`` holds the number of each."""

    items: Ints
    raters: Ints
    codes: Ints
    shape: tuple[int, int, int]

    def fitted(self, rng: np.random.Generator, rounds: int) -> _Fit:
        """Estimate from a random start, until the bound no longer rises."""
        _, n_raters, n_values = self.shape
        knowing, habits = (1 + 1.5 * rng.random((n_raters, width)) for width in (2, n_values))
        knowing /= knowing.sum(axis=1, keepdims=True)
        habits /= habits.sum(axis=1, keepdims=True)
        bound, converged, done = -np.inf, False, 0
        posterior, knows, _ = self.expected(knowing, habits)
        while done < rounds and not converged:
            knowing, habits, distance = self.maximised(knows)
            posterior, knows, likelihood = self.expected(knowing, habits)
            done += 1
            new = likelihood - distance
            converged = bool(new - bound <= TOLERANCE * abs(new))
            bound = new
        return _Fit(posterior, knowing[:, 1] / knowing.sum(axis=1), Estimation(done, bound, converged))

    def expected(self, knowing: Floats, habits: Floats) -> tuple[Floats, Floats, float]:
        """Return each item's probabilities, each answer's probability of knowledge, and the likelihood."""
        n_items, _, n_values = self.shape
        guess = knowing[self.raters, 0] * habits[self.raters, self.codes]
        right = guess + knowing[self.raters, 1]
        joint = np.bincount(
            self.items * n_values + self.codes, np.log(right / guess), minlength=n_items * n_values
        ).reshape(n_items, n_values)
        joint += np.bincount(self.items, np.log(guess), minlength=n_items)[:, None] - np.log(n_values)
        marginal = logsumexp(joint, axis=1, keepdims=True)
        posterior = np.exp(joint - marginal)
        knows = posterior[self.items, self.codes] * knowing[self.raters, 1] / right
        return posterior, knows, float(marginal.sum())

    def maximised(self, knows: Floats) -> tuple[Floats, Floats, float]:
        """Return raters' weights of guessing and knowing and of their habits, and the priors' distance."""
        _, n_raters, n_values = self.shape
        knowing, guessed = (np.bincount(self.raters, part, minlength=n_raters) for part in (knows, 1 - knows))
        cell = self.raters * n_values + self.codes
        guesses = np.bincount(cell, 1 - knows, minlength=n_raters * n_values)
        habits = guesses.reshape(n_raters, n_values).astype(np.float64)
        competences = np.column_stack([guessed, knowing]).astype(np.float64)
        distance = _divergence(competences, KNOWING) + _divergence(habits, HABITS)
        return _weights(competences + KNOWING), _weights(habits + HABITS), distance


def _weights(counts: Floats) -> Floats:
    """Return the exponential of each expected log-probability under a Dirichlet distribution."""
    return np.asarray(np.exp(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True))))


def _divergence(counts: Floats, prior: float) -> float:
    """Return the Kullback-Leibler divergence of Dirichlet(counts + prior) from Dirichlet(prior), summed."""
    after, total = counts + prior, counts.sum(axis=1) + prior * counts.shape[1]
    size = counts.shape[1]
    normalised = gammaln(total) - gammaln(after).sum(axis=1) - gammaln(prior * size) + size * gammaln(prior)
    moved = (counts * (digamma(after) - digamma(total)[:, None])).sum(axis=1)
    return float((normalised + moved).sum())
