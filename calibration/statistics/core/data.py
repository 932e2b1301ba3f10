"""The one input type of every statistic: ratings of items by raters, as arrays.

Numbers stay numbers; category names become their position in the declared scale. Missing is NaN, and only
missing is: a category called "nan" is a category.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.types import OFF_SCALE_KINDS, SCALES, Floats, Ints, Level


@dataclass(frozen=True)
class Ratings:
    """Ratings of one question: ``values`` is items x raters, NaN where missing.

    ``scale`` holds the values that may occur, in order (None: any number). ``names`` are the category names
    where the scale is not of numbers (``values`` then holds positions). ``on_scale`` says per rater whether
    the answers are on that scale; metrics and means are not, and meet the others by correlation only.
    ``firsts`` holds, by rater, the first of repeated answers (a value per item) where their mean left the
    scale: what agreement reads of that rater (``as_answered``). ``clusters`` and ``systems`` are codes from 0
    per item. ``problem`` is why all statistics are rejected.
    """

    values: Floats
    level: Level
    items: tuple[str, ...]
    raters: tuple[str, ...]
    clusters: Ints
    scale: tuple[float, ...] | None = None
    names: tuple[str, ...] | None = None
    kinds: tuple[str, ...] = ()
    identified: tuple[bool, ...] = ()
    on_scale: tuple[bool, ...] = ()
    systems: Ints | None = None
    continuations: Ints | None = None
    positive: float | None = 1.0
    declared: bool = True
    problem: str = ""
    firsts: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def n_items(self) -> int:
        """Number of items, rated or not."""
        return self.values.shape[0]

    @property
    def n_clusters(self) -> int:
        """Number of clusters among the items."""
        return int(self.clusters.max()) + 1 if self.clusters.size else 0

    def column(self, rater: str) -> int:
        """Return the column of a rater; raises KeyError for a stranger."""
        if rater not in self.raters:
            raise KeyError(f"no rater {rater!r}; there are {', '.join(self.raters)}")
        return self.raters.index(rater)

    def of_kind(self, kind: str) -> tuple[int, ...]:
        """Return the columns of the raters of this kind."""
        return tuple(j for j, k in enumerate(self.kinds) if k == kind)

    def take(self, columns: Sequence[int]) -> Ratings:
        """Return the ratings of these columns, over the same items."""
        keep = list(columns)
        return replace(
            self,
            values=self.values[:, keep],
            raters=tuple(self.raters[j] for j in keep),
            kinds=tuple(self.kinds[j] for j in keep),
            identified=tuple(self.identified[j] for j in keep),
            on_scale=tuple(self.on_scale[j] for j in keep),
        )

    def as_answered(self) -> Ratings:
        """Return the ratings with the first of repeated answers where their mean left the scale.

        An item whose mean was taken out (NaN) stays without an answer.
        """
        averaged = [name in self.firsts for name in self.raters]
        if not any(averaged):
            return self
        values = self.values.copy()
        for column in np.flatnonzero(averaged):
            first = self.firsts[self.raters[column]]
            values[:, column] = np.where(np.isnan(values[:, column]), np.nan, first)
        on_scale = tuple(on or mean for on, mean in zip(self.on_scale, averaged, strict=True))
        return replace(self, values=values, on_scale=on_scale, firsts={})

    def with_values(self, values: Floats) -> Ratings:
        """Return the same raters and items with other values (items x raters)."""
        return replace(self, values=values)

    def with_column(
        self, name: str, values: Floats, kind: str = "composite", on_scale: bool = False
    ) -> Ratings:
        """Return the ratings with one more rater, derived from others or measured elsewhere."""
        return replace(
            self,
            values=np.column_stack([self.values, values]),
            raters=(*self.raters, name),
            kinds=(*self.kinds, kind),
            identified=(*self.identified, True),
            on_scale=(*self.on_scale, on_scale),
        )

    def label(self, value: float) -> str:
        """Return how a value of the scale is written."""
        return self.names[int(value)] if self.names else f"{value:g}"

    @staticmethod
    def from_matrix(
        values: npt.ArrayLike,
        *,
        level: Level,
        scale: Sequence[float] | None = None,
        clusters: Sequence[object] | npt.NDArray[np.generic] | None = None,
        raters: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        identified: Sequence[bool] | None = None,
        systems: Sequence[object] | npt.NDArray[np.generic] | None = None,
        positive: float | None = 1.0,
    ) -> Ratings:
        """Build from an items x raters matrix. A value outside the scale makes every statistic rejected."""
        matrix = np.asarray(values, dtype=np.float64)
        if matrix.ndim != 2:
            raise ValueError(f"ratings are items x raters, not an array of shape {matrix.shape}")
        n, k = matrix.shape
        names = tuple(raters) if raters is not None else tuple(f"r{j + 1}" for j in range(k))
        rater_kinds = tuple(kinds) if kinds is not None else ("",) * k
        on_scale = tuple(kind not in OFF_SCALE_KINDS for kind in rater_kinds)
        rated = matrix[:, list(on_scale)]
        observed = tuple(float(v) for v in np.unique(rated[np.isfinite(rated)]))
        given = tuple(sorted({float(v) for v in scale})) if scale is not None else None
        if given is None and level == "binary" and set(observed) <= {0.0, 1.0}:
            observed = (0.0, 1.0)
        return Ratings(
            values=matrix,
            level=level,
            items=tuple(str(i) for i in range(n)),
            raters=names,
            clusters=codes(clusters) if clusters is not None else np.arange(n),
            scale=given or (observed if level not in ("interval", "ratio") else None),
            kinds=rater_kinds,
            identified=tuple(identified) if identified is not None else (True,) * k,
            on_scale=on_scale,
            systems=codes(systems) if systems is not None else None,
            positive=positive,
            declared=given is not None,
            problem=_problem(matrix, observed, given, level),
        )


def _problem(
    matrix: Floats, observed: tuple[float, ...], scale: tuple[float, ...] | None, level: Level
) -> str:
    if level not in SCALES:
        return f"{level!r} is not a measurement level; use one of {', '.join(SCALES)}"
    if np.isinf(matrix).any():
        return "a value is infinite"
    outside = [v for v in observed if scale is not None and v not in scale]
    if outside:
        return (
            f"value {outside[0]:g} is outside the declared scale {', '.join(f'{v:g}' for v in scale or ())}"
        )
    if level == "binary" and len(scale or observed) > 2:
        return f"a binary scale has two values, not {len(scale or observed)}"
    if level == "ratio" and observed and observed[0] < 0:
        return f"a ratio scale has no negative values such as {observed[0]:g}"
    return ""


def codes(labels: Sequence[object] | npt.NDArray[np.generic]) -> Ints:
    """Return codes 0, 1, ... in order of first appearance."""
    seen: dict[object, int] = {}
    listed = labels.tolist() if isinstance(labels, np.ndarray) else labels
    return np.fromiter((seen.setdefault(x, len(seen)) for x in listed), dtype=np.int64, count=len(labels))
