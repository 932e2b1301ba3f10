"""Traces and logs of evaluations become dialogues, and what graders and people said of them labels."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS
from annotation.formats.corpus_format import guess, read_start
from annotation.formats.source import ImportProblem
from annotation.records import Dialogue
from tests.importing.helpers import imported, read_file

FORMS = Path(__file__).parent / "forms"
DOCUMENTS = (
    *("inspect.json", "inspect--archive.eval", "promptfoo.json", "promptfoo--lines.jsonl", "deepeval.json"),
    *("deepeval--results.json", "openai-evals.jsonl", "lm-eval.jsonl", "langfuse.json", "langfuse--api.json"),
    *("langsmith.jsonl", "openinference.jsonl", "openinference--otlp.json", "mlflow.json"),
    "mlflow--search.jsonl",
)
TABLES = ("langfuse--export.csv", "langsmith--runs.csv", "openinference--spans.csv")


def form(name: str) -> list[Dialogue]:
    return read_file(FORMS / name)[0]


def said(dialogue: Dialogue) -> list[tuple[str, str, bool]]:
    return [(turn.speaker, turn.text, turn.given) for turn in dialogue.turns]


def answers(dialogue: Dialogue) -> list[tuple[Any, ...]]:
    return [(label.rater, label.kind, label.question, label.turn, label.value) for label in dialogue.labels]


def continuations(dialogue: Dialogue) -> list[tuple[Any, ...]]:
    return [
        (part.id, part.mode, [(turn.text, turn.given) for turn in part.turns])
        for part in dialogue.continuations
    ]


@pytest.mark.parametrize("name", [*DOCUMENTS, *TABLES])
@pytest.mark.django_db
def test_each_form_is_recognised_and_imported_with_its_labels(name: str) -> None:
    path = FORMS / name
    key = guess(FORMATS, read_start(path))
    assert key == name.partition(".")[0].partition("--")[0]
    result = imported(path, format=key)
    assert result.dialogues > 0


def test_inspect_scores_are_labels_of_the_graders_model_with_its_reasons() -> None:
    first, second = form("inspect.json")
    assert (first.id, first.metadata["target"]) == ("capitals-1", "Paris")
    assert first.metadata["system_prompt"] == "Answer briefly."
    assert said(first) == [("user", "Capital of France?", True)]
    assert continuations(first) == [("openai/gpt-4o", "rollout", [("Paris.", False)])]
    assert answers(second) == [
        ("anthropic/claude-3-5-sonnet", "judge", "model_graded_qa", None, "I"),
        ("includes", "metric", "includes", None, "I"),
    ]
    assert second.labels[0].explanation == "It is Canberra."


def test_an_inspect_archive_is_the_same_log() -> None:
    assert form("inspect--archive.eval") == form("inspect.json")


def test_inspect_epochs_are_trials_and_parts_of_a_score_questions(tmp_path: Path) -> None:
    log = json.loads((FORMS / "inspect.json").read_text())
    sample = log["samples"][0]
    again = {**sample, "epoch": 2, "scores": {"quality": {"value": {"clear": 4, "safe": True}}}}
    log["samples"] = [sample, again]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    ((dialogue,), _) = read_file(path)
    assert [(part.id, part.trial) for part in dialogue.continuations] == [
        ("openai/gpt-4o", 0),
        ("openai/gpt-4o-2", 1),
    ]
    assert answers(dialogue)[2:] == [
        ("quality", "metric", "quality.clear", None, 4.0),
        ("quality", "metric", "quality.safe", None, "yes"),
    ]


def test_an_inspect_archive_without_a_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("samples/1_epoch_1.json", "{}")
        archive.writestr("samples/2_epoch_1.json", "{}")
    with pytest.raises(ImportProblem, match="no log of Inspect"):
        read_file(path)


def test_promptfoo_gives_each_assertion_its_verdict_by_its_grader() -> None:
    records, notes = read_file(FORMS / "promptfoo.json")
    first, second = records
    assert said(first) == [("user", "Where is my parcel?", True)]
    assert continuations(first) == [
        ("openai:gpt-4o", "static", [("Your order left yesterday.", False)]),
        ("local:small", "static", [("No idea.", False)]),
    ]
    assert answers(first)[:3] == [
        ("openai:gpt-4.1", "judge", "polite", 0, "pass"),
        ("openai:gpt-4.1", "judge", "polite score", 0, 0.9),
        ("contains", "metric", "contains: order", 0, "pass"),
    ]
    assert [label.explanation for label in first.labels if label.question == "polite"] == [
        "Friendly.",
        "Curt.",
    ]
    assert first.labels[0].values == ("fail", "pass")
    assert len(second.labels) == 3
    assert notes == ["Answers left out, because they are empty: 1", "Scores of empty answers, left out: 3"]


def test_deepeval_scores_are_labels_of_the_evaluation_model() -> None:
    first, second, conversation = form("deepeval.json")
    assert answers(second) == [
        ("gpt-4.1", "judge", "Answer Relevancy", 0, 0.4),
        ("Exact Match", "metric", "Exact Match", 0, 0.0),
    ]
    assert second.labels[0].explanation == "It avoids the question."
    assert first.metadata["retrieval_context"] == ["Refunds take 30 days."]
    assert continuations(conversation) == [
        ("gpt-4o", "rollout", [("Hello!", False), ("Bye", True), ("Goodbye.", False)])
    ]
    assert answers(conversation) == [("gpt-4.1", "judge", "Knowledge Retention", None, 0.8)]


def test_a_metric_of_deepeval_that_failed_is_a_missing_answer() -> None:
    ((dialogue,), notes) = read_file(FORMS / "deepeval--results.json")
    assert [(label.value, label.missing) for label in dialogue.labels] == [
        (0.9, ""),
        (None, "error: timeout"),
    ]
    assert notes == [
        "The log names no model: its answers are those of `system`. Name it with the setting system."
    ]


def test_openai_evals_are_graded_by_the_second_model_or_by_a_match() -> None:
    graded, matched = form("openai-evals.jsonl")
    assert answers(graded) == [("gpt-4", "judge", "choice", 0, "No"), ("gpt-4", "judge", "score", 0, 0.0)]
    assert graded.labels[0].explanation == "It is old.\nNo"
    assert answers(matched) == [("match", "metric", "match", 0, "yes")]


def test_the_answer_of_a_multiple_choice_is_the_likeliest() -> None:
    generated, chosen = form("lm-eval.jsonl")
    assert [part.turns[0].text for part in (*generated.continuations, *chosen.continuations)] == [
        "blue",
        "green",
    ]
    assert answers(chosen) == [("acc", "metric", "acc", 0, 1.0)]


def test_traces_of_a_session_are_one_dialogue_in_the_order_of_their_times() -> None:
    records, notes = read_file(FORMS / "langfuse.json")
    (dialogue,) = records
    assert (dialogue.id, dialogue.system) == ("s1", "gpt-4o")
    assert said(dialogue) == [
        ("user", "Where is my order?", True),
        ("assistant", "It left yesterday.", False),
        ("user", "Thanks, when does it come?", True),
        ("assistant", "Tomorrow.", False),
    ]
    assert answers(dialogue) == [
        ("ana", "human", "correct", 1, "yes"),
        ("user", "human", "user-feedback", 1, 1.0),
        ("ana", "human", "tone", 1, "kind"),
        ("Langfuse evaluator", "judge", "helpfulness", 3, 0.8),
    ]
    assert dialogue.labels[3].explanation == "It gives a day."
    assert notes == [
        "Traces left out, because they have no answer: 1",
        "Scores of traces without an answer, left out: 1",
        "Scores without a stated rater, read as answers of people: user-feedback.",
        "Scores without a stated rater, read as metrics: latency.",
    ]


def test_an_answer_that_is_json_stays_as_it_was_written(tmp_path: Path) -> None:
    (trace, *_) = json.loads((FORMS / "langfuse.json").read_text())
    path = tmp_path / "traces.json"
    path.write_text(json.dumps([{**trace, "input": '["a", "b"]', "output": '{"answer": "yes"}'}]))
    ((dialogue,), _) = read_file(path)
    assert [text for _, text, _ in said(dialogue)] == ['["a", "b"]', '{"answer": "yes"}']


def test_langsmith_threads_are_dialogues_and_feedback_says_who_gave_it() -> None:
    (dialogue,) = form("langsmith.jsonl")
    assert [text for _, text, _ in said(dialogue)] == ["Book a table.", "For how many?", "Two.", "Done."]
    assert answers(dialogue) == [
        ("Ana", "human", "helpful", 1, 1.0),
        ("gpt-4.1", "judge", "correctness", 3, 0.0),
    ]
    assert [label.explanation for label in dialogue.labels] == ["Right question.", "No booking was made."]


def test_spans_of_phoenix_have_evaluations_as_labels_of_a_judge() -> None:
    (dialogue,) = form("openinference.jsonl")
    assert [text for _, text, _ in said(dialogue)] == ["What is 2+2?", "4", "And 3+3?", "6"]
    assert dialogue.metadata["system_prompt"] == "Count."
    assert answers(dialogue) == [("Phoenix evaluator", "judge", "Correctness", 1, "correct")]
    assert dialogue.labels[0].explanation == "2+2 is 4."


def test_opentelemetry_messages_are_read_in_both_of_their_shapes() -> None:
    first, second = form("openinference--otlp.json")
    assert [text for _, text, _ in said(first)] == ["Hi", "Hello"]
    assert (second.id, second.system) == ("k1", "gpt-4o")
    assert [text for _, text, _ in said(second)] == ["Bye", "Goodbye"]


def test_assessments_of_mlflow_are_by_people_judges_and_keys() -> None:
    (dialogue,) = form("mlflow.json")
    assert said(dialogue) == [("user", "Which page?", True), ("assistant", "Page 3.", False)]
    assert answers(dialogue) == [
        ("gpt-4o-mini", "judge", "relevant", 1, "yes"),
        ("ana@example.org", "human", "relevant", 1, "no"),
        ("expectations", "key", "expected_response", 1, "Page 4"),
    ]
    (row,) = form("mlflow--search.jsonl")
    assert [text for _, text, _ in said(row)] == ["Which page?", "Page 3."]
