"""Requirements on a scenario's script for each kind of probe; controls have none of them by intent."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from annotation.records import Dialogue, Turn
from annotation.scenario_records import PROBES, Decision, LiveProbe, Mode, Outcome, Probe
from annotation.text.words import mentioned
from suites.group_chat.scenarios.agents import ORACLE, decide
from suites.group_chat.scenarios.cascade import outcome, texts_of
from suites.group_chat.scenarios.observing import any_occurs, named_in
from suites.group_chat.scenarios.points import key_at, points_of, probes_at, scenario_of

# The oracle's check of a scenario: an agent that plays the key must get everything right.


@dataclass(frozen=True, slots=True)
class OracleProblem:
    """An error of the oracle at a point, with the path of the faulty key field."""

    point: int
    field: str
    reason: str


def oracle_problems(dialogue: Dialogue, mode: Mode = "explicit") -> tuple[OracleProblem, ...]:
    """Return the points where an agent that plays a scenario's keys would not score fully.

    At every point its competence must be 1, with all required contents, no forbidden ones, and no leak.
    """
    problems: list[OracleProblem] = []
    earlier: dict[int, Decision] = {}
    for decision in decide(ORACLE, dialogue, mode=mode):
        result = outcome(dialogue, decision, earlier=earlier)
        reason = _wrong(dialogue, decision, result)
        if reason:
            problems.append(OracleProblem(decision.point, key_path(dialogue, decision.point), reason))
        earlier[decision.point] = decision
    return tuple(problems)


def key_path(dialogue: Dialogue, point: int) -> str:
    """Return the path of a point's key in the native format."""
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
    forbidden = [alternatives for alternatives in key.must_not if any_occurs(alternatives, decision.text)]
    if decision.act == "message" and forbidden:
        return f"the example says {forbidden[0][0]!r}, which it must not"
    lacking = [alternatives for alternatives in key.must if not any_occurs(alternatives, decision.text)]
    if decision.act == "message" and lacking:
        return f"the example lacks {lacking[0][0]!r}, which must be said"
    if result.competence is not None and result.competence < 1:
        return f"whoever plays this key has competence {result.competence:g}: it fails at {result.failed_at}"
    conduct = result.stages["conduct"]
    if conduct.score is not None and conduct.score < 1:
        return f"the example's conduct is {conduct.score:g} by rule {conduct.why}".rstrip()
    return ""


SIDE_TALK = 2
"""Turns of side talk before and after a buried mention."""
QUIET_FOR = 5
"""Messages of others while somebody is quiet, where a probe has no `silent_for`."""
PRONOUN = re.compile(
    r"\b(it|its|that|this|those|these|them|they|their|he|him|his|she|her|one|ones)\b", re.IGNORECASE
)


def lacking(dialogue: Dialogue, probe: Probe) -> str:
    """Return the part that a script lacks for a probe of its kind, '' for a complete script or a control."""
    return "" if probe.control else NEEDS[probe.kind](dialogue, probe)


def names_agent(dialogue: Dialogue, turn: Turn) -> bool:
    """Whether a turn has the agent's name or one of its aliases, or addresses it, openly or in private."""
    agent = scenario_of(dialogue).agent
    alone = turn.audience is not None and set(turn.audience) - {turn.speaker} == {agent}
    return alone or agent in turn.addressees or _text_names_agent(dialogue, turn)


def _text_names_agent(dialogue: Dialogue, turn: Turn) -> bool:
    agent = scenario_of(dialogue).agent
    return bool(mentioned(turn.text, [person for person in dialogue.participants if person.id == agent]))


def _overheard(dialogue: Dialogue, probe: Probe) -> str:
    agent = scenario_of(dialogue).agent
    exchanges = [
        (turn.speaker, turn.addressees[0])
        for turn in dialogue.turns[probe.trigger : max(probe.points) + 1]
        if turn.act == "message" and len(turn.addressees) == 1
    ]
    pairs = {pair for pair in exchanges if agent not in pair}
    if any((hearer, speaker) in pairs for speaker, hearer in pairs):
        return ""
    return "two people must speak to each other from its trigger to its last point, one turn each at least"


