"""Scores of one response: five or six scores, humanness, and the papers' original prompts."""

from __future__ import annotations

import re

from demo.fake_model.errors import fold
from demo.fake_model.mind import Mind
from demo.fake_model.questions import listed
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role

KNOWN = (
    "humanness",
    "fluency",
    "coherency",
    "consistency",
    "engagingness",
    "relevance",
    "specificity",
    "interestingness",
    "understandability",
    "overall",
)
"""Scores that an edited prompt may ask for in words alone."""
_EXPLAINED = re.compile(r"^explanation\b", re.I | re.M)


class TurnJudge(Role):
    """Reads `{quality 4}` in the response, or `{fluency 2}` for one score alone.

    Which scores, and in which lines (`name - x`, `Name: x`), the prompt says; its first `from 1 to 5` is the
    scale. Where no such line is left in an edited prompt, every score that it names counts as asked for.
    """

    key = "turn_judge"
    title = "scores of one response"

    def recognises(self, request: Request) -> bool:
        """A block RESPONSE, and lines of scores as reply."""
        return request.shows("RESPONSE") and bool(asked_for(request))

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the lines that are asked for, with an explanation first where one is."""
        text, values = request.response() or "", request.scale(1, 5)
        lines = ["Explanation: it is as good as it says."] if _EXPLAINED.search(request.instruction) else []
        for name in asked_for(request):
            lines.append(f"{name}{request.sign(name)} {mind.score(name.casefold(), text, values)}")
        return Answer(lines=lines)


def asked_for(request: Request) -> tuple[str, ...]:
    """Return the names of the scores that a prompt asks for."""
    if request.score_lines or request.fields or listed(request):
        return request.score_lines
    said = fold(request.instruction)
    return tuple(name for name in KNOWN if re.search(rf"\b{name}\b", said))
