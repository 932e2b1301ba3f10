"""Kinds of items that can be rated, in one table; lists of kinds follow its order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# A kind of item, with all its data for pages, imports, runs and reports.

PointsAt = Literal["turn", "continuation", "members", "record"]
BETWEEN = "+"
"""Separator of the members in a comparison's key: after a member, where other keys end."""
Member = tuple[str, int | None]
"""A compared member: a continuation's id and one of its turns (None: the whole continuation)."""
RecordKey = tuple[str, str]
"""A record of a dialogue: its kind and its key, unique together in the dialogue."""


@dataclass(frozen=True, slots=True)
class Place:
    """Place of an item: the ids of dialogue and continuation, and the turn (0-based; None: the whole).

    For a comparison, `others` are its members from the second on, in their order. For a record of the
    dialogue, `record` is its kind and its key, and the continuation is "".
    """

    dialogue: str
    continuation: str
    turn: int | None = None
    others: tuple[Member, ...] = ()
    record: RecordKey | None = None

    @property
    def members(self) -> tuple[Member, ...]:
        """All members of the item: more than one in a comparison."""
        return (self.continuation, self.turn), *self.others


@dataclass(frozen=True, slots=True)
class ItemKind:
    """A kind of item. A kind is one section here and one line in `KINDS`.

    `singular` and `plural` name items in sentences, `heading` is the heading of a list of items. `points_at`
    is the target of an item: a turn that is not given, the continuation alone, compared members, or a
    record. `imported` is set where an import creates an item for every such turn or continuation. `shows` is
    the part of the continuation on one work screen: all of it, the context of the turn, the members side by
    side, or the session of the record. `key_form` is the form of item keys. `members` are the minimum and
    maximum number of compared members, None for kinds without members.
    """

    key: str
    singular: str
    plural: str
    heading: str
    points_at: PointsAt
    imported: bool
    shows: Literal["before", "whole", "members", "record"]
    key_form: str
    members: tuple[int, int] | None = None

    @property
    def has_turn(self) -> bool:
        """Whether its items have a turn."""
        return self.points_at == "turn"

    @property
    def has_record(self) -> bool:
        """Whether its items are records of a dialogue."""
        return self.points_at == "record"

    @property
    def compares(self) -> bool:
        """Whether its items have members that are compared with each other."""
        return self.members is not None

    def key_parts(self, place: Place) -> list[str]:
        """Return the parts of an item's key, with unquoted ids."""
        if place.record is not None:
            return [place.dialogue, "", *place.record]
        parts = [place.dialogue]
        for number, (continuation, turn) in enumerate(place.members):
            parts += [BETWEEN] if number else []
            parts += [continuation] if turn is None else [continuation, str(turn)]
        return parts

    def read(self, parts: Sequence[str]) -> Place | None:
        """Parse the unquoted parts of a key into a place; None where this kind has no such key."""
        if self.has_record:
            is_ours = len(parts) == 4 and parts[1] == "" and parts[2] == self.key and parts[3]
            return Place(parts[0], "", record=(self.key, parts[3])) if is_ours else None
        members = members_of(parts[1:])
        if members is None or not all(continuation for continuation, _ in members):
            return None
        (continuation, turn), *others = members
        least, most = self.members or (1, 1)
        if not least <= len(members) <= most or not (self.compares or self.has_turn == (turn is not None)):
            return None
        return Place(parts[0], continuation, turn, tuple(others))

    def name(self, number: int | None) -> str:
        """Return the name of an item, such as `turn 3`; `number` counts from 1, None without a number."""
        return f"{self.singular} {number}" if self.has_turn else f"the {self.singular}"


