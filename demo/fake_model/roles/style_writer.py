"""A question as each of several people would ask it, with mistakes that a check can see."""

from __future__ import annotations

import re

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import one_chance

DROPS, STATES = "drops", "states"
OPENERS = ("By the way, {0}", "Say, {0}", "I was wondering: {0}", "Just out of interest, {0}")
INSTEAD = "that one"
_NAME = re.compile(r"(?<=\s)[A-Z]\w*(?![^{}]*\})")
"""A word that begins large and stands neither first nor in braces."""


class StyleWriter(Role):
    """Puts an opener in front of the QUESTION for each of the ASKERS; what stands in braces stays.

    Mistakes, each with a chance drawn per asker: `drops` leaves a name out, `states` ends without a question
    mark. What is asked for again is drawn anew.
    """

    key = "style_writer"
    title = "a question in several people's words"
    own_keys = dict.fromkeys((DROPS, STATES), one_chance)

    def recognises(self, request: Request) -> bool:
        """A question, who is asked, and those who ask."""
        return {"ASKED", "QUESTION", "ASKERS"} <= set(request.titles)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return a wording for each number."""
        question = " ".join(request.block("QUESTION") or ())
        again = "\n".join(request.block("AGAIN") or ())
        told = [
            {"asker": said.number, "text": worded(question, said.whole, again, mind)}
            for said in request.numbered("ASKERS")
        ]
        return Answer({"wordings": told})


def worded(question: str, asker: str, again: str, mind: Mind) -> str:
    """Return a question as somebody asks it; `again` is what was wrong with wordings before."""
    drawn = f"{question}\n{asker}\n{again}"
    opener = OPENERS[int(mind.draw("opener", drawn) * len(OPENERS))]
    first = question[:1].lower() + question[1:]
    text = opener.format(first) if _starts_plainly(question) else question
    if errs(DROPS, question, asker, again, mind):
        text = _NAME.sub(INSTEAD, text, count=1)
    if errs(STATES, question, asker, again, mind):
        text = text.replace("?", ".")
    return text


def errs(what: str, question: str, asker: str, again: str, mind: Mind) -> bool:
    """Whether an asker's wording has a mistake."""
    return mind.draw(what, f"{question}\n{asker}\n{again}") < mind.errors.own.get(what, 0.0)


def _starts_plainly(question: str) -> bool:
    """Whether the first word is one that may begin small: a word of asking, no name."""
    return question.split(" ", 1)[0].casefold() in (
        *("who", "whose", "what", "where", "when", "which", "why", "how", "in", "on"),
    )
