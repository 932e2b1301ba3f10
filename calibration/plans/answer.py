"""What a plan says: typed, kept as JSON by a job, shown by page, command and API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from calibration.plans.effort import Crowd, Effort, Timing, effort
from calibration.plans.query import Goal


@dataclass(frozen=True, slots=True)
class PlanRow:
    """The expected width (None: no interval) or power with so many dialogues, and its range over pilots.

    `high` is None where the pilot sets no upper end.
    """

    n_clusters: int
    expected: float | None
    low: float | None
    high: float | None
    share_undefined: float


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """A plan. `reason` says why there is none, where that is so; then `rows` is empty.

    `target` is the width or power wanted; `value` the figure on the pilot, and `width` its interval's there.
    `needed` dialogues reach the target, `more` of them beside the pilot's `n_pilot`; both are None where none
    of the numbers looked at does. The ranges are over pilots; an end is None where it lies beyond. `crowd` is
    what the people are called, some of whom may be simulated. `ratings_an_item` is how many people rated an
    item of the pilot, `crowds` the same plan with other numbers of them, `timing` how long an item took them
    (None: not known) and `pay` what an hour costs. `computed_at` is when a worker computed it, None where
    it is of the labels of now; `labels_since` whether labels have come since, or no longer count.
    """

    study: str
    corpus: str
    part: str
    goal: Goal
    question: str
    title: str
    item_kind: str
    pooled: bool
    rater: str
    raters: tuple[str, ...]
    crowd: str
    statistic: str
    target: float | None
    level: float
    resamples: int
    seed: int
    epsilon: float
    reason: str = ""
    value: float | None = None
    width: float | None = None
    needed: int | None = None
    needed_low: int | None = None
    needed_high: int | None = None
    more: int | None = None
    reaching: float | None = None
    rough: bool = False
    design_effect: float | None = None
    n_pilot: int = 0
    n_items: int = 0
    rows: tuple[PlanRow, ...] = ()
    method: str = ""
    ratings_an_item: float | None = None
    crowds: tuple[Crowd, ...] = ()
    timing: Timing | None = None
    pay: float | None = None
    computed_at: datetime | None = None
    labels_since: bool = False

    @property
    def efforts(self) -> list[Effort]:
        """What the plan takes: with as many raters an item as the pilot had, then with other numbers."""
        if self.reason or not self.ratings_an_item or not self.n_pilot:
            return []
        told: dict[str, Any] = {"timing": self.timing, "pay": self.pay}
        own = (self.needed, self.needed_low, self.needed_high)
        alike = self.n_items / self.n_pilot
        found = [effort(raters=self.ratings_an_item, needed=own, items_a_dialogue=alike, **told)]
        for crowd in self.crowds:
            if crowd.raters == self.ratings_an_item:
                continue  # the pilot's own
            needed = (crowd.needed, crowd.needed_low, crowd.needed_high)
            items = crowd.n_items / crowd.n_pilot if crowd.n_pilot else alike
            told["reason"] = crowd.reason
            found.append(effort(raters=crowd.raters, needed=needed, items_a_dialogue=items, **told))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        plain = asdict(self)
        listed = {"raters": list(self.raters), "rows": plain["rows"], "crowds": list(plain["crowds"])}
        listed["computed_at"] = self.computed_at.isoformat() if self.computed_at else None
        return plain | listed | {"efforts": [asdict(one) for one in self.efforts]}


def answer_of(kept: Mapping[str, Any]) -> PlanAnswer:
    """Return the answer that a job kept."""
    told = {key: value for key, value in kept.items() if key != "efforts"}
    rows = tuple(PlanRow(**row) for row in kept["rows"])
    crowds = tuple(Crowd(**crowd) for crowd in kept.get("crowds", ()))
    timing = kept.get("timing") and Timing(**kept["timing"])
    told |= {"rows": rows, "raters": tuple(kept["raters"]), "crowds": crowds, "timing": timing}
    return PlanAnswer(**told)
