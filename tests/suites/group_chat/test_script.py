"""A scenario as a plain-text script: parsed, refused by line, and written so that it parses again."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import ImportProblem
from annotation.formats.jsonl import dialogue
from annotation.scenario_records import PROBES
from suites.group_chat.editing import native
from suites.group_chat.scenario_text import read_scenario, read_script, write_draft, write_script
from suites.group_chat.scenarios.points import points_of, scenario_of
from suites.group_chat.scenarios.probes import add_probe, remove_probe
from tests.suites.group_chat.scripts import LAUNCH

ROOT = Path(__file__).resolve().parents[3]
PEOPLE = [{"id": "ana", "name": "Ana"}, {"id": "bo", "name": "Bo"}, {"id": "cy", "name": "Cy"}]
KIT = {"id": "kit", "name": "Kit", "agent": True}
ANSWER = {"attend": 1, "speak": {"message": 1}}
ODD: dict[str, Any] = {
    "id": "odd-1",
    "cluster": "odd",
    "kind": "scenario",
    "language": "en",
    "summary": "What: a day, “quoted”",
    "metadata": {"place": ["here", 3]},
    "keyed_by": ["ana", "bo"],
    "participants": [*PEOPLE, KIT | {"aliases": ["K"], "profile": ["knows: all", "2026-01-02"]}],
    "turns": [
        {"speaker": "ana", "text": "Two lines:\n  the (second): one\n", "time": "2026-01-02T10:00"},
        {"speaker": "bo", "text": "", "act": "silence"},
        {"speaker": "bo", "text": "👍", "act": "reaction", "addressees": ["ana"]},
        {
            "speaker": "kit",
            "text": "(to Bo) says who?",
            "given": True,
            "session": "s",
            "extra": {"raw": "x: y"},
        },
        {"speaker": "cy", "text": "", "act": "join", "sees_history": True},
        {"speaker": "ana", "text": "Kit, all of you?", "addressees": ["bo", "cy", "kit"]},
        {"speaker": "ana", "text": "psst", "audience": ["bo", "kit"]},
        {"speaker": "bo", "text": "to myself", "audience": []},
        {"speaker": "cy", "text": "bye", "act": "message"},
        {"speaker": "cy", "text": "", "act": "leave"},
    ],
    "points": [0, 5, 8],
    "keys": {"5": {"free": True}},
    "probes": [
        {
            "id": "p 1",
            "kind": "secret",
            "control": True,
            "trigger": 0,
            "points": [0, 8],
            "keys": {"0": ANSWER, "8": ANSWER | {"must": ["a: b", ["c", "d"]], "example": "a: b, c"}},
        }
    ],
}


@pytest.mark.parametrize("raw", [LAUNCH, ODD], ids=["launch", "odd"])
def test_what_is_written_is_read_again_as_the_same_scenario(raw: dict[str, Any]) -> None:
    record = dialogue(deepcopy(raw))
    text = write_script(native(record))
    assert text is not None
    assert read_scenario(text) == record
    assert write_script(native(read_scenario(text))) == text


def test_json_is_read_too() -> None:
    record = dialogue(deepcopy(LAUNCH))
    assert read_scenario(json.dumps(LAUNCH, indent=2)) == record


def test_a_name_that_no_line_can_hold_is_left_to_json() -> None:
    raw = deepcopy(LAUNCH)
    raw["participants"][0] = {"id": "mia: the first", "name": "Mia (the first)"}
    raw["turns"][0]["speaker"] = "mia: the first"
    for part in (
        raw["turns"][1]["addressees"],
        raw["secrets"][0]["known_to"],
        raw["common_ground"][0]["known_to"],
    ):
        part[part.index("mia")] = "mia: the first"
    raw["turns"][2]["speaker"] = raw["secrets"][0]["owner"] = "mia: the first"
    assert dialogue(deepcopy(raw))
    assert write_script(raw) is None


HEAD = "id: x\nparticipants:\n- {id: ana, name: Ana}\n- {id: bo, name: Bo}\n- {id: cy, name: Cy}\n"
HEAD += "- {id: kit, name: Kit, agent: true}\n---\n"
ONE = "probes:\n- {id: p, kind: overheard, key: {attend: 0, speak: {silence: 1}}}\n"


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("id: x\nAna: hello\n", None, "no line ---"),
        (HEAD + "Ana: hi\n---\n---\n", 10, "third line ---"),
        ("id: x\nid: y\n---\n", 2, "there twice"),
        ("id: x\nid\n---\n", 3, "not valid YAML"),
        ("- x\n---\n", 1, "must be fields"),
        ("turns: []\n---\n", 1, "is said by the script"),
        ("participants: 3\n---\n", 1, "list of objects"),
        ("id: x\n---\nAna: hi\n---\nid: x\n", 5, "there twice"),
        (HEAD + "Dora: hi\n", 8, "'Dora' is none of the participants (ana, bo, cy, kit)"),
        (HEAD + "Ana hello\n", 8, "a turn is one line"),
        (HEAD + "Ana (waves): hi\n", 8, "(waves) is none of"),
        (HEAD + "Ana (to Dora): hi\n", 8, "'Dora' is none"),
        (HEAD + "(private: Bo to Kit) Ana: hi\n", 8, "private from another"),
        (HEAD + "    point p\nAna: hi\n", 8, "none stands above"),
        (HEAD + "Ana: hi\n    pint p\n", 9, "a line that is set in says"),
        (HEAD + "Ana: hi\n    key: {attend: [}\n", 9, "not valid YAML"),
        (HEAD + "Ana: hi\n    key: {attend: 0}\n    key: {attend: 0}\n", 10, "a key already"),
        (HEAD + "Ana: hi\n    point p\n", 9, "there is no probe 'p' in probes"),
        (HEAD + "Ana: hi\n    point p\n    point p\n---\n" + ONE, 10, "is a point of 'p' already"),
        (HEAD + "Ana: hi\n    trigger p\nBo: ho\n    trigger p\n---\n" + ONE, 11, "stands at turn 0 already"),
        (HEAD + "Ana: hi\n    trigger p: {attend: 0}\n---\n" + ONE, 9, "only a point has a key"),
        (HEAD + "Ana: hi\n---\nprobes:\n- {id: p, points: [0]}\n", 11, "marked beneath a turn"),
        (HEAD + "Ana: Kit, hi\n", 8, "turns[0]: addresses or names the agent"),
        (HEAD + "Ana: hi\n    key: {attend: 2, speak: {silence: 1}}\n", 9, "attend: must be 0 or 1"),
        (HEAD + "Ana: hi\n    point p\n---\n" + ONE, 12, "probes[0]: overheard: two people must"),
        (HEAD + "Ana: hi\n---\nsecrets:\n- {id: s, owner: dora}\n", 11, "owner: 'dora' is not"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int | None, told: str) -> None:
    with pytest.raises(ImportProblem) as refused:
        read_scenario(text)
    assert told in str(refused.value)
    assert refused.value.line == line


def test_names_are_taken_in_any_case_and_for_aliases() -> None:
    text = HEAD.replace("name: Bo", "name: Bo, aliases: [Bobby]") + "ANA (to bobby and Cy): hi\n"
    raw = read_script(text).raw
    assert raw["turns"] == [{"speaker": "ana", "text": "hi", "addressees": ["bo", "cy"]}]


def refusal(text: str) -> str:
    """Return the field of what a text is refused for, '' for none."""
    try:
        read_scenario(text)
    except ImportProblem as problem:
        return problem.field
    return ""


@pytest.mark.parametrize("control", [False, True])
@pytest.mark.parametrize("kind", PROBES)
def test_a_planted_probe_has_a_key_that_can_be_read(kind: str, control: bool) -> None:
    raw = {name: value for name, value in LAUNCH.items() if name not in ("probes", "keys")}
    made = add_probe(raw, kind=kind, trigger=3, points=[3], control=control)
    assert made["probes"][0]["id"] == "p1"
    written = write_draft(made)
    script = read_script(written)
    assert script.raw["probes"][0]["trigger"] == 3
    problem = refusal(written)  # what only the author can say, or the script lacks
    assert not problem.startswith("probes[0].key")
    assert "probes" not in read_script(write_draft(remove_probe(made, "p1"))).raw


def test_points_that_are_left_out_are_marked() -> None:
    record = read_scenario(HEAD + "Ana: hi\n    no point\nBo: ho\n")
    assert points_of(record) == (1,)


def test_the_script_of_the_documentation_is_a_scenario() -> None:
    page = (ROOT / "docs" / "group_chat" / "scenarios.md").read_text(encoding="utf-8")
    record = read_scenario(page.split("```")[1].partition("\n")[2])
    assert points_of(record) == (0, 1, 2, 3)
    assert [probe.kind for probe in scenario_of(record).probes] == ["overheard", "secret"]


def test_every_scenario_that_comes_with_concord_can_be_edited_as_a_script() -> None:
    lines = (ROOT / "demo" / "corpora" / "scenarios.jsonl").read_text(encoding="utf-8").splitlines()
    for line in lines:
        record = dialogue(json.loads(line))
        text = write_script(native(record))
        assert text is not None, record.id
        assert read_scenario(text) == record
