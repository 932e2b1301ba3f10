"""What labels point at, with the words and the numbers of the turns, ready for researchers' pages."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, TypeVar

from django.db.models import Q

from annotation.models import Turn, turn_numbers
from annotation.records import Passage
from annotation.text import passages

LONGEST = 200
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Pointed:
    """A passage with its turn's number, as annotators count it, and what stands there (cut where long)."""

    passage: Passage
    number: int
    quote: str

    @property
    def is_whole(self) -> bool:
        """Whether it is all of a turn."""
        return self.passage.start is None

    def __str__(self) -> str:
        return f"{self.number}" if self.is_whole else f"{self.number} “{self.quote}”"

    def as_json(self) -> dict[str, Any]:
        """Return the passage as files have it, with its turn's number and the words."""
        own = {name: getattr(self.passage, name) for name in passages.FIELDS}
        return own | {"turn_number": self.number, "quote": self.quote}


def pointed(
    kept: Mapping[Key, tuple[int, Iterable[Mapping[str, Any]]]],
) -> dict[Key, tuple[Pointed, ...]]:
    """Return what labels point at, by any key: each comes as (id of its dialogue, evidence as it is kept).

    Two queries, none where nothing points at anything.
    """
    read = {key: (dialogue, passages.read(found)) for key, (dialogue, found) in kept.items() if found}
    turns = _turns({(dialogue, one) for dialogue, found in read.values() for one in found})
    return {
        key: tuple(
            Pointed(one, turn.number, _cut(passages.quoted(one, turn.text)))
            for one in found
            if (turn := turns.get((dialogue, one.continuation, one.turn)))
        )
        for key, (dialogue, found) in read.items()
    }


def _turns(wanted: set[tuple[int, Passage]]) -> dict[tuple[int, str, int], Any]:
    positions: dict[tuple[int, str], set[int]] = {}
    for dialogue, passage in wanted:
        positions.setdefault((dialogue, passage.continuation), set()).add(passage.turn)
    if not positions:
        return {}
    places = [
        Q(continuation__dialogue=dialogue, continuation__key=key, position__in=found)
        for (dialogue, key), found in positions.items()
    ]
    rows = list(Turn.objects.filter(reduce(or_, places)).select_related("continuation"))
    turn_numbers.number(rows)
    return {(row.continuation.dialogue_id, row.continuation.key, row.position): row for row in rows}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
