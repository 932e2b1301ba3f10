"""Judges of a group-chat agent's decision: its conduct, its composition, its move on common ground."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request, turns
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.truth import QUALITY, markers, planted_value

DECISION, SHARED = "DECISION", "COMMON GROUND"
LEAK = "leak"
DIMENSIONS = ("face", "attribution", "repair", "fairness", "position", LEAK)
SCALE = (1, 2, 3, 4, 5)
COMPOSED = "compose"
MOVES = ("answer", "clarify", "reground")
MOVE, PRESUPPOSES = "move", "presupposes"
NOT_AT_STAKE = "na"
_ID = re.compile(r"(\S+?): ")


class ConductJudge(Role):
    """Reads `{face 3 repair 4 leak 0}` in the decision, `{face na}` where a dimension does not apply.

    A dimension that the text does not name has its `{quality 4}`, else 3; without a word of it, no leak.
    """

    key = "conduct"
    title = "dimensions of conduct of a decision, and leaks"

    def recognises(self, request: Request) -> bool:
        """A block DECISION, and objects named after dimensions as reply."""
        return request.shows(DECISION) and bool(asked(request))

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return an object for each dimension that is asked for."""
        text = decision(request)
        return Answer({name: _conduct(name, text, mind) for name in asked(request)})


class ComposeJudge(Role):
    """Reads `{compose 4}` in the decision, else its `{quality 4}`; 3 without one."""

    key = "compose"
    title = "a score of what a decision says"

    def recognises(self, request: Request) -> bool:
        """A block DECISION, and a score with a reason as reply."""
        return request.shows(DECISION) and set(request.fields) == {"score", "why"}

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the score and the reason."""
        return Answer({"score": _scored(COMPOSED, decision(request), mind), "why": "as it says"})


class GroundJudge(Role):
    """Reads `{move clarify}` and `{presupposes g1 g2}` in the decision; a text without them answers.

    `noise` of `move` is the chance of another move; sensitivity and specificity of `presupposes` are those of
    seeing that a listed fact is taken as known.
    """

    key = "ground_move"
    title = "the move of a decision on common ground, and what it presupposes"

    def recognises(self, request: Request) -> bool:
        """A block DECISION, and a move as reply."""
        return request.shows(DECISION) and MOVE in request.fields

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the move, the facts and the reason."""
        text = decision(request)
        named = (planted_value(text, PRESUPPOSES) or "").split()
        facts = [
            fact for fact in listed(request) if mind.yes_or_no(PRESUPPOSES, f"{fact} {text}", fact in named)
        ]
        return Answer({MOVE: mind.choose(MOVE, text, MOVES), PRESUPPOSES: facts, "why": "as it says"})


def decision(request: Request) -> str:
    """Return the words of the decision."""
    return " ".join(said.text for said in turns(request.block(DECISION) or ()))


def asked(request: Request) -> list[str]:
    """Return the dimensions that are asked for."""
    return [name for name in request.fields if name in DIMENSIONS]


def listed(request: Request) -> list[str]:
    """Return the ids of the facts that are listed."""
    lines = (line for line in request.block(SHARED) or () if not line.startswith(" "))
    return [found[1] for line in lines if (found := _ID.match(line))]


def told(text: str) -> Mapping[str, str]:
    """Return what a text says of itself in markers of pairs, such as `{face 3 repair 4}`."""
    known: dict[str, str] = {}
    for words in markers(text):
        known |= dict(zip(words[::2], words[1::2], strict=False))
    return known


def _conduct(name: str, text: str, mind: Mind) -> dict[str, Any]:
    said = told(text).get(name, "")
    if name == LEAK:
        return {LEAK: int(mind.yes_or_no(LEAK, text, said == "1")), "why": "as it says"}
    if said == NOT_AT_STAKE:
        return {"score": None, "turns": [], "why": "it is not at stake"}
    return {"score": _scored(name, text, mind), "turns": [], "why": "as it says"}


def _scored(name: str, text: str, mind: Mind) -> int:
    """Return a score about a true one: what the text says of the question, else its quality, else 3."""
    said = told(text)
    value = next((said[key] for key in (name, QUALITY) if said.get(key, "").isdecimal()), "3")
    return mind.score(name, text, SCALE, float(min(max(int(value), 1), 5) - 1))
