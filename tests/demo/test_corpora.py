"""The demo corpora are valid native dialogues with every behaviour, and match their sources."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from annotation.formats import Source, jsonl
from demo import build, raters
from demo.build import parse

Dialogue = dict


def _corpus(name: str) -> list[Dialogue]:
    text = (build.CORPORA / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def meetings() -> list[Dialogue]:
    return _corpus("meetings")


@pytest.fixture(scope="module")
def personas() -> list[Dialogue]:
    return _corpus("personas")


def test_the_corpora_are_what_their_sources_give(tmp_path: Path) -> None:
    for path in build.build(tmp_path):
        assert path.read_bytes() == (build.CORPORA / path.name).read_bytes(), (
            f"run python -m demo.build: {path.name}"
        )


def test_ids_are_unique_and_speakers_are_participants(meetings, personas) -> None:
    dialogues = meetings + personas
    assert len({dialogue["id"] for dialogue in dialogues}) == len(dialogues)
    for dialogue in dialogues:
        known = {person["id"] for person in dialogue["participants"]}
        ids = [continuation["id"] for continuation in dialogue["continuations"]]
        assert len(set(ids)) == len(ids)
        assert "self" not in ids
        for turns in [dialogue["turns"], *(c["turns"] for c in dialogue["continuations"])]:
            assert {turn["speaker"] for turn in turns} <= known
            assert all(turn["text"].strip() == turn["text"] != "" for turn in turns)


def test_the_import_format_reads_every_dialogue_whole() -> None:
    for name, count in (("meetings", 6), ("personas", 4)):
        entries = list(jsonl.read(Source(build.CORPORA / f"{name}.jsonl")))
        assert len(entries) == count
        assert all(len(entry.record.all_continuations()) == 4 for entry in entries)


def test_agendas_connect_known_items(meetings) -> None:
    agendas = [dialogue["agenda"] for dialogue in meetings if "agenda" in dialogue]
    assert len(agendas) >= 3
    for agenda in agendas:
        items = {item["id"] for item in agenda["items"]}
        assert {agenda["start"], agenda["terminal"]} <= items
        assert {end for edge in agenda["edges"] for end in edge} <= items


def test_there_are_six_meetings_with_a_human_and_two_toy_continuations(meetings) -> None:
    assert len(meetings) == 6
    for dialogue in meetings:
        assert 3 <= len(dialogue["participants"]) <= 6
        assert 18 <= len(dialogue["turns"]) <= 22
        assert dialogue["summary"]
        assert dialogue["metadata"]["goal"]
        assert [c["system"] for c in dialogue["continuations"]] == ["human", "toy-echo", "toy-drift"]
        for continuation in dialogue["continuations"]:
            assert continuation["mode"] == "rollout"
            assert 10 <= len(continuation["turns"]) <= 12
            assert all("at" not in turn for turn in continuation["turns"])


def test_there_are_four_persona_dialogues_of_seven_exchanges_with_three_systems(personas) -> None:
    assert len(personas) == 4
    for dialogue in personas:
        assert [turn["speaker"] for turn in dialogue["turns"]] == ["A", "B"] * 7
        assert all(len(person["profile"]) >= 3 for person in dialogue["participants"])
        assert len(dialogue["continuations"]) == 3
        for continuation in dialogue["continuations"]:
            assert continuation["mode"] == "static"
            assert [turn["at"] for turn in continuation["turns"]] == [1, 3, 5, 7, 9, 11, 13]
            assert {turn["speaker"] for turn in continuation["turns"]} == {"B"}


def test_no_speaker_of_a_meeting_talks_twice_in_a_row_at_the_seam(meetings) -> None:
    for dialogue in meetings:
        for continuation in dialogue["continuations"]:
            assert continuation["turns"][0]["speaker"] != dialogue["turns"][-1]["speaker"]


def test_no_planted_tag_leaks_into_a_text(meetings, personas) -> None:
    for dialogue in meetings + personas:
        for continuation in dialogue["continuations"]:
            assert not any("[" in turn["text"] for turn in continuation["turns"])


def test_every_behaviour_is_planted_at_least_three_times_in_two_continuations() -> None:
    planted: Counter[str] = Counter()
    places: dict[str, set[str]] = {}
    for key, meeting in raters.load().meetings.items():
        for tags in meeting.turns:
            planted.update(tags)
            for tag in tags:
                places.setdefault(tag, set()).add(key)
    assert set(planted) == set(raters.BEHAVIOURS)
    assert min(planted.values()) >= 3
    assert min(len(keys) for keys in places.values()) >= 2


def test_people_show_behaviours_too_but_fewer_than_the_toy_systems() -> None:
    found = {"human": [], "toy-echo": [], "toy-drift": []}
    for key, meeting in raters.load().meetings.items():
        found[key.split("/")[1]].extend(bool(tags) for tags in meeting.turns)
    shares = {system: sum(turns) / len(turns) for system, turns in found.items()}
    assert 0.1 < shares["human"] < 0.5 < min(shares["toy-echo"], shares["toy-drift"])


def test_the_truth_covers_every_turn(meetings, personas) -> None:
    planted = raters.load()
    for dialogues, known in ((meetings, planted.meetings), (personas, planted.personas)):
        sizes = {f"{d['id']}/{c['id']}": len(c["turns"]) for d in dialogues for c in d["continuations"]}
        assert {key: len(value.turns) for key, value in known.items()} == sizes


def test_the_three_persona_systems_differ_plainly_in_quality() -> None:
    scores: dict[str, list[int]] = {}
    for key, persona in raters.load().personas.items():
        assert 1 <= persona.quality <= 5
        assert persona.aspects <= set(raters.ASPECTS)
        assert all(1 <= score <= 5 for score in persona.turns)
        scores.setdefault(key.split("/")[1], []).extend(persona.turns)
    means = {system: sum(values) / len(values) for system, values in scores.items()}
    assert means["toy-attentive"] > means["toy-bland"] + 1 > means["toy-rambler"] + 1.5


def test_a_line_that_is_no_turn_is_refused_with_its_number() -> None:
    with pytest.raises(ValueError, match="line 2"):
        parse("ana: Hello.\nno speaker here\n")
