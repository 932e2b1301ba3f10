"""Probes of live talk: when they fire, and what the cascade makes of the decision that follows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from annotation.records import Dialogue
from annotation.scenarios.cascade import outcome
from annotation.scenarios.observing import named_in
from annotation.scenarios.points import scenario_of
from annotation.scenarios.records import Decision, LiveProbe, Outcome, Probe

OUTCOME = "outcome"
"""The metadata of a scenario that say what is asked in the end: {"question", "options"}; also where a talk's
last turn has the answers, in its `extra`."""
LIVE_PROBE = "live_probe"
"""In the `extra` of an agent's turn: the probe that had fired, and what the cascade made of the decision."""
COMPETENCE, FAILED_AT = "competence", "failed_at"


def fired(dialogue: Dialogue, before: Collection[str]) -> LiveProbe | None:
    """Return the first live probe, of those not fired before, whose condition holds after the last turn."""
    for probe in scenario_of(dialogue).live:
        if probe.id not in before and is_met(dialogue, probe):
            return probe
    return None


def is_met(dialogue: Dialogue, probe: LiveProbe) -> bool:
    """Whether nobody has spoken to a person, by addressing or naming, for the probe's number of messages.

    The person has not spoken either. Fewer messages than that meet no condition.
    """
    who, length = str(probe.when.get("quiet", "")), int(probe.when.get("turns", 0))
    said = [turn for turn in dialogue.turns if turn.act == "message"][-length:] if length else []
    if not who or len(said) < length or not said:
        return False
    return not any(
        turn.speaker == who or who in turn.addressees or who in named_in(dialogue, turn.text) for turn in said
    )


def judged_live(dialogue: Dialogue, probe: LiveProbe, decision: Decision) -> Outcome:
    """Return what the cascade makes of a decision after the talk's last turn, by a live probe's key."""
    point = len(dialogue.turns) - 1
    made = Probe(probe.id, probe.kind, point, (point,), {point: probe.key}, probe.parameters)
    scenario = replace(scenario_of(dialogue), probes=(made,), keys={}, points=None)
    return outcome(replace(dialogue, scenario=scenario), replace(decision, point=point))
