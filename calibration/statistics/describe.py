"""Use of the scale by a rater: average, difference from the rest, spread, use of the ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.engine import Counts, Result, finished
from calibration.statistics.core.ratings import Floats, Ratings
from calibration.statistics.core.resampling import Resampling
from calibration.statistics.core.samples import additive

LIMITS = 1.96  # standard deviations on either side: 95% of normal differences
MOST_SHARES = 101  # values of a scale up to which the use of each is reported


def as_numbers(ratings: Ratings) -> Floats | None:
    """Return items x raters as numbers; for binary answers 1 is the positive class and 0 the other.

    None for categories, which have no average.
    """
    if ratings.level == "binary":
        if ratings.positive is None:
            return None
        return np.where(np.isnan(ratings.values), np.nan, ratings.values == ratings.positive)
    return None if ratings.level == "nominal" or ratings.names is not None else ratings.values


def shares(ratings: Ratings, column: int) -> dict[str, float]:
    """Return how often a rater gave each value of the scale; empty for scales of more than 101 values."""
    answers = ratings.values[:, column]
    answers = answers[~np.isnan(answers)]
    values, counts = np.unique(answers, return_counts=True)
    used = dict(zip(values.tolist(), counts.tolist(), strict=True))
    on_scale = ratings.scale is not None and ratings.on_scale[column]
    grid = ratings.scale if on_scale and ratings.scale is not None else tuple(values.tolist())
    label = ratings.label if on_scale else "{:g}".format
    return {label(v): used.get(v, 0) / max(len(answers), 1) for v in grid} if len(grid) <= MOST_SHARES else {}


@dataclass(frozen=True)
class Shared:
    """Items that a figure reads (`use`), what it sums over them (items used x d), and its method."""

    use: npt.NDArray[np.bool_]
    rows: Floats
    how: str = ""
    undefined: str = "not defined on these ratings"
    flags: tuple[str, ...] = ()
    fewest: int = 1

    def result(
        self, name: str, resampling: Resampling, compute: Callable[[Floats], Floats], raters: int = 2
    ) -> Result:
        """Return compute's value on the totals of the rows, with an interval by resampling its units."""
        units = resampling.units[self.use]
        counts: Counts = {
            "n_items": len(units),
            "n_clusters": len(np.unique(units)),
            "n_raters": raters,
        }
        if len(units) < self.fewest:
            few = "no item" if not len(units) else "a single item"
            reason = f"{few} that others rated, too" if raters > 1 else "no ratings"
            return Result(name, status="insufficient", reason=reason, method=self.how, **counts)
        sums = additive(units, resampling.n_units, self.rows).sums
        point = float(compute(sums.sum(axis=0)[None, :])[0])
        parts = [compute(weights @ sums) for weights in resampling.chunks()]
        replicates = np.concatenate(parts) if parts else np.empty(0)
        return finished(
            name,
            point,
            replicates,
            resampling.plan,
            method=self.how,
            undefined=self.undefined,
            flags=self.flags,
            **counts,
        )


def average(block: Floats, column: int, resampling: Resampling, weights: Floats | None = None) -> Result:
    """Mean of a rater's values (`as_numbers`), over all items that it rated, by their weights if given."""
    y = block[:, column]
    use = ~np.isnan(y)
    rows = np.column_stack([np.ones(use.sum()), y[use]])
    if weights is not None:
        rows *= weights[use][:, None]
    return Shared(use, rows).result("rater_mean", resampling, _mean, raters=1)


def bland_altman(
    x: Floats, y: Floats, resampling: Resampling, *, multiple: float = LIMITS
) -> tuple[Result, Result, Result]:
    """Return bias, lower and upper limit of agreement of x less y (Bland and Altman 1986).

    x and y hold a value per item, NaN where missing. The limits are bias -+ multiple * standard deviation;
    1.96 covers 95% of normal differences (the paper itself used 2). Each has an interval.
    """
    use = ~np.isnan(x) & ~np.isnan(y)
    d = (x - y)[use]
    centre = float(d.mean()) if len(d) else 0.0
    rows = np.column_stack([np.ones(len(d)), d - centre, (d - centre) ** 2])

    def at(name: str, sign: float) -> Result:
        def compute(totals: Floats) -> Floats:
            n, total, squares = totals.T
            with np.errstate(invalid="ignore", divide="ignore"):
                deviation = np.sqrt(np.maximum(squares - total**2 / n, 0) / (n - 1))
                return np.where(n > 1, centre + total / n + sign * multiple * deviation, np.nan)

        how = f"{multiple:g} SD of the differences" if sign else ""
        return Shared(use, rows, how, fewest=2).result(f"bland_altman_{name}", resampling, compute)

    return at("bias", 0), at("lower", -1), at("upper", 1)


def spread(block: Floats, column: int, rest: Sequence[int], resampling: Resampling) -> Result:
    """Standard deviation of a rater over that of the rest's single ratings, on the items they share.

    Below 1 the rater keeps to the middle (central tendency), above 1 to the ends.
    """

    def compute(totals: Floats) -> Floats:
        n, x, squares, mean, mean_squares = totals.T
        with np.errstate(invalid="ignore", divide="ignore"):
            own, theirs = squares / n - (x / n) ** 2, mean_squares / n - (mean / n) ** 2
            flat = theirs <= 1e-12 * np.maximum(mean_squares / n, 1e-300)
            return np.where(flat, np.nan, np.sqrt(np.maximum(own, 0) / np.where(flat, 1.0, theirs)))

    use, y, others = _beside(block - _middle(block), column, rest)
    n = (~np.isnan(others)).sum(axis=1)
    means, squares = np.nansum(others, axis=1) / n, np.nansum(others**2, axis=1) / n
    shared = Shared(
        use,
        np.column_stack([np.ones(len(y)), y, y**2, means, squares]),
        "standard deviation over that of the rest's ratings",
        "the rest gave one value throughout",
        ("constant_rater",) if len(y) > 1 and (y == y[0]).all() else (),
        fewest=2,
    )
    return shared.result("rater_spread", resampling, compute)


def ends(
    ratings: Ratings, block: Floats, column: int, rest: Sequence[int], resampling: Resampling
) -> Result | None:
    """Share of a rater's ratings at either end of the scale, minus that of the rest on the same items.

    None where the scale has fewer than three values, or no ends.
    """
    if ratings.scale is None or len(ratings.scale) < 3:
        return None
    low, high = ratings.scale[0], ratings.scale[-1]
    at_end = np.where(np.isnan(block), np.nan, (block == low) | (block == high))
    use, y, others = _beside(at_end, column, rest)
    theirs = np.nansum(others, axis=1) / (~np.isnan(others)).sum(axis=1)
    how = f"ratings of {ratings.label(low)} or {ratings.label(high)}, less those of the rest"
    rows = np.column_stack([np.ones(len(y)), y - theirs])
    return Shared(use, rows, how).result("rater_ends", resampling, _mean)


def _beside(block: Floats, column: int, rest: Sequence[int]) -> tuple[npt.NDArray[np.bool_], Floats, Floats]:
    """Return the items rated by the rater and at least one of the rest, with its values and theirs."""
    y, others = block[:, column], block[:, list(rest)]
    use = ~np.isnan(y) & (~np.isnan(others)).any(axis=1)
    return use, y[use], others[use]


def _middle(block: Floats) -> float:
    return float(np.nanmean(block)) if (~np.isnan(block)).any() else 0.0


def _mean(totals: Floats) -> Floats:
    n = totals[:, 0]
    return np.where(n > 0, totals[:, 1] / np.where(n > 0, n, 1.0), np.nan)
