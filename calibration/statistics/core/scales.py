"""The scale that ratings are given on: its values, and how an answer becomes a number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from calibration.statistics.core.types import Level, RatingError, Value, as_number


@dataclass(frozen=True)
class Scale:
    """The values that may occur: ``numbers`` in order, and their ``names`` where they are categories."""

    numbers: tuple[float, ...] | None
    names: tuple[str, ...] | None
    declared: bool

    def encode(self, value: Value) -> float:
        """Return the number of a value on this scale, NaN if it is not on it."""
        if self.names is not None:
            text = str(value)
            return float(self.names.index(text)) if text in self.names else math.nan
        number = as_number(value)
        if number is None or (self.numbers is not None and number not in self.numbers):
            return math.nan
        return number

    @property
    def expected(self) -> str:
        """What a value should have been, for a message."""
        if self.names is not None:
            return f"one of {', '.join(self.names)}"
        return "a number" if self.numbers is None else f"one of {', '.join(f'{v:g}' for v in self.numbers)}"


def scale_of(
    observed: Iterable[Value], level: Level, values: Sequence[Value] | None = None, positive: Value = None
) -> Scale:
    """Return the scale: as declared, or the distinct values seen (for binary, nominal and ordinal).

    Numbers 0 and 1 are both on an undeclared binary scale even where only one occurs; of two undeclared
    names the positive one comes last, so that a correlation rises with it. Raises RatingError
    where categories cannot serve the level.
    """
    candidates = list(values) if values is not None else list(dict.fromkeys(observed))
    numbers = [as_number(v) for v in candidates]
    if all(n is not None for n in numbers):
        distinct = {n for n in numbers if n is not None}
        if level == "binary" and values is None and distinct <= {0.0, 1.0}:
            distinct = {0.0, 1.0}
        _check_binary([f"{v:g}" for v in sorted(distinct)], level)
        continuous = values is None and level in ("interval", "ratio")
        return Scale(None if continuous else tuple(sorted(distinct)), None, values is not None)
    if level in ("interval", "ratio"):
        bad = next(v for v, n in zip(candidates, numbers, strict=True) if n is None)
        advice = _decimal_point(bad) or f", and the scale is {level}"
        raise RatingError(f"value {bad!r} is not a number{advice}", value=bad)
    if level == "ordinal" and values is None:
        bad = next(v for v, n in zip(candidates, numbers, strict=True) if n is None)
        advice = _decimal_point(bad) or ": name the ordered categories from lowest to highest (--values)"
        raise RatingError(f"value {bad!r} is not a number{advice}", value=bad)
    names = [str(v) for v in candidates]
    if len(set(names)) < len(names):
        raise RatingError("a value is declared twice", field="values")
    names = names if values is not None else sorted(names, key=lambda name: (name == str(positive), name))
    _check_binary(names, level)
    return Scale(tuple(float(i) for i in range(len(names))), tuple(names), values is not None)


def _decimal_point(value: Value) -> str:
    """Return the advice for a number with a decimal comma, or nothing."""
    text = str(value)
    return ": write it with a decimal point" if as_number(text.replace(",", ".", 1)) is not None else ""


def _check_binary(shown: Sequence[str], level: Level) -> None:
    if level == "binary" and len(shown) > 2:
        more = ", ..." if len(shown) > 5 else ""
        raise RatingError(
            f"a binary scale has two values, not {len(shown)}: {', '.join(shown[:5])}{more}", field="scale"
        )
