"""Tables of crowd platforms and survey programs become dialogues with labels, or ratings."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS, crowd_tables, mapped
from annotation.formats.corpus_format import guess, read_start
from annotation.formats.mapping import Mapping
from annotation.formats.source import Source
from annotation.formats.table_file import TableFile
from annotation.formats.table_reader import open_table
from tests.importing.helpers import imported

FORMS = Path(__file__).parent / "forms"
KEYS = {form.key for form in crowd_tables.FORMS}
FIXTURES = sorted(path for path in FORMS.iterdir() if path.name.partition(".")[0].partition("--")[0] in KEYS)


def read(path: Path) -> tuple[TableFile, Mapping]:
    table = open_table(Source(path))
    mapping = crowd_tables.mapping_of(table.columns, list(table.rows()), table.wordings)
    assert mapping is not None
    return table, mapping


def rows(name: str) -> list[tuple[str, ...]]:
    table, mapping = read(FORMS / name)
    cells = (row for _, row in mapped.rating_rows(Source(FORMS / name), table, mapping))
    return [
        tuple(row.get(key, "") for key in ("item", "rater", "kind", "question", "value")) for row in cells
    ]


def written(path: Path, header: list[str], *lines: list[str]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *lines])
    return path


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_each_table_is_recognised_by_its_columns(path: Path) -> None:
    assert guess(FORMATS, read_start(path)) == path.name.partition(".")[0].partition("--")[0]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
@pytest.mark.django_db
def test_tables_with_dialogues_import_with_their_labels(path: Path) -> None:
    key = guess(FORMATS, read_start(path))
    if FORMATS[key].labels_only:
        return
    result = imported(path, format=key)
    assert result.dialogues > 0
    assert result.labels == len(rows(path.name))


def test_mturk_tasks_are_dialogues_with_labels_of_their_workers() -> None:
    assert rows("mturk.csv") == [
        ("d1/self", "W1", "human", "helpful", "5"),
        ("d1/self", "W1", "human", "polite", "1"),
        ("d1/self", "W2", "human", "helpful", "4"),
        ("d1/self", "W2", "human", "polite", "1"),
        ("d2/self", "W1", "human", "helpful", "2"),
        ("d2/self", "W1", "human", "polite", "0"),
        ("d2/self", "W2", "human", "helpful", "1"),
        ("d2/self", "W2", "human", "polite", "1"),
    ]
    (first, _) = [entry.record for entry in FORMATS["mturk"].read(Source(FORMS / "mturk.csv"))]
    record: Any = first
    assert [(turn.speaker, turn.text) for turn in record.turns] == [
        ("Ana", "Where is my order?"),
        ("Bot", "It left yesterday."),
    ]
    assert {label.explanation for label in record.labels if label.rater == "W1"} == {"nice"}


def test_rejected_assignments_are_left_out_and_counted() -> None:
    table, _ = read(FORMS / "mturk.csv")
    assert table.notes == ["Rejected assignments, left out: 1"]


def test_answers_of_amazons_form_elements_are_questions_of_their_own() -> None:
    assert rows("mturk--task-answers.csv")[:4] == [
        ("H1/self/1", "W1", "human", "quality", "3"),
        ("H1/self/1", "W1", "human", "tags:kind", "1"),
        ("H1/self/1", "W1", "human", "tags:short", "1"),
        ("H1/self/1", "W1", "human", "ok", "1"),
    ]


def test_several_items_in_a_task_and_buttons_become_rows() -> None:
    assert rows("mturk--buttons.csv") == [
        ("c1/self/0", "W1", "human", "toxic", "1"),
        ("c1/self/0", "W2", "human", "toxic", "0"),
        ("c2/self/0", "W1", "human", "toxic", "0"),
        ("c2/self/0", "W2", "human", "toxic", "0"),
    ]


def test_the_same_inputs_in_two_tasks_are_one_item(tmp_path: Path) -> None:
    path = written(
        tmp_path / "batch.csv",
        ["HITId", "WorkerId", "AssignmentStatus", "Input.image", "Answer.label"],
        ["H1", "W1", "Approved", "a.png", "cat"],
        ["H2", "W2", "Approved", "a.png", "dog"],
        ["H3", "W2", "Approved", "b.png", "dog"],
    )
    table, mapping = read(path)
    items = [row["item"] for _, row in mapped.rating_rows(Source(path), table, mapping)]
    assert items == ["H1", "H1", "H3"]


def test_inputs_that_a_worker_rated_twice_are_two_items(tmp_path: Path) -> None:
    path = written(
        tmp_path / "batch.csv",
        ["HITId", "WorkerId", "Input.prompt", "Input.response", "Answer.label"],
        ["H1", "W1", "Hi", "Hello", "yes"],
        ["H2", "W1", "Hi", "Hello", "no"],
    )
    table, mapping = read(path)
    items = [row["item"] for _, row in mapped.rating_rows(Source(path), table, mapping)]
    assert items == ["H1/self/1", "H2/self/1"]


def test_numbers_within_names_tell_the_items_of_a_task_apart(tmp_path: Path) -> None:
    path = written(
        tmp_path / "batch.csv",
        ["HITId", "WorkerId", "Input.reply_1", "Input.reply_2", "Answer.r1_polite", "Answer.r2_polite"],
        ["H1", "W1", "Yes.", "No.", "4", "1"],
        ["H1", "W2", "Yes.", "No.", "5", "2"],
        ["H2", "W3", "Well.", "No.", "3", "1"],
    )
    table, mapping = read(path)
    cells = [row for _, row in mapped.rating_rows(Source(path), table, mapping)]
    assert [(row["item"], row["rater"], row["question"], row["value"]) for row in cells] == [
        ("H1-1", "W1", "r_polite", "4"),
        ("H1-2", "W1", "r_polite", "1"),
        ("H1-1", "W2", "r_polite", "5"),
        ("H1-2", "W2", "r_polite", "2"),
        ("H2-1", "W3", "r_polite", "3"),
        ("H1-2", "W3", "r_polite", "1"),
    ]


def test_answers_about_several_responses_are_ratings_of_the_task(tmp_path: Path) -> None:
    path = written(
        tmp_path / "batch.csv",
        ["HITId", "WorkerId", "Input.prompt", "Input.response_a", "Input.response_b", "Answer.better"],
        ["H1", "W1", "Hi", "Hello", "Yo", "A"],
        ["H1", "W2", "Hi", "Hello", "Yo", "B"],
    )
    table, mapping = read(path)
    assert not mapping.has_dialogues
    assert [row["item"] for _, row in mapped.rating_rows(Source(path), table, mapping)] == ["H1", "H1"]


def test_long_questions_that_begin_alike_stay_apart(tmp_path: Path) -> None:
    texts = ["Please read this reply with care. " * 8 + end for end in ("Hello", "Bye")]
    path = written(
        tmp_path / "form.csv",
        ["Timestamp", "Email Address", *(f"{text} [{part}]" for text in texts for part in ("Kind", "Clear"))],
        ["1/5/2026", "ana@example.org", "4", "5", "2", "1"],
        ["1/5/2026", "ben@example.org", "4", "4", "2", "2"],
    )
    table, mapping = read(path)
    cells = [row for _, row in mapped.rating_rows(Source(path), table, mapping)]
    assert len({row["item"] for row in cells}) == 2
    assert {row["question"] for row in cells} == {"Kind", "Clear"}


def test_golden_answers_of_toloka_are_the_key_once_for_each_item() -> None:
    assert rows("toloka.tsv") == [
        ("d1/self", "w1", "human", "result", "1"),
        ("d1/self", "GOLDEN", "key", "result", "1"),
        ("d1/self", "w2", "human", "result", "0"),
        ("d2/self", "w1", "human", "result", "0"),
    ]


@pytest.mark.parametrize("name", ["toloka--aggregated.tsv", "appen--aggregated.csv"])
def test_aggregated_answers_are_of_one_rater_and_the_notes_say_so(name: str) -> None:
    assert {rater for _, rater, kind, *_ in rows(name) if kind == "human"} == {"aggregated"}
    assert "no workers" in read(FORMS / name)[0].notes[-1]


def test_gold_of_appen_is_the_key_and_tainted_judgments_are_left_out() -> None:
    assert rows("appen.csv") == [
        ("u1/self/1", "101", "human", "is_helpful", "1"),
        ("u1/self/1", "gold", "key", "is_helpful", "1"),
        ("u1/self/1", "102", "human", "is_helpful", "0"),
        ("u2/self/1", "101", "human", "is_helpful", "0"),
        ("u2/self/1", "102", "human", "is_helpful", "0"),
    ]
    assert read(FORMS / "appen.csv")[0].notes == ["Tainted judgments, left out: 1"]


def test_loops_of_qualtrics_are_items_and_prolific_ids_raters() -> None:
    question = "How helpful is the assistant in dialogue #?"
    assert rows("qualtrics.csv")[:3] == [
        ("1", "p1", "human", question, "Very helpful"),
        ("1", "p1", "human", "Is it polite?", "1"),
        ("2", "p1", "human", question, "Not helpful"),
    ]
    table, mapping = read(FORMS / "qualtrics.csv")
    assert table.notes == ["Previews and tests, left out: 1"]
    assert mapping.scales[question].values == ("Not helpful", "Somewhat helpful", "Very helpful")


def test_rows_of_a_matrix_are_items() -> None:
    assert rows("qualtrics--matrix.csv")[:3] == [
        ("Reply A", "R_1", "human", "Rate the coherence.", "5"),
        ("Reply B", "R_1", "human", "Rate the coherence.", "2"),
        ("Reply C", "R_1", "human", "Rate the coherence.", "3"),
    ]


def test_numbers_with_their_wording_are_numbers_with_anchors() -> None:
    assert rows("google-forms.csv")[:3] == [
        ("Dialogue 1", "ana@example.org", "human", "How present is empathy?", "2"),
        ("Dialogue 2", "ana@example.org", "human", "How present is empathy?", "0"),
        ("Dialogue 3", "ana@example.org", "human", "How present is empathy?", "1"),
    ]
    _, mapping = read(FORMS / "google-forms.csv")
    scale = mapping.scales["How present is empathy?"]
    assert (scale.level, scale.values) == ("ordinal", ("0", "1", "2"))
    assert scale.anchors == {"0": "Not present", "1": "Weakly present", "2": "Strongly present"}


def test_questions_with_the_same_answers_are_items_where_nothing_else_is() -> None:
    assert rows("google-forms--plain.csv")[:2] == [
        ("Does the bot greet the user?", "respondent 1", "human", "overall", "1"),
        ("Does the bot say its name?", "respondent 1", "human", "overall", "0"),
    ]


def test_a_question_that_is_asked_again_is_about_the_next_item() -> None:
    assert rows("google-forms--repeated.csv")[:3] == [
        ("1", "Ana", "human", "Wie hilfreich ist die Antwort?", "4"),
        ("1", "Ana", "human", "Ist sie höflich?", "1"),
        ("2", "Ana", "human", "Wie hilfreich ist die Antwort?", "2"),
    ]


def test_a_form_filled_in_for_each_dialogue_says_which_one() -> None:
    assert rows("google-forms--by-item.csv")[2:4] == [
        ("d2", "Ana", "human", "How fluent is it?", "2"),
        ("d2", "Ana", "human", "Is it on topic?", "0"),
    ]


def test_the_second_header_row_of_surveymonkey_names_the_items() -> None:
    assert rows("surveymonkey.csv")[:3] == [
        ("Reply 1", "11", "human", "How fluent is each reply?", "Good"),
        ("Reply 2", "11", "human", "How fluent is each reply?", "Poor"),
        ("Reply 3", "11", "human", "How fluent is each reply?", "Fair"),
    ]


def test_limesurvey_is_read_like_other_surveys() -> None:
    assert rows("limesurvey.csv")[:2] == [
        ("Dialogue 1", "1", "human", "How good is it?", "4"),
        ("Dialogue 2", "1", "human", "How good is it?", "2"),
    ]


def test_an_ordinary_table_is_left_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path / "plain.csv", ["id", "ann1", "ann2"], ["1", "yes", "no"], ["2", "no", "no"])
    table = open_table(Source(path))
    assert table.columns == ("id", "ann1", "ann2")
    assert crowd_tables.mapping_of(table.columns, list(table.rows())) is None
