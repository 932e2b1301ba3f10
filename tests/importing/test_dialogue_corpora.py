"""Tests of published corpora: their turns and speakers, and the labels that people gave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.records import LabelRecord
from tests.importing.helpers import written
from tests.importing.test_chat_forms import FORMS, dialogues, refused, turns


def label(record: LabelRecord) -> tuple[str, int | None, str, Any]:
    """Return rater, turn, question and value."""
    return record.rater, record.turn, record.question, record.value


@pytest.mark.parametrize("name", ["sgd.json", "sgd--columns.jsonl"])
def test_in_task_dialogues_the_systems_side_is_rated(name: str) -> None:
    (first, *_), _ = dialogues(FORMS / name)
    assert [(speaker, rated) for speaker, _, rated in turns(first)] == [("USER", False), ("SYSTEM", True)]
    assert first.system == "system"


def test_multiwoz_names_dialogues_by_their_keys_and_keeps_the_goal() -> None:
    (one, two), _ = dialogues(FORMS / "multiwoz.json")
    assert (one.id, two.id, one.system) == ("PMUL1.json", "SNG2.json", "human")
    assert one.metadata["goal"]["hotel"]["info"] == {"pricerange": "cheap"}
    assert turns(one) == [("USER", "I need a cheap hotel.", False), ("SYSTEM", "The Leaf is cheap.", True)]


def test_taskmaster_rates_the_assistant_in_either_spelling() -> None:
    (one, three), _ = dialogues(FORMS / "taskmaster.json")
    assert turns(one)[0] == ("ASSISTANT", "What shall I order?", True)
    assert turns(three)[1] == ("assistant", "Which film?", True)
    assert three.metadata["vertical"] == "Movie Tickets"


def test_topical_chats_sentiments_are_the_speakers_and_its_qualities_the_partners() -> None:
    (chat, _), _ = dialogues(FORMS / "topical-chat.json")
    assert turns(chat)[:2] == [("agent_1", "Do you like bees?", True), ("agent_2", "I do, a lot.", True)]
    assert [label(record) for record in chat.labels] == [
        ("agent_1", 0, "sentiment", "Curious to dive deeper"),
        ("agent_2", 0, "turn_rating", "Good"),
        ("agent_2", 1, "sentiment", "Happy"),
        ("agent_1", 1, "turn_rating", "Excellent"),
        ("agent_1", 2, "sentiment", "Happy"),
        ("agent_1", None, "conversation_rating", "Good"),
        ("agent_2", None, "conversation_rating", "Not Good"),
    ]
    quality = chat.labels[1]
    assert (quality.kind, quality.level, quality.identified) == ("human", "ordinal", False)
    assert quality.values == ("Poor", "Not Good", "Passable", "Good", "Excellent")


def test_dailydialog_is_text_without_labels_or_json_with_acts_and_emotions() -> None:
    (text, _), _ = dialogues(FORMS / "dailydialog.txt")
    assert turns(text)[1] == ("B", "Gladly . With milk , please .", True)
    assert text.labels == ()
    (hub, _), _ = dialogues(FORMS / "dailydialog--hub.jsonl")
    (lines,), _ = dialogues(FORMS / "dailydialog--lines.jsonl")
    rater = "DailyDialog annotation"
    assert [label(record) for record in hub.labels] == [label(record) for record in lines.labels]
    assert [label(record) for record in hub.labels] == [
        (rater, 0, "act", "directive"),
        (rater, 0, "emotion", "no emotion"),
        (rater, 1, "act", "commissive"),
        (rater, 1, "emotion", "happiness"),
    ]


def test_empathetic_dialogues_have_their_commas_and_quotes_again() -> None:
    (one, two), notes = dialogues(FORMS / "empathetic-dialogues.csv")
    assert turns(one)[:2] == [
        ("1", "I found my old bike, all rusty.", True),
        ("0", 'Was it your first "real" bike?', True),
    ]
    assert (two.id, two.metadata["emotion"], two.metadata["situation"]) == (
        "hit:0_conv:2", "afraid", "A noise at night",
    )  # fmt: skip
    assert notes == []


def test_parlai_has_an_episode_for_each_first_line() -> None:
    (one, two), _ = dialogues(FORMS / "parlai.txt")
    assert one.metadata["personas"] == {"B": ["i like fern .", "i have two cats ."], "A": ["i am a baker ."]}
    assert [text for _, text, _ in turns(one)] == [
        "hi , how are you ?", "fine , i feed my cats .", "what are they called ?", "moss and fern .",
    ]  # fmt: skip
    assert len(two.turns) == 2
    (one, two), _ = dialogues(FORMS / "parlai--fields.txt")
    assert (len(one.turns), turns(two)[1]) == (4, ("B", "on sundays .", True))


@pytest.mark.parametrize(("name", "story"), [("coqa.json", "story"), ("quac.json", "context")])
def test_answers_about_a_text_are_rated_beside_it(name: str, story: str) -> None:
    (dialogue,), _ = dialogues(FORMS / name)
    assert [(speaker, rated) for speaker, _, rated in turns(dialogue)][:2] == [
        ("questioner", False),
        ("answerer", True),
    ]
    assert isinstance(dialogue.metadata[story], str)


def test_ratings_after_a_chat_are_labels_of_its_people() -> None:
    (wizard,), _ = dialogues(FORMS / "wizard-of-wikipedia.json")
    assert [label(record) for record in wizard.labels] == [("apprentice", None, "wizard_eval", 5.0)]
    (support,), _ = dialogues(FORMS / "esconv.json")
    assert ("seeker", None, "empathy", 4.0) in [label(record) for record in support.labels]
    assert not any(record.identified for record in support.labels)


def test_any_corpus_of_convokit_keeps_its_metadata() -> None:
    (pool, edit), _ = dialogues(FORMS / "convokit")
    assert (pool.id, pool.metadata, len(edit.turns)) == ("u0", {"title": "Pool"}, 1)
    assert pool.turns[1].extra == {"id": "u1", "reply_to": "u0", "score": 1}
    assert pool.turns[0].time == "2012-01-04T21:53:20Z"
    assert pool.participants[0].extra == {"is-admin": True}


def test_a_code_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    content = {"dialog": ["Hi"], "act": [9], "emotion": [0]}
    assert refused(tmp_path, content) == "line 1, field act[0]: '9' is none of the codes 0 to 4"


def test_lists_of_different_lengths_are_refused(tmp_path: Path) -> None:
    content = {"dialog": ["Hi", "Ho"], "act": [1], "emotion": [0, 0]}
    assert "same length" in refused(tmp_path, content)


def test_hub_rows_are_unpacked(tmp_path: Path) -> None:
    row = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}
    content = {"features": [], "rows": [{"row_idx": 0, "row": row, "truncated_cells": []}]}
    (chat,), _ = dialogues(written(tmp_path, content, name="rows.json"))
    assert [text for _, text, _ in turns(chat)] == ["Hi", "Hello"]


def test_chats_with_summaries_are_read_line_by_line() -> None:
    (one, _), _ = dialogues(FORMS / "samsum.json")
    assert turns(one)[1:] == [("Ben", "Bring some!", True), ("Ana", "Sure", True)]
    (_, tea), _ = dialogues(FORMS / "samsum--dialogsum.jsonl")
    assert (tea.id, tea.metadata["topic"], turns(tea)[1]) == (
        "train_1",
        "tea",
        ("#Person2#", "Yes: green.", True),
    )


def test_of_a_chat_with_a_bot_the_bot_is_rated_by_the_volunteer() -> None:
    (chat,), _ = dialogues(FORMS / "convai2.json")
    assert turns(chat) == [("participant2", "hi there", False), ("participant1", "hello , i sail .", True)]
    assert [label(record) for record in chat.labels] == [("volunteer", None, "eval_score", 4.0)]
    assert (chat.system, chat.labels[0].identified) == ("bot", False)
