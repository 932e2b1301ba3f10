"""The kinds of items, one file each, in one table; lists of kinds stand in its order."""

from __future__ import annotations

from annotation.kinds.base import ItemKind, Place
from annotation.kinds.dialogue import DIALOGUE
from annotation.kinds.turn import TURN

KINDS: dict[str, ItemKind] = {kind.key: kind for kind in (TURN, DIALOGUE)}


def kind_at(turn: int | None) -> ItemKind:
    """Return the kind of the item that an import makes of a turn, or (None) of a continuation."""
    return next(kind for kind in KINDS.values() if kind.imported and kind.has_turn == (turn is not None))


__all__ = ["KINDS", "ItemKind", "Place", "kind_at"]
