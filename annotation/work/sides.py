"""Laying out a comparison: what all of them answer, once, and then each of them on a side of its own.

The sides stand in the order that was drawn for the rater and are called after it, A first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from annotation.schemes.comparisons import LETTERS
from annotation.work.transcripts import Line, Part, Row, Writer, whole


class Member(NamedTuple):
    """One of what is compared: its continuation's mode and its turns, up to the one that is meant.

    `item` is the number of that turn where each is rated for itself.
    """

    mode: str
    is_turn: bool
    turns: tuple[Row, ...]
    item: int | None = None


class Side(NamedTuple):
    """One side of the screen."""

    name: str
    parts: tuple[Part, ...]


def lay_out(own: Sequence[Row], members: Sequence[Member], write: Writer) -> tuple[list[Part], list[Side]]:
    """Return what comes before all members, and a side for each of them in their order."""
    before = _before(own, members[0])
    context = tuple(write(number + 1, row, "history") for number, row in enumerate(before))
    called = "Response" if members[0].is_turn else "Conversation"
    sides = [
        Side(f"{called} {LETTERS[number]}", _side(own, len(before), member, write))
        for number, member in enumerate(members)
    ]
    each = all(member.item is not None for member in members)
    return [Part("", context), Part("each to be rated" if each else "to be compared", ())], sides


def _before(own: Sequence[Row], member: Member) -> Sequence[Row]:
    """Return the history that all members share; whole static continuations have it between their turns."""
    if member.mode != "static":
        return own
    at = member.turns[-1].at
    return own[:at] if member.is_turn else ()


def _side(own: Sequence[Row], shared: int, member: Member, write: Writer) -> tuple[Part, ...]:
    if member.mode == "static" and not member.is_turn:
        return tuple(whole(own, member.turns, "static", "rated", write))
    turns = member.turns
    if member.mode == "static":
        first = len(turns) - 1
        while first and turns[first - 1].given and turns[first - 1].at == turns[-1].at:
            first -= 1
        turns = turns[first:]
    last = len(turns) - 1
    lines: list[Line] = []
    for number, row in enumerate(turns):
        is_meant = number == last if member.is_turn else not row.given
        if number == last and member.item is not None:
            lines.append(write(shared + number + 1, row._replace(item=member.item), "item"))
        else:
            lines.append(write(shared + number + 1, row, "rated" if is_meant else "given"))
    return (Part("", tuple(lines)),)
