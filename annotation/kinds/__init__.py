"""The kinds of items, one file each, in one table; lists of kinds stand in its order."""

from annotation.kinds.base import ItemKind, Place
from annotation.kinds.dialogue import DIALOGUE
from annotation.kinds.turn import TURN

KINDS: dict[str, ItemKind] = {kind.key: kind for kind in (TURN, DIALOGUE)}

__all__ = ["KINDS", "ItemKind", "Place"]
