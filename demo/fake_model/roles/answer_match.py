"""The judge of free replies to questions about a long dialogue: right or wrong."""

from __future__ import annotations

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import one_chance
from demo.fake_model.truth import planted_value

ANSWER, REPLY = "RIGHT ANSWER", "REPLY"
CORRECT, WRONG = "correct", "wrong"
MATCH, YES = "match", "yes"
CONTRADICTS = "contradicts"


class AnswerMatch(Role):
    """Reads `{match yes}` in the reply; a text without it is wrong.

    Sensitivity and specificity of `match` are those of telling a right reply from a wrong one. With the
    chance `contradicts` it says of a reply that it is both.
    """

    key = "answer_match"
    title = "whether a free reply says what is right"
    own_keys = {CONTRADICTS: one_chance}

    def recognises(self, request: Request) -> bool:
        """A right answer beside a reply, and two truth values as reply."""
        return request.shows(ANSWER) and request.shows(REPLY) and set(request.fields) == {CORRECT, WRONG}

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return which of the two is true."""
        is_right, is_wrong = matched("\n".join(request.block(REPLY) or ()), mind)
        return Answer({CORRECT: is_right, WRONG: is_wrong})


def matched(text: str, mind: Mind) -> tuple[bool, bool]:
    """Return whether a reply is said to be right, and whether it is said to be wrong."""
    if mind.draw(CONTRADICTS, text) < mind.errors.own.get(CONTRADICTS, 0.0):
        return True, True
    is_right = mind.yes_or_no(MATCH, text, planted_value(text, MATCH) == YES)
    return is_right, not is_right
