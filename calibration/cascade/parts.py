"""What the tables of a Cascade report are made of: its rows, and lines of means beside the best baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from annotation.scenarios.agents import AGENTS
from calibration.cascade import figures
from calibration.cascade.badge import Badge
from calibration.cascade.figures import Families, Weigh
from calibration.cascade.people import People
from calibration.cascade.query import CascadeQuery
from calibration.cascade.reading import Decided
from calibration.cascade.tables import Cell, Line
from calibration.statistics import Result

WAITS = "waits for a judge"
NOT_ASKED = "no key asks this, or nothing was declared"


class Rows(Protocol):
    """A system under a condition, or a baseline, with its decisions."""

    @property
    def name(self) -> str: ...

    @property
    def system(self) -> str: ...

    @property
    def condition(self) -> str: ...

    @property
    def decisions(self) -> list[Decided]: ...

    @property
    def is_baseline(self) -> bool: ...

    @property
    def is_fake(self) -> bool: ...


class Column(NamedTuple):
    """A column of means: its head, which decisions it is over, what each adds, why there may be none."""

    head: str
    chosen: Callable[[Rows], Sequence[Decided]]
    weigh: Weigh
    reason: str = figures.FEW


@dataclass(frozen=True)
class Context:
    """What the tables are made of. ``best`` is the best baseline, which stands in every table.

    ``probed`` is the number of probed points of each scenario.
    """

    query: CascadeQuery
    families: Families
    rows: Sequence[Rows]
    baselines: Sequence[Rows]
    best: Rows
    judges: tuple[str, ...] = ()
    badges: tuple[Badge, ...] = ()
    people: People = field(default_factory=People)
    probed: dict[int, int] = field(default_factory=dict)

    def all(self) -> list[Rows]:
        """Return the systems and then the best baseline."""
        return [*self.rows, self.best]

    def mean(self, name: str, decisions: Sequence[Decided], weigh: Weigh, reason: str = "") -> Result:
        """Return a mean with its interval over families."""
        plan = self.query.plan
        return figures.mean(name, decisions, weigh, self.families, plan, reason or figures.FEW)

    def lines(self, cells: Callable[[Rows], tuple[Cell, ...]]) -> tuple[Line, ...]:
        """Return a line for each row."""
        return tuple(Line(label(row), cells(row), row.is_baseline) for row in self.all())

    def means(self, columns: Sequence[Column], baselines: Sequence[Rows] = ()) -> tuple[Line, ...]:
        """Return a line of means for each system, under it the paired difference from the best baseline.

        Then come the ``baselines``, or the best alone.
        """
        found: list[Line] = []
        for row in (*self.rows, *(baselines or [self.best])):
            cells = tuple(self.mean(one.head, one.chosen(row), one.weigh, one.reason) for one in columns)
            found.append(Line(label(row), cells, row.is_baseline))
            if not row.is_baseline:
                beyond = tuple(
                    self.beyond(one.chosen(row), one.chosen(self.best), one.weigh) for one in columns
                )
                found.append(Line(self.less(row), beyond))
        return tuple(found)

    def beyond(self, one: Sequence[Decided], other: Sequence[Decided], weigh: Weigh) -> Result:
        """Return the paired difference of two means."""
        return figures.difference("difference", one, other, weigh, self.families, self.query.plan)

    def less(self, row: Rows) -> str:
        """Return how the line of a row's differences from the best baseline is called."""
        return f"{label(row)}, minus {self.best.name}"


def label(row: Rows) -> str:
    """Return how a row is called: a baseline says that it is one."""
    if row.is_baseline:
        return f"baseline: {row.name}"
    return f"{row.name} (fake model)" if row.is_fake else row.name


def copies(row: Rows, query: CascadeQuery) -> int:
    """Return how often a row's trials count: those of an agent without chance as often as is asked for."""
    fixed = row.is_baseline and not AGENTS[row.name].varies
    return max(query.k) if fixed else 1
