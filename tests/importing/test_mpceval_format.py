"""Files of predictions in MPCEval's format: one reader for imports and for `score`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS, ImportProblem
from annotation.formats.corpus_format import guess, read_start
from annotation.models import Continuation, Dialogue, Import, Turn
from annotation.records import Dialogue as Record
from judges.metrics import Scene, Tools, instrument_for
from judges.runs.material import load
from judges.runs.scoring import read as read_for_score
from tests.importing.helpers import imported, read_file, reading_problem, refusal, written

CONTEXT = [{"speaker": "Ana", "utterance": "Hello"}, {"speaker": "Ben", "utterance": "Hi"}]


def pair(key: str = "d1", **fields: Any) -> dict[str, Any]:
    """Return a predicted turn."""
    return {
        "dialogue_id": key,
        "context": CONTEXT,
        "next_speaker": "Ana",
        "next_message": "So?",
        **fields,
    }


def whole(key: str = "d1", **fields: Any) -> dict[str, Any]:
    """Return a predicted conversation."""
    return {"dialogue_id": key, "context": CONTEXT, "prediction": CONTEXT[:1], **fields}


def records(path: Path, **settings: str) -> list[Record]:
    return read_file(path, "mpceval", settings=settings)[0]


def refused(path: Path, **settings: str) -> ImportProblem:
    return reading_problem(path, "mpceval", settings=settings)


def test_a_predicted_turn_is_static_and_a_conversation_goes_on(tmp_path: Path) -> None:
    one, other = records(written(tmp_path, pair(), whole("d2")), system="m")
    (part,) = one.continuations
    assert (part.id, part.system, part.mode, part.turns[0].at) == ("m", "m", "static", 2)
    (part,) = other.continuations
    assert (part.mode, part.turns[0].at, len(other.turns)) == ("rollout", None, 2)


def test_the_half_that_was_given_is_the_condition(tmp_path: Path) -> None:
    path = written(tmp_path, pair(), pair("d2", given="speaker"), pair("d3", condition={"content": "given"}))
    first, second, third = (one.continuations[0] for one in records(path))
    assert (first.id, first.condition) == ("prediction", {})
    assert (second.id, second.condition) == ("prediction (speaker given)", {"speaker": "given"})
    assert (third.id, third.condition) == ("prediction (content given)", {"content": "given"})
    said = records(written(tmp_path, pair()), system="m", given="content")[0].continuations[0]
    assert (said.system, said.condition) == ("m", {"content": "given"})


def test_records_of_several_systems_make_one_dialogue(tmp_path: Path) -> None:
    path = written(tmp_path, pair(system="x"), pair("d2", system="x"), pair(system="y"))
    first, second = records(path)
    assert [part.id for part in first.continuations] == ["x", "y"]
    assert [part.id for part in second.continuations] == ["x"]


def test_a_record_without_an_id_is_known_by_its_context(tmp_path: Path) -> None:
    bare = {key: value for key, value in pair().items() if key != "dialogue_id"}
    lines = [bare, bare, {**bare, "context": CONTEXT[:1]}, {**bare, "context": []}]
    here = [one.id for one in records(written(tmp_path, *lines))]
    there = [one.id for one in records(written(tmp_path, *lines[::-1], name="b.jsonl"))]
    assert here[0].startswith("context-")
    assert here[1] == f"{here[0]}-2"
    assert (here[3], there[0]) == ("record-4", "record-1")
    assert set(here[:3]) == set(there[1:])
    alone = written(tmp_path, json.dumps(bare), name="meeting-7.json")
    assert records(alone)[0].id == "meeting-7"


@pytest.mark.parametrize(
    ("raw", "field", "reason"),
    [
        ([], "", "must be an object"),
        ({"context": []}, "", "neither next_message nor prediction"),
        (pair(context="x"), "context", "must be a list"),
        (pair(context=[4]), "context[0]", "must be an object"),
        (pair(context=[{"speaker": "A"}]), "context[0].utterance", "is missing"),
        (pair(context=[{"speaker": "", "utterance": "x"}]), "context[0].speaker", "must be a name"),
        (pair(next_speaker=""), "next_speaker", "must be a name"),
        (pair(next_message=None), "next_message", "must be a text"),
        (pair(next_speaker="x" * 301), "next_speaker", "1 to 300"),
        (whole(prediction=[]), "prediction", "no turns"),
        (pair(system="self"), "system", "own turns"),
        (pair(system="x" * 201), "system", "1 to 200"),
        (pair(given="all"), "given", "speaker or content"),
        (whole(given="speaker"), "given", "whole conversation"),
        (pair(given="speaker", condition={"content": "given"}), "given", "leaves nothing"),
        (pair(participants=[{"id": "Ben"}]), "turns[0].speaker", "not the id of a participant"),
        (pair("x" * 301), "id", "longer than 300"),
    ],
)
def test_a_record_of_another_form_is_refused(tmp_path: Path, raw: Any, field: str, reason: str) -> None:
    problem = refused(written(tmp_path, pair("ok"), raw))
    assert (problem.line, problem.field, reason in problem.reason) == (2, field, True), str(problem)


def test_the_file_and_the_import_may_not_name_two_systems(tmp_path: Path) -> None:
    problem = refused(written(tmp_path, pair(system="x")), system="y")
    assert (problem.line, problem.field, problem.reason) == (1, "system", "is 'x', but the import says 'y'")


def test_a_list_tells_the_place_of_a_bad_record(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps([pair(), pair(context=4)]), name="all.json")
    assert refused(path).field == "[1].context"
    assert "no records" in refused(written(tmp_path, "[]", name="none.json")).reason


def test_the_format_is_found_from_the_content(tmp_path: Path) -> None:
    for name, content in (("a.jsonl", pair()), ("b.json", json.dumps([whole()], indent=1))):
        assert guess(FORMATS, read_start(written(tmp_path, content, name=name))) == "mpceval"


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_systems_join_by_their_name_and_contexts_must_be_equal(tmp_path: Path) -> None:
    path = written(tmp_path, pair(), pair("d2"))
    assert imported(path, format="mpceval", settings={"system": "x"}).dialogues == 2
    again = imported(path, into=True, format="mpceval", settings={"system": "x"})
    assert (again.created, again.dialogues) == (False, 2)
    joined = imported(path, into=True, format="mpceval", settings={"system": "y"})
    assert (joined.created, joined.dialogues, joined.continuations) == (True, 0, 2)
    assert sorted(Import.objects.values_list("file_settings__system", flat=True)) == ["x", "y"]
    assert Continuation.objects.filter(key="y", mode="static").count() == 2
    changed = [CONTEXT[0], {"speaker": "Ben", "utterance": "Good night"}]
    for context, field, told in (
        (changed, "turns[1]", "turn 1 is 'Ben' saying 'Good night', but that of 'd1' in the corpus is 'Ben'"),
        (CONTEXT[:1], "turns[1]", "turn 1 is not there"),
        ([], "turns[0]", "turn 0 is not there"),
    ):
        other = written(tmp_path, pair("d2"), pair(context=context), name="other.jsonl")
        problem = refusal(other, into=True, format="mpceval", settings={"system": "z"})
        assert (problem.line, problem.field) == (2, field)
        assert told in problem.reason


@pytest.mark.django_db
def test_a_speaker_who_is_not_in_the_context_is_kept(tmp_path: Path) -> None:
    imported(written(tmp_path, pair()), format="mpceval", settings={"system": "x"})
    stranger = written(tmp_path, pair(next_speaker="Eve"), name="b.jsonl")
    imported(stranger, into=True, format="mpceval", settings={"system": "y"})
    assert Turn.objects.get(continuation__key="y").speaker == "Eve"


def test_two_contexts_in_one_file_are_told_with_their_turns(tmp_path: Path) -> None:
    problem = refused(written(tmp_path, pair(system="x"), pair(system="y", context=CONTEXT[:1])))
    assert (problem.line, problem.field) == (2, "context[1]")
    assert "on line 1 is 'Ben' saying 'Hi'" in problem.reason
    assert "already" in refused(written(tmp_path, pair(), pair())).reason


@pytest.mark.shared
@pytest.mark.parametrize("name", ["deli100_pairs_k10.jsonl", "qmsum40_pairs_full.jsonl", "qmsum40_global"])
def test_imports_and_score_read_the_same_dialogues(shared_data: Path, name: str) -> None:
    path = shared_data / "mpceval_parity" / "inputs" / name
    scored = [replace(one, participants=()) for one in read_for_score(path)]
    assert records(path) == scored


@pytest.mark.shared
@pytest.mark.django_db
@pytest.mark.parametrize("name", ["deli100_pairs_k10.jsonl", "qmsum40_pairs_k10.jsonl"])
def test_what_was_imported_scores_as_the_file_does(shared_data: Path, name: str) -> None:
    path = shared_data / "mpceval_parity" / "inputs" / name
    imported(path, format="mpceval")
    tools = Tools()
    predicted = Continuation.objects.filter(mode="static").values_list("pk", flat=True)
    stored = {one.dialogue.id: Scene(one.dialogue, one.continuation) for one in load(predicted).values()}
    for key in ("dnr", "ir", "pf"):
        instrument = instrument_for(key)
        for record in read_for_score(path):
            scene = Scene(record, record.continuations[0])
            assert instrument.score(stored[record.id], 0, tools) == instrument.score(scene, 0, tools)


@pytest.mark.exhaustive
@pytest.mark.shared
@pytest.mark.django_db
def test_predictions_for_a_hundred_chats_come_whole_and_twice_the_same(shared_data: Path) -> None:
    inputs = shared_data / "mpceval_parity" / "inputs"
    told = {"format": "mpceval", "settings": {"system": "human"}}
    result = imported(inputs / "deli100_global", "whole", **told)
    assert (result.dialogues, result.continuations) == (100, 100)
    assert not imported(inputs / "deli100_global", "whole", **told).created
    assert imported(inputs / "deli100_pairs_k10.jsonl", "turns", **told).dialogues == 162
    assert Dialogue.objects.filter(corpus__name="turns").count() == 162
