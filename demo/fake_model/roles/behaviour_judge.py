"""Behaviours of numbered turns: which turns show which, and how many."""

from __future__ import annotations

from typing import Any

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role

MARKED, _COUNT, _WHY = "_turns", "_count", "_explanation"


class BehaviourJudge(Role):
    """Reads `{repetition off_topic}` in each numbered turn, for the behaviours in the reply's form."""

    key = "behaviour_judge"
    title = "behaviours of every turn"

    def recognises(self, request: Request) -> bool:
        """A block TURNS, and fields such as `repetition_turns` as reply."""
        return request.shows("TURNS") and only_behaviours(request)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return explanation, turns and count of each behaviour."""
        turns = request.numbered()
        reply: dict[str, Any] = {}
        for key in behaviours(request):
            seen = [turn.number for turn in turns if mind.sees(key, turn.text)]
            reply |= {f"{key}{_WHY}": f"seen in {seen}" if seen else "", f"{key}{MARKED}": seen}
            reply[f"{key}{_COUNT}"] = len(seen)
        asked = request.fields
        return Answer({name: value for name, value in reply.items() if name in asked})


def behaviours(request: Request) -> list[str]:
    """Return the behaviours whose turns are asked for."""
    return [name.removesuffix(MARKED) for name in request.fields if name.endswith(MARKED) and name != MARKED]


def only_behaviours(request: Request) -> bool:
    """Whether nothing else is asked for than turns, counts and explanations of behaviours."""
    endings = (MARKED, _COUNT, _WHY)
    return bool(behaviours(request)) and all(name.endswith(endings) for name in request.fields)
