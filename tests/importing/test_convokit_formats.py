"""DeliData's chats and the debates of Intelligence Squared, in ConvoKit's format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS
from annotation.formats.corpus_format import guess, read_start
from annotation.models import Dialogue, Label, Turn
from tests.importing.helpers import imported, read_file, reading_problem, refusal

CHATS = {
    "c1.tsv": {
        "meta": {"num_chats": 2.0, "num_participants": 2.0, "correct_ratio": 0.5},
        "vectors": [],
    }
}
PEOPLE = {
    "p": {"meta": {"finalanswer": "A7", "correct_flag": True}, "vectors": []},
    "q": {"meta": {"finalanswer": "A", "correct_flag": False}, "vectors": []},
}


def said(key: str, speaker: str, text: str, chat: str = "c1.tsv", **fields: Any) -> dict[str, Any]:
    """Return an utterance in the present form."""
    return {
        "id": key,
        "conversation_id": chat,
        "text": text,
        "speaker": speaker,
        "meta": {},
        "reply-to": float("nan"),
        "timestamp": "2021-04-28 19:25",
        "vectors": [],
        **fields,
    }


def corpus(folder: Path, *lines: Any, conversations: Any = CHATS, speakers: Any = PEOPLE) -> Path:
    """Write a corpus into a new folder, with the files that say nothing of its dialogues."""
    folder.mkdir()
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / "utterances.jsonl").write_text("\n".join(texts) + "\n")
    for name, content in (("conversations", conversations), ("speakers", speakers), ("corpus", {})):
        if content is not None:
            (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def test_a_chat_has_the_task_the_answers_and_the_times(tmp_path: Path) -> None:
    lines = said("1", "p", "A?"), said("2", "q", " ", **{"reply-to": "1"})
    (chat,), notes = read_file(corpus(tmp_path / "d", *lines), "delidata")
    assert (chat.id, chat.language, chat.metadata["correct_ratio"]) == ("c1.tsv", "en", 0.5)
    assert "Wason" in chat.metadata["task"]
    assert chat.participants[0].extra == {"final_answer": "A7", "final_answer_right": True}
    assert [(turn.text, turn.time) for turn in chat.turns] == [
        ("A?", "2021-04-28 19:25"),
        (" ", "2021-04-28 19:25"),
    ]
    assert (dict(chat.turns[0].extra), dict(chat.turns[1].extra)) == ({}, {"reply_to": "1"})
    assert notes == ["turns without text, kept as they are: 1 (c1.tsv, turn 1)"]


@pytest.mark.django_db
def test_annotations_become_labels_of_one_rater(tmp_path: Path) -> None:
    meta = {"annotation_type": "Probing", "annotation_target": "Moderation", "annotation_additional": "0"}
    path = corpus(tmp_path / "d", said("1", "p", "Why?", meta=meta | {"round": 2}), said("2", "q", "So."))
    assert imported(path, format="delidata").labels == 2
    assert set(Label.objects.values_list("question__key", "text", "rater__name", "question__level")) == {
        ("annotation_type", "Probing", "DeliData annotation", "nominal"),
        ("annotation_target", "Moderation", "DeliData annotation", "nominal"),
    }
    assert Turn.objects.get(position=0).extra["extra"] == {"round": 2}
    assert not imported(path, format="delidata").created


def test_utterances_alone_are_read_and_said_to_be_alone(tmp_path: Path) -> None:
    path = corpus(tmp_path / "d", said("1", "p", "A?")) / "utterances.jsonl"
    (chat,), notes = read_file(path, "delidata")
    assert (len(chat.turns), notes) == (
        1,
        ["read without conversations.json and speakers.json: what these say is not known"],
    )
    assert guess(FORMATS, read_start(path)) == guess(FORMATS, read_start(path.parent)) == "delidata"


@pytest.mark.parametrize("format", ["delidata", "iq2"])
@pytest.mark.parametrize(
    ("line", "field", "reason"),
    [
        (said("1", "p", "again"), "id", "twice, first on line 1"),
        (said("2", "r", "x"), "speaker", "not in speakers.json"),
        (said("2", "p", "x", chat="c2"), "conversation_id", "not in conversations.json"),
        (said("2", "p", 4), "text", "must be a text"),  # type: ignore[arg-type]
        (said("2", "", "x"), "speaker", "is empty"),
        (said("2", "p", "x", mood="x"), "mood", "not a field"),
        (said("2", "p", "x", meta=[]), "meta", "must be an object"),
        (said("2", "p", "x", timestamp=[]), "timestamp", "must be a text"),
        ("{", "", "not valid JSON"),
        ('{"id": Infinity}', "", "infinite"),
        ('{"id": "2", "text": "\\u0000"}', "text", "NUL"),
        ("[]", "", "must be an object"),
    ],
)
def test_a_bad_utterance_is_refused(tmp_path: Path, format: str, line: Any, field: str, reason: str) -> None:
    problem = reading_problem(corpus(tmp_path / "d", said("1", "p", "A?"), line), format)
    assert (problem.file, problem.line) == ("utterances.jsonl", 2)
    assert (problem.field, reason in problem.reason) == (field, True), str(problem)


@pytest.mark.parametrize(
    ("conversations", "file", "reason"),
    [([], "conversations.json", "object by id"), ({"c1.tsv": 4}, "conversations.json", "must be an object")],
)
def test_a_bad_description_is_refused(tmp_path: Path, conversations: Any, file: str, reason: str) -> None:
    problem = reading_problem(
        corpus(tmp_path / "d", said("1", "p", "x"), conversations=conversations), "delidata"
    )
    assert (problem.file, reason in problem.reason) == (file, True)


def test_a_folder_of_other_files_is_refused(tmp_path: Path) -> None:
    path = corpus(tmp_path / "d", said("1", "p", "x"))
    (path / "notes.json").write_text("{}")
    assert (reading_problem(path, "iq2").file, reading_problem(path, "delidata").file) == (
        "notes.json",
        "notes.json",
    )
    (path / "utterances.jsonl").unlink()
    assert "no utterances.jsonl" in reading_problem(path, "delidata").reason


@pytest.mark.django_db
def test_all_that_is_wrong_is_told_and_nothing_kept(tmp_path: Path) -> None:
    bad = said("2", "r", "x"), said("3", "p", "x", chat="c9")
    problem = refusal(corpus(tmp_path / "d", said("1", "p", "x"), *bad), format="delidata")
    assert [(one.line, one.field) for one in problem.all()] == [(2, "speaker"), (3, "conversation_id")]


DEBATE = {"title": "Cats", "date": "2010", "winner": "for", "results": {"pre": {"for": 40.0}}, "url": None}


def test_a_debate_of_the_present_form(tmp_path: Path) -> None:
    meta = {"speakertype": "for", "segment": 1, "nontext": {"laughter": [[0, 3]]}, "paragraphbreaks": []}
    path = corpus(
        tmp_path / "d",
        said("1", "p", "Indeed.", chat="1", meta=meta, timestamp=None),
        said("2", "q", "No.", chat="1", meta={"speakertype": "mod"}),
        conversations={"1": {"meta": DEBATE, "vectors": []}},
        speakers={"p": {"meta": {"bio": "Long.", "bio_short": "Short."}}, "q": {"meta": {"bio": "Only."}}},
    )
    (debate,), notes = read_file(path, "iq2")
    assert debate.metadata == {key: value for key, value in DEBATE.items() if value}
    first, second = debate.participants
    assert (first.role, first.profile, first.extra) == ("for", ("Short.",), {"bio": "Long."})
    assert (second.role, second.profile, dict(second.extra)) == ("mod", ("Only.",), {})
    assert debate.turns[0].extra == {"segment": "discussion", "nontext": {"laughter": [[0, 3]]}}
    assert (debate.turns[0].time, notes) == ("", [])
    assert guess(FORMATS, read_start(path)) == guess(FORMATS, read_start(path / "utterances.jsonl")) == "iq2"


def test_a_debate_of_the_older_form(tmp_path: Path) -> None:
    line = {"id": "1", "root": "1", "user": "p", "text": "So.", "meta": {"segment": 0}, "reply_to": None}
    path = corpus(tmp_path / "d", line, conversations={"1": DEBATE}, speakers=None)
    (path / "users.json").write_text(json.dumps({"p": {"bio": None, "bio_short": "Short."}}))
    (debate,), _ = read_file(path, "iq2")
    assert (debate.metadata["title"], debate.participants[0].profile) == ("Cats", ("Short.",))


@pytest.mark.parametrize("meta", [{"segment": 3}, {"segment": True}, {"segment": [0]}, {"speakertype": 4}])
def test_a_debate_with_unknown_marks_is_refused(tmp_path: Path, meta: Any) -> None:
    problem = reading_problem(corpus(tmp_path / "d", said("1", "p", "x", meta=meta)), "iq2")
    assert (problem.line, problem.field) == (1, f"meta.{next(iter(meta))}")


@pytest.mark.exhaustive
@pytest.mark.shared
@pytest.mark.django_db
def test_all_chats_of_delidata_come_whole_and_twice_the_same(shared_data: Path) -> None:
    path = shared_data / "delidata"
    result = imported(path, format="delidata")
    assert (result.dialogues, result.turns, result.labels) == (500, 14_021, 0)
    assert any("kept as they are: 1 (" in note for note in result.notes)
    assert not imported(path, format="delidata").created
    chat = Dialogue.objects.order_by("id")[0]
    assert chat.metadata["num_participants"] == len(chat.participants) == 3
    assert all("final_answer" in person["extra"] for person in chat.participants)
    assert Turn.objects.filter(text=" ").count() == 1