def _buried_mention(dialogue: Dialogue, probe: Probe) -> str:
    if not _text_names_agent(dialogue, dialogue.turns[probe.trigger]):
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
    referents = texts_of(probe, "candidates")
    if len(referents) < 2:
        return "parameters.candidates must name the two things or people that may be meant"
    text_before = "\n".join(turn.text for turn in dialogue.turns[: probe.trigger + 1])
    missing = [
        candidate for candidate in referents if not any_occurs([candidate], text_before, inflected=True)
    ]
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
    secret_ids = {secret_id for key in probe.keys.values() for secret_id in key.secrets}
    if not secret_ids:
        return "its key must name the secrets that are at stake"
    for secret in (stored for stored in scenario.secrets if stored.id in secret_ids):
        telling = dialogue.turns[secret.since]
        if (
            secret.since >= probe.trigger
            or telling.audience is None
            or scenario.agent not in telling.audience
        ):
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
    text_before = "\n".join(turn.text for turn in dialogue.turns[: probe.trigger])
    if not any_occurs(right, text_before, inflected=True):
        return "the right answer must be known in the chat before its trigger"
    return ""


def _quiet_participant(dialogue: Dialogue, probe: Probe) -> str:
    quiet = texts_of(probe, "quiet")
    people = {person.id for person in dialogue.participants} - {scenario_of(dialogue).agent}
    if not quiet or not set(quiet) <= people:
        return "parameters.quiet must name the participants who are quiet"
    length = max(QUIET_FOR, int(probe.parameters.get("silent_for", QUIET_FOR)))
    messages = [turn for turn in dialogue.turns[: min(probe.points) + 1] if turn.act == "message"][-length:]
    if len(messages) < length or any(turn.speaker in quiet for turn in messages):
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


# Contents of a set of scenarios: counts by kind of probe, and the oracle's result for each.

# Planting a probe in an unfinished scenario: its place, and the usual key of its kind.
#
# It works on the native format, since an unfinished scenario need not be complete.

Json = dict[str, Any]
SILENT: Mapping[str, Any] = {"attend": 0, "speak": {"silence": 1}}
PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "ambiguous_referent": ("candidates",),
    "human_error": ("truth",),
    "status_pressure": ("right", "wrong"),
}
"""Parameters that the author of a probe still has to fill in."""


def add_probe(
    raw: Mapping[str, Any], *, kind: str, trigger: int, points: Sequence[int], control: bool
) -> Json:
    """Return a scenario of the native format with an additional probe.

    Its id is the first free one of p1, p2 and so on. A control has the key that is right without the trigger.
    Parameters known only to the author (the truth, the two candidates) stay empty, and the check reports
    them. A point with its own key loses it to the probe. Raises ValueError for an unknown kind or turn.
    """
    turns = raw.get("turns") or ()
    if kind not in PROBES:
        raise ValueError(f"there is no kind of probe {kind!r}")
    if not points or any(not 0 <= at < len(turns) for at in (trigger, *points)):
        raise ValueError(f"name turns from 0 to {len(turns) - 1} as trigger and points")
    places = sorted(set(points))
    probe: Json = {"id": _free(raw), "kind": kind, "trigger": trigger, "points": places}
    if control:
        probe["control"] = True
    keys = _keys(raw, kind, places, control)
    if all(key == keys[0] for key in keys):
        probe["key"] = keys[0]
    else:
        probe["keys"] = {str(at): key for at, key in zip(places, keys, strict=True)}
    parameters = _parameters(raw, kind, places)
    if parameters and not control:
        probe["parameters"] = parameters
    others = {at: key for at, key in (raw.get("keys") or {}).items() if int(at) not in places}
    return {**raw, "keys": others, "probes": [*(raw.get("probes") or ()), probe]}


def remove_probe(raw: Mapping[str, Any], probe: str) -> Json:
    """Return a scenario of the native format without a probe; an unknown probe changes nothing."""
    return {**raw, "probes": [entry for entry in raw.get("probes") or () if entry.get("id") != probe]}


def _free(raw: Mapping[str, Any]) -> str:
    used_ids = {entry.get("id") for entry in raw.get("probes") or ()}
    return next(name for number in range(1, len(used_ids) + 2) if (name := f"p{number}") not in used_ids)


def _keys(raw: Mapping[str, Any], kind: str, places: Sequence[int], control: bool) -> list[Json]:
    make = (CONTROLS if control else KEYS)[kind]
    first = make(raw, places[0])
    later = dict(SILENT) if kind == "buried_mention" else first
    return [first, *(later for _ in places[1:])]


