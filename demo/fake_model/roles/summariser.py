"""A summary of a conversation: one paragraph, or two where it errs."""

from __future__ import annotations

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request, turns
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import one_chance
from demo.fake_model.truth import markers

PARAGRAPHS = "paragraphs"


class Summariser(Role):
    """Reports every `{point the date is open}` of the turns. With the chance `paragraphs` it writes two."""

    key = "summariser"
    title = "a summary in one paragraph"
    own_keys = dict.fromkeys((PARAGRAPHS,), one_chance)

    def recognises(self, request: Request) -> bool:
        """A conversation, and a summary as the one field of the reply."""
        return request.block("CONVERSATION") is not None and request.fields == ("summary",)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the paragraph."""
        lines = request.block("CONVERSATION") or ()
        text = summary(lines)
        if mind.draw(PARAGRAPHS, "\n".join(lines)) < mind.errors.own.get(PARAGRAPHS, 0.0):
            text = f"{text}\n\nThat is all."
        return Answer({"summary": text})


def summary(lines: tuple[str, ...] | list[str]) -> str:
    """Return the right summary of the lines of a conversation."""
    said = [turn.whole for turn in turns(lines)]
    points = [" ".join(words[1:]) for text in said for words in markers(text) if words[0] == "point"]
    told = "; ".join(points) or "nothing in particular"
    return f"In {len(said)} turns they came to this: {told}."
