"""A group-chat agent that errs by stage.

The truth stands in the last turn of the chat: `{key attend=1 speak=message addressed=kit target=ana
ground=answer}`; a turn without one asks for silence. Keys of its own in an error model:

stages     an object with the chance of an error at `attend`, `speak`, `address` and `ground`

An ATTEND error turns attending over: a message where one must stay out, silence where one is meant. A SPEAK
error is silence where one is meant. ADDRESS and GROUND errors, where the key asks, are a wrong set or move.
Every draw is of the chat up to the point, and of the seed where the request has one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import chances_of

STAGES = ("attend", "speak", "address", "ground")
FIELDS = ("attend", "act", "addressed", "targets", "ground", "text")
_KEY = re.compile(r"\{key ([^{}]*)\}")
OTHER_MOVE = {"answer": "clarify", "clarify": "answer", "reground": "answer", "none": "answer"}


class Agent(Role):
    """Decides what a member of a CHAT does, the one under YOU."""

    key = "agent"
    title = "the decision of a group-chat agent"
    own_keys = {"stages": chances_of(STAGES)}

    def recognises(self, request: Request) -> bool:
        """Who one is, the other members, and a chat."""
        return {"YOU", "MEMBERS", "CHAT"} <= set(request.titles)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the decision, with what is declared where that is asked for."""
        lines = request.block("CHAT") or ()
        key = key_of("\n".join(lines))
        members = _ids(request.block("MEMBERS") or ())
        own = _ids(request.block("YOU") or ())[:1]
        rates = mind.errors.own.get("stages", {})

        def errs(stage: str) -> bool:
            return mind.draw(stage, "\n".join(lines)) < rates.get(stage, 0.0)

        told = decide(key, errs, members, own[0] if own else "")
        return Answer({name: told[name] for name in FIELDS if name in request.fields})


def key_of(chat: str) -> dict[str, str]:
    """Return the truth in the last line of a chat; {} where it holds none."""
    found = _KEY.findall(chat.rsplit("\n", 1)[-1])
    return dict(part.split("=", 1) for part in found[-1].split() if "=" in part) if found else {}


def decide(key: Mapping[str, str], errs: object, members: list[str], own: str) -> dict[str, object]:
    """Return what the agent says and does, erring where `errs(stage)` says so."""
    assert callable(errs)
    meant = key.get("attend") == "1"
    attends = meant != errs("attend")
    if not attends or (meant and errs("speak")):
        return _said("silence", attends, (), (), "none", "")
    targets = _listed(key.get("target", "")) or tuple(members[:1])
    addressed = _listed(key.get("addressed", "")) or (own,)
    ground = key.get("ground", "answer")
    if meant and ("target" in key or "addressed" in key) and errs("address"):
        targets = tuple(one for one in members if one not in targets)[:1]
        addressed = tuple(one for one in [*members, own] if one not in addressed)[:1]
    if meant and "ground" in key and errs("ground"):
        ground = OTHER_MOVE[ground]
    return _said("message", True, addressed, targets, ground, f"{' and '.join(targets)}: noted.")


def _said(
    act: str, attend: bool, addressed: tuple[str, ...], targets: tuple[str, ...], ground: str, text: str
) -> dict[str, object]:
    return {
        "attend": attend,
        "act": act,
        "addressed": list(addressed),
        "targets": list(targets),
        "ground": ground,
        "text": text,
    }


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(";") if part)


def _ids(lines: tuple[str, ...]) -> list[str]:
    return [line.partition(":")[0] for line in lines if ":" in line and not line.startswith(" ")]
