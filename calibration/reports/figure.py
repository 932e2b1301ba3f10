"""A figure as reports keep it: a result, and whom it compares on which question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from calibration.statistics import Result
from calibration.statistics.unanswered.figures import NAME as BOUNDS


@dataclass(frozen=True, slots=True)
class Marks:
    """How a table sets a figure off: by a sign, bold, underlined. `told` says in words what these mean."""

    sign: Literal["", "*", "†"] = ""
    bold: bool = False
    underlined: bool = False
    told: str = ""


@dataclass(frozen=True)
class Figure(Result):
    """A result with the raters it compares (all of them, or the pair) and the question they answered.

    `digits` and `end_digits` are the decimals that pages and printed files show of it and of its interval.
    `percent`: it is shown in percent. `bare`: it has no interval by its nature, as a p-value. `marks` is how
    its table sets it off, None in tables that mark nothing.
    """

    raters: tuple[str, ...] = ()
    question: str = ""
    digits: ClassVar[int] = 3
    end_digits: ClassVar[int] = 2
    percent: ClassVar[bool] = False
    bare: ClassVar[bool] = False
    marks: ClassVar[Marks | None] = None

    @property
    def bounded(self) -> bool:
        """Whether `low` and `high` are bounds over unanswered items and no interval."""
        return self.name.startswith(BOUNDS)

    @property
    def point(self) -> float:
        """The value of a figure that has one. Raises ValueError for one without: ask `ok` first."""
        if self.value is None:
            raise ValueError(f"{self.name} has no value: {self.reason}")
        return self.value

    @classmethod
    def of(cls, result: Result, *, raters: Sequence[str], question: str, reason: str = "") -> Figure:
        """Return a result as a report keeps it, its reason in the reader's words where these are given."""
        kept = {name: getattr(result, name) for name in Result.__dataclass_fields__}
        kept["reason"] = reason or result.reason
        return cls(**kept, raters=tuple(raters), question=question)
