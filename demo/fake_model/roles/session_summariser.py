"""A memory's summary of a session: the turns with something planted in them, some of it forgotten."""

from __future__ import annotations

import re
from collections.abc import Sequence

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request, turns
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import one_chance

DROPS = "drops"
NOTHING = "Nothing happened that needs to be remembered."
_MARKER = re.compile(r"\{[^{}\n]{1,200}\}")


class SessionSummariser(Role):
    """Repeats the turns of a SESSION that hold something in braces, such as `{evidence q17}`.

    With the chance `drops`, drawn for each of these by itself, it forgets it: the braces go, and a turn that
    held nothing else goes with them.
    """

    key = "session_summariser"
    title = "a summary of a session of a long dialogue"
    own_keys = dict.fromkeys((DROPS,), one_chance)

    def recognises(self, request: Request) -> bool:
        """Who listens, and a session."""
        return {"LISTENER", "SESSION"} <= set(request.titles)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the paragraph."""
        return Answer({"summary": summary(request.block("SESSION") or (), mind)})


def summary(lines: Sequence[str], mind: Mind) -> str:
    """Return the summary of a session's lines."""
    text = "\n".join(lines)
    told = []
    for said in turns(lines):
        markers = _MARKER.findall(said.whole)
        lost = [marker for marker in markers if drops(marker, text, mind)]
        if len(lost) < len(markers):
            told.append(" ".join(_without(said.whole, lost).split()))
    return " ".join(told) or NOTHING


def drops(marker: str, text: str, mind: Mind) -> bool:
    """Whether something planted in a session with this text is forgotten."""
    return mind.draw(DROPS, f"{marker}\n{text}") < mind.errors.own.get(DROPS, 0.0)


def _without(text: str, markers: Sequence[str]) -> str:
    for marker in markers:
        text = text.replace(marker, " ")
    return text
