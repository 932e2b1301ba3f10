"""Agreement of two raters, read from their joint table.

O is the table of shares, r and c its margins. Percent agreement: sum of O's diagonal. Weighted kappa
(Cohen 1960, 1968): 1 - sum(w O) / sum(w r c'), with disagreement weights w over positions in the declared
scale. Scott's pi (1955): chance from the pooled margins. MCC (Matthews 1975; Gorodkin 2004 for several
classes): the correlation of the two indicator tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from calibration.statistics.core.engine import (
    Check,
    InReports,
    Statistic,
    Verdict,
    constant_flag,
    constant_undefined,
    few_events,
    few_of_either,
    no_variation,
    prevalence,
    too_few_of_either,
)
from calibration.statistics.core.ratings import CATEGORIES, Floats, Ints
from calibration.statistics.core.samples import Draw, Sample

# A rater measured against a reference rater on one positive class: precision, recall, specificity, F1.
#
# Also other figures of the 2 x 2 table (Byrt, Bishop and Carlin 1993; Cicchetti and Feinstein 1990):
# prevalence index, bias index, PABAK, positive and negative agreement.

BINARY = frozenset({"binary"})


def counts_of(draw: Draw) -> tuple[Floats, Floats, Floats, Floats]:
    """Return true positives, false positives, false negatives and true negatives per row, by weight."""
    tables = draw.totals("joint")
    at = _positive_position(draw.sample)
    others = np.arange(tables.shape[1]) != at  # summed, as differences of weighted totals are never exactly 0
    fp, fn = tables[:, others, at].sum(axis=1), tables[:, at, others].sum(axis=1)
    return tables[:, at, at], fp, fn, tables[:, others][:, :, others].sum(axis=(1, 2))


def precision(draw: Draw) -> Floats:
    """Share of the second rater's positives that are positive for the reference."""
    tp, fp, _, _ = counts_of(draw)
    return ratio(tp, tp + fp)


def recall(draw: Draw) -> Floats:
    """Share of the reference's positives that the second rater finds."""
    tp, _, fn, _ = counts_of(draw)
    return ratio(tp, tp + fn)


def specificity(draw: Draw) -> Floats:
    """Share of the reference's negatives that the second rater does not mark."""
    _, fp, _, tn = counts_of(draw)
    return ratio(tn, tn + fp)


def f1(draw: Draw) -> Floats:
    """2 TP / (2 TP + FP + FN)."""
    tp, fp, fn, _ = counts_of(draw)
    return ratio(2 * tp, 2 * tp + fp + fn)


def prevalence_index(draw: Draw) -> Floats:
    """(TP - TN) / n: imbalance of the two classes."""
    tp, fp, fn, tn = counts_of(draw)
    return ratio(tp - tn, tp + fp + fn + tn)


def bias_index(draw: Draw) -> Floats:
    """(FN - FP) / n: how much more often the first rater says positive."""
    tp, fp, fn, tn = counts_of(draw)
    return ratio(fn - fp, tp + fp + fn + tn)


def pabak(draw: Draw) -> Floats:
    """2 * observed agreement - 1: kappa if classes were balanced and raters unbiased."""
    tp, fp, fn, tn = counts_of(draw)
    return 2 * ratio(tp + tn, tp + fp + fn + tn) - 1


def positive_agreement(draw: Draw) -> Floats:
    """2 TP / (2 TP + FP + FN): agreement on the positive class, whoever is the reference."""
    return f1(draw)


def negative_agreement(draw: Draw) -> Floats:
    """2 TN / (2 TN + FP + FN): agreement on the negative class."""
    _, fp, fn, tn = counts_of(draw)
    return ratio(2 * tn, 2 * tn + fp + fn)


def _positive_position(sample: Sample) -> int:
    return int(np.searchsorted(sample.grids[0], sample.ratings.positive or 0.0))


def _known_positive(sample: Sample) -> Verdict | None:
    if sample.ratings.positive is None or sample.ratings.positive not in (sample.ratings.scale or ()):
        return Verdict("rejected", "the positive class is not a value of the scale; name it")
    return None


def _need(reference: bool, second: bool, reason: str) -> Callable[[Sample], Verdict | None]:
    def check(sample: Sample) -> Verdict | None:
        positive = sample.ratings.positive
        has_value = (reference and bool((sample.x == positive).any())) or (
            second and bool((sample.y == positive).any())
        )
        return None if has_value else Verdict("undefined", reason)

    return check


