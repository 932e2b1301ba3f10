"""A rater's table with people, and what each way of answering its unanswered items would add to it.

People's answers are taken as they are. An unanswered item whose people said `h` adds one to the cell (h, k)
for each of them, where the rater would have answered `k`; so the people's margin and the number of pairs are
the same in every way to answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibration.statistics.core.types import Floats, Ints


@dataclass(frozen=True)
class Fills:
    """The k x k table of answered items (rows: people's values, columns: the rater's), and what may be added.

    `people` (g x k) are the distinct counts of people's answers to an unanswered item, `times` (g) how many
    items have each. `positive` is the position of the positive class.
    """

    table: Ints
    people: Ints
    times: Ints
    positive: int = 1

    @property
    def k(self) -> int:
        """Number of values of the scale."""
        return len(self.table)

    @property
    def pairs(self) -> int:
        """Number of pairs with people's answers once every item is answered."""
        return int(self.table.sum()) + int(self.times @ self.people.sum(axis=1))

    @property
    def answered(self) -> Fills:
        """The same table without the unanswered items."""
        return replace(self, people=self.people[:0], times=self.times[:0])

    @cached_property
    def margin(self) -> list[int]:
        """The people's margin once every item is answered."""
        return [int(n) for n in self.table.sum(axis=1) + self.times @ self.people]


def fills_of(people: Floats, rater: Floats, scale: Sequence[float], positive: float | None) -> Fills:
    """Return the fills of items x people values (NaN where missing) and a rater's values (NaN: unanswered).

    Every value must be on the scale; an item that nobody among the people answered adds nothing.
    """
    grid = np.array(scale)
    counts = np.stack([(people == value).sum(axis=1) for value in grid], axis=1).astype(np.int64)
    answered = ~np.isnan(rater)
    table = np.zeros((len(grid), len(grid)), dtype=np.int64)
    np.add.at(table.T, np.searchsorted(grid, rater[answered]), counts[answered])
    open_ = counts[~answered]
    distinct, times = np.unique(open_[open_.any(axis=1)], axis=0, return_counts=True)
    at = next((n for n, value in enumerate(scale) if value == positive), len(grid) - 1)
    return Fills(table, distinct.reshape(-1, len(grid)), times.astype(np.int64), at)
