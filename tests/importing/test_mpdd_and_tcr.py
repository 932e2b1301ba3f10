"""MPDD's dialogues, and the meetings of the Topic-Conversation Relevance data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS
from annotation.formats.corpus_format import guess, read_start
from annotation.models import Dialogue, Label
from tests.importing.helpers import imported, read_file, reading_problem, refusal

METADATA = {
    "relation": ["parent", "child", "friend"],
    "field": {"family": ["parent", "child"], "others": ["friend"]},
    "position": {"superior": ["parent"], "peer": ["friend"], "inferior": ["child"]},
    "emotion": ["joy", "neutral"],
}


def says(speaker: str, text: str, *listeners: tuple[str, str], emotion: Any = "joy") -> dict[str, Any]:
    """Return an utterance of MPDD's form."""
    heard = [{"name": name, "relation": relation} for name, relation in listeners]
    return {"speaker": speaker, "utterance": text, "listener": heard, "emotion": emotion}


CASES = {
    "1": [
        says("妈妈", "吃饭了", ("小明", "parent"), ("小红", "parent")),
        says("小明", "来了", ("妈妈", "child")),
    ],
    "2": [says("甲", "你好", ("乙", "friend"), emotion="neutral")],
}


def folder(path: Path, cases: Any = CASES, metadata: Any = METADATA) -> Path:
    path.mkdir()
    (path / "dialogue.json").write_text(json.dumps(cases, ensure_ascii=False))
    (path / "metadata.json").write_text(json.dumps(metadata))
    return path


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_listeners_are_addressees_and_relations_stay_with_the_turn(tmp_path: Path) -> None:
    (first, second), notes = read_file(folder(tmp_path / "m"), "mpdd")
    assert (first.id, first.language, [one.id for one in first.participants]) == (
        "1",
        "zh",
        ["妈妈", "小明", "小红"],
    )
    assert first.turns[0].addressees == ("小明", "小红")
    assert first.turns[1].extra == {
        "listeners": {"妈妈": {"relation": "child", "field": "family", "position": "inferior"}}
    }
    assert (second.turns[0].addressees, notes) == (("乙",), [])
    assert guess(FORMATS, read_start(tmp_path / "m")) == "mpdd"


@pytest.mark.django_db
def test_emotion_and_relations_are_labels_on_the_listed_scale(tmp_path: Path) -> None:
    path = folder(tmp_path / "m")
    assert imported(path, format="mpdd").labels == 7
    found = Label.objects.filter(item__turn__continuation__dialogue__key="1", item__turn__position=0)
    assert set(found.values_list("question__key", "text")) == {
        ("emotion", "joy"),
        ("relation", "parent"),
        ("relation_2", "parent"),
    }
    scales = dict(Label.objects.values_list("question__key", "question__values"))
    assert (scales["emotion"], scales["relation"]) == (METADATA["emotion"], METADATA["relation"])
    assert not imported(path, format="mpdd").created


@pytest.mark.django_db
def test_short_dialogues_are_left_out_and_counted(tmp_path: Path) -> None:
    path = folder(tmp_path / "m")
    result = imported(path, format="mpdd", settings={"min_turns": "2"})
    assert (result.dialogues, Dialogue.objects.get().key) == (1, "1")
    assert "dialogues of fewer than 2 turns, left out: 1" in result.notes
    more = imported(path, into=True, format="mpdd")
    assert (more.dialogues, more.created) == (1, True)


def test_without_metadata_the_answers_that_were_seen_are_the_scale(tmp_path: Path) -> None:
    (first, _), _ = read_file(written(tmp_path / "dialogue.json", CASES), "mpdd")
    assert first.labels[0].values == ("joy", "neutral")


@pytest.mark.parametrize(
    ("cases", "field", "reason"),
    [
        ([], "", "object of dialogues by case"),
        ({"1": {}}, "1", "must be a list"),
        ({"1": []}, "1", "has no turns"),
        ({"": [says("a", "x")]}, "", "the id of a case"),
        ({"1": [{"speaker": "a"}]}, "1[0].utterance", "is missing"),
        ({"1": [says("", "x")]}, "1[0].speaker", "is empty"),
        ({"1": [says("a", "x", emotion=4)]}, "1[0].emotion", "must be a text"),
        ({"1": [says("a", "x", emotion="rage")]}, "1[0].emotion", "not listed in metadata.json"),
        ({"1": [says("a", "x", ("b", "boss"))]}, "1[0].listener[0].relation", "not listed"),
        ({"1": [says("a", "x", ("b", "child"), ("b", "child"))]}, "1[0].listener", "twice"),
        ({"1": [{**says("a", "x"), "mood": 1}]}, "1[0].mood", "not a field"),
    ],
)
def test_a_bad_case_is_refused(tmp_path: Path, cases: Any, field: str, reason: str) -> None:
    problem = reading_problem(folder(tmp_path / "m", cases), "mpdd")
    assert (problem.file, problem.field, reason in problem.reason) == ("dialogue.json", field, True), str(
        problem
    )