def _need_negatives(reference: bool, reason: str) -> Callable[[Sample], Verdict | None]:
    def check(sample: Sample) -> Verdict | None:
        positive = sample.ratings.positive
        has_negative = bool((sample.x != positive).any()) or (
            not reference and bool((sample.y != positive).any())
        )
        return None if has_negative else Verdict("undefined", reason)

    return check


OF_POSITIVES = ("precision", "recall", "f1", "positive_agreement")


def _events(key: str) -> tuple[Check, ...]:
    """Return the check for too few events behind a figure; PABAK hardly depends on the rarer class."""
    if key == "pabak":
        return ()
    return (few_events,) if key in OF_POSITIVES else (few_of_either,)


NONE_ANYWHERE = "no positives: neither rater marks one (0 in the reference)"
_FORMULAS = (
    (
        "precision",
        "Precision",
        precision,
        False,
        (_need(False, True, "no positives given by the second rater"),),
    ),
    ("recall", "Recall", recall, False, (_need(True, False, "no positives in the reference"),)),
    ("f1", "F1", f1, True, (_need(True, True, NONE_ANYWHERE),)),
    (
        "specificity",
        "Specificity",
        specificity,
        False,
        (_need_negatives(True, "no negatives in the reference"),),
    ),
    ("prevalence_index", "Prevalence index", prevalence_index, True, ()),
    ("bias_index", "Bias index", bias_index, False, ()),
    ("pabak", "PABAK", pabak, True, ()),
    (
        "positive_agreement",
        "Positive agreement",
        positive_agreement,
        True,
        (_need(True, True, NONE_ANYWHERE),),
    ),
    (
        "negative_agreement",
        "Negative agreement",
        negative_agreement,
        True,
        (_need_negatives(False, "no negatives given by either rater"),),
    ),
)

CLASSIFICATION: tuple[Statistic, ...] = tuple(
    Statistic(
        key=key,
        title=title,
        compute=compute,
        levels=BINARY,
        symmetric=symmetric,
        bounds=(-1.0, 1.0) if key in ("prevalence_index", "bias_index", "pabak") else (0.0, 1.0),
        checks=(_known_positive, *checks, *_events(key)),
    )
    for key, title, compute, symmetric, checks in _FORMULAS
)


# Cohen's kappa and MCC of two raters by scikit-learn, for verification of ours.
#
# Loading scikit-learn takes seconds, so no page and no plain command uses it: only verifying a report does.


def kappa(sample: Sample, weights: Literal["linear", "quadratic"] | None) -> float:
    """Return scikit-learn's kappa of a pair on all values of the scale, weighted by their positions."""
    from sklearn.metrics import cohen_kappa_score

    first, second = _positions(sample)
    labels = range(len(sample.grids[0]))
    return float(
        cohen_kappa_score(first, second, labels=labels, weights=weights, sample_weight=sample.weights)
    )


def mcc_by_library(sample: Sample) -> float:
    """Return scikit-learn's Matthews correlation of a pair, for two classes or more."""
    from sklearn.metrics import matthews_corrcoef

    return float(matthews_corrcoef(*_positions(sample), sample_weight=sample.weights))


def _positions(sample: Sample) -> tuple[Ints, Ints]:
    """Return both raters' answers as positions on the scale."""
    grid = sample.grids[0]
    return np.searchsorted(grid, sample.x), np.searchsorted(grid, sample.y)


Weights = Literal["unweighted", "linear", "quadratic"]


def percent_agreement(draw: Draw) -> Floats:
    """Share of pairs of ratings of the same item that are equal, averaged over items."""
    totals = draw.totals("equality")
    return ratio(totals[:, 1], totals[:, 0])


def disagreement_weights(k: int, weights: Weights) -> Floats:
    """Return the k x k disagreement weights over positions of the scale."""
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(np.float64)
    if weights == "unweighted":
        return (distance > 0).astype(np.float64)
    return distance if weights == "linear" else distance**2


def kappa_of(tables: Floats, weights: Floats) -> Floats:
    """Cohen's kappa of joint tables (rows x k x k) with k x k disagreement weights; NaN without variation.

    Accepts any symmetric weights with a zero diagonal. A margin with a single value gives 0.
    """
    rows, columns, n = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    observed = (tables * weights).sum(axis=(1, 2))
    expected = ((rows @ weights) * columns).sum(axis=1)
    value = 1 - ratio(observed * n, expected)
    single = ((rows > 0).sum(axis=1) == 1) | ((columns > 0).sum(axis=1) == 1)
    return np.where(single & ~np.isnan(value), 0.0, value)


