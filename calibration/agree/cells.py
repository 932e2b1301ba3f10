"""What a cell of a ratings file says: an answer, a missing one, or the scale that its question declares."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from annotation.text.cells import looks_like_nothing, means_nothing
from annotation.text.csv_cells import unguarded
from calibration.agree.files import RatingsFileError, Row
from calibration.statistics.core.types import SCALES

TEXT = "text"


@dataclass(frozen=True, slots=True)
class Declared:
    """The scale that a file declares for a question: its level and values, empty where it declares none."""

    level: str = ""
    values: tuple[str | float, ...] = ()


def answer(
    path: Path, line: int, column: str, cell: str | None, missing: Collection[str], declared: Declared
) -> str | None:
    """Return a cell's answer, None where it is missing: empty, or one of `missing` (in lower case).

    Raises RatingsFileError for what looks like no answer and is neither declared as a value nor as missing.
    """
    text = unguarded((cell or "").strip())
    if means_nothing(text, missing):
        return None
    if looks_like_nothing(text) and text not in declared.values:
        mark = text.partition(" (")[0]
        advice = f"--missing={mark} takes it as missing, --values as a category"
        raise RatingsFileError(path, f"value {text!r} looks like no answer: {advice}", line, column)
    return text or None


def declared_of(path: Path, line: int, row: Row) -> Declared:
    """Return the scale that a row's columns `level` and `values` declare; RatingsFileError for a bad one."""
    try:
        return _declared(row.get("level") or "", row.get("values") or "")
    except ValueError as error:
        column, message = error.args
        raise RatingsFileError(path, message, line, column) from None


@lru_cache(maxsize=1000)
def _declared(level: str, values: str) -> Declared:
    if level and level not in (*SCALES, TEXT):
        raise ValueError("level", f"{level!r} is not a measurement level; use one of {', '.join(SCALES)}")
    try:
        listed = json.loads(unguarded(values) or "[]")
    except json.JSONDecodeError:
        listed = None
    if not isinstance(listed, list) or not all(isinstance(v, str | int | float) for v in listed):
        raise ValueError("values", f"{values!r}: expected a list such as [1, 2, 3]")
    return Declared(level, tuple(listed))
