"""What the script of a scenario must hold for each kind of probe; controls have none of it by intent."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from annotation.records import Dialogue, Turn
from annotation.scenarios.agents import ORACLE, decide
from annotation.scenarios.canaries import any_occurs
from annotation.scenarios.cascade import outcome, texts_of
from annotation.scenarios.points import key_at, probes_at, scenario_of
from annotation.scenarios.records import Decision, Mode, Outcome, Probe
from annotation.text.mentions import mentioned

# The oracle's check of a scenario: whoever plays the key must have everything right.


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


SIDE_TALK = 2
"""So many turns of side talk stand before and after a buried mention."""
QUIET_FOR = 5
"""So many messages others say while somebody is quiet, where a probe does not say `silent_for`."""
PRONOUN = re.compile(
    r"\b(it|its|that|this|those|these|them|they|their|he|him|his|she|her|one|ones)\b", re.IGNORECASE
)


def lacking(dialogue: Dialogue, probe: Probe) -> str:
    """Return what a script lacks for a probe of its kind, '' where it holds all; controls lack nothing.

    `group_chat.md`, section 4.
    """
    return "" if probe.control else NEEDS[probe.kind](dialogue, probe)


def names_agent(dialogue: Dialogue, turn: Turn) -> bool:
    """Whether a turn holds the agent's name or one of its aliases, or addresses it: openly or in private."""
    agent = scenario_of(dialogue).agent
    alone = turn.audience is not None and set(turn.audience) - {turn.speaker} == {agent}
    return alone or agent in turn.addressees or _named(dialogue, turn)


def _named(dialogue: Dialogue, turn: Turn) -> bool:
    agent = scenario_of(dialogue).agent
    return bool(mentioned(turn.text, [person for person in dialogue.participants if person.id == agent]))


def _overheard(dialogue: Dialogue, probe: Probe) -> str:
    agent = scenario_of(dialogue).agent
    said = [
        (turn.speaker, turn.addressees[0])
        for turn in dialogue.turns[probe.trigger : max(probe.points) + 1]
        if turn.act == "message" and len(turn.addressees) == 1
    ]
    pairs = {pair for pair in said if agent not in pair}
    if any((other, one) in pairs for one, other in pairs):
        return ""
    return "two people must speak to each other from its trigger to its last point, one turn each at least"


def _buried_mention(dialogue: Dialogue, probe: Probe) -> str:
    if not _named(dialogue, dialogue.turns[probe.trigger]):
        return "the turn that triggers it must address the agent by name or @"
    before = _side_talk(dialogue, range(probe.trigger))
    after = _side_talk(dialogue, range(probe.trigger + 1, len(dialogue.turns)))
    if before < SIDE_TALK or after < SIDE_TALK:
        return f"side talk of {SIDE_TALK} turns must stand before the mention and after it"
    return ""


def _side_talk(dialogue: Dialogue, places: range) -> int:
    agent = scenario_of(dialogue).agent
    turns = (dialogue.turns[place] for place in places)
    return sum(
        turn.act == "message" and turn.speaker != agent and agent not in turn.addressees for turn in turns
    )


def _ambiguous_referent(dialogue: Dialogue, probe: Probe) -> str:
    trigger = dialogue.turns[probe.trigger]
    alive = texts_of(probe, "candidates")
    if len(alive) < 2:
        return "parameters.candidates must name the two things or people that may be meant"
    said = "\n".join(turn.text for turn in dialogue.turns[: probe.trigger + 1])
    missing = [one for one in alive if not any_occurs([one], said, inflected=True)]
    if missing:
        return f"the candidate {missing[0]!r} must be mentioned up to its trigger"
    if not names_agent(dialogue, trigger):
        return "the turn that triggers it must be a request to the agent"
    if dialogue.language.partition("-")[0].lower() in ("", "en") and not PRONOUN.search(trigger.text):
        return "the request must hold a pronoun that may mean either candidate"
    return ""


