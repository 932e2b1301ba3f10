"""A simulated person of a live group chat: says something short, and chooses an option in the end.

Keys of its own in an error model:

silent    chance that a person says nothing
agrees    chance that a person chooses the first option rather than one drawn among all
"""

from __future__ import annotations

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import one_chance

SAYS, CHOICE = "says", "choice"
_LINES = (
    "sounds good to me",
    "hm, let me think",
    "fine, but not before noon",
    "who brings what?",
    "ok then",
    "no idea",
)


class Persona(Role):
    """Speaks as the one under PERSON in a CHAT, or answers a QUESTION with one of the OPTIONS."""

    key = "persona"
    title = "a simulated person of a group chat"
    own_keys = {"silent": one_chance, "agrees": one_chance}

    def recognises(self, request: Request) -> bool:
        """A person, a chat, and what is said or chosen as reply."""
        return {"PERSON", "CHAT"} <= set(request.titles) and request.fields in ((SAYS,), (CHOICE,))

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return what the person says, or the option."""
        about = "\n".join((*(request.block("PERSON") or ()), *(request.block("CHAT") or ())))
        options = request.block("OPTIONS")
        if options:
            agrees = mind.draw("agrees", about) < mind.errors.own.get("agrees", 1.0)
            chosen = options[0] if agrees else options[int(mind.draw("option", about) * len(options))]
            return Answer({CHOICE: chosen})
        if mind.draw("silent", about) < mind.errors.own.get("silent", 0.0):
            return Answer({SAYS: ""})
        return Answer({SAYS: _LINES[int(mind.draw("line", about) * len(_LINES))]})
