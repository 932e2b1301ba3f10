"""Exports of annotation tools become dialogues with labels: raters, values, marked words and comments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import ipc, parquet

from annotation.formats import FORMATS, ImportProblem, Source
from annotation.formats.corpus_format import guess, read_start
from annotation.records import Dialogue, LabelRecord
from tests.importing.helpers import imported, read_file

FORMS = Path(__file__).parent / "forms"
USER = "3c7b1c4e-0000-4000-8000-00000000000"


def lines(folder: Path, *records: dict[str, Any], name: str = "export.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def turns(dialogue: Dialogue) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in dialogue.turns]


def answers(dialogue: Dialogue) -> list[tuple[str, str, int | None, Any]]:
    return [(label.rater, label.question, label.turn, label.value) for label in dialogue.labels]


def words(dialogue: Dialogue, label: LabelRecord) -> list[str]:
    """Return the words at which a label points."""
    return [dialogue.turns[place.turn].text[place.start : place.end] for place in label.evidence]


def test_options_of_prodigy_are_a_nominal_question_of_each_annotator() -> None:
    (first, second), _ = read_file(FORMS / "prodigy.jsonl")
    assert turns(first) == [("unnamed", "Shall I help?")]
    assert answers(first) == [("chats-ana", "choice", 0, "kind"), ("chats-ben", "choice", 0, "rude")]
    assert [label.explanation for label in first.labels] == ["", "too direct"]
    assert {label.kind for label in first.labels} == {"human"}
    assert answers(second) == [("chats-ana", "choice", 0, "rude"), ("chats-ben", "choice", 0, None)]
    assert second.labels[1].missing == "ignored"


def test_several_options_of_prodigy_are_a_yes_or_no_for_each(tmp_path: Path) -> None:
    options = [{"id": 1, "text": "kind"}, {"id": 2, "text": "short"}]
    task = {"text": "Hi", "options": options, "answer": "accept", "_annotator_id": "ana"}
    (dialogue,), _ = read_file(lines(tmp_path, {**task, "accept": [1, 2]}))
    assert answers(dialogue) == [("ana", "choice:kind", 0, 1), ("ana", "choice:short", 0, 1)]
    assert {label.group for label in dialogue.labels} == {"choice"}


def test_one_option_of_several_allowed_ones_is_a_yes_or_no_and_none_of_one_is_missing(tmp_path: Path) -> None:
    options = [{"id": "kind", "text": "Kind"}, {"id": "short", "text": "Short"}]
    task = {"text": "Hi", "options": options, "answer": "accept", "_annotator_id": "ana"}
    several = {**task, "accept": ["kind"], "config": {"choice_style": "multiple"}}
    (dialogue,), _ = read_file(lines(tmp_path, several))
    assert answers(dialogue) == [("ana", "choice:kind", 0, 1), ("ana", "choice:short", 0, 0)]
    none = {**task, "accept": [], "_annotator_id": "ben"}
    (dialogue,), _ = read_file(lines(tmp_path, {**task, "accept": ["kind"]}, none))
    assert answers(dialogue) == [("ana", "choice", 0, "kind"), ("ben", "choice", 0, None)]
    assert dialogue.labels[1].missing == "nothing chosen"


def test_tasks_of_prodigy_are_turns_of_the_dialogue_that_they_name() -> None:
    (dialogue,), _ = read_file(FORMS / "prodigy--dialogue.jsonl")
    assert (dialogue.id, turns(dialogue)) == ("c1", [("Bot", "Where to?"), ("User", "To Bern, please.")])
    assert answers(dialogue) == [
        ("ana", "spans:PLACE", 0, 0),
        ("ana", "QUESTION", 0, 1),
        ("ana", "spans:PLACE", 1, 1),
        ("ben", "spans:PLACE", 1, None),
    ]
    assert words(dialogue, dialogue.labels[2]) == ["Bern"]
    assert dialogue.labels[3].missing == "rejected"


def test_a_session_of_prodigy_without_a_name_is_nobody_in_particular(tmp_path: Path) -> None:
    task = {"text": "Hi", "label": "GREETING", "_input_hash": 1, "_task_hash": 2, "answer": "reject"}
    (dialogue,), _ = read_file(lines(tmp_path, {**task, "_session_id": "2024-01-12_10-00-00"}))
    assert answers(dialogue) == [("2024-01-12_10-00-00", "GREETING", 0, 0)]
    assert [label.identified for label in dialogue.labels] == [False]


def test_classes_of_doccano_are_yes_or_no_where_some_text_has_several() -> None:
    (first, second, third), notes = read_file(FORMS / "doccano.jsonl")
    assert answers(first) == [
        ("doccano", "label:kind", 0, 1),
        ("doccano", "label:question", 0, 1),
        ("doccano", "label:rude", 0, 0),
    ]
    assert [label.explanation for label in second.labels] == ["", "", "very"]
    assert third.labels == ()
    assert notes == ["Left out: texts without labels, as not annotated (1)."]


def test_words_marked_in_doccano_are_evidence_in_their_turns() -> None:
    (dialogue, single), notes = read_file(FORMS / "doccano--spans.jsonl")
    assert turns(dialogue) == [("User", "To Bern, please."), ("Bot", "From where?"), ("User", "Rome.")]
    marked = [(label.turn, words(dialogue, label)) for label in dialogue.labels if label.value]
    assert marked == [(0, ["Bern"]), (2, ["Rome"])]
    assert [words(single, label) for label in single.labels if label.value] == [["Ana"]]
    assert notes == [
        "Texts with several turns are dialogues, rated as a whole: 1.",
        "Left out: relations (1).",
    ]


def test_a_folder_of_doccano_has_a_file_for_each_person(tmp_path: Path) -> None:
    for name, label in (("ana", "kind"), ("ben", "rude")):
        lines(tmp_path, {"id": 1, "text": "Hm.", "label": [label], "Comments": []}, name=f"{name}.jsonl")
    (dialogue,), _ = read_file(tmp_path)
    assert answers(dialogue) == [("ana", "label", 0, "kind"), ("ben", "label", 0, "rude")]


def test_texts_written_in_doccano_are_answers_in_words(tmp_path: Path) -> None:
    text = "Bring me to the main station of Bern as fast as you can, and do not stop."
    path = lines(tmp_path, {"id": 1, "text": "x", "label": [text]}, {"id": 2, "text": "y", "label": ["Go"]})
    dialogues, _ = read_file(path)
    assert [(label.level, label.value) for one in dialogues for label in one.labels] == [
        ("text", text),
        ("text", "Go"),
    ]


def test_a_folder_of_brat_has_a_dialogue_for_each_text() -> None:
    (first, second), notes = read_file(FORMS / "brat")
    assert first.id == "d1"
    assert answers(first) == [("annotator", "spans:Person", 0, 1), ("annotator", "spans:Place", 0, 1)]
    assert [words(first, label) for label in first.labels] == [["Ana"], ["Bern"]]
    assert [label.explanation for label in first.labels] == ["", "a town"]
    assert [label.value for label in second.labels] == [0, 0]
    assert notes == ["Left out: relations (1)."]


def test_folders_of_brat_with_the_same_texts_are_of_an_annotator_each(tmp_path: Path) -> None:
    for name, mark in (("ana", "T1\tPlace 3 7\tBern\n"), ("ben", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "d1.txt").write_text("To Bern.")
        (tmp_path / name / "d1.ann").write_text(mark)
    (dialogue,), _ = read_file(tmp_path)
    assert answers(dialogue) == [("ana", "spans:Place", 0, 1), ("ben", "spans:Place", 0, 0)]


def test_folders_of_potato_are_of_a_user_each(tmp_path: Path) -> None:
    for name, option in (("ana", "kind"), ("ben", "rude")):
        (tmp_path / name).mkdir()
        instance = {"id": "i1", "displayed_text": "Hm.", "label_annotations": {"tone": {option: "true"}}}
        lines(tmp_path / name, instance, name="annotated_instances.jsonl")
        (tmp_path / name / "annotation_order.txt").write_text("i1\n")
    (dialogue,), _ = read_file(tmp_path)
    assert answers(dialogue) == [("ana", "tone", 0, "kind"), ("ben", "tone", 0, "rude")]


def test_a_file_of_brat_alone_says_what_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "d1.ann"
    path.write_text("T1\tPerson 0 3\tAna\n")
    with pytest.raises(ImportProblem, match=r"choose the \.txt and \.ann files together"):
        read_file(path)


def test_responses_of_argilla_are_labels_of_people_and_suggestions_of_judges() -> None:
    (first, second), _ = read_file(FORMS / "argilla.json")
    assert turns(first) == [("prompt", "Hello?"), ("response", "Hi, Ana.")]
    assert answers(first) == [
        (f"{USER}1", "tone", None, "kind"),
        (f"{USER}2", "tone", None, "rude"),
        (f"{USER}1", "quality", None, 4),
        (f"{USER}1", "topics:greeting", None, 1),
        (f"{USER}1", "topics:name", None, 1),
        ("gpt-4o", "tone", None, "kind"),
    ]
    assert (first.labels[-1].kind, first.labels[-1].explanation) == ("judge", "score 0.9")
    assert answers(second)[-1] == (f"{USER}1", "topics:name", None, 0)


def test_drafts_of_argilla_are_left_out_and_discarded_responses_are_missing() -> None:
    (dialogue,), notes = read_file(FORMS / "argilla--feedback.json")
    assert answers(dialogue)[:2] == [(f"{USER}1", "label", 0, "kind"), (f"{USER}1", "words:NAME", 0, 1)]
    assert words(dialogue, dialogue.labels[1]) == ["Ana"]
    assert [label.missing for label in dialogue.labels if label.rater == f"{USER}2"] == ["discarded"]
    assert answers(dialogue)[-1] == ("judge-1", "label", 0, "rude")
    assert notes == ["Left out: drafts (1)."]


@pytest.mark.parametrize("medium", ["parquet", "arrow"])
@pytest.mark.parametrize("generation", [1, 2])
def test_a_folder_of_hugging_face_has_argillas_columns(tmp_path: Path, medium: str, generation: int) -> None:
    row: dict[str, Any] = {"text": "Hello", "id": "e1", "metadata": "{}"}
    if generation == 1:
        row["tone"] = [{"user_id": "u1", "value": "kind", "status": "submitted"}]
        row |= {"tone-suggestion": "rude", "tone-suggestion-metadata": {"score": 0.5, "agent": "m"}}
    else:
        row |= {"tone.responses": ["kind"], "tone.responses.users": ["u1"]}
        row |= {"tone.responses.status": ["submitted"]}
        row |= {"tone.suggestion": "rude", "tone.suggestion.score": 0.5, "tone.suggestion.agent": "m"}
    table = pyarrow.Table.from_pylist([row])
    (tmp_path / "README.md").write_text("# Data\n")
    if medium == "parquet":
        parquet.write_table(table, tmp_path / "train-00000-of-00001.parquet")
    else:
        (tmp_path / "dataset_info.json").write_text(json.dumps({"features": {key: {} for key in row}}))
        with ipc.new_stream(str(tmp_path / "data-00000-of-00001.arrow"), table.schema) as stream:
            stream.write_table(table)
    (dialogue,), _ = read_file(tmp_path)
    assert answers(dialogue) == [("u1", "tone", 0, "kind"), ("m", "tone", 0, "rude")]
    assert [label.explanation for label in dialogue.labels] == ["", "score 0.5"]


def test_records_of_argilla_before_feedback_have_an_annotation_and_predictions(tmp_path: Path) -> None:
    record = {"text": "Hello", "inputs": {"text": "Hello"}, "id": "e1", "annotation": "kind"}
    record |= {"annotation_agent": "ana", "prediction_agent": "m", "status": "Validated"}
    record["prediction"] = [{"label": "kind", "score": 0.2}, {"label": "rude", "score": 0.8}]
    (dialogue,), _ = read_file(lines(tmp_path, record))
    assert answers(dialogue) == [("ana", "label", 0, "kind"), ("m", "label", 0, "rude")]
    assert [label.kind for label in dialogue.labels] == ["human", "judge"]


def test_instances_of_potato_have_options_numbers_and_words() -> None:
    (dialogue,), _ = read_file(FORMS / "potato.jsonl")
    assert turns(dialogue) == [("A", "Hi"), ("B", "Go away."), ("A", "Why?")]
    assert [answer for answer in answers(dialogue) if answer[2] is None] == [
        ("ana", "tone", None, "rude"),
        ("ana", "quality", None, 2),
        ("ben", "tone", None, "kind"),
        ("ben", "quality", None, 4),
        ("ben", "why", None, "only joking"),
    ]
    marked = [label for label in dialogue.labels if label.evidence]
    assert [(label.rater, label.turn, words(dialogue, label)) for label in marked] == [
        ("ana", 1, ["Go away"])
    ]
    assert [label.value for label in dialogue.labels if label.rater == "ben" and label.turn == 1] == [0]


def test_states_of_potato_are_labels_for_dialogues_of_a_corpus(tmp_path: Path) -> None:
    states: dict[str, Any] = {
        "ana": {"i1": [[{"schema": "tone", "name": "kind"}, "true"]]},
        "ben": {"i1": {"tone": {"labels": {"rude": True}}, "why": {"text": "it is short"}}},
        "cid": {"i1": {"quality": {"scale_2": "2"}}},
    }
    for name, instances in states.items():
        (tmp_path / name).mkdir()
        state = {"user_id": name, "instance_id_to_label_to_value": instances}
        (tmp_path / name / "user_state.json").write_text(json.dumps(state, indent=1))
    assert guess(FORMATS, read_start(tmp_path)) == "potato-state"
    ratings: list[Any] = [entry.record for entry in FORMATS["potato-state"].read(Source(tmp_path))]
    assert [(one.dialogue, one.label.rater, one.label.question, one.label.value) for one in ratings] == [
        ("i1", "ana", "tone", "kind"),
        ("i1", "ben", "tone", "rude"),
        ("i1", "ben", "why", "it is short"),
        ("i1", "cid", "quality", 2),
    ]


@pytest.mark.django_db
def test_states_of_potato_are_imported_into_the_corpus_of_their_instances(tmp_path: Path) -> None:
    imported(FORMS / "potato.jsonl", format="potato")
    path = tmp_path / "user_state.json"
    answer = [{"schema": "tone", "name": "kind"}, "true"]
    path.write_text(json.dumps({"user_id": "cid", "instance_id_to_label_to_value": {"i1": [answer]}}))
    assert imported(path, format="potato-state", into=True).labels == 1


def test_a_table_of_potato_has_marked_words_as_python_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "annotated_instances.csv"
    marked = "\"[{'start': 3, 'end': 7, 'span': 'Bern', 'annotation': 'PLACE'}]\""
    rows = ["user,instance_id,displayed_text,tone:::kind,span_annotation:::PLACE"]
    rows += [f"ana,i1,To Bern.,true,{marked}", "ben,i1,To Bern.,true,[]"]
    path.write_text("\n".join(rows) + "\n")
    (dialogue,), _ = read_file(path)
    assert [answer for answer in answers(dialogue) if answer[1] == "spans:PLACE"] == [
        ("ana", "spans:PLACE", 0, 1),
        ("ben", "spans:PLACE", 0, 0),
    ]


def test_a_table_of_potato_has_a_column_for_each_option() -> None:
    (first, second), _ = read_file(FORMS / "potato--table.tsv")
    assert answers(first) == [
        ("ana", "tone", 0, "kind"),
        ("ana", "why", 0, "polite"),
        ("ben", "tone", 0, "rude"),
    ]
    assert (second.id, answers(second)) == ("i2", [("ana", "tone", 0, "rude")])


@pytest.mark.parametrize(
    "content",
    [
        '{"%TYPES": {}, "%FEATURE_STRUCTURES": [], "%VIEWS": {}}',
        '{"_context": {}, "_views": {"_InitialView": {}}, "_referenced_fss": {}}',
        '<?xml version="1.0"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI"></xmi:XMI>',
    ],
)
def test_a_cas_of_inception_is_refused_with_what_to_bring(tmp_path: Path, content: str) -> None:
    path = tmp_path / "document.json"
    path.write_text(content)
    with pytest.raises(ImportProblem, match="is a UIMA CAS, as INCEpTION exports: write its texts as JSON"):
        read_file(path)


def test_marked_words_beyond_the_text_refuse_the_file(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match="beyond the text's 2 characters"):
        read_file(lines(tmp_path, {"id": 1, "text": "Hi", "label": [[0, 9, "X"]]}))


def test_two_texts_of_one_id_refuse_the_file(tmp_path: Path) -> None:
    records = [{"id": 1, "text": text, "label": ["x"]} for text in ("Hi", "Ho")]
    with pytest.raises(ImportProblem, match="'1' has another text before"):
        read_file(lines(tmp_path, *records))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name", ["prodigy.jsonl", "doccano--spans.jsonl", "brat", "argilla.json", "potato--table.tsv"]
)
def test_dialogues_and_labels_are_imported(name: str) -> None:
    path = FORMS / name
    result = imported(path, format=guess(FORMATS, read_start(path)))
    assert result.dialogues > 0
    assert result.labels > 0
