"""One label per item from several raters: majority, mean, medians, trimmed mean, severity-adjusted mean.

Every function says how many ratings each item had and how sure the label is; an item without a label is NaN
and counted, never guessed. More are in ``dawid_skene``, ``mace``, ``weighting`` and ``adjudication``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components
from scipy.stats import trim_mean

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.types import Floats, Ints

Ties = Literal["none", "lowest", "highest", "first"]


@dataclass(frozen=True)
class Estimation:
    """How an iterative estimate ended.

    ``log_likelihood`` is the logarithm of the answers' probability under the estimate, or a lower bound on
    it where the method maximises one.
    """

    rounds: int
    log_likelihood: float
    converged: bool


@dataclass(frozen=True)
class Chosen:
    """Labels in the order of ``items``; ``confidence`` runs from 0 to 1 (see the function that made it).

    ``n_ratings`` counts the ratings used per item, ``tied`` marks items whose leading values were tied
    (whatever the policy then did). ``reasons`` says per row why it has no label, where that is neither a tie
    of ratings nor that there are none. ``sources`` says per item where its label came from, where a method
    has several sources. ``raters`` holds what was estimated about each rater, by name; ``remarks`` are
    clauses about the whole. ``estimation`` says how an iterative method ended.
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


def majority(ratings: Ratings, *, columns: Sequence[int] | None = None, ties: Ties = "none") -> Chosen:
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
    return Chosen(values, confidence, n, tied, ratings.items, f"majority, ties {ties}")


def _leader(block: Floats, grid: Floats, leads: npt.NDArray[np.bool_], ties: Ties) -> Ints:
    if ties == "highest":
        return np.asarray(len(grid) - 1 - leads[:, ::-1].argmax(axis=1))
    if ties == "first":
        given = np.searchsorted(grid, np.where(np.isnan(block), grid[0], block))
        is_lead = np.take_along_axis(leads, given, axis=1) & ~np.isnan(block)
        return np.asarray(given[np.arange(len(block)), is_lead.argmax(axis=1)])
    return np.asarray(leads.argmax(axis=1))


def mean(ratings: Ratings, *, columns: Sequence[int] | None = None) -> Chosen:
    """Mean per item; confidence is 1 less the item's standard deviation over the largest possible one."""
    block = _numeric(ratings, columns)
    return _central(ratings, block, _mean(block), "mean")


def median(ratings: Ratings, *, columns: Sequence[int] | None = None) -> Chosen:
    """Median per item (the middle of two, where their number is even); confidence as for the mean."""
    block = _numeric(ratings, columns)
    values = np.full(len(block), np.nan)
    rated = (~np.isnan(block)).any(axis=1)
    values[rated] = np.nanmedian(block[rated], axis=1)
    return _central(ratings, block, values, "median")