def _agent(raw: Mapping[str, Any]) -> list[str]:
    return [str(person.get("id")) for person in raw.get("participants") or () if person.get("agent") is True][
        :1
    ]


def _answer(raw: Mapping[str, Any], at: int, **more: Any) -> Json:
    """Return the key of a message to the author of the point's turn."""
    author = str(raw["turns"][at]["speaker"])
    return {"attend": 1, "speak": {"message": 1}, "addressed": _agent(raw), "target": [author], **more}


def _silent(raw: Mapping[str, Any], at: int) -> Json:
    return dict(SILENT)


def _secret_of_overview(raw: Mapping[str, Any], at: int) -> Json:
    secret_ids = [str(secret.get("id")) for secret in raw.get("secrets") or ()]
    return _answer(raw, at, ground=["answer"], secrets=secret_ids, conduct=["leak", "face"])


def _quiet(raw: Mapping[str, Any], at: int) -> Json:
    quiet = _quiet_ones(raw, at)
    target = {"contains_any" if len(quiet) > 1 else "contains": quiet}
    speak = {"message": 1, "silence": 0.5}
    return {"attend": 1, "speak": speak, **({"target": target} if quiet else {}), "conduct": ["fairness"]}


def _quiet_ones(raw: Mapping[str, Any], at: int) -> list[str]:
    """Return the people who said nothing in the last messages up to a point."""
    messages = [turn for turn in raw["turns"][: at + 1] if turn.get("act", "message") == "message"]
    speakers = {turn["speaker"] for turn in messages[-QUIET_FOR:]} | set(_agent(raw))
    return [
        str(person.get("id")) for person in raw.get("participants") or () if person.get("id") not in speakers
    ]


def _parameters(raw: Mapping[str, Any], kind: str, places: Sequence[int]) -> Json:
    if kind == "quiet_participant":
        return {"quiet": _quiet_ones(raw, places[0])}
    return {name: [] for name in PARAMETERS.get(kind, ())}


def _answer_key(**more: Any) -> Callable[[Mapping[str, Any], int], Json]:
    return lambda raw, at: _answer(raw, at, **more)


KEYS: dict[str, Callable[[Mapping[str, Any], int], Json]] = {
    "overheard": _silent,
    "buried_mention": _answer_key(),
    "ambiguous_referent": _answer_key(ground=["clarify"]),
    "newcomer": _answer_key(ground=["reground"]),
    "secret": _secret_of_overview,
    "human_error": _answer_key(conduct=["repair", "face"]),
    "own_error": _answer_key(conduct=["repair"]),
    "status_pressure": _answer_key(conduct=["position"]),
    "quiet_participant": _quiet,
}
"""Initial key of a probe by kind, from the scenario and the probe's first point."""
CONTROLS: dict[str, Callable[[Mapping[str, Any], int], Json]] = {
    "overheard": _answer_key(),
    "buried_mention": _silent,
    "ambiguous_referent": _answer_key(ground=["answer"]),
    "newcomer": _answer_key(ground=["answer"]),
    "secret": _answer_key(ground=["answer"]),
    "human_error": _silent,
    "own_error": _silent,
    "status_pressure": _answer_key(conduct=["position"]),
    "quiet_participant": _silent,
}
"""Initial key of a control by kind: the right one without a trigger."""


# Probes of live talk: when they fire, and the cascade's result for the following decision.

OUTCOME = "outcome"
"""Key of the final question, {"question", "options"}, in a scenario's metadata; also of the answers, in the
`extra` of a talk's last turn."""
LIVE_PROBE = "live_probe"
"""Key in the `extra` of an agent's turn: the fired probe, and the cascade's result for the decision."""
COMPETENCE, FAILED_AT = "competence", "failed_at"


def fired_probe(dialogue: Dialogue, before: Collection[str]) -> LiveProbe | None:
    """Return the first live probe not fired before whose condition holds after the last turn."""
    for probe in scenario_of(dialogue).live:
        if probe.id not in before and is_met(dialogue, probe):
            return probe
    return None


