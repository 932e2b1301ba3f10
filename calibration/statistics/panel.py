"""Agreement of a panel: Fleiss' kappa, Gwet's AC1 and AC2, Brennan-Prediger, for two raters or more.

Gwet's coefficients and Brennan-Prediger take any number of ratings per item: observed agreement is the mean
over items with two ratings or more of the share of agreeing ordered pairs. Gwet's chance comes from how often
each value is used over all rated items, those with a single rating too (Gwet 2014), which n and method say;
Brennan-Prediger's is 1/q, so single ratings change nothing. Fleiss (1971) needs the same number of ratings on
each item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import krippendorff
import numpy as np
import numpy.typing as npt
from scipy import sparse

from calibration.statistics.core.engine import (
    ALL,
    MOST_CELLS,
    InReports,
    Statistic,
    Verdict,
    constant_flag,
    few_of_either,
    no_variation,
    prevalence,
    too_few_of_either,
)
from calibration.statistics.core.ratings import Floats, Ints, Level, Ratings
from calibration.statistics.core.resampling import Resampling
from calibration.statistics.core.samples import Additive, Draw, Sample, pairs_once, tabulated, usual_count
from calibration.statistics.pairwise import Weights, disagreement_weights, mcc_of, pi_of, ratio

# Krippendorff's alpha: 1 - observed / expected disagreement over all pairable values, missing ones allowed.
#
# Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. With coincidences o and their
# margins n_c, alpha = 1 - (n - 1) sum(o d) / sum(n_c n_k d), where d is the squared difference of the level:
# nominal 0/1, interval (c - k)^2, ratio ((c - k) / (c + k))^2, ordinal the squared difference of mid-ranks.

LIBRARY_CELLS = 5_000_000
MAX_VALUES = 101  # distinct values kept as a table of coincidences


def krippendorff_alpha(draw: Draw) -> Floats:
    """Alpha at the ratings' own level."""
    level = draw.sample.ratings.level
    return alpha_at(draw, "nominal" if level == "binary" else level)


def alpha_at(draw: Draw, level: Level) -> Floats:
    """Alpha at a level; NaN where fewer than two values are left."""
    if level == "interval" and len(draw.sample.grid) > MAX_VALUES:
        return _interval_by_moments(draw)
    tables = draw.totals("coincidence")
    used = tables.sum(axis=2)
    n = used.sum(axis=1)
    if level == "ordinal":
        observed, expected = _ordinal(tables, used)
    else:
        distance = distances(draw.sample.grid, level)
        observed = (tables * distance).sum(axis=(1, 2))
        expected = ((used @ distance) * used).sum(axis=1)
    undefined = (used > 1e-9).sum(axis=1) <= 1
    return np.where(undefined, np.nan, 1 - (n - 1) * observed / np.where(undefined, 1.0, expected))


def distances(grid: Floats, level: Level) -> Floats:
    """Return squared differences between the values of the grid, at a level blind to their frequencies."""
    difference = grid[:, None] - grid[None, :]
    if level == "ratio":
        total = grid[:, None] + grid[None, :]
        return (difference / np.where(total == 0, 1.0, total)) ** 2
    return (difference != 0).astype(np.float64) if level == "nominal" else difference**2


def _ordinal(tables: Floats, used: Floats) -> tuple[Floats, Floats]:
    """Observed and expected disagreement with mid-ranks of this resample as the values."""
    ranks = np.cumsum(used, axis=1) - used / 2
    ranks -= used.sum(axis=1, keepdims=True) / 2  # centred on the mean rank
    squares = (used * ranks**2).sum(axis=1)
    products = ((tables @ ranks[:, :, None])[:, :, 0] * ranks).sum(axis=1)
    total = (used * ranks).sum(axis=1)
    return 2 * (squares - products), 2 * (used.sum(axis=1) * squares - total**2)


def _interval_by_moments(draw: Draw) -> Floats:
    """Interval alpha from sums of squares, for more distinct values than a table holds."""
    n, total, squares, within = draw.totals("spread").T
    safe = np.where(n > 0, n, 1.0)
    spread = squares - total**2 / safe
    undefined = spread <= 1e-12 * np.maximum(squares, 1e-300)
    expected = 2 * n * np.where(undefined, 1.0, spread)
    return np.where(undefined, np.nan, 1 - (n - 1) * within / expected)


