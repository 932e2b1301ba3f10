"""Maps between scales, such as people's 0-4 and a judge's 1-5: explicit, and recorded with the result.

A map is data: the pairs of values it takes to each other. Linear rescaling uses only the ends of the two
scales; rank rescaling (equipercentile linking) and the ordinal map also use how often values occur or go
together, so they must come from other items than they are then judged on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.types import Floats


@dataclass(frozen=True)
class Rescaling:
    """A map given by points; between them linear, beyond them flat. ``method`` says how it was made."""

    sources: tuple[float, ...]
    targets: tuple[float, ...]
    method: str

    def __post_init__(self) -> None:
        """Refuse a map that is not one."""
        if len(self.sources) != len(self.targets) or not self.sources:
            raise ValueError("a map needs as many targets as sources, and at least one")
        if any(b <= a for a, b in zip(self.sources, self.sources[1:], strict=False)):
            raise ValueError("the sources of a map must rise")

    def __call__(self, values: npt.ArrayLike) -> Floats:
        """Return the mapped values; missing (NaN) stays missing."""
        x = np.asarray(values, np.float64)
        return np.where(np.isnan(x), np.nan, np.interp(x, self.sources, self.targets))


def linear(source: tuple[float, float], target: tuple[float, float]) -> Rescaling:
    """Take the ends of one scale to the ends of the other."""
    if source[0] >= source[1]:
        raise ValueError("the source scale needs a lowest value below its highest")
    text = f"linear, {source[0]:g}-{source[1]:g} to {target[0]:g}-{target[1]:g}"
    return Rescaling(source, target, text)


def by_rank(source: npt.ArrayLike, target: npt.ArrayLike) -> Rescaling:
    """Take each source value to the target value of the same mid-percentile (equipercentile linking)."""
    x, y = _present(source), _present(target)
    if not len(x) or not len(y):
        raise ValueError("rank rescaling needs values on both scales")
    values, counts = np.unique(x, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(x)
    reached, reached_counts = np.unique(y, return_counts=True)
    share = (np.cumsum(reached_counts) - reached_counts / 2) / len(y)
    targets = np.interp(middle, share, reached)
    return Rescaling(
        tuple(values.tolist()), tuple(targets.tolist()), f"rank, from {len(x)} and {len(y)} values"
    )


def ordinal(source: npt.ArrayLike, target: npt.ArrayLike, scale: Sequence[float] | None = None) -> Rescaling:
    """Take each source value to the rising fit of the target on it; to the nearest of ``scale`` if given."""
    from sklearn.isotonic import IsotonicRegression

    x, y = np.asarray(source, np.float64), np.asarray(target, np.float64)
    both = ~np.isnan(x) & ~np.isnan(y)
    if not both.any():
        raise ValueError("the ordinal map needs items with values on both scales")
    values = np.unique(x[both])
    fitted = np.asarray(IsotonicRegression().fit(x[both], y[both]).predict(values), np.float64)
    if scale is not None:
        steps = np.array(sorted(scale), np.float64)
        fitted = steps[np.abs(fitted[:, None] - steps).argmin(axis=1)]
    text = f"ordinal, from {int(both.sum())} items" + (", rounded to the scale" if scale is not None else "")
    return Rescaling(tuple(values.tolist()), tuple(fitted.tolist()), text)


def constant(target: npt.ArrayLike) -> Rescaling:
    """Take every source value to the targets' mean: what a map has to beat."""
    y = _present(target)
    if not len(y):
        raise ValueError("a constant map needs a value")
    return Rescaling((0.0,), (float(y.mean()),), f"the mean of {len(y)} values")


def _present(values: npt.ArrayLike) -> Floats:
    x = np.asarray(values, np.float64).ravel()
    return x[~np.isnan(x)]