def _kappa(weights: Weights) -> Statistic:
    def compute(draw: Draw) -> Floats:
        tables = draw.totals("joint")
        return kappa_of(tables, disagreement_weights(tables.shape[1], weights))

    suffix = "" if weights == "unweighted" else f"_{weights}"
    return Statistic(
        key=f"cohen_kappa{suffix}",
        title="Cohen's kappa" if not suffix else f"Cohen's kappa, {weights} weights",
        compute=compute,
        levels=frozenset({"binary", "nominal", "ordinal", "interval", "ratio"}) if not suffix else _ORDERED,
        checks=(no_variation, constant_flag, prevalence, few_of_either, too_few_of_either),
        source="Cohen (1960)" if not suffix else "Cohen (1968)",
        second_opinion=lambda sample: kappa(sample, None if weights == "unweighted" else weights),
        in_reports=InReports(
            "Cohen’s kappa" if not suffix else f"Cohen’s kappa, {weights} weights",
            "κ" if not suffix else f"κ, {weights}",
            "κ",
        ),
    )


def scott_pi(draw: Draw) -> Floats:
    """Scott's pi of the joint tables."""
    return pi_of(draw.totals("joint"))


def pi_of(tables: Floats) -> Floats:
    """Scott's pi of joint tables (rows x k x k); NaN where there is a single value."""
    n = tables.sum(axis=(1, 2))
    observed = ratio(np.trace(tables, axis1=1, axis2=2), n)
    pooled = (tables.sum(axis=1) + tables.sum(axis=2)) / (2 * np.where(n > 0, n, np.nan))[:, None]
    expected = (pooled**2).sum(axis=1)
    single = (pooled > 0).sum(axis=1) <= 1
    return np.where(single, np.nan, ratio(observed - expected, 1 - expected))


def mcc_of(tables: Floats) -> Floats:
    """Matthews correlation of joint tables (rows x k x k); NaN where a margin has a single value."""
    rows, columns, n = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    covariance = np.trace(tables, axis1=1, axis2=2) * n - (rows * columns).sum(axis=1)
    spread_rows, spread_columns = (  # exactly 0 for a single value, also of weighted tables
        np.where((margin > 0).sum(axis=1) > 1, n**2 - (margin**2).sum(axis=1), 0.0)
        for margin in (rows, columns)
    )
    # Rounding can leave a perfect correlation slightly above 1.
    return np.clip(ratio(covariance, np.sqrt(spread_rows) * np.sqrt(spread_columns)), -1, 1)


def mcc(draw: Draw) -> Floats:
    """Matthews correlation coefficient, for two classes or more."""
    return mcc_of(draw.totals("joint"))


def ratio(top: Floats, bottom: Floats) -> Floats:
    """Return top / bottom, NaN where the bottom is 0."""
    zero = bottom == 0
    return np.where(zero, np.nan, top / np.where(zero, 1.0, bottom))


_ORDERED = frozenset({"ordinal", "interval", "ratio"})

PERCENT = Statistic(
    key="percent_agreement",
    title="Percent agreement",
    compute=percent_agreement,
    exchangeable=True,
    bounds=(0.0, 1.0),
    checks=(constant_flag,),
    in_reports=InReports("Percent agreement", "Agreement"),
)

PAIRWISE: tuple[Statistic, ...] = (
    PERCENT,
    _kappa("unweighted"),
    _kappa("linear"),
    _kappa("quadratic"),
    Statistic(
        key="scott_pi",
        title="Scott's pi",
        compute=scott_pi,
        checks=(no_variation, constant_flag, prevalence, few_of_either, too_few_of_either),
        source="Scott (1955)",
        in_reports=InReports("Scott’s pi", "π", "π"),
    ),
    Statistic(
        key="mcc",
        title="Matthews correlation",
        compute=mcc,
        levels=CATEGORIES,
        checks=(constant_undefined, prevalence, few_of_either, too_few_of_either),
        source="Matthews (1975), Gorodkin (2004)",
        second_opinion=mcc_by_library,
        in_reports=InReports("MCC", "MCC", "MCC"),
    ),
)
