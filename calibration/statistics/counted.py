"""What a rater said of continuations, as counts and scores: the input of a table of counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from calibration.statistics.core.types import Floats
from calibration.statistics.strata import Texts

ColumnKind = Literal["tag", "alone", "sum", "any", "score"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table.

    A ``tag`` is a behaviour that belongs to the set whose distribution is compared; one that stands ``alone``
    does not; a ``sum`` adds its ``members`` (columns before it); ``any`` counts turns with at
    least one of its members; a ``score`` answers a question about the continuation. ``per_turn``: the most
    that one turn adds.
    """

    key: str
    kind: ColumnKind
    members: tuple[int, ...] = ()
    per_turn: int = 1

    @property
    def addends(self) -> tuple[int, ...]:
        """The columns that a sum adds; none for other columns."""
        return self.members if self.kind == "sum" else ()

    @property
    def is_count(self) -> bool:
        """Whether turns are counted."""
        return self.kind != "score"


@dataclass(frozen=True)
class Counted:
    """Continuations and what one rater said of each.

    ``values``: continuations x columns, NaN where the rater has no value (a failed call, a turn left
    unanswered). ``lowest`` and ``highest``: what the value could have been, the value itself where there is
    one; infinite where a scale is open. ``turns``: how many turns each continuation has. ``dialogues`` says
    which continuations continue the same history; an empty stratum is a stratum, too.
    """

    columns: tuple[Column, ...]
    dialogues: Texts
    clusters: Texts
    strata: Texts
    turns: Floats
    values: Floats
    lowest: Floats
    highest: Floats

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit each other."""
        n, shape = len(self.dialogues), (len(self.dialogues), len(self.columns))
        if any(len(given) != n for given in (self.clusters, self.strata, self.turns)):
            raise ValueError("every continuation needs its dialogue, cluster, stratum and number of turns")
        if any(given.shape != shape for given in (self.values, self.lowest, self.highest)):
            raise ValueError(f"values and their bounds are {shape[0]} continuations x {shape[1]} columns")

    def __len__(self) -> int:
        return len(self.dialogues)

    @property
    def is_counts(self) -> bool:
        """Whether some column counts turns."""
        return any(column.is_count for column in self.columns)

    @property
    def most(self) -> Floats:
        """The highest value possible of each column of counts; 1 for scores. Needs one number of turns."""
        turns = self.turns.max(initial=0.0)
        return np.array([column.per_turn * turns if column.is_count else 1.0 for column in self.columns])

    def factors(self, per_turns: float) -> Floats:
        """Return what counts are multiplied with to be counts per so many turns: continuations x columns."""
        scale = per_turns / self.turns
        return np.column_stack([scale if c.is_count else np.ones(len(self)) for c in self.columns])

    def per(self, per_turns: float) -> Counted:
        """Return the counts per so many turns."""
        factors = self.factors(per_turns)
        return replace(
            self,
            turns=np.full(len(self), float(per_turns)),
            values=self.values * factors,
            lowest=self.lowest * factors,
            highest=self.highest * factors,
        )

    def lengths(self) -> tuple[int, int]:
        """Return the least and the greatest number of turns."""
        if not len(self):
            return 0, 0
        return int(self.turns.min()), int(self.turns.max())
