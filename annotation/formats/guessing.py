"""Which format a file is of, from how it begins."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from annotation.formats.entry import Format
from annotation.formats.head import SIZE, Head
from annotation.formats.problems import ImportProblem

# What comes with an exported file: how many rows it has, and the SHA-256 of its bytes.
#
# A file that was cut off looks whole wherever the cut falls between two rows. Its manifest says what it must
# hold, and an import that is given one refuses a file that is not that file.

SUFFIX = ".manifest.json"
LIMIT = 2**16
HASH = re.compile(r"\A[0-9a-f]{64}\Z")


def beside(path: str | Path) -> Path:
    """Return where the manifest of a file is looked for: `labels.csv.manifest.json`."""
    whole = Path(path)
    return whole.with_name(whole.name + SUFFIX)


def promised(path: str | Path) -> str:
    """Return the SHA-256 that the manifest beside a file names, empty where there is none."""
    manifest = beside(path)
    try:
        with manifest.open("rb") as file:
            told = json.loads(file.read(LIMIT))
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, RecursionError):
        told = None
    sha256 = told.get("sha256") if isinstance(told, dict) else None
    if not isinstance(sha256, str):
        raise ImportProblem("holds no sha256: take it away to import without it", file=manifest.name)
    return sha256


def check(content_hash: str, sha256: str) -> None:
    """Refuse content whose SHA-256 is not the one that was promised; an empty promise promises nothing."""
    wanted = sha256.strip().lower()
    if not wanted:
        return
    if not HASH.fullmatch(wanted):
        raise ImportProblem("is not a SHA-256: 64 digits from 0 to f", field="sha256")
    if content_hash != wanted:
        raise ImportProblem(
            f"was cut off or changed: its SHA-256 is {content_hash[:12]}..., its manifest says "
            f"{wanted[:12]}.... Export it again, or import without the manifest",
            field="sha256",
        )


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
