"""Whoever is asked to write a better instruction after reading where a judge and people disagree."""

from __future__ import annotations

import re

from demo.fake_model.errors import fold
from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role

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
        """An instruction to improve: its two parts, or one between fences where one is asked for so."""
        return request.block("USER PART") is not None or between_fences(request) is not None

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the parts with a proposal in front of the first, in the form that is asked for."""
        system, user = request.block("SYSTEM PART") or (), request.block("USER PART")
        prompt = "\n".join(text for _, text in request.messages)
        if user is None:
            new = propose(between_fences(request) or "", prompt, mind)
            return Answer(lines=["```", *new.split("\n"), "```"])
        old, rest = "\n".join(system), "\n".join(user)
        new = propose(old, prompt, mind, beside=rest)
        return Answer({"diagnosis": "The judge and the people differ.", "system": new, "user": rest})


def propose(old: str, prompt: str, mind: Mind, beside: str = "") -> str:
    """Return an instruction with a sentence in front that it does not have yet, drawn from the prompt."""
    left = [one for one in mind.proposals if fold(one) not in fold(f"{old}\n{beside}")]
    if not left:
        return old
    chosen = left[int(mind.draw("proposal", prompt) * len(left))]
    return f"{chosen}\n\n{old}"


def between_fences(request: Request) -> str | None:
    """Return the first text between fences, where another one is asked for."""
    found = _FENCED.search(request.instruction) if _WANTS_FENCE.search(request.instruction) else None
    return found[1] if found and not request.titles else None
