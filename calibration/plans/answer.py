"""What a plan says: typed, kept as JSON by a job, shown by page, command and API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

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
    what the people are called, some of whom may be simulated.
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

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        plain = asdict(self)
        return plain | {"raters": list(self.raters), "rows": [asdict(row) for row in self.rows]}


def answer_of(kept: Mapping[str, Any]) -> PlanAnswer:
    """Return the answer that a job kept."""
    rows = tuple(PlanRow(**row) for row in kept["rows"])
    return PlanAnswer(**(dict(kept) | {"rows": rows, "raters": tuple(kept["raters"])}))
