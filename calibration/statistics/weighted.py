"""Correlations of values that differ from resample to resample, under rows of weights.

For few values per row: signs of all pairs give ranks (a value's centred mid-rank is half the weight below it
less half the weight above) and concordance alike. Values closer than rounding are tied.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.types import Floats
from calibration.statistics.permutation import Correlation

EQUAL = 1e-12
AT_ONCE = 400_000  # pairs of values held at a time
Signs = npt.NDArray[np.float32]


def correlated(x: Floats, y: Floats, weights: Floats, wanted: tuple[Correlation, ...]) -> Floats:
    """Return correlations (rows x wanted) of x and y, all rows x values; NaN where x or y has one value.

    A value that is NaN on either side, or weighs nothing, does not count.
    """
    step = max(1, AT_ONCE // max(1, x.shape[1] ** 2))
    parts = [
        _Rows.of(x[start : start + step], y[start : start + step], weights[start : start + step])
        for start in range(0, len(x), step)
    ]
    found = [np.column_stack([getattr(part, name) for name in wanted]) for part in parts]
    return np.concatenate(found) if found else np.empty((0, len(wanted)))


@dataclass(frozen=True)
class _Rows:
    """Some rows: values with 0 for those that do not count, and their weights."""

    x: Floats
    y: Floats
    weights: Floats

    @staticmethod
    def of(x: Floats, y: Floats, weights: Floats) -> _Rows:
        there = ~np.isnan(x) & ~np.isnan(y)
        return _Rows(np.where(there, x, 0.0), np.where(there, y, 0.0), np.where(there, weights, 0.0))

    @property
    def pearson(self) -> Floats:
        """Pearson's r of each row."""
        n = self.weights.sum(axis=1, keepdims=True)
        safe = np.where(n > 0, n, 1.0)
        x, y = (side - (self.weights * side).sum(axis=1, keepdims=True) / safe for side in (self.x, self.y))
        return self._ratio(_sum(self.weights, x, y), _sum(self.weights, x, x), _sum(self.weights, y, y))

    @property
    def spearman(self) -> Floats:
        """Pearson's r of the mid-ranks of each row."""
        x, y = (self._times_weights(signs) for signs in (self.x_signs, self.y_signs))
        return self._ratio(_sum(self.weights, x, y), _sum(self.weights, x, x), _sum(self.weights, y, y))

    @property
    def kendall_tau_b(self) -> Floats:
        """Concordant less discordant pairs over the root of those untied in x times those untied in y."""
        sums = [
            (self.weights * self._times_weights(signs)).sum(axis=1)
            for signs in (self.x_signs * self.y_signs, np.abs(self.x_signs), np.abs(self.y_signs))
        ]
        return self._ratio(*sums)

    @cached_property
    def x_signs(self) -> Signs:
        """Signs of the differences of x, rows x values x values."""
        return _signs(self.x)

    @cached_property
    def y_signs(self) -> Signs:
        """Signs of the differences of y."""
        return _signs(self.y)

    @cached_property
    def _constant(self) -> npt.NDArray[np.bool_]:
        return np.asarray(_one_value(self.x, self.weights) | _one_value(self.y, self.weights))

    def _times_weights(self, signs: Signs) -> Floats:
        return np.matmul(signs, self.weights.astype(np.float32)[:, :, None])[:, :, 0].astype(np.float64)

    def _ratio(self, top: Floats, x_spread: Floats, y_spread: Floats) -> Floats:
        undefined = self._constant | (x_spread <= 0) | (y_spread <= 0)
        bottom = np.sqrt(np.where(undefined, 1.0, x_spread)) * np.sqrt(np.where(undefined, 1.0, y_spread))
        return np.where(undefined, np.nan, np.clip(top / bottom, -1, 1))


def _sum(weights: Floats, x: Floats, y: Floats) -> Floats:
    return np.asarray(np.einsum("rv,rv,rv->r", weights, x, y))


def _signs(values: Floats) -> Signs:
    difference = values[:, :, None] - values[:, None, :]
    near = EQUAL * np.abs(values).max(initial=0.0)
    return np.subtract(difference > near, difference < -near, dtype=np.float32)


def _one_value(values: Floats, weights: Floats) -> npt.NDArray[np.bool_]:
    """Whether all values of a row that weigh something are the same, but for rounding."""
    drawn = weights > 0
    low = np.where(drawn, values, np.inf).min(axis=1, initial=np.inf)
    high = np.where(drawn, values, -np.inf).max(axis=1, initial=-np.inf)
    return np.asarray(~(high - low > EQUAL * np.abs(values).max(initial=0.0)))
