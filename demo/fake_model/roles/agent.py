"""A group-chat agent that errs by stage.

The truth stands in the last turn of the chat: `{key attend=1 speak=message addressed=kit target=ana
ground=answer}`, several ids joined by `;`; a turn without one asks for silence. `speak` lists the accepted
acts, joined by `;`, the right one first. Keys of its own in an error model:

stages     an object with the chance of an error at `attend`, `speak`, `address` and `ground`

An ATTEND error turns attending over: a message where one must stay out, silence where one is meant. A SPEAK
error, where one is meant, is an act that is not accepted. ADDRESS and GROUND errors, where the key asks, are
a wrong set or move. Every draw is of the chat up to the point, and of the seed where the request has one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request, turns
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import chances_of

STAGES = ("attend", "speak", "address", "ground")
ACTS = ("silence", "message", "reaction")
FIELDS = ("attend", "act", "addressed", "targets", "ground", "text")
_KEY = re.compile(r"\{key ([^{}]*)\}")
OTHER_MOVE = {"answer": "clarify", "clarify": "answer", "reground": "answer", "none": "answer"}
Errs = Callable[[str], bool]
"""Whether the agent errs at a stage."""


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
        members = _named(request.block("MEMBERS") or ())
        own = next(iter(_named((request.block("YOU") or ())[:1])), "")
        rates = mind.errors.own.get("stages", {})
        chat = "\n".join(lines)
        told = decide(
            key_of(lines), lambda stage: mind.draw(stage, chat) < rates.get(stage, 0.0), members, own
        )
        fields = [name for name in FIELDS if name in request.fields]
        return Answer({name: told[name] for name in fields or FIELDS})


def key_of(lines: Sequence[str]) -> dict[str, str]:
    """Return the truth in the last turn of a chat; {} where it holds none."""
    said = turns(lines)
    found = _KEY.findall(said[-1].whole) if said else []
    return dict(part.split("=", 1) for part in found[-1].split() if "=" in part) if found else {}


def decide(key: Mapping[str, str], errs: Errs, members: Mapping[str, str], own: str) -> dict[str, Any]:
    """Return what the agent says and does, erring where `errs(stage)` says so.

    `members` are the others' names by id, `own` is the agent's id.
    """
    meant = key.get("attend") == "1"
    if meant == errs("attend"):
        return _said("silence", False, (), (), "none", "")
    act = _act(key, errs) if meant else "message"
    if act == "silence":
        return _said(act, True, (), (), "none", "")
    targets = _listed(key.get("target", "")) or tuple(members)[:1]
    addressed = _listed(key.get("addressed", "")) or (own,)
    ground = key.get("ground", "answer")
    if meant and ("target" in key or "addressed" in key) and errs("address"):
        targets = tuple(one for one in members if one not in targets)[:1]
        addressed = tuple(one for one in [*members, own] if one not in addressed)[:1]
    if meant and "ground" in key and errs("ground"):
        ground = OTHER_MOVE.get(ground, "none")
    called = " and ".join(members.get(one, one) for one in targets)
    text = "👍" if act == "reaction" else f"{called}: noted."
    return _said(act, True, addressed, targets, ground, text)


def _act(key: Mapping[str, str], errs: Errs) -> str:
    accepted = _listed(key.get("speak", "message"))
    if not errs("speak"):
        return accepted[0]
    return next((one for one in ACTS if one not in accepted), accepted[-1])


def _said(
    act: str, attend: bool, addressed: tuple[str, ...], targets: tuple[str, ...], ground: str, text: str
) -> dict[str, Any]:
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


def _named(lines: Sequence[str]) -> dict[str, str]:
    """Return names by id from lines such as `ana: Ana (nurse), also called Annie`."""
    pairs = (line.partition(": ") for line in lines)
    return {pk: re.split(r" \(|, also called ", name)[0] for pk, colon, name in pairs if colon}