def too_many_values(sample: Sample) -> Verdict | None:
    """Reject more distinct values than a table of coincidences holds; interval alpha does not need one."""
    if sample.ratings.level != "interval" and len(sample.grid) > 20 * MAX_VALUES:
        return Verdict(
            "rejected", f"{len(sample.grid)} distinct values: use the interval level, or round them"
        )
    return None


def library_alpha(sample: Sample) -> float | None:
    """Return alpha by the library krippendorff; None where its table of items x values x values is large."""
    if len(sample.counts) * len(sample.grid) ** 2 > LIBRARY_CELLS:
        return None
    level = sample.ratings.level
    return float(
        krippendorff.alpha(
            value_counts=sample.counts,
            value_domain=sample.grid,
            level_of_measurement="nominal" if level == "binary" else level,
        )
    )


ALPHA = Statistic(
    key="krippendorff_alpha",
    title="Krippendorff's alpha",
    compute=krippendorff_alpha,
    raters="panel",
    exchangeable=True,
    checks=(no_variation, too_many_values, constant_flag, prevalence, few_of_either, too_few_of_either),
    source="Krippendorff (2011)",
    library=library_alpha,
    in_reports=InReports("Krippendorff’s alpha", "α", "α"),
)


# Agreement of several people, and of a judge with them, from one table of all pairs of ratings.
#
# Every pair of ratings of one item by two different people counts once, half each way round, so that the
# order of raters does not matter; for a judge, every rating by a person counts once against the judge's.
# A mean over pairs of raters would read many small tables instead, and small tables bias kappa downwards.
#
# Kappa is 1 - observed / expected disagreement. Observed: over the pairs of ratings of one item. Expected:
# over pairs of ratings of any items by two *different* raters, which is Conger's (1980) chance and Cohen's
# for two raters. A rater's agreement with itself is never part of it, on neither side: otherwise people who
# differ in severity would look worse with each other than with a judge who is one of them. MCC and F1 are
# those of the table; Scott's pi takes chance from the table's pooled margins.

WEIGHTS = {
    "cohen_kappa": "unweighted",
    "cohen_kappa_linear": "linear",
    "cohen_kappa_quadratic": "quadratic",
}


@dataclass(frozen=True)
class Tables:
    """Pairs of ratings of one item, and those expected by chance (rows x k x k); the positive class."""

    observed: Floats
    expected: Floats
    positive: int


def kappa(tables: Tables, weights: Floats) -> Floats:
    """Return 1 - observed / expected disagreement with k x k disagreement weights; NaN without variation."""
    observed = ratio((tables.observed * weights).sum(axis=(1, 2)), tables.observed.sum(axis=(1, 2)))
    expected = ratio((tables.expected * weights).sum(axis=(1, 2)), tables.expected.sum(axis=(1, 2)))
    value = 1 - ratio(observed, expected)
    return np.where(np.abs(value) < 1e-14, 0.0, value)


def _kappa(key: str) -> Callable[[Tables], Floats]:
    return lambda t: kappa(t, disagreement_weights(t.observed.shape[1], WEIGHTS[key]))  # type: ignore[arg-type]


def percent(tables: Tables) -> Floats:
    """Return the share of pairs that are equal."""
    return ratio(np.trace(tables.observed, axis1=1, axis2=2), tables.observed.sum(axis=(1, 2)))


def f1(tables: Tables) -> Floats:
    """Return 2 TP / (2 TP + FP + FN) of the positive class."""
    at = tables.positive
    marked = tables.observed[:, at, :].sum(axis=1) + tables.observed[:, :, at].sum(axis=1)
    return ratio(2 * tables.observed[:, at, at], marked)


POOLED: dict[str, Callable[[Tables], Floats]] = {
    "percent_agreement": percent,
    **{key: _kappa(key) for key in WEIGHTS},
    "scott_pi": lambda tables: pi_of(tables.observed),
    "mcc": lambda tables: mcc_of(tables.observed),
    "f1": f1,
}


