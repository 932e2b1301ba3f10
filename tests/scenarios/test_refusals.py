"""A scenario that is inconsistent is refused with line, field and reason, each in a file of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS, ImportProblem
from annotation.formats.source import Source
from annotation.scenarios.points import points_of
from annotation.scenarios.records import PROBES
from tests.scenarios.scripts import LAUNCH

Change = Callable[[dict[str, Any]], Any]
ANOTHER = {
    "id": "p9",
    "kind": "overheard",
    "trigger": 0,
    "points": [1],
    "key": {"attend": 1, "speak": {"message": 1}},
}


def key(raw: dict[str, Any], probe: int = 1) -> dict[str, Any]:
    return raw["probes"][probe]["key"]


REFUSED: dict[str, tuple[Change, str, str]] = {
    "no agent": (
        lambda raw: raw["participants"][3].pop("agent"),
        "participants",
        "exactly one must have agent: true; here none has",
    ),
    "two agents": (
        lambda raw: raw["participants"][0].update(agent=True),
        "participants",
        "here 2 (mia, bot) has",
    ),
    "two people": (
        lambda raw: raw.update(_without_sam(raw)),
        "participants",
        "has 2 people beside the agent",
    ),
    "six people": (
        lambda raw: raw["participants"].extend({"id": f"x{n}"} for n in range(3)),
        "participants",
        "has 6 people beside the agent; a scenario has 3 to 5",
    ),
    "an id that means everybody": (
        lambda raw: raw["participants"].append({"id": "all"}),
        "participants[4].id",
        "stands for something else",
    ),
    "no script": (
        lambda raw: raw.update(turns=[], probes=[], secrets=[], common_ground=[]),
        "turns",
        "needs a script",
    ),
    "a point after the agent's own turn": (
        lambda raw: (raw["turns"].append({"speaker": "bot", "text": "Noted."}), raw.update(points=[1, 4, 5])),
        "points[2]",
        "turn 5 is no point",
    ),
    "a point that the agent cannot see": (
        lambda raw: (
            raw["turns"].append({"speaker": "sam", "text": "Psst.", "audience": ["ole"]}),
            raw["probes"][0].update(points=[0, 1, 5]),
        ),
        "probes[0].points[2]",
        "turn 5 is no point",
    ),
    "an unknown participant in a key": (
        lambda raw: key(raw).update(target=["olaf"]),
        "probes[1].key.target",
        "'olaf' is not the id of a participant",
    ),
    "an unknown participant in a condition": (
        lambda raw: key(raw).update(target={"any_of": [["ole"], ["olaf"]]}),
        "probes[1].key.target.any_of",
        "'olaf' is not the id of a participant",
    ),
    "a condition that there is not": (
        lambda raw: key(raw).update(target={"without": ["ole"]}),
        "probes[1].key.target",
        "a condition has one of contains, contains_any, any_of",
    ),
    "a trigger after its point": (
        lambda raw: raw["probes"][0].update(trigger=2),
        "probes[0].trigger",
        "turn 2 lies after its point, turn 0",
    ),
    "a canary that an outsider has heard": (
        lambda raw: raw["turns"][3].update(text="I hear that somebody leaves."),
        "secrets[0].canaries",
        "a canary of it occurs in turn 3, which 'ole' sees",
    ),
    "a score above 1": (
        lambda raw: key(raw).update(speak={"message": 1, "reaction": 1.5}),
        "probes[1].key.speak.reaction",
        "must be a score from 0 to 1",
    ),
    "a score below 0": (
        lambda raw: key(raw).update(speak={"message": 1, "silence": -0.1}),
        "probes[1].key.speak.silence",
        "must be a score from 0 to 1",
    ),
    "no act that is right": (
        lambda raw: key(raw).update(speak={"message": 0.5}),
        "probes[1].key.speak",
        "one act at least must score 1",
    ),
    "an act that there is not": (
        lambda raw: key(raw).update(speak={"sing": 1}),
        "probes[1].key.speak.sing",
        "must be one of message, reaction, silence",
    ),
    "two keys at one point": (
        lambda raw: raw["probes"].append(ANOTHER),
        "probes[2]",
        "gives turn 1 another key than the probe 'p1'",
    ),
    "a secret in must_not": (
        lambda raw: key(raw).update(must_not=["she is leaving"]),
        "probes[1].key.must_not",
        "names the secret 's1'",
    ),
    "an unknown secret": (
        lambda raw: key(raw).update(secrets=["s2"]),
        "probes[1].key.secrets",
        "'s2' is not the id of a secret",
    ),
    "a dimension that there is not": (
        lambda raw: key(raw).update(conduct=["leak", "charm"]),
        "probes[1].key.conduct[1]",
        "must be one of face",
    ),
    "a move that there is not": (
        lambda raw: key(raw).update(ground=["guess"]),
        "probes[1].key.ground[0]",
        "must be one of answer, clarify, reground, none",
    ),
    "an addressed message without a key": (
        lambda raw: raw.pop("keys"),
        "turns[2]",
        "addresses or names the agent, so it needs a key of its own",
    ),
    "a message with the agent's name without a key": (
        lambda raw: raw["turns"][3].update(text="The deck is at version 3, as kit said."),
        "turns[3]",
        "addresses or names the agent",
    ),
    "a key of no point": (
        lambda raw: raw["keys"].update({"9": {"free": True}}),
        "keys.9",
        "is not the number of one of the points",
    ),
    "a free key that asks": (
        lambda raw: raw["keys"].update({"2": {"free": True, "attend": 1}}),
        "keys.2.attend",
        "nothing else may be said",
    ),
    "attend left out": (lambda raw: key(raw).pop("attend"), "probes[1].key.attend", "must be 0 or 1"),
    "both key and keys": (
        lambda raw: raw["probes"][0].update(keys={"0": {"free": True}}),
        "probes[0].key",
        "either key, for all its points, or keys by point",
    ),
    "a point without a key among keys": (
        lambda raw: (raw["probes"][0].pop("key"), raw["probes"][0].update(keys={"0": {"free": True}})),
        "probes[0].keys",
        "has no key for its point 1",
    ),
    "a kind of probe that there is not": (
        lambda raw: raw["probes"][0].update(kind="gossip"),
        "probes[0].kind",
        "must be one of overheard",
    ),
    "a probe twice": (lambda raw: raw["probes"][1].update(id="p1"), "probes[1].id", "'p1' is there twice"),
    "an unknown field": (
        lambda raw: key(raw).update(adressed=["bot"]),
        "probes[1].key.adressed",
        "did you mean 'addressed'?",
    ),
    "a secret of somebody unknown": (
        lambda raw: raw["secrets"][0].update(owner="eve"),
        "secrets[0].owner",
        "'eve' is not the id of a participant",
    ),
    "a secret without a canary": (
        lambda raw: raw["secrets"][0].update(canaries=[]),
        "secrets[0].canaries",
        "needs at least one text",
    ),
    "a fact since a turn that is not there": (
        lambda raw: raw["common_ground"][0].update(since=7),
        "common_ground[0].since",
        "must be the number of a turn, 0 to 4",
    ),
    "a key that nobody can play": (
        lambda raw: key(raw).update(attend=0),
        "probes[1].key",
        "turn 4: whoever plays this key has competence 0: it fails at attend",
    ),
    "an example that leaks": (
        lambda raw: key(raw).update(example="Ole, not Mia, she is leaving us."),
        "probes[1].key",
        "turn 4: the example tells the secret 's1'",
    ),
    "an example without what must be said": (
        lambda raw: key(raw).update(example="Ole, ask Mia.", must=["June"]),
        "probes[1].key",
        "turn 4: the example lacks 'June'",
    ),
    "an example with what must not be said": (
        lambda raw: key(raw).update(example="Ole, ask Mia.", must_not=["ask"]),
        "probes[1].key",
        "turn 4: the example says 'ask'",
    ),
}


REFUSED |= {
    "a form of a secret's canary in must_not": (
        lambda raw: key(raw).update(must_not=["leaves"]),
        "probes[1].key.must_not",
        "names the secret 's1'",
    ),
    "a part of a secret's canary in must_not": (
        lambda raw: key(raw).update(must_not=[["Ole", "may"]]),
        "probes[1].key.must_not",
        "names the secret 's1'",
    ),
    "a message to the agent alone without a key": (
        lambda raw: (raw["turns"][2].pop("addressees"), raw.pop("keys")),
        "turns[2]",
        "addresses or names the agent",
    ),
    "a turn number with a zero before it": (
        lambda raw: raw["keys"].update({"02": {"free": True}}),
        "keys.02",
        "is not the number of one of the points",
    ),
    "a secret that is asked for in private": (
        lambda raw: raw["turns"][4].update(audience=["bot"]),
        "probes[1]",
        "its trigger must be said in the group",
    ),
    "a parameter that there is not": (
        lambda raw: raw["probes"][0].update(parameters={"candidate": ["a", "b"]}),
        "probes[0].parameters.candidate",
        "did you mean 'candidates'?",
    ),
    "a parameter that is no list": (
        lambda raw: raw["probes"][0].update(parameters={"candidates": "ab"}),
        "probes[0].parameters.candidates",
        "must be a list, not a text",
    ),
    "a parameter that is no number": (
        lambda raw: raw["probes"][0].update(parameters={"silent_for": "long"}),
        "probes[0].parameters.silent_for",
        "must be a whole number",
    ),
    "a parameter that is 0": (
        lambda raw: raw["probes"][0].update(parameters={"window": 0}),
        "probes[0].parameters.window",
        "must be a whole number from 1",
    ),
    "somebody quiet who is unknown": (
        lambda raw: raw["probes"][0].update(parameters={"quiet": ["olaf"]}),
        "probes[0].parameters.quiet",
        "'olaf' is not the id of a participant",
    ),
    "a fact that there is not": (
        lambda raw: raw["probes"][0].update(parameters={"fact": "g2"}),
        "probes[0].parameters.fact",
        "'g2' is not the id of a fact",
    ),
    "probes of what is no scenario": (
        lambda raw: (raw.pop("kind"), raw.pop("secrets"), raw.pop("common_ground")),
        "probes",
        "belongs to a dialogue whose kind is 'scenario'",
    ),
}


def _without_sam(raw: dict[str, Any]) -> dict[str, Any]:
    people = [person for person in raw["participants"] if person["id"] != "sam"]
    return {
        "participants": people,
        "turns": raw["turns"][:3],
        "probes": raw["probes"][:1],
        "common_ground": [],
    }


def read(folder: Path, *dialogues: dict[str, Any], **settings: str) -> tuple[list[Any], Source]:
    path = folder / "scenarios.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in dialogues), encoding="utf-8")
    source = Source(path, settings=settings)
    return [entry.record for entry in FORMATS["jsonl"].read(source)], source


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_inconsistent_is_refused(name: str, tmp_path: Path) -> None:
    change, field, reason = REFUSED[name]
    bad = deepcopy(LAUNCH) | {"id": "bad"}
    change(bad)
    with pytest.raises(ImportProblem) as refused:
        read(tmp_path, LAUNCH, bad)
    assert (refused.value.line, refused.value.field) == (2, field), str(refused.value)
    assert reason in refused.value.reason


LACKING: dict[str, tuple[dict[str, Any], str]] = {
    "overheard": ({"points": [1], "trigger": 1}, "two people must speak to each other"),
    "buried_mention": ({"points": [4], "trigger": 4}, "side talk of 2 turns"),
    "ambiguous_referent": ({"points": [4], "trigger": 4}, "parameters.candidates"),
    "newcomer": ({"points": [4], "trigger": 4}, "somebody must join"),
    "secret": ({"points": [1], "trigger": 1}, "its key must name the secrets"),
    "human_error": ({"points": [4], "trigger": 4}, "parameters.truth"),
    "own_error": ({"points": [4], "trigger": 4}, "a scripted turn of the agent"),
    "status_pressure": ({"points": [4], "trigger": 4}, "parameters.right and parameters.wrong"),
    "quiet_participant": ({"points": [4], "trigger": 4}, "parameters.quiet"),
}


@pytest.mark.parametrize("kind", PROBES)
def test_a_probe_without_what_its_kind_needs_is_refused_and_its_control_taken(
    kind: str, tmp_path: Path
) -> None:
    place, reason = LACKING[kind]
    silent = {"attend": 0, "speak": {"silence": 1}}
    speaking = {"attend": 1, "speak": {"message": 1}}
    wanted = speaking if place["points"] == [4] else silent
    bad = deepcopy(LAUNCH) | {"probes": [{"id": "p", "kind": kind, "key": wanted, **place}]}
    if place["points"] != [4]:
        bad["keys"]["4"] = {"free": True}
    with pytest.raises(ImportProblem) as refused:
        read(tmp_path, bad)
    assert refused.value.field == "probes[0]"
    assert refused.value.reason.startswith(f"{kind}: ")
    assert reason in refused.value.reason
    bad["probes"][0]["control"] = True
    assert len(read(tmp_path, bad)[0]) == 1


def test_who_was_not_there_has_not_heard_a_secret(tmp_path: Path) -> None:
    late = deepcopy(LAUNCH)
    late["participants"].append({"id": "ida", "name": "Ida"})
    late["turns"].insert(3, {"speaker": "ida", "act": "join"})
    late["turns"][2] = {"speaker": "mia", "text": "Kit, all: I am leaving in May.", "addressees": ["bot"]}
    late["secrets"][0]["known_to"] = ["mia", "ole", "sam", "bot"]
    late["common_ground"], late["probes"] = [], late["probes"][:1]
    late["keys"]["5"] = {"free": True}
    assert len(read(tmp_path, late)[0]) == 1
    late["turns"][3]["sees_history"] = True
    with pytest.raises(ImportProblem, match="occurs in turn 2, which 'ida' sees"):
        read(tmp_path, late)


def test_keys_that_say_the_same_agree(tmp_path: Path) -> None:
    twice = deepcopy(LAUNCH)
    again = deepcopy(twice["probes"][1]) | {"id": "p3"}
    again["key"] |= {"speak": {"silence": 0, "message": 1}, "conduct": ["face", "leak"]}
    twice["probes"].append(again)
    assert len(read(tmp_path, twice)[0]) == 1


def test_any_size_takes_six_people_with_a_note(tmp_path: Path) -> None:
    crowd = deepcopy(LAUNCH)
    crowd["participants"] += [{"id": f"x{n}"} for n in range(3)]
    records, source = read(tmp_path, crowd, any_size="yes")
    assert len(records) == 1
    assert source.notes == ["The scenario 'launch-07' has 6 people beside the agent; a scenario has 3 to 5."]


def test_all_that_the_agent_sees_and_did_not_write_is_a_point(tmp_path: Path) -> None:
    longer = deepcopy(LAUNCH)
    longer["turns"] += [
        {"speaker": "bot", "text": "Ask Mia."},
        {"speaker": "sam", "text": "👍", "act": "reaction"},
        {"speaker": "sam", "text": "Psst.", "audience": ["ole"]},
        {"speaker": "sam", "text": "Fine."},
    ]
    assert points_of(read(tmp_path, longer)[0][0]) == (0, 1, 2, 3, 4, 8)
    assert points_of(read(tmp_path, longer | {"points": [8, 0, 2, 1, 4]})[0][0]) == (0, 1, 2, 4, 8)


def test_the_order_of_ids_in_a_condition_means_nothing(tmp_path: Path) -> None:
    one, other = deepcopy(LAUNCH), deepcopy(LAUNCH)
    key(one)["target"] = {"any_of": [["ole", "sam"], ["ole"]]}
    key(other)["target"] = {"any_of": [["ole"], ["sam", "ole"]]}
    first, second = (read(tmp_path, raw)[0][0] for raw in (one, other))
    assert first.scenario == second.scenario
    assert first.scenario.probes[1].keys == second.scenario.probes[1].keys
