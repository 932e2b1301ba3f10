"""Other formats: FED and its judge, QMSum, chats as messages, ratings as CSV."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS, ImportProblem, Rating, Source
from annotation.formats.corpus_format import guess, read_start
from annotation.records import SELF, Dialogue
from annotation.schemes import SCHEMES
from tests.importing.helpers import read_file, reading_problem


def records(format: str, path: Path) -> list[Any]:
    return read_file(path, format)[0]


def written(path: Path, content: Any) -> Path:
    file = path / "file.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


WHOLE = {
    "context": "User: Hi\nSystem: Hello\nUser: Bye",
    "system": "Meena",
    "annotations": {"Overall": [4, "N/A (too short)"]},
}
NEXT = {
    "context": "User: Hi",
    "response": "System: Hello",
    "system": "Meena",
    "annotations": {"Semantically appropriate": [2]},
}
OTHER = {
    "context": "User: Hi",
    "response": "System: What?",
    "system": "Meena",
    "annotations": {"Overall": [0]},
}
AFTER = {
    "context": WHOLE["context"],
    "response": "System: So long",
    "system": "Meena",
    "annotations": {"Overall": [1]},
}


def test_fed_places_a_response_that_is_the_next_line_on_that_turn(tmp_path: Path) -> None:
    (record,) = records("fed", written(tmp_path, [NEXT, WHOLE]))
    assert record.id == "fed-001"
    assert [turn.given for turn in record.turns] == [True, False, True]
    assert record.system == "Meena"
    assert not record.continuations
    label = record.labels[-1]
    assert (label.continuation, label.turn, label.question) == (SELF, 1, "semantically_appropriate")


def test_fed_places_other_responses_as_static_turns_at_their_point(tmp_path: Path) -> None:
    (record,) = records("fed", written(tmp_path, [WHOLE, OTHER, AFTER, OTHER]))
    parts = [(part.id, part.mode, part.turns[0].at) for part in record.continuations]
    assert parts == [
        ("response-at-1", "static", 1),
        ("response-at-3", "static", 3),
        ("response-at-1-2", "static", 1),
    ]


def test_fed_keeps_why_a_rating_is_missing_and_its_raters_unidentified(tmp_path: Path) -> None:
    (record,) = records("fed", written(tmp_path, [WHOLE]))
    assert [(label.value, label.missing) for label in record.labels] == [(4.0, ""), (None, "too short")]
    assert not any(label.identified for label in record.labels)


@pytest.mark.parametrize(
    ("items", "field", "reason"),
    [
        ({}, "", "must be a list"),
        ([NEXT], "", "holds no whole conversation"),
        ([WHOLE, {**NEXT, "context": "User: Other"}], "[1].context", "beginning of no conversation"),
        ([{**WHOLE, "context": "Hi"}], "[0].context", "begins with neither"),
        ([{**WHOLE, "annotations": {"Overall": ["good"]}}], "[0].annotations.Overall[0]", "must be a number"),
        ([{**WHOLE, "annotations": {"Overall": 3}}], "[0].annotations.Overall", "must be a list"),
    ],
)
def test_fed_refuses_by_the_path_of_the_field(tmp_path: Path, items: Any, field: str, reason: str) -> None:
    problem = reading_problem(written(tmp_path, items), "fed")
    assert (problem.field, reason in problem.reason) == (field, True)


@pytest.mark.shared
def test_all_of_fed_finds_its_place(shared_data: Path) -> None:
    found: list[Dialogue] = records("fed", shared_data / "fed" / "fed_data.json")
    places = {
        (record.id, label.continuation, label.turn)
        for record in found
        for label in record.labels
        if label.turn is not None
    }
    assert len(found) == 125
    assert len(places) == 375
    assert Counter(part == SELF for _, part, _ in places) == {True: 249, False: 126}
    per_dialogue = Counter(record for record, _, _ in places)
    assert Counter(per_dialogue.values()) == {3: 123, 4: 1, 2: 1}
    for record in found:
        for label in record.labels:
            question = SCHEMES[label.scheme].question(label.question)
            assert label.value is None or label.value in question.values


@pytest.mark.shared
def test_gpt4_scores_every_conversation_of_fed_five_times(shared_data: Path) -> None:
    found: list[Rating] = records("fed_gpt4", shared_data / "fed_gpt4_judge" / "fed_gpt4_annotations.json")
    assert Counter(rating.label.sample for rating in found) == dict.fromkeys(range(5), 625)
    assert {rating.label.question for rating in found} == {"coh", "div", "eng", "inf", "ovr"}
    assert (found[0].dialogue, found[124].dialogue) == ("fed-001", "fed-125")


@pytest.mark.parametrize(
    ("content", "field"), [({"coh": [1]}, "coh"), ({"coh_1": 4}, "coh_1"), ({"coh_1": [4, "x"]}, "coh_1[1]")]
)
def test_gpt4_scores_of_another_form_are_refused(tmp_path: Path, content: Any, field: str) -> None:
    assert reading_problem(written(tmp_path, content), "fed_gpt4").field == field


def test_a_meeting_is_a_dialogue_with_its_topics_as_agenda(tmp_path: Path) -> None:
    meeting = {
        "topic_list": [
            {"topic": "Opening", "relevant_text_span": [["0", "1"]]},
            {"topic": "Budget", "relevant_text_span": []},
        ],
        "general_query_list": [{"query": "Summarize", "answer": "They met."}],
        "specific_query_list": [],
        "meeting_transcripts": [
            {"speaker": "Grad C", "content": "{vocalsound} Okay ."},
            {"speaker": "Project Manager", "content": ""},
        ],
    }
    (tmp_path / "m.json").write_text(json.dumps(meeting))
    (tmp_path / "index.json").write_text("[]")
    (tmp_path / "LICENSE").write_text("MIT")
    (record,) = records("qmsum", tmp_path)
    assert record.id == "m"
    assert record.turns[0].text == "{vocalsound} Okay ."
    assert [(one.id, one.role) for one in record.participants] == [
        ("Grad C", "Grad"),
        ("Project Manager", "Project Manager"),
    ]
    assert (record.agenda.edges, record.agenda.start, record.agenda.terminal) == ((("t1", "t2"),), "t1", "t2")
    assert record.metadata["general_query_list"][0]["answer"] == "They met."


@pytest.mark.shared
def test_every_meeting_of_qmsum_is_read(shared_data: Path) -> None:
    found = records("qmsum", shared_data / "qmsum")
    assert len(found) == 24
    assert all(record.agenda for record in found)


def test_a_bad_meeting_is_named_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"meeting_transcripts": [{"speaker": 1}]}')
    problem = reading_problem(tmp_path, "qmsum")
    assert str(problem) == "bad.json, field meeting_transcripts[0].speaker: must be a text, not a number"


def test_of_a_chat_the_assistant_is_rated_and_everything_else_given(tmp_path: Path) -> None:
    chat = {
        "id": "c",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {
                "role": "user",
                "content": [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {}}],
            },
            {"role": "assistant", "content": None, "tool_calls": [{}]},
            {"role": "tool", "content": "42", "tool_call_id": "t"},
            {"role": "assistant", "content": "It is 42."},
        ],
        "metadata": {"model": "m-1"},
    }
    (record,) = records("messages", written(tmp_path, chat))
    assert [(turn.speaker, turn.text, turn.given) for turn in record.turns] == [
        ("user", "Look\n[image_url]", False),
        ("assistant", "[tool call]", True),
        ("tool", "42", True),
        ("assistant", "It is 42.", False),
    ]
    assert FORMATS["messages"].rated == ("assistant",)
    assert (record.system, record.metadata["system_prompt"]) == ("m-1", "Be kind.")


OPENAI = [
    {
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello!", "weight": 0},
        ]
    },
    {
        "messages": [
            {"role": "user", "content": "W?", "timestamp": 1},
            {"role": "assistant", "content": None, "function_call": {"name": "w", "arguments": "{}"}},
            {"role": "function", "name": "w", "content": "sun"},
            {"role": "assistant", "content": "Sunny.", "reasoning_content": "thinking"},
        ],
        "tools": [],
        "parallel_tool_calls": False,
    },
]


@pytest.mark.parametrize("is_list", [False, True])
def test_chats_as_openais_tools_write_them_are_read_and_what_is_not_read_is_named(
    tmp_path: Path, is_list: bool
) -> None:
    path = tmp_path / "chats.json"
    path.write_text(json.dumps(OPENAI, indent=1) if is_list else "\n".join(map(json.dumps, OPENAI)))
    assert guess(FORMATS, read_start(path)) == "messages"
    source = Source(path)
    one, two = (entry.record for entry in FORMATS["messages"].read(source))
    assert [(record.id, [turn.text for turn in record.turns]) for record in (one, two)] == [
        ("chat-1", ["Hi", "Hello!"]),
        ("chat-2", ["W?", "[tool call]", "sun", "Sunny."]),
    ]
    (note,) = source.all_notes()
    assert note.startswith("Fields passed over: ")
    assert set(note.removeprefix("Fields passed over: ").rstrip(".").split(", ")) == {
        "messages[].weight",
        "messages[].reasoning_content",
        "tools",
        "parallel_tool_calls",
    }


def test_a_document_of_no_known_format_is_refused_in_one_line_with_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"system": "x", "text": "y", "more": 1}, indent=2))
    with pytest.raises(ImportProblem) as caught:
        guess(FORMATS, read_start(path))
    assert "is JSON with the keys more, system, text, which no format has" in caught.value.reason
    assert "the nearest format is pairs" in caught.value.reason
    path.write_text(json.dumps({"id": "d", "turns": []}, indent=2))
    assert guess(FORMATS, read_start(path)) == "jsonl"
    problem = reading_problem(path, "jsonl")
    assert problem.others == []
    assert "none of Concord's formats: `jsonl` wants one dialogue a line" in problem.reason


@pytest.mark.parametrize(
    ("chat", "field"),
    [
        ({"id": "c"}, "messages"),
        ({"id": "c", "messages": [{"role": "boss", "content": "x"}]}, "messages[0].role"),
        ({"id": "c", "messages": [{"role": "user", "content": 4}]}, "messages[0].content"),
        (
            {"id": "c", "messages": [{"role": "user", "content": "x"}], "metadata": {"model": 4}},
            "metadata.model",
        ),
        ({"id": [4], "messages": [{"role": "user", "content": "x"}]}, "id"),
    ],
)
def test_a_chat_of_another_form_is_refused(tmp_path: Path, chat: Any, field: str) -> None:
    problem = reading_problem(written(tmp_path, chat), "messages")
    assert (problem.line, problem.field) == (1, field)


def test_a_name_in_a_chat_is_read_without_the_space_around_it(tmp_path: Path) -> None:
    (record,) = records(
        "messages", written(tmp_path, {"messages": [{"role": "user", "name": " Ann ", "content": "Hi"}]})
    )
    assert [(one.id, one.role) for one in record.participants] == [("Ann", "user")]


def test_a_ratings_file_reads_keys_numbers_words_and_gaps(tmp_path: Path) -> None:
    content = (
        "\ufeffitem,rater,value,question,sample,kind,identified,explanation,values,level\n"
        'd%2F1/self/3,ana,4,overall,1,judge,true,"two\nlines","[1, 2]",ordinal\n'
        "d/self,'=bob,,,,,false,,,\n"
        "d/self,eve,good,mood,,,,,,nominal\n"
    )
    first, second, third = records("ratings-csv", written(tmp_path, content))
    assert (first.dialogue, first.label.turn, first.label.value, first.raw) == ("d/1", 3, 4.0, "4")
    assert (first.label.explanation, first.values, first.level) == ("two\nlines", (1, 2), "ordinal")
    assert (second.label.rater, second.label.value, second.label.identified) == ("=bob", None, False)
    assert (third.label.value, third.label.question) == ("good", "mood")


@pytest.mark.parametrize(
    ("content", "line", "field", "reason"),
    [
        ("item,value\n", 1, "rater", "no column"),
        ("rater,value\n", 1, "item", "no column"),
        ("item,rater,value,value\nd,a,1,2\n", 1, "value", "two columns"),
        ("item,rater,value\nd/self,a\n", 2, "", "2 columns"),
        ("item,rater,value\nd,a,1\n", 2, "item", "not an item key"),
        ("item,rater,value\nd/self/x,a,1\n", 2, "item", "not an item key"),
        ("item,rater,value\nd/self,,1\n", 2, "rater", "empty"),
        ("item,rater,value\nd/self,a,-inf\n", 2, "value", "not a finite number"),
        ("item,rater,value,kind\nd/self,a,1,robot\n", 2, "kind", "one of human"),
        ("item,rater,value,sample\nd/self,a,1,-1\n", 2, "sample", "whole number"),
        ('item,rater,value\n"x\ny/self",a,1\nd/self,a,Infinity\n', 4, "value", "not a finite number"),
        ('item,rater,value\nd/self,"a,1\n', 2, "", "not valid CSV"),
        ('item,rater,value\nd/self,a,"x"y\n', 2, "", "not valid CSV"),
        ("item,rater,value\nd/self,a\0,1\n", 2, "", "NUL"),
        ("item,rater,value\nd/self," + "a" * 201 + ",1\n", 2, "rater", "longer than 200"),
        ("item,rater,value\nd/self,a," + "x" * 200_000 + "\n", 2, "", "not valid CSV"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(
    tmp_path: Path, content: str, line: int, field: str, reason: str
) -> None:
    problem = reading_problem(written(tmp_path, content), "ratings-csv")
    assert (problem.line, problem.field, reason in problem.reason) == (line, field, True), str(problem)


def test_every_format_is_listed_once_and_explains_itself() -> None:
    for key, format in FORMATS.items():
        assert (format.key, bool(format.title), bool(format.hint)) == (key, True, True)
        assert set(format.schemes) <= set(SCHEMES)


def test_a_broken_document_is_refused_with_its_line(tmp_path: Path) -> None:
    problem = reading_problem(written(tmp_path, '[\n {"context": "User: Hi",\n  "system": NaN}\n]'), "fed")
    assert (problem.line, "NaN" in problem.reason) == (3, True)
    path = tmp_path / "latin.json"
    path.write_bytes(b'[\n"caf\xe9"]')
    assert reading_problem(path, "fed").line == 2


def test_fields_of_predictions_that_are_not_read_are_named(tmp_path: Path) -> None:
    record = {"id": "d", "context": [{"speaker": "A", "utterance": "Hi"}], "next_speaker": "B"}
    source = Source(written(tmp_path, {**record, "next_message": "Yes", "temperature": 1}))
    list(FORMATS["mpceval"].read(source))
    assert source.all_notes() == ["Fields passed over: temperature."]
