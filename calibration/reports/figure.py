"""A stored figure: a result with the raters that it compares, their question, and how it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeVar

from calibration.statistics.core.engine import Result
from calibration.statistics.unanswered import NAME as BOUNDS


@dataclass(frozen=True, slots=True)
class Marks:
    """Typographic marks of a figure in a table: a sign, bold, underlined. `explanation` gives the meaning."""

    sign: Literal["", "*", "†"] = ""
    bold: bool = False
    underlined: bool = False
    explanation: str = ""


@dataclass(frozen=True)
class Figure(Result):
    """A result with the raters it compares (all of them, or the pair) and the question they answered.

    `digits` and `end_digits` are the decimals that pages and printed files show of it and of its interval.
    `percent`: it is shown in percent. `bare`: it has no interval by its nature, as a p-value. `marks` are its
    table's marks, None in tables that mark nothing.
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
        """Whether `low` and `high` are bounds over unanswered items instead of an interval."""
        return self.name.startswith(BOUNDS)

    @property
    def point(self) -> float:
        """Value of a figure that has one. Raises ValueError otherwise: check `ok` first."""
        if self.value is None:
            raise ValueError(f"{self.name} has no value: {self.reason}")
        return self.value

    @classmethod
    def of(cls, result: Result, *, raters: Sequence[str], question: str, reason: str = "") -> Figure:
        """Convert a result to a stored figure, with `reason` in the reader's words if given."""
        values = {name: getattr(result, name) for name in Result.__dataclass_fields__}
        values["reason"] = reason or result.reason
        return cls(**values, raters=tuple(raters), question=question)


T = TypeVar("T")


def recorded(kind: type[T], source: object, /, **values: Any) -> T:
    """Build a record from a computed source: fields not named come from the source, if it has them."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    own = {name: getattr(source, name) for name in names if name not in values and hasattr(source, name)}
    return kind(**own, **values)
