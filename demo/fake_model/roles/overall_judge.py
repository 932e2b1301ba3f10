"""Two scores of a whole continuation: consistency and collaborativeness from 1 to 10."""

from __future__ import annotations

from typing import Any

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role

SCORES = ("consistency", "collaborativeness")
SCALE = tuple(range(1, 11))
_WHY = "_explanation"


class OverallJudge(Role):
    """Reads `{consistency 4}` and `{collaborativeness 6}` in any turn of the continuation; 5 without one."""

    key = "overall_judge"
    title = "two scores of a continuation"

    def recognises(self, request: Request) -> bool:
        """A block TURNS, and these two scores and nothing else as reply."""
        asked = {name.removesuffix(_WHY) for name in request.fields}
        return request.shows("TURNS") and asked == set(SCORES)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return each score after its explanation."""
        text = "\n".join(turn.text for turn in request.numbered())
        reply: dict[str, Any] = {}
        for name in SCORES:
            value = mind.score(name, text, SCALE)
            reply[f"{name}{_WHY}"] = "" if value == SCALE[-1] else f"{SCALE[-1] - value} short of the best"
            reply[name] = value
        return Answer(reply)