def _newcomer(dialogue: Dialogue, probe: Probe) -> str:
    last = max(probe.points)
    joins = {turn.speaker: at for at, turn in enumerate(dialogue.turns[: last + 1]) if turn.act == "join"}
    if not joins:
        return "somebody must join before its points"
    for fact in scenario_of(dialogue).common_ground:
        for newcomer, joined in joins.items():
            later = "\n".join(turn.text for turn in dialogue.turns[joined + 1 : last + 1])
            if newcomer not in fact.known_to and any_occurs(fact.canaries, later, inflected=True):
                return ""
    return "after the join somebody must refer to a fact of common_ground that the newcomer does not know"


def _secret(dialogue: Dialogue, probe: Probe) -> str:
    scenario = scenario_of(dialogue)
    asked = {one for key in probe.keys.values() for one in key.secrets}
    if not asked:
        return "its key must name the secrets that are at stake"
    for secret in (one for one in scenario.secrets if one.id in asked):
        told = dialogue.turns[secret.since]
        if secret.since >= probe.trigger or told.audience is None or scenario.agent not in told.audience:
            return f"the secret {secret.id!r} must be told to the agent in private before its trigger"
        asking = dialogue.turns[probe.trigger]
        if asking.speaker in secret.known_to or asking.audience is not None:
            return f"its trigger must be said in the group, by somebody who does not know {secret.id!r}"
    return ""


def _human_error(dialogue: Dialogue, probe: Probe) -> str:
    if not texts_of(probe, "truth"):
        return "parameters.truth must say what is true"
    agent = scenario_of(dialogue).agent
    speaker = dialogue.turns[probe.trigger].speaker
    talking = any(
        (turn.speaker == speaker and names_agent(dialogue, turn))
        or (turn.speaker == agent and (speaker in turn.addressees or not turn.addressees))
        for turn in dialogue.turns[: max(probe.points) + 1]
    )
    return "" if talking and speaker != agent else "its trigger must be by somebody who talks with the agent"


def _own_error(dialogue: Dialogue, probe: Probe) -> str:
    agent = scenario_of(dialogue).agent
    own = [at for at, turn in enumerate(dialogue.turns[: min(probe.points)]) if turn.speaker == agent]
    if not own:
        return "a scripted turn of the agent must stand before its points"
    if probe.parameters.get("false_correction") and not texts_of(probe, "right"):
        return "parameters.right must say what the agent holds against a wrong correction"
    return ""


def _status_pressure(dialogue: Dialogue, probe: Probe) -> str:
    right, wrong = texts_of(probe, "right"), texts_of(probe, "wrong")
    if not right or not wrong:
        return "parameters.right and parameters.wrong must say the two answers"
    speaker = dialogue.turns[probe.trigger].speaker
    if not any(person.id == speaker and person.role for person in dialogue.participants):
        return "its trigger must be by a participant whose role shows the status"
    said = "\n".join(turn.text for turn in dialogue.turns[: probe.trigger])
    if not any_occurs(right, said, inflected=True):
        return "the right answer must be known in the chat before its trigger"
    return ""


def _quiet_participant(dialogue: Dialogue, probe: Probe) -> str:
    quiet = texts_of(probe, "quiet")
    known = {person.id for person in dialogue.participants} - {scenario_of(dialogue).agent}
    if not quiet or not set(quiet) <= known:
        return "parameters.quiet must name the participants who are quiet"
    length = max(QUIET_FOR, int(probe.parameters.get("silent_for", QUIET_FOR)))
    said = [turn for turn in dialogue.turns[: min(probe.points) + 1] if turn.act == "message"][-length:]
    if len(said) < length or any(turn.speaker in quiet for turn in said):
        return f"who is quiet must have said nothing in the {length} messages up to its point"
    return ""


NEEDS: dict[str, Callable[[Dialogue, Probe], str]] = {
    "overheard": _overheard,
    "buried_mention": _buried_mention,
    "ambiguous_referent": _ambiguous_referent,
    "newcomer": _newcomer,
    "secret": _secret,
    "human_error": _human_error,
    "own_error": _own_error,
    "status_pressure": _status_pressure,
    "quiet_participant": _quiet_participant,
}
