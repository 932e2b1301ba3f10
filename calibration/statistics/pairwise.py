"""Agreement of two raters, read from their joint table.

O is the table of shares, r and c its margins. Percent agreement: sum of O's diagonal. Weighted kappa
(Cohen 1960, 1968): 1 - sum(w O) / sum(w r c'), with disagreement weights w over positions in the declared
scale. Scott's pi (1955): chance from the pooled margins. MCC (Matthews 1975; Gorodkin 2004 for several
classes): the correlation of the two indicator tables.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from calibration.statistics.core.base import (
    InReports,
    Statistic,
    constant_flag,
    constant_undefined,
    few_of_either,
    no_variation,
    prevalence,
    too_few_of_either,
)
from calibration.statistics.core.features import Draw
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import CATEGORIES, Floats, Ints

# Cohen's kappa and MCC of two raters by scikit-learn, to verify ours with.
#
# Loading scikit-learn takes seconds, so that no page and no plain command asks it: verifying a report does.


def kappa(sample: Sample, weights: Literal["linear", "quadratic"] | None) -> float:
    """Return scikit-learn's kappa of a pair on all values of the scale, weighted by their positions."""
    from sklearn.metrics import cohen_kappa_score

    first, second = _positions(sample)
    return float(cohen_kappa_score(first, second, labels=range(len(sample.grids[0])), weights=weights))


def mcc_by_library(sample: Sample) -> float:
    """Return scikit-learn's Matthews correlation of a pair, for two classes or more."""
    from sklearn.metrics import matthews_corrcoef

    return float(matthews_corrcoef(*_positions(sample)))


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

    Any symmetric weights with a zero diagonal will do. A margin with one value gives 0.
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
    """Matthews correlation of joint tables (rows x k x k); NaN where a margin has one value."""
    rows, columns, n = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    covariance = np.trace(tables, axis1=1, axis2=2) * n - (rows * columns).sum(axis=1)
    spread_rows = n**2 - (rows**2).sum(axis=1)
    spread_columns = n**2 - (columns**2).sum(axis=1)
    # Rounding leaves a perfect one a little above 1.
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
