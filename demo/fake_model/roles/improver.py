"""Whoever is asked to write a better instruction after reading where a judge and people disagree."""

from __future__ import annotations

import re

from demo.fake_model.errors import fold
from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role

FIELD = "instruction"
_FENCED = re.compile(r"^```[a-z]*\n(.*?)\n```", re.S | re.M)
_WANTS_FENCE = re.compile(r"(within|in|between) ```", re.I)


class Improver(Role):
    """Adds one of the error model's `proposals` in front of the instruction that it is shown.

    Which one is drawn from the whole prompt, so that other disagreements bring other proposals. One that the
    instruction has already is not proposed again; where all are there, it comes back as it was.
    """

    key = "improver"
    title = "a better instruction"

    def recognises(self, request: Request) -> bool:
        """An instruction to improve, and an instruction as reply: a JSON field, or a block between fences."""
        asked = FIELD in request.fields or bool(_WANTS_FENCE.search(request.instruction))
        return asked and shown(request) is not None and request.block("RESPONSE") is None

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the instruction with a proposal in front, in the form that is asked for."""
        old = shown(request) or ""
        new = propose(old, str(request.messages), mind)
        if FIELD not in request.fields:
            return Answer(lines=["```", *new.split("\n"), "```"])
        return Answer(
            {name: new if name == FIELD else "I read the disagreements." for name in request.fields}
        )


def propose(old: str, prompt: str, mind: Mind) -> str:
    """Return an instruction with a sentence in front that it does not have yet, drawn from the prompt."""
    left = [one for one in mind.proposals if fold(one) not in fold(old)]
    if not left:
        return old
    chosen = left[int(mind.draw("proposal", prompt) * len(left))]
    return f"{chosen}\n\n{old}"


def shown(request: Request) -> str | None:
    """Return the instruction that is to be improved: the block INSTRUCTION, else the first fenced text."""
    lines = request.block("INSTRUCTION")
    if lines is not None:
        return "\n".join(lines)
    found = _FENCED.search(request.instruction)
    return found[1] if found else None
