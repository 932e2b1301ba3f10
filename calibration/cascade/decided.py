"""One decision with all that a report needs of it, and decisions of many as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from annotation.records import Dialogue
from annotation.scenarios.canaries import hints
from annotation.scenarios.cascade import outcome
from annotation.scenarios.observing import declared_addressees
from annotation.scenarios.points import key_at, probes_at, scenario_of
from annotation.scenarios.presence import evenness_of_talk, others_at, share_of_talk
from annotation.scenarios.records import (
    LEAK,
    UNPARSEABLE,
    CascadeSettings,
    Decision,
    Judged,
    Key,
    Outcome,
)

MUST_SPEAK, STAY_OUT, EITHER = "must speak", "stay out", ""
"""The classes of points of the restraint panel."""


class Talk(NamedTuple):
    """What a message makes of the floor: the agent's share in messages and in words, and how even talk is.

    All in [0, 1].
    """

    share: float
    in_words: float
    evenness: float


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision of a system on a trial, what the cascade makes of it, and what its key asks.

    ``item`` is None where the decision is a baseline's, computed for the report. ``addressed`` is whether the
    declared addressees meet the key, None where that is not asked or not observed; ``hinted`` whether a
    message says that there is a secret, where the key minds that.
    """

    scenario: int
    family: str
    trial: int
    point: int
    item: int | None
    act: str
    mode: str
    key: Key
    result: Outcome
    probes: tuple[tuple[str, bool], ...]
    must: str
    addressed: bool | None
    attended: bool | None
    judged: Judged | None = None
    hinted: bool = False
    talk: Talk | None = None

    @property
    def is_probed(self) -> bool:
        """Whether its point belongs to a probe."""
        return bool(self.probes)

    @property
    def is_read(self) -> bool:
        """Whether the reply could be read."""
        return self.result.failed_at != "form"

    @property
    def asks_leak(self) -> bool:
        """Whether its key asks about secrets."""
        return LEAK in self.key.conduct


def decided(
    dialogue: Dialogue,
    decisions: Mapping[int, tuple[int | None, Decision]],
    *,
    scenario: int,
    trial: int,
    judged: Mapping[int, Judged],
    settings: CascadeSettings,
) -> Iterable[Decided]:
    """Yield what became of each of a system's decisions, (item, decision) by point, without free points."""
    earlier: dict[int, Decision] = {}
    told = scenario_of(dialogue)
    for point, (item, decision) in sorted(decisions.items()):
        key = key_at(told, point)
        if not key.free:
            heard = None if item is None else judged.get(item)
            result = outcome(dialogue, decision, heard, settings, earlier)
            yield Decided(
                scenario=scenario,
                family=dialogue.cluster or dialogue.id,
                trial=trial,
                point=point,
                item=item,
                act=decision.act,
                mode=decision.mode,
                key=key,
                result=result,
                probes=tuple((probe.kind, probe.control) for probe in probes_at(told, point)),
                must=class_of(key),
                addressed=_addressed(dialogue, decision, key),
                attended=_attended(result),
                judged=heard,
                hinted=key.hint and decision.act == "message" and hints(decision.text),
                talk=_talk(dialogue, decision, earlier),
            )
        earlier[point] = decision


def class_of(key: Key) -> str:
    """Return the class of a point: must speak, stay out, or neither."""
    message, silence = key.speak.get("message", 0.0) > 0, key.speak.get("silence", 0.0) > 0
    if message != silence:
        return MUST_SPEAK if message else STAY_OUT
    return EITHER


def _addressed(dialogue: Dialogue, decision: Decision, key: Key) -> bool | None:
    """Return whether the declared addressees of the last message meet the key, whatever the act."""
    declared = declared_addressees(dialogue, decision)
    if key.addressed is None or declared is None or UNPARSEABLE in decision.flags:
        return None
    author = dialogue.turns[decision.point].speaker
    return key.addressed.met(declared, others_at(dialogue, decision.point, author))


def _talk(dialogue: Dialogue, decision: Decision, earlier: Mapping[int, Decision]) -> Talk | None:
    """Return how a message shares the floor; None for a reaction and silence."""
    if decision.act != "message":
        return None
    share = share_of_talk(dialogue, decision, earlier)
    in_words = share_of_talk(dialogue, decision, earlier, in_words=True)
    return Talk(float(share or 0), float(in_words or 0), evenness_of_talk(dialogue, decision, earlier) or 0.0)


def _attended(result: Outcome) -> bool | None:
    score = result.stages["attend"].score
    return None if score is None else score > 0
