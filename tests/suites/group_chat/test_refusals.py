"""An inconsistent scenario is refused with line, field and reason, one file per case."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS, ImportProblem
from annotation.formats.source import Source
from annotation.scenario_records import PROBES
from suites.group_chat.scenarios.points import points_of
from tests.suites.group_chat.refused import REFUSED, key
from tests.suites.group_chat.scripts import LAUNCH


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
