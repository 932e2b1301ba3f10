"""Which columns of a wide ratings file are raters: those that are named, else all that may be."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from calibration.agree.files import RatingsFileError

INDEX = re.compile(r"__index_level_\d+__|Unnamed: ?\d+(_level_\d+)?")
"""How pandas calls the column of a table's index."""
COMPUTED = frozenset(
    [
        *("mean", "average", "avg", "median", "std", "sd", "stdev", "stddev", "variance", "var", "sum"),
        *("total", "count", "length", "len", "agreement", "majority", "consensus", "index", "words"),
        *("tokens", "chars", "characters"),
    ]
)
"""Words in the names of columns that are computed from answers or describe items."""
DESCRIBING = frozenset(
    [
        *("id", "text", "comment", "comments", "note", "notes", "response", "context", "utterance"),
        *("message", "prompt", "speaker", "timestamp", "date", "time", "datetime", "url", "split"),
        *("language", "meta", "metadata", "tags", "scheme", "level", "values", "order", "explanation"),
    ]
)
"""Names of columns that describe items."""


def rater_columns(
    path: Path, columns: Sequence[str], about: Collection[str], named: Sequence[str] | None
) -> tuple[str, ...]:
    """Return a wide file's columns of raters; an index of pandas is none.

    RatingsFileError where one that is named is not there, and for columns that look like no rater where none
    is named: they are asked for.
    """
    if named is not None:
        absent = [name for name in named if name not in columns]
        if absent or not named:
            there = ", ".join(columns)
            name = absent[0] if absent else ""
            raise RatingsFileError(path, f"--rater-columns: no column {name!r}; the columns are {there}", 1)
        return tuple(dict.fromkeys(named))
    raters = [name for name in columns if name not in about and not INDEX.fullmatch(name)]
    doubtful = [name for name in raters if _may_be_no_rater(name)]
    if doubtful:
        others = ",".join(name for name in raters if name not in doubtful) or "NAMES"
        raise RatingsFileError(
            path,
            f"{', '.join(doubtful)}: likely no rater; name the raters' columns: --rater-columns {others}",
            1,
        )
    if not raters:
        raise RatingsFileError(path, "no columns 'rater' and 'value', and no columns of raters either", 1)
    return tuple(raters)


def _may_be_no_rater(name: str) -> bool:
    plain = name.casefold()
    return plain in DESCRIBING or not COMPUTED.isdisjoint(re.split(r"[\W_]+", plain))
