"""Decisions as turns of a static continuation, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from annotation.records import Continuation, Dialogue, Turn
from annotation.scenarios.cascade import NOBODY_EARLIER, SETTINGS, outcome
from annotation.scenarios.observing import FROM_SILENCE, NOT_SEEN, observe
from annotation.scenarios.points import key_at, scenario_of
from annotation.scenarios.records import (
    ACTS,
    STAGES,
    UNPARSEABLE,
    Act,
    CascadeSettings,
    Decision,
    Judged,
    Mode,
    Outcome,
)
from annotation.schemes import cascade as decision_scheme
from annotation.schemes.cascade import (
    ADDRESSED,
    ATTEND,
    FAILED_AT,
    GROUND,
    SPEAK,
    STAGE,
    TARGET,
    TURN_SCORE,
    written,
)

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


# What the cascade says of a decision as answers to the questions of the scheme `cascade`.

WAITS = "waits for a judge"
UNREAD = "the reply could not be read"
FREE = "anything goes at this point"
NOTHING_SAID = "nothing was said"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, or the reason why there is none: exactly one of them."""

    value: float | str | None
    missing: str = ""


Answers = Mapping[str, Answer]


def decisions_of(continuation: Continuation) -> dict[int, tuple[int, Decision]]:
    """Return the decisions of a static continuation by point, each with its turn's index.

    Of several at one point the first counts.
    """
    found: dict[int, tuple[int, Decision]] = {}
    for index, turn in enumerate(continuation.turns):
        if not turn.given:
            decision = decision_of(turn, continuation.condition)
            found.setdefault(decision.point, (index, decision))
    return found


def answers(
    dialogue: Dialogue,
    decision: Decision,
    judged: Judged | None = None,
    settings: CascadeSettings = SETTINGS,
    earlier: Mapping[int, Decision] = NOBODY_EARLIER,
) -> tuple[Answers, Outcome]:
    """Return the answers about a decision to the questions of the scheme `cascade`, and its outcome."""
    result = outcome(dialogue, decision, judged, settings, earlier)
    found = {**_observed(dialogue, decision, judged), **_scores(result)}
    return MappingProxyType(found), result


def _observed(dialogue: Dialogue, decision: Decision, judged: Judged | None) -> dict[str, Answer]:
    key = key_at(scenario_of(dialogue), decision.point)
    if UNPARSEABLE in decision.flags:
        return dict.fromkeys((ATTEND, SPEAK, ADDRESSED, TARGET, GROUND), Answer(None, UNREAD))
    seen = observe(dialogue, decision, key, judged)
    return {
        ATTEND: _known(None if seen.attend is None else float(seen.attend), FROM_SILENCE),
        SPEAK: Answer(decision.act),
        ADDRESSED: _known(None if seen.addressed is None else written(seen.addressed), NOT_SEEN),
        TARGET: _known(None if seen.targets is None else written(seen.targets), NOTHING_SAID),
        GROUND: _known(seen.move, WAITS if decision.act == "message" else NOTHING_SAID),
    }


def _scores(result: Outcome) -> dict[str, Answer]:
    is_free = result.failed_at is None and all(
        one.state == "not_asked" and one.why == FREE for one in result.stages.values()
    )
    waits = FREE if is_free else WAITS
    found = {STAGE + stage: _known(result.stages[stage].score, result.stages[stage].why) for stage in STAGES}
    return {
        **found,
        FAILED_AT: _known(result.failed_at, waits),
        decision_scheme.COMPETENCE: _known(result.competence, waits),
        TURN_SCORE: _known(result.turn_score, waits),
    }


def _known(value: float | str | None, reason: str) -> Answer:
    return Answer(None, reason) if value is None else Answer(value)
