"""What answers point at, as it is stored and exported: in reading order, nothing twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from annotation.records import SELF, Passage

MOST = 100
"""Passages of one answer."""
FIELDS = ("continuation", "turn", "start", "end")


def in_order(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Return passages as they are read, the dialogue's own turns first, each once."""
    return tuple(sorted(set(passages), key=_place))


def stored(passages: Iterable[Passage]) -> list[dict[str, Any]] | None:
    """Return passages as a label keeps them and files have them; None where there are none."""
    return [{name: getattr(one, name) for name in FIELDS} for one in in_order(passages)] or None


def read(kept: Iterable[Mapping[str, Any]] | None) -> tuple[Passage, ...]:
    """Return the passages that a label keeps."""
    return tuple(
        Passage(one["continuation"], one["turn"], one.get("start"), one.get("end")) for one in kept or ()
    )


def quoted(passage: Passage, text: str) -> str:
    """Return the words that a passage points at, in its turn's stored text."""
    return text[passage.start : passage.end]


def _place(passage: Passage) -> tuple[Any, ...]:
    start, end = passage.start, passage.end
    return (
        passage.continuation != SELF,
        passage.continuation,
        passage.turn,
        -1 if start is None else start,
        -1 if end is None else end,
    )
