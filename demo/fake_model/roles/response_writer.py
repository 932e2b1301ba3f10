"""Whoever answers in the place of one of two people, with a quality that stands in the response.

Keys of its own in an error model:

quality    an object with the chance of each quality from 1 to 5, planted as `{quality 4}`; what is left of 1
           is the chance of no marker
overlong   chance that a response is a hundred times as long
"""

from __future__ import annotations

from collections.abc import Mapping

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import chances_of, one_chance

RESPONSE = "response"
QUALITIES = ("1", "2", "3", "4", "5")
UNMARKED = 3.0
TIMES = 100
_BEGINNINGS = ("Oh nice,", "Really?", "I know what you mean,", "Me too,", "That sounds good,", "Hm,")
_MIDDLES = (
    "I often think about",
    "I grew up with",
    "my sister cannot stand",
    "I would love to try",
    "I gave up",
)
_ENDS = ("that kind of thing.", "something like it.", "it, every single day.", "the sea and all that.")


class ResponseWriter(Role):
    """Writes one response to a CONVERSATION, in the place of the one under YOUR PERSONA."""

    key = "response_writer"
    title = "one response in the place of a person"
    own_keys = {"quality": chances_of(QUALITIES), "overlong": one_chance}

    def recognises(self, request: Request) -> bool:
        """A persona of one's own, a conversation, and a response as reply."""
        return {"YOUR PERSONA", "CONVERSATION"} <= set(request.titles) and request.fields == (RESPONSE,)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the response with its marker."""
        about = "\n".join((*(request.block("YOUR PERSONA") or ()), *(request.block("CONVERSATION") or ())))
        parts = enumerate((_BEGINNINGS, _MIDDLES, _ENDS))
        text = " ".join(one[int(mind.draw(f"part {n}", about) * len(one))] for n, one in parts)
        if mind.draw("overlong", about) < mind.errors.own.get("overlong", 0.0):
            text = " ".join([text] * TIMES)
        quality = planted(about, mind)
        return Answer({RESPONSE: f"{text} {{quality {quality}}}" if quality else text})


def planted(about: str, mind: Mind) -> str:
    """Return the quality that a response is planted with, '' for none."""
    rates: Mapping[str, float] = mind.errors.own.get("quality", {})
    draw, total = mind.draw("quality", about), 0.0
    for quality in QUALITIES:
        total += rates.get(quality, 0.0)
        if draw < total:
            return quality
    return ""


def expected_quality(rates: Mapping[str, float]) -> float:
    """Return the expected quality of a response as a judge without errors reads it: 3 without a marker."""
    marked = sum(float(quality) * chance for quality, chance in rates.items())
    return marked + UNMARKED * (1 - sum(rates.values()))
