"""The one result type of every statistic.

A number never travels alone: it carries its interval, what it was computed from and how. A statistic that
cannot be computed is a result as well, with a status and a reason, never 0, NaN or 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypedDict

Status = Literal["ok", "undefined", "insufficient", "rejected"]
STATUSES: tuple[Status, ...] = ("ok", "undefined", "insufficient", "rejected")


class Counts(TypedDict, total=False):
    """The counts of a result, by name."""

    n_items: int
    n_clusters: int
    n_raters: int
    n_missing: int


FLAGS = {
    "constant_rater": "a rater gave one value throughout, so the figure says nothing about that rater",
    "few_clusters": "fewer than 50 clusters (or systems, where those are resampled): the interval runs short",
    "moderate_clusters": "50 to 149 clusters: the interval runs a little short",
    "one_item": "computed from a single item",
    "undefined_resamples": "undefined in more than 5% of the resamples: no interval",
    "degenerate_resamples": "the same in every resample: no interval",
    "prevalence": "one category has 90% of the ratings or more, which depresses chance-corrected agreement",
    "treated_as_interval": "reads ordered categories as equally spaced numbers",
    "missing_cells": "some raters left items out; estimated from the cells there are",
    "dropped_items": "items with another number of ratings than most are left out",
    "dropped_raters": "raters for whom the figure is undefined are left out of the mean",
    "few_items": "people who share too few items with the judge and another person are left out of the test",
    "clipped": "the corrected value lay outside 0 to 1 and is shown at the bound",
    "outside_range": "the corrected value lies outside what can be: few labels, or a judge that changed",
    "one_order": "only one order was shown: the pull of the position is not told from the response",
    "by_chance": "no pass: agreement with people beyond chance is not shown",
    "constant_too": "no pass: one answer given to every item scores as well",
    "few_events": "fewer than 30 of the rarer class: the interval may hold the truth less often than it says",
    "too_few_events": "fewer than 10 of the rarer class: no interval of chance-corrected agreement",
    "no_events": "nobody marked it: 0, with an interval from the number of turns alone",
    "single_cluster_stratum": "a stratum has a single cluster, which adds no spread: the interval runs short",
    "clusters_span_strata": "a cluster lies in several strata, whose parts are drawn as if independent",
    "ignores_clusters": "p takes items as independent: too small where they lie together in dialogues",
    "unequal_n": "rests on fewer continuations than other rows",
    "errors_measured_elsewhere": "sensitivity and specificity are those of all rated, not of the cell alone",
}


@dataclass(frozen=True)
class Result:
    """A statistic's value with what it takes to read it.

    ``value`` is None exactly when ``status`` is not ``ok``. ``low`` and ``high`` are None together, also for
    a value that stands without an interval (``reason`` then says why). ``n_missing`` counts the empty cells
    (item by rater) among the raters compared.
    """

    name: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n_items: int = 0
    n_clusters: int = 0
    n_raters: int = 0
    n_missing: int = 0
    method: str = ""
    status: Status = "ok"
    reason: str = ""
    flags: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Refuse a result that contradicts itself, and keep plain numbers."""
        if self.status not in STATUSES:
            raise ValueError(f"{self.name}: unknown status {self.status!r}")
        if (self.value is None) == (self.status == "ok"):
            raise ValueError(f"{self.name}: status {self.status} with value {self.value}")
        if self.status != "ok" and not self.reason:
            raise ValueError(f"{self.name}: status {self.status} needs a reason")
        if (self.low is None) != (self.high is None):
            raise ValueError(f"{self.name}: an interval has two ends")
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            if number is None:
                continue
            if not math.isfinite(number):
                raise ValueError(f"{self.name}: {number} is not a result")
            object.__setattr__(self, name, float(number))  # a NumPy number prints and compares differently

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.status == "ok"

    def with_flags(self, *flags: str) -> Result:
        """Return the same result with these flags added once each."""
        return replace(self, flags=self.flags + tuple(f for f in flags if f not in self.flags))

    def as_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values, in the order of the fields."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return plain | {"flags": list(self.flags)}
