"""The kinds of items that can be rated, in one table; lists of kinds stand in its order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# What a kind of item is: everything that pages, imports, runs and reports must know of it.

PointsAt = Literal["turn", "continuation", "members", "record"]
BETWEEN = "+"
"""Stands between the members in the key of what compares them: where a key has a turn, else nothing."""
Member = tuple[str, int | None]
"""What is compared with others: a continuation's id, and one of its turns (None: all of it)."""
RecordKey = tuple[str, str]
"""A record of a dialogue: its kind and its key, unique together in the dialogue."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item is: the ids of dialogue and continuation, and the turn (0-based; None: the whole).

    Of a comparison, `others` are its members from the second on, in their order. Of a record of the dialogue,
    `record` is its kind and its key; it has no continuation ("").
    """

    dialogue: str
    continuation: str
    turn: int | None = None
    others: tuple[Member, ...] = ()
    record: RecordKey | None = None

    @property
    def members(self) -> tuple[Member, ...]:
        """All that it is about: more than one in a comparison."""
        return (self.continuation, self.turn), *self.others


@dataclass(frozen=True, slots=True)
class ItemKind:
    """A kind of item. A kind is one file here and one line in `KINDS`.

    `singular` and `plural` name items in sentences, `heading` stands over a list of them. `points_at` says
    what an item has: a turn that is not given, the continuation alone, members that are compared, or a
    record. `imported` says whether an import makes the item of every such turn or continuation. `shows` is
    what one screen of work has of the continuation: all of it, what comes before the turn, its members beside
    each other, or the session that the record is about. `key_form` is how its item keys read. `members` are
    the least and the most that one compares, None where it has none.
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
        """Return the parts of an item's key; those that are ids are still unquoted."""
        if place.record is not None:
            return [place.dialogue, "", *place.record]
        parts = [place.dialogue]
        for number, (continuation, turn) in enumerate(place.members):
            parts += [BETWEEN] if number else []
            parts += [continuation] if turn is None else [continuation, str(turn)]
        return parts

    def read(self, parts: Sequence[str]) -> Place | None:
        """Return the place that the unquoted parts of a key name; None where this kind has no such key."""
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
        """Return what one is called, such as `turn 3`; `number` counts from 1, None where it has none."""
        return f"{self.singular} {number}" if self.has_turn else f"the {self.singular}"


def members_of(parts: Sequence[str]) -> list[Member] | None:
    """Return the members that the parts of a key after the dialogue name, None where they name none.

    A continuation's id, the digits of its turn where it has one, then `+` and the next member: by their
    places the parts are told apart, so an id may look like anything.
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


# What an agent did at a point of a scenario: a turn of a static continuation of one.

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


# A fact that is said in a script, for review.

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


# Three to ten responses to one context, or continuations of one dialogue, put into an order.

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


# The table of the kinds of items; lists of kinds stand in its order.

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