def median_low(ratings: Ratings, *, columns: Sequence[int] | None = None) -> Chosen:
    """Median per item, the lower of two in the middle: always a value that somebody gave.

    Confidence as for the mean.
    """
    block = np.sort(_numeric(ratings, columns), axis=1)  # NaN last
    n = (~np.isnan(block)).sum(axis=1)
    values = np.full(len(block), np.nan)
    rated = n > 0
    values[rated] = block[rated, (n[rated] - 1) // 2]
    return _central(ratings, block, values, "lower median")


def trimmed_mean(ratings: Ratings, *, columns: Sequence[int] | None = None, share: float = 0.2) -> Chosen:
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
        values[rows] = trim_mean(block[rows, :size], share, axis=1)
    chosen = _central(ratings, block, values, f"trimmed mean, {share:g} at each end")
    cut = (share * n).astype(np.int64) > 0
    if share > 0 and n.any() and not cut.any():
        remark = f"no item has the {int(np.ceil(1 / share))} ratings of which a share of {share:g} is one"
        return replace(chosen, remarks=(f"nothing was cut: {remark}",))
    return chosen


def severity_adjusted(ratings: Ratings, *, columns: Sequence[int] | None = None) -> Chosen:
    """Mean per item after each rater's severity is taken off.

    Least squares of value = item + rater with the raters' severities summing to 0 (the two-way additive
    model, Scheffe 1959, ch. 4), so that an item rated by severe raters is not scored down. It takes each
    rater to be off by the same amount on all items. Values are not clipped to the scale. Confidence is that
    of the mean, of the adjusted ratings. What is told of each rater is the severity, as it is added to the
    ratings (below 0: stricter than the panel), and the number of ratings.

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
    chosen = _central(ratings, adjusted, _mean(adjusted), "severity-adjusted mean")
    outside = (~np.isnan(block)).any(axis=1) & (chosen.n_ratings == 0)
    alone = "its raters share no item with the others: their severity is unknown"
    told = {
        ratings.raters[places[j]]: {"severity": float(severity[j]), "n": int((~np.isnan(block[:, j])).sum())}
        for j in np.flatnonzero(main)
    }
    return replace(chosen, reasons={int(row): alone for row in np.flatnonzero(outside)}, raters=told)


def comparable(block: Floats) -> npt.NDArray[np.bool_]:
    """Return which raters are in the largest group (by ratings) whose items connect them to each other.

    One rater alone is a group; of two equally large groups it is the one with the earlier rater.
    """
    given = (~np.isnan(block)).astype(np.float64)
    if not given.shape[1]:
        return np.zeros(0, dtype=np.bool_)
    _, groups = connected_components(given.T @ given, directed=False)
    sizes = np.bincount(groups, weights=given.sum(axis=0))
    return np.asarray(groups == sizes.argmax())


def severities(block: Floats) -> Floats:
    """Return each rater's deviation from the panel, by least squares of item + rater; they sum to 0."""
    given = (~np.isnan(block)).astype(np.float64)
    n = np.maximum(given.sum(axis=1), 1)
    filled = np.where(given > 0, block, 0.0)
    away = np.where(given > 0, filled - (filled.sum(axis=1) / n)[:, None], 0.0)
    matrix = np.diag(given.sum(axis=0)) - given.T @ (given / n[:, None])
    effects = np.linalg.pinv(matrix, hermitian=True) @ away.sum(axis=0)
    return np.asarray(effects - effects.mean())


def from_posterior(
    ratings: Ratings, posterior: Floats, grid: Floats, n: Ints, *, ties: Ties, method: str
) -> Chosen:
    """Return the most probable value per item; confidence is its probability.

    ``posterior`` is items x values of ``grid``, NaN for items without ratings. Values whose probabilities are
    within 1e-9 of the highest are tied; ``ties`` says what becomes of them, as for ``majority``.
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
    return Chosen(values, best, n, tied, ratings.items, method, reasons=reasons)


def _block(ratings: Ratings, columns: Sequence[int] | None) -> Floats:
    return ratings.values if columns is None else ratings.values[:, list(columns)]


def _numeric(ratings: Ratings, columns: Sequence[int] | None) -> Floats:
    if ratings.level == "nominal" or (ratings.names is not None and ratings.level == "binary"):
        raise ValueError("categories have no mean; use the majority")
    return _block(ratings, columns)


def _mean(block: Floats) -> Floats:
    n = (~np.isnan(block)).sum(axis=1)
    return np.where(n > 0, np.nansum(block, axis=1) / np.maximum(n, 1), np.nan)


def _central(ratings: Ratings, block: Floats, values: Floats, method: str) -> Chosen:
    n = (~np.isnan(block)).sum(axis=1)
    centre = _mean(block)
    spread = np.sqrt(_mean((block - centre[:, None]) ** 2))
    low, high = value_range(ratings, block)
    largest = (high - low) / 2
    confidence = np.clip(1 - spread / largest, 0, 1) if largest > 0 else np.where(n > 0, 1.0, np.nan)
    return Chosen(values, confidence, n, np.zeros(len(n), dtype=np.bool_), ratings.items, method)


def value_range(ratings: Ratings, block: Floats) -> tuple[float, float]:
    """Return the ends of the scale, or the least and greatest value given where it has none."""
    if ratings.scale is not None:
        return ratings.scale[0], ratings.scale[-1]
    given = block[~np.isnan(block)]
    return (float(given.min()), float(given.max())) if given.size else (0.0, 0.0)
