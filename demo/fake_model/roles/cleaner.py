"""Utterances without their fillers, with an invented word now and then."""

from __future__ import annotations

import re

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import one_chance
from demo.fake_model.truth import markers

FILLER, INVENTED = "filler", "indeed"
INVENTS, SKIPS = "invents", "skips"
_MARKER = re.compile(r"\{filler [^{}\n]{1,190}\}")


class Cleaner(Role):
    """Takes out what `{filler um}` names, and the marker itself. With the chance `invents` it adds a word to
    an utterance, with the chance `skips` it leaves one out."""

    key = "cleaner"
    title = "utterances without fillers"
    own_keys = dict.fromkeys((INVENTS, SKIPS), one_chance)

    def recognises(self, request: Request) -> bool:
        """A block of utterances."""
        return request.block("UTTERANCES") is not None

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return number and new text of each utterance."""
        told = [
            {"number": said.number, "text": answered(said.whole, mind)}
            for said in request.numbered("UTTERANCES")
            if mind.draw(SKIPS, said.whole) >= mind.errors.own.get(SKIPS, 0.0)
        ]
        return Answer({"utterances": told})


def answered(text: str, mind: Mind) -> str:
    """Return what becomes of an utterance."""
    return f"{cleaned(text)} {INVENTED}".strip() if invents(text, mind) else cleaned(text)


def invents(text: str, mind: Mind) -> bool:
    """Whether a word is added to an utterance."""
    return mind.draw(INVENTS, text) < mind.errors.own.get(INVENTS, 0.0)


def cleaned(text: str) -> str:
    """Return a text without its markers of fillers and the words that they name, in any case."""
    fillers = {word.casefold() for words in markers(text) if words[0] == FILLER for word in words[1:]}
    kept = [
        word for word in _MARKER.sub(" ", text).split() if word.strip(",.;:!?-").casefold() not in fillers
    ]
    return " ".join(kept)
