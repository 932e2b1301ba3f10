"""Reading an error model's JSON strictly: what is wrong is said in one line that names the key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


class ErrorFileProblem(ValueError):
    """An error model that makes no sense; the message is one line: which key, what is wrong."""


def check_keys(value: Any, where: str, known: Sequence[str]) -> None:
    """Raise ErrorFileProblem unless a value is an object without other keys than these."""
    if not isinstance(value, dict):
        raise ErrorFileProblem(f"{where or 'the file'}: a JSON object is needed")
    for key in value:
        if key not in known:
            place = f"{where}.{key}" if where else key
            raise ErrorFileProblem(f"{place}: no such key; there are {', '.join(known)}")


def number(value: Any, where: str, low: float, high: float) -> float:
    """Return a number within limits; raise ErrorFileProblem for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ErrorFileProblem(f"{where}: {str(value)[:40]!r} is not a number")
    if not low <= value <= high:
        raise ErrorFileProblem(f"{where}: {value:g} is not between {low:g} and {high:g}")
    return float(value)


def texts(value: Any, where: str, known: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return a list of texts, each one of `known` where that is given; raise ErrorFileProblem otherwise."""
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
        raise ErrorFileProblem(f"{where}: a list of texts is needed")
    for one in value:
        if known is not None and one not in known:
            raise ErrorFileProblem(f"{where}: there is no {one!r}; there are {', '.join(known)}")
    return tuple(value)
