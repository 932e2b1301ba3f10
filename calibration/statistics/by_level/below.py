"""Correlation of items and of continuations: points, and intervals that draw dialogues and systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

import numpy as np

from calibration.statistics.by_level.paired import Pair
from calibration.statistics.by_level.scored import Scored, Units
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import estimates, result_of
from calibration.statistics.core.resampling import Plan, Resampling, Scheme, resampling_of
from calibration.statistics.core.result import Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.permutation import Correlation
from calibration.statistics.table import STATISTICS

LEAST_CROSSED = 10
"""Clusters, and systems, from which on both are drawn; with fewer of either, clusters alone."""


@dataclass
class Draws:
    """The resamples of units and items, drawn once for all rows of a table."""

    units: Units
    plan: Plan
    _kept: dict[tuple[Scheme, bytes], Resampling] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def of(self, scheme: Scheme, units: Ints) -> Resampling:
        """Return the resamples of items in these units."""
        key = scheme, units.tobytes()
        with self._lock:
            if key not in self._kept:
                ratings = self.ratings(np.empty((len(units), 0)), units, ())
                self._kept[key] = resampling_of(ratings, self.plan_of(scheme))
                for _ in self._kept[key].chunks():  # drawn and kept before rows read them side by side
                    pass
            return self._kept[key]

    def plan_of(self, scheme: Scheme) -> Plan:
        """Return the plan with this scheme; BCa needs one kind of unit, so that crossed is percentile."""
        interval = "percentile" if scheme == "crossed" else self.plan.interval
        return replace(self.plan, scheme=scheme, interval=interval)

    def ratings(self, values: Floats, units: Ints, raters: tuple[str, ...]) -> Ratings:
        """Return values (items x raters) of items in these units, as ratings."""
        made = Ratings.from_matrix(
            values, level="interval", raters=raters, kinds=("metric",) * len(raters)
        )  # of no shared scale: the two sides meet by correlation alone
        return replace(made, clusters=self.units.clusters[units], systems=self.units.systems[units])


def correlations(
    scored: Scored,
    pair: Pair,
    names: tuple[str, str],
    by_item: bool,
    wanted: Sequence[Correlation],
    draws: Draws,
) -> list[Result]:
    """Return the correlations over items that both rated, or over the units in which both have a score."""
    if by_item:
        x, y, units = pair.x.items, pair.y.items, pair.x.frame.units
        n_missing = pair.left_out.turns if pair.x.frame.kind == "turn" else pair.left_out.units
    else:
        x, y, units = pair.x.units, pair.y.units, np.arange(len(scored.units))
        n_missing = pair.left_out.units
    both = ~np.isnan(x) & ~np.isnan(y)
    scheme = scheme_of(scored.units, units[both])
    resampling = draws.of(scheme, units)
    ratings = draws.ratings(np.column_stack([x, y]), units, names)
    sample = Sample(ratings, (0, 1), resampling)
    found = estimates(sample, [STATISTICS[key] for key in wanted], resampling)
    return [replace(result_of(one, sample, resampling.plan), n_missing=n_missing) for one in found]


def scheme_of(units: Units, used: Ints) -> Scheme:
    """Return what is drawn: clusters and systems where there are enough of both, else clusters."""
    least = min(len(np.unique(codes[used])) for codes in (units.clusters, units.systems))
    return "crossed" if least >= LEAST_CROSSED else "clusters"
