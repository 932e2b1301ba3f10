"""Whoever writes a whole conversation, or its next turn, and violates constraints at planted rates.

One key of its own in an error model: `violations`, an object with the chance, per constraint, that a
conversation breaks it. The chances are independent where at least three people are listed and the turns are
enough for everybody: at least (min_each + 1) times the people, and max_in_a_row + 2 beside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import chances_of

LISTED, COUNT, EVERYONE, IN_A_ROW, ADDRESSEE = (
    "listed_speakers",
    "turn_count",
    "everyone_speaks",
    "max_in_a_row",
    "addressee_named",
)
CONSTRAINTS = (LISTED, COUNT, EVERYONE, IN_A_ROW, ADDRESSEE)
STRANGER = "Somebody Else"
LIST = "conversation"
_EXACTLY = re.compile(r"exactly (\d+) turns?\b")
_ABOUT = re.compile(r"about (\d+) turns?: (?:at least (\d+))?(?: and )?(?:at most (\d+))?")
_ROW = re.compile(r"more than (\d+) turns? in a row")
_NUMBERED = re.compile(r"\[\d+\] ")
_BEGINNINGS = (
    "I would say",
    "Let us be clear:",
    "As I see it,",
    "Well,",
    "To be honest,",
    "My point is that",
)
_MIDDLES = (
    "the first part",
    "what we know so far",
    "the cost of it",
    "the next step",
    "the other side of it",
)
_ENDS = (
    "matters most here.",
    "is still open.",
    "should not surprise us.",
    "deserves a closer look.",
    "can wait.",
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a prompt asks for: how many turns (with limits, 0 for none), and how many in a row at most."""

    turns: int
    least: int = 0
    most: int = 0
    in_a_row: int = 0


def wanted(instruction: str) -> Wanted:
    """Return what the constraints of a prompt say."""
    row = _ROW.search(instruction)
    in_a_row = int(row[1]) if row else 0
    if (about := _ABOUT.search(instruction)) is not None:
        return Wanted(int(about[1]), int(about[2] or 0), int(about[3] or 0), in_a_row)
    exactly = _EXACTLY.search(instruction)
    return Wanted(int(exactly[1]) if exactly else 1, in_a_row=in_a_row)


def speakers(names: Sequence[str], asked: Wanted, violated: Collection[str]) -> list[str]:
    """Return who speaks in which turn: everybody in turn, but for the constraints that are violated.

    A turn too many (or too few, where only the least is limited); the last of the names never; the first one
    at the beginning once too often; somebody who is not listed in the last turn.
    """
    speaking = list(names[:-1]) if EVERYONE in violated and len(names) > 1 else list(names)
    row = asked.in_a_row + 1 if IN_A_ROW in violated and asked.in_a_row else 0
    number = _length(asked) if COUNT in violated else asked.turns
    order = [speaking[0]] * row + [speaking[(i + bool(row)) % len(speaking)] for i in range(number)]
    order = order[:number]
    if LISTED in violated:
        order[-1] = STRANGER
    return order


def expected_compliance(rates: Mapping[str, float]) -> dict[str, float]:
    """Return the expected share of conversations that keep each constraint."""
    return {name: 1 - rates.get(name, 0.0) for name in CONSTRAINTS}


def _length(asked: Wanted) -> int:
    """Return a number of turns that is not what was asked for."""
    if asked.most or not asked.least:
        return (asked.most or asked.turns) + 1
    return max(1, asked.least - 1)


class ConversationWriter(Role):
    """Writes a conversation of everybody under CAST in turn, or the one turn of it that is next."""

    key = "conversation_writer"
    title = "a whole conversation, or its next turn"
    own_keys = {"violations": chances_of(CONSTRAINTS)}

    def recognises(self, request: Request) -> bool:
        """A CAST, and turns with speaker and message as reply."""
        return (
            "CAST" in request.titles
            and '"speaker":' in request.instruction
            and '"message":' in request.instruction
        )

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the list of turns, or one turn where one is asked for."""
        about = _about(request)
        violated = violations(about, mind)
        one_by_one = "Answer with one JSON object" in request.instruction
        asked = wanted(request.instruction)
        names = [line for line in request.block("CAST") or () if not line.startswith(" ")] or ["Ana"]
        order = speakers(names, asked, violated - {COUNT} if one_by_one else violated)
        with_addressee = '"addressee":' in request.instruction
        turns = [
            _turn(at, who, names, about, mind, with_addressee, ADDRESSEE in violated)
            for at, who in enumerate(order)
        ]
        if one_by_one:
            written = sum(bool(_NUMBERED.match(line)) for line in request.block("NEW TURNS") or ())
            return Answer(turns[min(written, len(turns) - 1)])
        return Answer(
            lines=[json.dumps(turns if request.schema is None else {LIST: turns}, ensure_ascii=False)]
        )


def violations(about: str, mind: Mind) -> set[str]:
    """Return the constraints that the conversation about a text breaks: each by a draw of its own."""
    rates: Mapping[str, float] = mind.errors.own.get("violations", {})
    return {name for name in CONSTRAINTS if mind.draw(name, about) < rates.get(name, 0.0)}


def _about(request: Request) -> str:
    """Return what stays the same from turn to turn: what draws are about."""
    return "\n".join("\n".join(request.block(title) or ()) for title in ("CAST", "TOPIC", "CONVERSATION"))


def _turn(
    at: int, who: str, names: Sequence[str], about: str, mind: Mind, with_addressee: bool, forgets: bool
) -> dict[str, Any]:
    """Return a turn; every second one is addressed to all, the first to nobody where that is forgotten."""
    parts = (_BEGINNINGS, _MIDDLES, _ENDS)
    text = " ".join(one[int(mind.draw(f"part {n} {at}", about) * len(one))] for n, one in enumerate(parts))
    turn = {"speaker": who, "message": text}
    if with_addressee:
        other = next((name for name in names if name != who), "all")
        turn["addressee"] = "" if forgets and at == 0 else ("all" if at % 2 else other)
    return turn
