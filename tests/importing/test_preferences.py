"""Preference data and arenas: pairs of responses with an answer, ratings of several models' responses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from annotation.formats import FORMATS
from annotation.formats.corpus_format import Rating, guess, read_start
from annotation.formats.source import ImportProblem
from tests.importing.helpers import imported, read_file

FORMS = Path(__file__).parent / "forms"
FIXTURES = sorted([*FORMS.glob("preferences*"), *FORMS.glob("model-responses*")])


def read(path: Path) -> tuple[list[Any], list[Rating], list[str]]:
    records, notes = read_file(path)
    ratings = [record for record in records if isinstance(record, Rating)]
    return [record for record in records if record not in ratings], ratings, notes


def responses(dialogue: Any) -> list[tuple[str, str]]:
    return [(part.system, part.turns[0].text) for part in dialogue.continuations]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
@pytest.mark.django_db
def test_each_form_is_recognised_and_imported(path: Path) -> None:
    key = guess(FORMATS, read_start(path))
    assert key == path.name.partition(".")[0].partition("--")[0]
    assert imported(path, format=key).items > 0


def test_the_chosen_response_is_better_and_systems_have_their_models() -> None:
    (first, second), ratings, notes = read(FORMS / "preferences.jsonl")
    assert responses(first) == [("big", "Apple."), ("small", "Carrot.")]
    assert responses(second) == [("small", "Red."), ("big", "Seven.")]
    assert [(rating.label.rater, rating.label.value) for rating in ratings] == [("unnamed", "first")] * 2
    assert notes == ["The file names no judge: its answers are taken as one person's, `unnamed`."]


def test_texts_of_human_and_assistant_share_their_beginning() -> None:
    (first, _), _, _ = read(FORMS / "preferences--human-assistant.jsonl")
    assert [(turn.speaker, turn.text) for turn in first.turns] == [
        ("user", "Hi there"),
        ("assistant", "Hello!"),
        ("user", "Help me"),
    ]
    assert responses(first) == [("chosen", "Gladly."), ("rejected", "No.")]


def test_messages_of_both_responses_are_read_without_the_prompt() -> None:
    (dialogue,), _, _ = read(FORMS / "preferences--messages.jsonl")
    assert dialogue.id == "p1"
    assert responses(dialogue) == [("chosen", "La la."), ("rejected", "I cannot.")]


def test_annotations_of_alpaca_eval_are_answers_of_a_judge() -> None:
    _, ratings, _ = read(FORMS / "preferences--alpaca-eval.json")
    labels = [rating.label for rating in ratings]
    assert [(label.rater, label.kind, label.value, label.explanation) for label in labels] == [
        ("gpt4_turbo", "judge", "second", ""),
        ("gpt4_turbo", "judge", "first", "preference 1.12"),
    ]


def test_two_preferences_of_a_line_are_two_questions() -> None:
    _, ratings, _ = read(FORMS / "preferences--safety.jsonl")
    assert [(rating.label.question, rating.label.value) for rating in ratings] == [
        ("better_response", "first"),
        ("safer_response", "second"),
    ]


def test_a_system_prompt_is_kept_with_the_dialogue() -> None:
    (dialogue,), _, _ = read(FORMS / "preferences--dpo.csv")
    assert dialogue.metadata == {"system_prompt": "Be brief."}
    assert [turn.text for turn in dialogue.turns] == ["Two plus two?"]


def test_a_word_that_is_no_preference_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps({"instruction": "a", "output_1": "b", "output_2": "c", "preference": 7}))
    with pytest.raises(ImportProblem, match="'7', which is no preference"):
        read(path)


def test_ratings_of_responses_are_labels_of_their_judge_with_the_reasons() -> None:
    (dialogue,), _, _ = read(FORMS / "model-responses.jsonl")
    assert responses(dialogue) == [("big", "Water falls."), ("small", "Rain.")]
    labels = [(label.continuation, label.question, label.value) for label in dialogue.labels]
    assert labels == [
        ("big", "helpfulness", 4.0),
        ("big", "honesty", None),
        ("big", "overall_score", 8.0),
        ("small", "helpfulness", 1.0),
        ("small", "overall_score", 2.0),
    ]
    assert {(label.rater, label.kind) for label in dialogue.labels} == {("gpt-4", "judge")}
    assert dialogue.labels[0].explanation == "Clear."


def test_ranks_of_responses_are_a_ranking() -> None:
    (dialogue,), _, _ = read(FORMS / "model-responses--ranked.jsonl")
    assert [turn.text for turn in dialogue.turns] == ["Hi"]
    assert [(label.question, label.value) for label in dialogue.labels] == [("ranking", "1>0>2")]


def battle(winner: str, judge: str) -> dict[str, Any]:
    asked = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
    said = {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]}
    other = {"role": "assistant", "content": [{"type": "text", "text": "Yo"}]}
    return {
        **{"question_id": "q1", "model_a": "x", "model_b": "y", "winner": winner, "judge": judge},
        **{"conversation_a": [asked, said], "conversation_b": [asked, other]},
    }


def test_an_arena_in_one_list_with_contents_in_parts_is_read(tmp_path: Path) -> None:
    path = tmp_path / "battles.json"
    path.write_text(json.dumps([battle("model_b", "arena_user_1"), battle("tie", "arena_user_2")]))
    (dialogue,), ratings, notes = read(path)
    assert responses(dialogue) == [("x", "Hello"), ("y", "Yo")]
    assert [(rating.label.rater, rating.label.value) for rating in ratings] == [
        ("arena_user_1", "second"),
        ("arena_user_2", "tie"),
    ]
    assert notes == ["Taken as people, by their names: 2 (such as arena_user_1, arena_user_2)."]


def parquet(path: Path, *records: dict[str, Any]) -> Path:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(records)), path)
    return path


def test_an_arena_in_parquet_is_read_like_json(tmp_path: Path) -> None:
    path = parquet(tmp_path / "arena.parquet", {**battle("model_a", "arena_user_1"), "turn": 1})
    (dialogue,), (rating,), _ = read(path)
    assert responses(dialogue) == [("x", "Hello"), ("y", "Yo")]
    assert rating.label.value == "first"


def test_ratings_of_responses_in_parquet_keep_their_labels(tmp_path: Path) -> None:
    record = json.loads((FORMS / "model-responses.jsonl").read_text())
    (dialogue,), _, _ = read(parquet(tmp_path / "feedback.parquet", record))
    (expected,), _, _ = read(FORMS / "model-responses.jsonl")
    assert dialogue == expected


def test_judges_that_may_be_models_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "battles.json"
    path.write_text(json.dumps([battle("model_b", "arena_user_1"), battle("tie", "o3-mini")]))
    with pytest.raises(ImportProblem, match="name the judges, like --judges o3-mini"):
        read(path)
