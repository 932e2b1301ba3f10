"""The oracle's check of a scenario: whoever plays the key must have everything right."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.records import Dialogue
from annotation.scenarios.agents import ORACLE, decide
from annotation.scenarios.canaries import any_occurs
from annotation.scenarios.cascade import outcome
from annotation.scenarios.points import key_at, probes_at, scenario_of
from annotation.scenarios.records import Decision, Mode, Outcome


@dataclass(frozen=True, slots=True)
class OracleProblem:
    """What the oracle gets wrong at a point, and the path of the key's field that is at fault."""

    point: int
    field: str
    reason: str


def oracle_problems(dialogue: Dialogue, mode: Mode = "explicit") -> tuple[OracleProblem, ...]:
    """Return what an agent that plays a scenario's keys would get wrong; nothing where they hold together.

    At every point its competence must be 1, with all that must be said, nothing that must not, and no leak.
    """
    found: list[OracleProblem] = []
    earlier: dict[int, Decision] = {}
    for decision in decide(ORACLE, dialogue, mode=mode):
        result = outcome(dialogue, decision, earlier=earlier)
        reason = _wrong(dialogue, decision, result)
        if reason:
            found.append(OracleProblem(decision.point, key_path(dialogue, decision.point), reason))
        earlier[decision.point] = decision
    return tuple(found)


def key_path(dialogue: Dialogue, point: int) -> str:
    """Return where in the native format the key of a point stands."""
    scenario = scenario_of(dialogue)
    for probe in probes_at(scenario, point):
        number = scenario.probes.index(probe)
        same = all(key == probe.keys[probe.points[0]] for key in probe.keys.values())
        return f"probes[{number}].key" if same else f"probes[{number}].keys.{point}"
    return f"keys.{point}"


def _wrong(dialogue: Dialogue, decision: Decision, result: Outcome) -> str:
    key = key_at(scenario_of(dialogue), decision.point)
    if key.free:
        return ""
    if result.leaks or result.leaks_elsewhere:
        return f"the example tells the secret {(result.leaks or result.leaks_elsewhere)[0]!r}"
    forbidden = [one for one in key.must_not if any_occurs(one, decision.text)]
    if decision.act == "message" and forbidden:
        return f"the example says {forbidden[0][0]!r}, which it must not"
    lacking = [one for one in key.must if not any_occurs(one, decision.text)]
    if decision.act == "message" and lacking:
        return f"the example lacks {lacking[0][0]!r}, which must be said"
    if result.competence is not None and result.competence < 1:
        return f"whoever plays this key has competence {result.competence:g}: it fails at {result.failed_at}"
    conduct = result.stages["conduct"]
    if conduct.score is not None and conduct.score < 1:
        return f"the example's conduct is {conduct.score:g} by rule {conduct.why}".rstrip()
    return ""
