"""Agreement of a panel: Fleiss' kappa, Gwet's AC1 and AC2, Brennan-Prediger, for two raters or more.

Gwet's coefficients and Brennan-Prediger take any number of ratings per item: observed agreement is the mean
over items with two ratings or more of the share of agreeing ordered pairs. Gwet's chance comes from how often
each value is used over all rated items, those with a single rating too (Gwet 2014), which n and method say;
Brennan-Prediger's is 1/q, so single ratings change nothing. Fleiss (1971) needs the same number of ratings on
each item.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.base import (
    ALL,
    InReports,
    Statistic,
    Verdict,
    constant_flag,
    few_of_either,
    no_variation,
    prevalence,
    too_few_of_either,
)
from calibration.statistics.core.features import Draw, usual_count
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats
from calibration.statistics.pairwise import Weights, disagreement_weights, ratio


def agreement_weights(k: int, weights: Weights) -> Floats:
    """Return k x k agreement weights: 1 on the diagonal, falling with the distance in the scale."""
    distance = disagreement_weights(k, weights)
    return 1 - distance / max(float(distance.max()), 1.0)


def observed_agreement(draw: Draw, weights: Floats) -> Floats:
    """Mean over items of the weighted share of agreeing ordered pairs of ratings."""
    pairs = draw.totals("agreement")
    items = draw.totals("equality")[:, 0]
    return ratio((pairs * weights).sum(axis=(1, 2)), items)


def value_shares(draw: Draw) -> Floats:
    """How often each value of the scale is used: the mean over rated items of its share."""
    totals = draw.totals("shares")
    return totals[:, 1:] / np.where(totals[:, :1] > 0, totals[:, :1], np.nan)


def gwet(draw: Draw, weights: Weights) -> Floats:
    """Gwet's AC1 (unweighted) or AC2: (pa - pe) / (1 - pe), pe = T sum p (1 - p) / (q (q - 1))."""
    used = value_shares(draw)
    k = used.shape[1]
    table = agreement_weights(k, weights)
    expected = table.sum() * (used * (1 - used)).sum(axis=1) / (k * (k - 1)) if k > 1 else np.ones(len(used))
    return ratio(observed_agreement(draw, table) - expected, 1 - expected)


def brennan_prediger(draw: Draw) -> Floats:
    """(pa - 1/q) / (1 - 1/q) with q the number of values of the scale."""
    k = len(draw.sample.grid)
    if k < 2:
        return np.full(len(draw.weights), np.nan)
    return (observed_agreement(draw, np.eye(k)) - 1 / k) / (1 - 1 / k)


def fleiss_kappa(draw: Draw) -> Floats:
    """Fleiss' kappa over the items with the usual number of ratings."""
    totals = draw.totals("equal_counts")
    n, agreeing, counts = totals[:, 0], totals[:, 1], totals[:, 2:]
    observed = ratio(agreeing, n)
    used = counts / np.where(n > 0, counts.sum(axis=1), np.nan)[:, None]
    expected = (used**2).sum(axis=1)
    single = (used > 0).sum(axis=1) <= 1
    return np.where(single, np.nan, ratio(observed - expected, 1 - expected))


def one_value_scale(sample: Sample) -> Verdict | None:
    """A scale of one value leaves nothing to agree about."""
    if len(sample.grid) < 2:
        return Verdict("undefined", "no variation: the scale has a single value; declare the others")
    return None


def usual_items(sample: Sample) -> npt.NDArray[np.bool_]:
    """Mark the items with the number of ratings that most have."""
    return np.asarray(sample.per_item[sample.used] == usual_count(sample))


def unequal_counts(sample: Sample) -> Verdict | None:
    """Flag items that Fleiss' kappa has to leave out, refuse where nothing varies in the rest."""
    kept = usual_items(sample)
    if np.count_nonzero(sample.counts[kept].any(axis=0)) <= 1:
        return Verdict("undefined", "no variation among the items with the same number of ratings")
    return None if kept.all() else Verdict(flags=("dropped_items",))


def _weighted(weights: Weights) -> Callable[[Draw], Floats]:
    return lambda draw: gwet(draw, weights)


PANEL: tuple[Statistic, ...] = (
    Statistic(
        key="fleiss_kappa",
        title="Fleiss' kappa",
        compute=fleiss_kappa,
        levels=ALL,
        raters="panel",
        exchangeable=True,
        checks=(no_variation, unequal_counts, prevalence, few_of_either, too_few_of_either),
        source="Fleiss (1971)",
        used=usual_items,
        in_reports=InReports("Fleiss’ kappa", "κ, Fleiss", "κ"),
    ),
    Statistic(
        key="gwet_ac1",
        title="Gwet's AC1",
        compute=_weighted("unweighted"),
        levels=ALL,
        raters="panel",
        exchangeable=True,
        checks=(one_value_scale, constant_flag),
        source="Gwet (2008)",
        reads_singles=True,
        in_reports=InReports("Gwet’s AC1", "AC1", "AC1"),
    ),
    *(
        Statistic(
            key=f"gwet_ac2_{weights}",
            title=f"Gwet's AC2, {weights} weights",
            compute=_weighted(weights),
            levels=frozenset({"ordinal", "interval", "ratio"}),
            raters="panel",
            exchangeable=True,
            checks=(one_value_scale, constant_flag),
            source="Gwet (2014)",
            reads_singles=True,
            in_reports=InReports(f"Gwet’s AC2, {weights} weights", f"AC2, {weights}", "AC2"),
        )
        for weights in ("linear", "quadratic")
    ),
    Statistic(
        key="brennan_prediger",
        title="Brennan-Prediger",
        compute=brennan_prediger,
        levels=ALL,
        raters="panel",
        exchangeable=True,
        checks=(one_value_scale, constant_flag),
        source="Brennan and Prediger (1981)",
        in_reports=InReports("Brennan and Prediger’s kappa", "B-P", "κ"),
    ),
)