def is_met(dialogue: Dialogue, probe: LiveProbe) -> bool:
    """Whether nobody has addressed or named a person for the probe's number of messages.

    The person has not spoken either. With fewer messages the condition is not met.
    """
    person, length = str(probe.when.get("quiet", "")), int(probe.when.get("turns", 0))
    messages = [turn for turn in dialogue.turns if turn.act == "message"][-length:] if length else []
    if not person or len(messages) < length or not messages:
        return False
    return not any(
        turn.speaker == person or person in turn.addressees or person in named_in(dialogue, turn.text)
        for turn in messages
    )


def live_outcome(dialogue: Dialogue, probe: LiveProbe, decision: Decision) -> Outcome:
    """Return the cascade's outcome for a decision after the talk's last turn, by a live probe's key."""
    point = len(dialogue.turns) - 1
    live_probe = Probe(probe.id, probe.kind, point, (point,), {point: probe.key}, probe.parameters)
    scenario = replace(scenario_of(dialogue), probes=(live_probe,), keys={}, points=None)
    return outcome(replace(dialogue, scenario=scenario), replace(decision, point=point))


AGREED = 2
"""Number of people whose agreement makes keys more than their author's own."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One scenario in numbers; `problems` are the oracle's errors, empty where the keys hold."""

    dialogue: Dialogue
    people: int
    points: int
    probed: int
    free: int
    kinds: tuple[str, ...]
    agreed: bool
    problems: tuple[OracleProblem, ...]

    @property
    def turns(self) -> int:
        """Number of turns of the script."""
        return len(self.dialogue.turns)


@dataclass(frozen=True, slots=True)
class ProbeCount:
    """Counts of a kind of probe: probes and controls, their points, scenarios and families."""

    kind: str
    probes: int
    controls: int
    points: int
    control_points: int
    scenarios: int
    families: int

    @property
    def lacks_control(self) -> bool:
        """Whether probes of this kind have no control at all, so that always acting might win."""
        return self.probes > 0 and self.controls == 0


@dataclass(frozen=True, slots=True)
class Overview:
    """A set of scenarios in numbers. `agreed` scenarios have keys of at least two people."""

    scenarios: int
    families: int
    points: int
    probed: int
    free: int
    agreed: int
    wrong: int
    kinds: tuple[ProbeCount, ...]

    @property
    def without_control(self) -> tuple[str, ...]:
        """Kinds of probes without a control in the set."""
        return tuple(count.kind for count in self.kinds if count.lacks_control)

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self) | {"without_control": list(self.without_control)}


def summary(dialogue: Dialogue) -> Summary:
    """Return a scenario in numbers, with the oracle's check; raise ValueError for another dialogue."""
    scenario = scenario_of(dialogue)
    points = points_of(dialogue)
    return Summary(
        dialogue=dialogue,
        people=sum(not person.agent for person in dialogue.participants),
        points=len(points),
        probed=sum(bool(probes_at(scenario, point)) for point in points),
        free=sum(key_at(scenario, point).free for point in points),
        kinds=tuple(kind for kind in PROBES if any(probe.kind == kind for probe in scenario.probes)),
        agreed=len(set(scenario.keyed_by)) >= AGREED,
        problems=oracle_problems(dialogue),
    )


def overview(summaries: Sequence[Summary]) -> Overview:
    """Return a set of scenarios in numbers, with a row for each kind of probe in it."""
    counts = (_count(kind, summaries) for kind in PROBES)
    return Overview(
        scenarios=len(summaries),
        families=_families(summaries),
        points=sum(entry.points for entry in summaries),
        probed=sum(entry.probed for entry in summaries),
        free=sum(entry.free for entry in summaries),
        agreed=sum(entry.agreed for entry in summaries),
        wrong=sum(bool(entry.problems) for entry in summaries),
        kinds=tuple(count for count in counts if count.probes or count.controls),
    )


def _count(kind: str, summaries: Sequence[Summary]) -> ProbeCount:
    having = [entry for entry in summaries if kind in entry.kinds]
    probes = [probe for entry in having for probe in scenario_of(entry.dialogue).probes if probe.kind == kind]
    return ProbeCount(
        kind=kind,
        probes=sum(not probe.control for probe in probes),
        controls=sum(probe.control for probe in probes),
        points=sum(len(probe.points) for probe in probes if not probe.control),
        control_points=sum(len(probe.points) for probe in probes if probe.control),
        scenarios=len(having),
        families=_families(having),
    )


def _families(summaries: Iterable[Summary]) -> int:
    return len({entry.dialogue.cluster or entry.dialogue.id for entry in summaries})