def members_of(parts: Sequence[str]) -> list[Member] | None:
    """Parse the members from the parts of a key after the dialogue; None where these are no members.

    A continuation's id, the digits of its turn where it has one, then `+` and the next member: the position
    identifies each part, so an id may have any form.
    """
    members: list[Member] = []
    rest = list(parts)
    while rest:
        continuation, turn = rest.pop(0), None
        if rest and rest[0].isascii() and rest[0].isdigit():
            turn = int(rest.pop(0))
        members.append((continuation, turn))
        if rest and (rest.pop(0) != BETWEEN or not rest):
            return None
    have_no_turn = {turn is None for _, turn in members}
    return members if len(have_no_turn) == 1 else None


# A reply of a script's main character to a question: a turn of a static continuation of the script.

ANSWER = ItemKind(
    key="answer",
    singular="answer",
    plural="answers",
    heading="Answers",
    points_at="turn",
    imported=False,
    shows="before",
    key_form="dialogue/continuation/turn",
)


# An agent's decision at a point of a scenario: a turn of a static continuation of the scenario.

DECISION = ItemKind(
    key="decision",
    singular="decision",
    plural="decisions",
    heading="Decisions",
    points_at="turn",
    imported=False,
    shows="before",
    key_form="dialogue/continuation/turn",
)


# A whole continuation.

DIALOGUE = ItemKind(
    key="dialogue",
    singular="dialogue",
    plural="dialogues",
    heading="Conversations",
    points_at="continuation",
    imported=True,
    shows="whole",
    key_form="dialogue/continuation",
)


# A fact stated in a script, for review.

FACT = ItemKind(
    key="fact",
    singular="fact",
    plural="facts",
    heading="Facts",
    points_at="record",
    imported=False,
    shows="record",
    key_form="dialogue//fact/key",
)


# Two responses to one context, or two continuations of one dialogue, compared with each other.

PAIR = ItemKind(
    key="pair",
    singular="pair",
    plural="pairs",
    heading="Pairs",
    points_at="members",
    imported=False,
    shows="members",
    key_form="dialogue/first/+/second",
    members=(2, 2),
)


# A question about a script, for review.

QUESTION = ItemKind(
    key="question",
    singular="question",
    plural="questions",
    heading="Questions",
    points_at="record",
    imported=False,
    shows="record",
    key_form="dialogue//question/key",
)


# Three to ten responses to one context, or continuations of one dialogue, to be ranked.

RANKING = ItemKind(
    key="ranking",
    singular="ranking",
    plural="rankings",
    heading="Rankings",
    points_at="members",
    imported=False,
    shows="members",
    key_form="dialogue/one/+/another/+/third",
    members=(3, 10),
)


# A turn of a continuation that is not given.

TURN = ItemKind(
    key="turn",
    singular="turn",
    plural="turns",
    heading="Turns",
    points_at="turn",
    imported=True,
    shows="before",
    key_form="dialogue/continuation/turn",
)


# The table of item kinds; lists of kinds follow its order.

KINDS: dict[str, ItemKind] = {
    kind.key: kind for kind in (TURN, DIALOGUE, DECISION, ANSWER, QUESTION, FACT, PAIR, RANKING)
}
COMPARING = tuple(kind.key for kind in KINDS.values() if kind.compares)
"""Kinds whose items have members."""

WITH_TURN = tuple(kind.key for kind in KINDS.values() if kind.has_turn)
"""Kinds whose items have a turn."""

OF_RECORDS = tuple(kind.key for kind in KINDS.values() if kind.has_record)
"""Kinds whose items are records of a dialogue."""


def kind_at(turn: int | None) -> ItemKind:
    """Return the kind of the item that an import creates for a turn, or (None) for a continuation."""
    return next(kind for kind in KINDS.values() if kind.imported and kind.has_turn == (turn is not None))


def kind_comparing(members: int) -> ItemKind | None:
    """Return the kind of item that compares this number of members, None where no kind does."""
    kinds = (kind for kind in KINDS.values() if kind.members)
    return next((kind for kind in kinds if kind.members[0] <= members <= kind.members[1]), None)  # type: ignore[index]