def test_bad_metadata_and_other_files_are_refused(tmp_path: Path) -> None:
    problem = reading_problem(folder(tmp_path / "a", metadata={"emotion": [4]}), "mpdd")
    assert (problem.file, problem.field) == ("metadata.json", "emotion[0]")
    other = folder(tmp_path / "b")
    (other / "more.json").write_text("{}")
    assert reading_problem(other, "mpdd").file == "more.json"
    (other / "dialogue.json").unlink()
    assert "no dialogue.json" in reading_problem(other, "mpdd").reason


def line(number: float, speaker: Any, text: Any, start: float = 0.0) -> dict[str, Any]:
    """Return a line of a transcript."""
    return {
        "line_id": number,
        "speaker": speaker,
        "start_s": start,
        "end_s": start + 1,
        "contents": text,
        "word_count": 1.0,
        "cum_wc": 1.0,
    }


def meetings(*lines: Any, topics: Any = None, **metadata: Any) -> dict[str, Any]:
    """Return a file of one meeting with two topics; the second has no lines."""
    own = (
        topics
        if topics is not None
        else {"Zoning": {"transcripts": list(lines)}, "Budget": {"transcripts": []}}
    )
    return {"NCPC": {"m1": {"topics": own, "metadata": {"timestamp_source": "estimated", **metadata}}}}


def test_a_meeting_has_its_topics_as_agenda_and_lines_by_time(tmp_path: Path) -> None:
    lines = (
        line(2.0, "MR. B", "Second", 5.0),
        line(1.0, "MS. A", "First"),
        line(3.0, float("nan"), None, -1.0),
    )
    path = written(tmp_path / "NCPC.json", meetings(*lines, variations={}))
    (meeting,), notes = read_file(path, "tcr")
    assert (meeting.id, meeting.metadata) == (
        "NCPC-m1",
        {"source": "NCPC", "timestamp_source": "estimated"},
    )
    assert [(turn.speaker, turn.text, turn.time) for turn in meeting.turns] == [
        ("MS. A", "First", "0.0"),
        ("MR. B", "Second", "5.0"),
        ("unknown", "", ""),
    ]
    assert meeting.turns[0].extra == {"topic": "t1", "end_s": 1.0}
    assert (dict(meeting.agenda.items), meeting.agenda.terminal) == ({"t1": "Zoning", "t2": "Budget"}, "t2")
    assert notes == ["turns without text, kept as they are: 1"]
    assert guess(FORMATS, read_start(path)) == "tcr"


@pytest.mark.parametrize(
    ("content", "field", "reason"),
    [
        ([], "", "object of sources"),
        ({"SIM": []}, "SIM", "object of meetings"),
        ({"SIM": {"m": 4}}, "SIM.m", "must be an object"),
        (meetings(topics={}), "NCPC.m1.topics", "no transcripts"),
        (meetings(topics={"T": {"transcripts": 4}}), "NCPC.m1.topics.T.transcripts", "must be a list"),
        (meetings({"contents": 4}), "NCPC.m1.topics.Zoning.transcripts[0].contents", "must be a text"),
        (meetings(line("1", "A", "x")), "NCPC.m1.topics.Zoning.transcripts[0].line_id", "a number"),  # type: ignore[arg-type]
        (meetings({"text": "x"}), "NCPC.m1.topics.Zoning.transcripts[0].text", "not a field"),
        ({"SIM": {"": {"topics": {}}}}, "SIM.", "need names"),
        ({"SIM": {"x" * 300: {"topics": {}}}}, "SIM." + "x" * 56, "need names"),
    ],
)
def test_a_bad_meeting_is_refused(tmp_path: Path, content: Any, field: str, reason: str) -> None:
    problem = reading_problem(written(tmp_path / "x.json", content), "tcr")
    assert (problem.field, reason in problem.reason) == (field, True), str(problem)


@pytest.mark.django_db
def test_a_file_of_meetings_comes_whole_or_not_at_all(tmp_path: Path) -> None:
    good = written(tmp_path / "SIM.json", meetings(line(0.0, 3.0, "Hello")))
    assert imported(good, format="tcr").turns == 1
    assert not imported(good, format="tcr").created
    assert Dialogue.objects.get().participants[0]["id"] == "3"
    bad = meetings(line(0.0, "A", "x"))
    bad["NCPC"]["m2"] = {"topics": {"T": {"transcripts": [4]}}}
    refusal(written(tmp_path / "bad.json", bad), "other", format="tcr")
