"""The table of the kinds of items; lists of kinds stand in its order."""

from __future__ import annotations

from annotation.kinds.answer import ANSWER
from annotation.kinds.base import ItemKind
from annotation.kinds.decision import DECISION
from annotation.kinds.dialogue import DIALOGUE
from annotation.kinds.fact import FACT
from annotation.kinds.pair import PAIR
from annotation.kinds.question import QUESTION
from annotation.kinds.ranking import RANKING
from annotation.kinds.turn import TURN

KINDS: dict[str, ItemKind] = {
    kind.key: kind for kind in (TURN, DIALOGUE, DECISION, ANSWER, QUESTION, FACT, PAIR, RANKING)
}
COMPARING = tuple(kind.key for kind in KINDS.values() if kind.compares)
"""The kinds whose items have members."""

WITH_TURN = tuple(kind.key for kind in KINDS.values() if kind.has_turn)
"""The kinds whose items have a turn."""

OF_RECORDS = tuple(kind.key for kind in KINDS.values() if kind.has_record)
"""The kinds whose items are records of a dialogue."""


def kind_at(turn: int | None) -> ItemKind:
    """Return the kind of the item that an import makes of a turn, or (None) of a continuation."""
    return next(kind for kind in KINDS.values() if kind.imported and kind.has_turn == (turn is not None))


def kind_comparing(members: int) -> ItemKind | None:
    """Return the kind of item that compares so many members, None where none does."""
    kinds = (kind for kind in KINDS.values() if kind.members)
    return next((kind for kind in kinds if kind.members[0] <= members <= kind.members[1]), None)  # type: ignore[index]
