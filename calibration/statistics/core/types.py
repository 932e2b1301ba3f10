"""What a rating is made of: levels, values, one answer, and the error that names the answer at fault."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Level = Literal["binary", "nominal", "ordinal", "interval", "ratio"]
SCALES: tuple[Level, ...] = ("binary", "nominal", "ordinal", "interval", "ratio")
CATEGORIES: frozenset[str] = frozenset({"binary", "nominal"})
ORDERED: frozenset[str] = frozenset({"ordinal", "interval", "ratio"})
OFF_SCALE_KINDS = frozenset({"metric", "composite"})
Samples = Literal["mean", "first", "separate"]
Value = str | float | int | bool | None
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class RatingError(ValueError):
    """A rating that cannot be used; ``index`` is the position of its record, -1 where none is to blame."""

    def __init__(self, message: str, index: int = -1, field: str = "value", value: Value = None) -> None:
        super().__init__(message)
        self.index = index
        self.field = field
        self.value = value


@dataclass(frozen=True, slots=True)
class Record:
    """One answer: a rater's value for an item. An empty cluster means that the item is its own cluster."""

    item: str
    rater: str
    value: Value
    cluster: str = ""
    kind: str = ""
    identified: bool = True
    sample: int = 0
    system: str = ""
    continuation: str = ""


def as_number(value: Value) -> float | None:
    """Return a finite number, None for what is not one: "nan", "inf", "1_000", digits of other scripts."""
    if value is None or (isinstance(value, str) and ("_" in value or not value.isascii())):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
