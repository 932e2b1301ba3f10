"""The one question that a test of an endpoint asks."""

from __future__ import annotations

import re

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role

_ONE_WORD = re.compile(r"\banswer with the one word:? [\"“']?(\w+)", re.I)


class Probe(Role):
    """Says the one word that it is asked to say."""

    key = "probe"
    title = "the test of an endpoint"

    def recognises(self, request: Request) -> bool:
        """Nothing quoted, and one word as reply."""
        return not request.titles and bool(_ONE_WORD.search(request.instruction))

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the word."""
        found = _ONE_WORD.search(request.instruction)
        return Answer(lines=[found[1] if found else ""])
