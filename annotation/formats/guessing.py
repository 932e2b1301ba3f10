"""Which format a file is of, from how it begins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from annotation.formats.entry import Format
from annotation.formats.head import SIZE, Head
from annotation.formats.problems import ImportProblem

LONGEST = 500
"""Characters of a mapping of columns: it is part of what an import is known by."""


def guess(formats: Mapping[str, Format], content: bytes, columns: Mapping[str, str] | None = None) -> str:
    """Return the key of the first format that a file may be of, from its first bytes; else `jsonl`.

    A table whose columns no format knows is refused: name the columns.
    """
    head = Head(content, columns or {})
    for format in formats.values():
        if format.looks_like(head):
            return format.key
    if head.header:
        told = ", ".join(sorted(name for name in head.header if name))[:200]
        raise ImportProblem(
            f"the columns ({told}) tell no format: choose the format, and say which column is which",
            field="format",
            line=1,
        )
    return "jsonl"


def beginning(path: str | Path) -> bytes:
    """Return the first bytes of a file, or of a folder's first JSON file; nothing where it cannot be read.

    A folder without any .json file is told by its first .jsonl file.
    """
    place = Path(path)
    try:
        if place.is_dir():
            lines = min(place.glob("*.jsonl"), default=place / "none.json")
            place = min(place.glob("*.json"), default=lines)
        with place.open("rb") as file:
            return file.read(SIZE)
    except OSError:
        return b""


def columns_of(text: str) -> dict[str, str]:
    """Return what `item=turn_id,rater=annotator` says: a file's names for columns, by Concord's."""
    columns: dict[str, str] = {}
    if len(text) > LONGEST:
        raise ImportProblem(f"is longer than {LONGEST} characters", field="columns")
    for part in filter(None, (part.strip() for part in text.split(","))):
        ours, mark, theirs = (piece.strip() for piece in part.partition("="))
        if not (mark and ours and theirs) or ours.lower() in columns:
            raise ImportProblem(
                f"{part[:60]!r} is not like item=turn_id,rater=annotator, each name once", field="columns"
            )
        columns[ours.lower()] = theirs
    if len({theirs.lower() for theirs in columns.values()}) < len(columns):
        raise ImportProblem("a column of the file is named twice", field="columns")
    return columns
