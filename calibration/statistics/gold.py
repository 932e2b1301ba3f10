"""One label per item from several raters: majority, mean, median, trimmed mean, severity-adjusted mean.

Every function says how many ratings each item had and how sure the label is; an item without a label is NaN
and counted, never guessed. Dawid-Skene is in ``dawid_skene``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.types import Floats, Ints

Ties = Literal["none", "lowest", "highest", "first"]


@dataclass(frozen=True)
class Chosen:
    """Labels in the order of ``items``; ``confidence`` runs from 0 to 1 (see the function that made it).

    ``n_ratings`` counts the ratings used per item, ``tied`` marks items whose leading values were tied
    (whatever the policy then did).
    """

    values: Floats
    confidence: Floats
    n_ratings: Ints
    tied: npt.NDArray[np.bool_]
    items: tuple[str, ...]
    method: str

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


def trimmed_mean(ratings: Ratings, *, columns: Sequence[int] | None = None, share: float = 0.2) -> Chosen:
    """Mean per item without its floor(share * n) lowest and as many highest ratings (0 <= share < 0.5)."""
    if not 0 <= share < 0.5:
        raise ValueError(f"the trimmed share lies in [0, 0.5), not {share}")
    block = np.sort(_numeric(ratings, columns), axis=1)  # NaN last
    n = (~np.isnan(block)).sum(axis=1)
    cut = np.floor(share * n + 1e-9).astype(np.int64)
    place = np.arange(block.shape[1])[None, :]
    kept = np.where((place >= cut[:, None]) & (place < (n - cut)[:, None]), block, np.nan)
    return _central(ratings, block, _mean(kept), f"trimmed mean, {share:g} at each end")


def severity_adjusted(ratings: Ratings, *, columns: Sequence[int] | None = None) -> Chosen:
    """Mean per item after each rater's severity is taken off.

    Least squares of value = item + rater with the raters' severities summing to 0, so that an item rated by
    severe raters is not scored down. Raters who share no item with the rest cannot be compared: their
    ratings enter with a severity relative to their own group.
    """
    block = _numeric(ratings, columns)
    adjusted = block - severities(block)[None, :]
    return _central(ratings, block, _mean(adjusted), "severity-adjusted mean")


def severities(block: Floats) -> Floats:
    """Return each rater's deviation from the panel, by least squares of item + rater; they sum to 0."""
    given = (~np.isnan(block)).astype(np.float64)
    n = np.maximum(given.sum(axis=1), 1)
    filled = np.where(given > 0, block, 0.0)
    away = np.where(given > 0, filled - (filled.sum(axis=1) / n)[:, None], 0.0)
    matrix = np.diag(given.sum(axis=0)) - given.T @ (given / n[:, None])
    effects = np.linalg.pinv(matrix, hermitian=True) @ away.sum(axis=0)
    return np.asarray(effects - effects.mean())


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
    low, high = _range(ratings, block)
    largest = (high - low) / 2
    confidence = np.clip(1 - spread / largest, 0, 1) if largest > 0 else np.where(n > 0, 1.0, np.nan)
    return Chosen(values, confidence, n, np.zeros(len(n), dtype=np.bool_), ratings.items, method)


def _range(ratings: Ratings, block: Floats) -> tuple[float, float]:
    if ratings.scale is not None:
        return ratings.scale[0], ratings.scale[-1]
    given = block[~np.isnan(block)]
    return (float(given.min()), float(given.max())) if given.size else (0.0, 0.0)