class People:
    """The pairs of people: their table, and the chance of different people, per row of weights."""

    def __init__(self, ratings: Ratings, columns: Sequence[int], resampling: Resampling) -> None:
        """Take the items rated by at least two of the columns; columns without such an item are left out."""
        all_items = Sample(ratings, columns, resampling)
        rated = all_items.present[all_items.used].any(axis=0)
        self.sample = Sample(ratings, [c for c, any_ in zip(columns, rated, strict=True) if any_], resampling)
        sample, self.k = self.sample, len(self.sample.grid)
        self.positive = int(np.searchsorted(sample.grid, ratings.positive or 0.0)) % max(self.k, 1)
        self.table = _directed(sample) if len(sample.columns) == 2 else pairs_once(sample)
        items, raters = np.nonzero(sample.present[sample.used])
        values = np.searchsorted(sample.grid, sample.values[items, raters])
        others = (sample.per_item[sample.used][items] - 1).astype(np.float64)
        others *= 1.0 if sample.weights is None else sample.weights[items]
        self.margins = sparse.csr_array(
            (others, (sample.units[items], raters * self.k + values)),
            shape=(resampling.n_units, len(sample.columns) * self.k),
        )

    def tables(self, weights: Floats) -> Tables:
        """Return the tables of rows of weights (rows x units)."""
        own = (weights @ self.margins).reshape(len(weights), -1, self.k)
        total = own.sum(axis=1)
        same = np.matmul(own.transpose(0, 2, 1), own)
        different = total[:, :, None] * total[:, None, :] - same
        if self.sample.weights is not None:  # sums of fractions: what should be 0 is rounding noise
            noise = 1e-12 * total.sum(axis=1) ** 2
            different = np.where(different > noise[:, None, None], different, 0.0)
        return Tables(self.table.totals(weights), different, self.positive)

    @property
    def cells(self) -> int:
        """Cells held per row of weights."""
        return len(self.sample.columns) * self.k + 3 * self.k**2


class Beside:
    """A judge's pairs with people: rows are the people's values, columns the judge's."""

    def __init__(self, people: People, judge: Floats, resampling: Resampling) -> None:
        """Take the judge's ratings (one per item) of the items behind the people's pairs."""
        sample, k = people.sample, people.k
        items, raters = np.nonzero(sample.present[sample.used])
        x = np.searchsorted(sample.grid, sample.values[items, raters])
        y = np.searchsorted(sample.grid, judge[sample.used][items])
        weights = None if sample.weights is None else sample.weights[items]
        self.table = tabulated(sample.units[items], resampling.n_units, x * k + y, (k, k), weights)
        self.positive, self.k = people.positive, k

    def tables(self, weights: Floats) -> Tables:
        """Return the tables of rows of weights; chance is that of the table's two margins."""
        table = self.table.totals(weights)
        return Tables(table, table.sum(axis=2)[:, :, None] * table.sum(axis=1)[:, None, :], self.positive)

    @property
    def cells(self) -> int:
        """Cells held per row of weights."""
        return 2 * self.k**2


def _directed(sample: Sample) -> Additive:
    """Count (x, y) of two raters: their own joint table."""
    k = len(sample.grid)
    cells: Ints = np.searchsorted(sample.grid, sample.x) * k + np.searchsorted(sample.grid, sample.y)
    return tabulated(sample.units, sample.resampling.n_units, cells, (k, k), sample.weights)


def evaluated(side: People | Beside, keys: Sequence[str], weights: Iterable[Floats]) -> dict[str, Floats]:
    """Return each statistic's value per row of the chunks of weights, as many at a time as fit in memory."""
    rows = max(1, MOST_CELLS // max(1, side.cells))
    parts: dict[str, list[Floats]] = {key: [] for key in keys}
    for chunk in weights:
        for start in range(0, len(chunk), rows):
            tables = side.tables(chunk[start : start + rows])
            for key in keys:
                parts[key].append(POOLED[key](tables))
    return {key: np.concatenate(values) if values else np.empty(0) for key, values in parts.items()}


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
    """Share of each value of the scale: the mean over rated items of its share in an item's ratings."""
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
    """A scale of one value leaves no room for disagreement."""
    if len(sample.grid) < 2:
        return Verdict("undefined", "no variation: the scale has a single value; declare the others")
    return None


def usual_items(sample: Sample) -> npt.NDArray[np.bool_]:
    """Mark the items with the most common number of ratings."""
    return np.asarray(sample.per_item[sample.used] == usual_count(sample))


def unequal_counts(sample: Sample) -> Verdict | None:
    """Flag items that Fleiss' kappa must leave out, reject where nothing varies in the rest."""
    has_usual_count = usual_items(sample)
    if np.count_nonzero(sample.counts[has_usual_count].any(axis=0)) <= 1:
        return Verdict("undefined", "no variation among the items with the same number of ratings")
    return None if has_usual_count.all() else Verdict(flags=("dropped_items",))


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
