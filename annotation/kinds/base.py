"""What a kind of item is: everything that pages, imports, runs and reports must know of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

PointsAt = Literal["turn", "continuation"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item is: the ids of dialogue and continuation, and the turn (0-based; None: the whole)."""

    dialogue: str
    continuation: str
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class ItemKind:
    """A kind of item. A kind is one file here and one line in `KINDS`.

    `singular` and `plural` name items in sentences, `heading` stands over a list of them. `points_at` says
    what an item has: a turn that is not given, or the continuation alone. `imported` says whether an import
    makes the item of every such turn or continuation. `shows` is what one screen of work has of the
    continuation: all of it, or what comes before the turn. `key_form` is how its item keys read.
    """

    key: str
    singular: str
    plural: str
    heading: str
    points_at: PointsAt
    imported: bool
    shows: Literal["before", "whole"]
    key_form: str

    @property
    def has_turn(self) -> bool:
        """Whether its items have a turn."""
        return self.points_at == "turn"

    def written(self, place: Place) -> list[str]:
        """Return the parts of an item's key, still unquoted."""
        parts = [place.dialogue, place.continuation]
        return [*parts, str(place.turn)] if self.has_turn else parts

    def read(self, parts: Sequence[str]) -> Place | None:
        """Return the place that the unquoted parts of a key name; None where this kind has no such key."""
        if not self.has_turn:
            return Place(parts[0], parts[1]) if len(parts) == 2 else None
        if len(parts) != 3 or not (parts[2].isascii() and parts[2].isdigit()):
            return None
        return Place(parts[0], parts[1], int(parts[2]))

    def name(self, number: int | None) -> str:
        """Return what one is called, such as `turn 3`; `number` counts from 1, None where it has none."""
        return f"{self.singular} {number}" if self.has_turn else f"the {self.singular}"
