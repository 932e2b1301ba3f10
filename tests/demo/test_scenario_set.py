"""The public scenario set: Concord reads it, the oracle plays it, and every probe has a control."""

from __future__ import annotations

from collections import Counter

import pytest

from annotation.formats import Source, jsonl
from annotation.scenario_records import MODES, PROBES
from annotation.text.words import mentioned
from demo import build, scenarios
from suites.group_chat.scenarios.agents import AGENTS, ALWAYS_SILENT, ALWAYS_SPEAK, decide
from suites.group_chat.scenarios.cascade import outcome
from suites.group_chat.scenarios.observing import named_in
from suites.group_chat.scenarios.points import key_at, points_of, probes_at, scenario_of
from suites.group_chat.scenarios.probes import oracle_problems

SETTINGS = {"workplace", "friends", "council", "study group"}
INSTANCES = 4
"""So many probes of each kind, and so many controls, are in the set at least."""
VARIANTS = {"base", "renamed", "reworded", "reordered", "control"}


@pytest.fixture(scope="module")
def source() -> Source:
    return Source(build.CORPORA / f"{scenarios.SET}.jsonl")


@pytest.fixture(scope="module")
def dialogues(source):
    return [entry.record for entry in jsonl.read(source)]


def test_every_scenario_is_read_without_a_fault_or_a_warning(source, dialogues) -> None:
    written = [one["id"] for family in scenarios.families() for one in family.scenarios]
    assert [dialogue.id for dialogue in dialogues] == written
    assert source.notes == []


def test_families_have_a_base_a_variant_and_a_control() -> None:
    for family in scenarios.families():
        assert family.setting in SETTINGS
        assert family.part in scenarios.PARTS
        assert len(family.scenarios) >= 3, family.id
        told = Counter(one["metadata"]["variant"] for one in family.scenarios)
        assert set(told) <= VARIANTS
        assert told["base"] == 1, family.id
        assert told["control"] >= 1, family.id
        assert set(told) & {"renamed", "reworded", "reordered"}, family.id
        ids = [one["id"] for one in family.scenarios]
        for one in family.scenarios:
            assert one["id"].startswith(f"{family.id}-")
            assert (one["metadata"]["variant"] == "base") != (one["metadata"].get("of") in ids), one["id"]


def test_a_renamed_scenario_names_nobody_of_its_base() -> None:
    for family in scenarios.families():
        by_id = {one["id"]: one for one in family.scenarios}
        for one in family.scenarios:
            if one["metadata"]["variant"] == "renamed":
                base = by_id[one["metadata"]["of"]]
                old = [person["name"] for person in base["participants"] if not person.get("agent")]
                told = " ".join(word.strip(".,:;!?'\"") for word in str(one).split()).split()
                assert not set(old) & set(told), one["id"]


@pytest.mark.exhaustive
def test_both_parts_hold_families_of_every_setting() -> None:
    places = Counter((family.setting, family.part) for family in scenarios.families())
    assert {part for _, part in places} == set(scenarios.PARTS)
    by_part = Counter(family.part for family in scenarios.families())
    assert by_part["dev"] == by_part["test"]


@pytest.mark.exhaustive
def test_every_kind_of_probe_has_instances_and_controls_in_more_than_one_family() -> None:
    counted = scenarios.counts()
    assert set(counted["probes"]) == set(counted["controls"]) == set(PROBES)
    spread = Counter(
        kind
        for family in scenarios.families()
        for kind in {probe["kind"] for one in family.scenarios for probe in one.get("probes", ())}
    )
    assert min(spread.values()) >= 2
    assert min(*counted["probes"].values(), *counted["controls"].values()) >= INSTANCES


def test_the_set_is_as_large_as_it_is_said_to_be() -> None:
    families = scenarios.families()
    assert len(families) >= 12
    assert sum(len(family.scenarios) for family in families) >= 36


def test_people_turns_and_names_are_those_of_a_chat(dialogues) -> None:
    for dialogue in dialogues:
        people = [person for person in dialogue.participants if not person.agent]
        assert 3 <= len(people) <= 5, dialogue.id
        assert 8 <= len(dialogue.turns) <= 18, dialogue.id
        assert all(turn.text == turn.text.strip() for turn in dialogue.turns)
        assert all(turn.text or turn.act in ("join", "leave") for turn in dialogue.turns)
        for turn in dialogue.turns:
            assert turn.act == "message" or turn.act in ("join", "leave", "reaction")


def test_the_script_for_visitors_is_short_and_has_a_control_for_each_of_its_probes() -> None:
    base, control = (entry.record for entry in jsonl.read(Source(build.CORPORA / f"{scenarios.SHORT}.jsonl")))
    for dialogue in (base, control):
        assert len(dialogue.participants) == 4
        assert len(dialogue.turns) == 14
        assert not [oracle_problems(dialogue, mode) for mode in MODES if oracle_problems(dialogue, mode)]
        told = [key_at(scenario_of(dialogue), point).addressed for point in points_of(dialogue)]
        assert sum(one is not None for one in told) >= 13
    kinds = ["overheard", "buried_mention", "ambiguous_referent"]
    assert [probe.kind for probe in scenario_of(base).probes if not probe.control] == kinds
    assert [probe.kind for probe in scenario_of(control).probes if probe.control] == kinds


@pytest.mark.parametrize("mode", MODES)
def test_the_oracle_has_everything_right(dialogues, mode) -> None:
    for dialogue in dialogues:
        assert oracle_problems(dialogue, mode) == (), dialogue.id


def test_examples_name_whom_the_key_means_and_nobody_else(dialogues) -> None:
    for dialogue in dialogues:
        scenario = scenario_of(dialogue)
        agent = [person for person in dialogue.participants if person.id == scenario.agent]
        for point in points_of(dialogue):
            key = key_at(scenario, point)
            if key.speak.get("message") == 1 and not key.free:
                assert key.example, (dialogue.id, point)
                assert not mentioned(key.example, agent), (dialogue.id, point)
                named = named_in(dialogue, key.example) or {dialogue.turns[point].speaker}
                assert key.target is not None, (dialogue.id, point)
                assert key.target.met(frozenset(named), frozenset()), (dialogue.id, point)


def test_always_speaking_fails_what_is_overheard_and_silence_what_is_asked(dialogues) -> None:
    for dialogue in dialogues:
        scenario = scenario_of(dialogue)
        for agent, act in ((AGENTS[ALWAYS_SPEAK.key], "message"), (AGENTS[ALWAYS_SILENT.key], "silence")):
            for decision in decide(agent, dialogue):
                key = key_at(scenario, decision.point)
                if key.free or not probes_at(scenario, decision.point) or key.speak.get(act, 0) > 0:
                    continue
                assert outcome(dialogue, decision).competence == 0, (dialogue.id, decision.point)


def test_a_control_has_the_opposite_of_its_probes(dialogues) -> None:
    """Each family's control differs from its probe of the same kind in attendance, act, move or contents."""
    for dialogue in dialogues:
        scenario = scenario_of(dialogue)
        family = [one for one in dialogues if one.cluster == dialogue.cluster]
        for control in (probe for probe in scenario.probes if probe.control):
            keys = [
                key
                for other in family
                for probe in scenario_of(other).probes
                if probe.kind == control.kind and not probe.control
                for key in probe.keys.values()
            ]
            assert keys, f"{dialogue.id} has a control of {control.kind} without its probe"
            assert all(key not in keys or key.attend == 0 for key in control.keys.values())
