"""Decisions as turns of a static continuation, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from annotation.records import Turn
from annotation.scenarios.records import ACTS, Act, Decision, Mode

DECLARED = "decision"
"""Under this name a turn's `extra` holds what the agent declared, the mode and the flags."""


def turn_of(decision: Decision, agent: str, reacted_to: Turn) -> Turn:
    """Return the turn that a decision is: seen by those who saw what it reacts to.

    Its targets are the turn's addressees; what else was declared stays in its `extra`.
    """
    declared: dict[str, Any] = {"mode": decision.mode}
    if decision.attend is not None:
        declared["attend"] = decision.attend
    if decision.addressed is not None:
        declared["addressed"] = list(decision.addressed)
    if decision.targets is not None:
        declared["targets"] = list(decision.targets)
    if decision.ground is not None:
        declared["ground"] = decision.ground
    if decision.flags:
        declared["flags"] = list(decision.flags)
    audience = reacted_to.audience
    if audience is not None:
        audience = tuple(sorted({reacted_to.speaker, *audience} - {agent}))
    return Turn(
        speaker=agent,
        text=decision.text,
        at=decision.point + 1,
        addressees=decision.targets or (),
        audience=audience,
        act=decision.act,
        extra={DECLARED: declared},
    )


def decision_of(turn: Turn, condition: Mapping[str, Any] | None = None) -> Decision:
    """Return the decision that a turn of a static continuation is.

    Where the turn says no mode its continuation's condition does, else it is implicit. Raises ValueError for
    a turn without a point or with an act that no decision has.
    """
    if turn.at is None or turn.at < 1 or turn.act not in ACTS:
        raise ValueError("A decision needs a point after a turn, and is a message, a reaction or silence.")
    declared = turn.extra.get(DECLARED) or {}
    mode = declared.get("mode") or (condition or {}).get("mode") or "implicit"
    addressed, targets = declared.get("addressed"), declared.get("targets")
    if targets is None and turn.addressees:
        targets = turn.addressees
    return Decision(
        point=turn.at - 1,
        act=cast(Act, turn.act),
        text=turn.text,
        mode=cast(Mode, mode),
        attend=declared.get("attend"),
        addressed=None if addressed is None else tuple(addressed),
        targets=None if targets is None else tuple(targets),
        ground=declared.get("ground"),
        flags=tuple(declared.get("flags") or ()),
    )
