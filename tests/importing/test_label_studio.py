"""Label Studio's files become dialogues and labels: raters, messages and scales."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS, ImportProblem, Source
from annotation.formats.corpus_format import guess, read_start
from annotation.models import Corpus, Label
from annotation.records import Dialogue, LabelRecord
from tests.importing.helpers import imported, read_file, refusal

CHAT = [{"author": "Ana", "text": "Hello"}, {"author": "Bo", "text": "Hi, what is new?"}]


def result(control: str, kind: str, value: Any, message: int | None = None, **more: Any) -> dict[str, Any]:
    """Return one result of an annotation, about a message where one is given."""
    place = {} if message is None else {"start": str(message), "end": str(message), "startOffset": 0}
    key = "text" if kind == "textarea" else kind
    return {"from_name": control, "to_name": "d", "type": kind, "value": {**place, key: value}, **more}


def annotation(*results: dict[str, Any], by: Any = 1, **more: Any) -> dict[str, Any]:
    return {"completed_by": by, "result": list(results), "was_cancelled": False, **more}


def task(number: int = 1, *annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": number, "annotations": list(annotations), "data": {"messages": CHAT}, **more}


def written(folder: Path, *tasks: Any) -> Path:
    path = folder / "export.json"
    path.write_text(json.dumps(list(tasks)))
    return path


def read(path: Path, **how: Any) -> tuple[list[Dialogue], list[str]]:
    return read_file(path, "label-studio", **how)


def labels(folder: Path, *tasks: Any) -> list[LabelRecord]:
    return [label for record in read(written(folder, *tasks))[0] for label in record.labels]


def said(found: list[LabelRecord]) -> list[tuple[str, str, int | None, Any]]:
    return [(label.rater, label.question, label.turn, label.value) for label in found]


def test_a_task_is_a_dialogue_whose_data_is_kept(tmp_path: Path) -> None:
    one = task(17, annotation(result("q", "rating", 4)), data={"messages": CHAT, "topic": "food"})
    (record,), _ = read(written(tmp_path, one))
    assert record.id == "task-17"
    assert [(turn.speaker, turn.text) for turn in record.turns] == [
        ("Ana", "Hello"),
        ("Bo", "Hi, what is new?"),
    ]
    assert dict(record.metadata) == {"topic": "food"}


def test_people_are_named_as_label_studio_knows_them(tmp_path: Path) -> None:
    who = [7, {"id": 3, "email": "ana@example.org"}, "bo", None]
    found = labels(tmp_path, task(1, *(annotation(result("q", "rating", 4), by=by) for by in who)))
    assert [(label.rater, label.identified) for label in found] == [
        ("annotator 7", True),
        ("ana@example.org", True),
        ("bo", True),
        ("slot 4", False),
    ]


def test_ratings_choices_taxonomies_numbers_and_texts_have_their_scales(tmp_path: Path) -> None:
    first = annotation(
        result("stars", "rating", 4),
        result("tone", "choices", ["warm"]),
        result("grade", "choices", ["2"]),
        result("tags", "taxonomy", [["Bad", "Rude"], ["Long"]]),
        result("size", "number", 2.5),
        result("why", "textarea", ["one", "two"]),
    )
    second = annotation(
        result("tone", "choices", ["cold"]),
        result("grade", "choices", ["10"]),
        result("tags", "taxonomy", []),
        by=2,
    )
    found = {(label.rater, label.question): label for label in labels(tmp_path, task(1, first, second))}
    told = {key: (label.value, label.level, label.values) for key, label in found.items()}
    assert told == {
        ("annotator 1", "stars"): (4.0, "ordinal", (1.0, 2.0, 3.0, 4.0, 5.0)),
        ("annotator 1", "tone"): ("warm", "nominal", ("warm", "cold")),
        ("annotator 1", "grade"): (2.0, "ordinal", (2.0, 10.0)),
        ("annotator 1", "tags: Bad > Rude"): (1.0, "binary", (0.0, 1.0)),
        ("annotator 1", "tags: Long"): (1.0, "binary", (0.0, 1.0)),
        ("annotator 1", "size"): (2.5, "interval", ()),
        ("annotator 1", "why"): ("one\ntwo", "text", ()),
        ("annotator 2", "tone"): ("cold", "nominal", ("warm", "cold")),
        ("annotator 2", "grade"): (10.0, "ordinal", (2.0, 10.0)),
        ("annotator 2", "tags: Bad > Rude"): (0.0, "binary", (0.0, 1.0)),
        ("annotator 2", "tags: Long"): (0.0, "binary", (0.0, 1.0)),
    }


def test_an_answer_about_a_message_is_about_that_turn(tmp_path: Path) -> None:
    region = result("mark", "paragraphlabels", ["Good"], 1, id="r1")
    by_id = result("q", "choices", ["yes"], id="r1")
    found = labels(tmp_path, task(1, annotation(region, by_id, result("q", "choices", ["no"], 0))))
    assert said(found) == [
        ("annotator 1", "mark", 1, "Good"),
        ("annotator 1", "q", 1, "yes"),
        ("annotator 1", "q", 0, "no"),
    ]


def test_predictions_are_judges_and_notes_are_explanations(tmp_path: Path) -> None:
    results = [result("q", "rating", 2, meta={"text": ["short"]})]
    models = [{"model_version": "gpt", "score": 0.5, "result": results}, {"result": results}]
    found = labels(tmp_path, task(1, predictions=models))
    assert [(label.rater, label.kind, label.explanation) for label in found] == [
        ("gpt", "judge", "short"),
        ("prediction", "judge", "short"),
    ]


def test_what_is_passed_over_is_told(tmp_path: Path) -> None:
    across = {"from_name": "q", "type": "choices", "value": {"start": "0", "end": "1", "choices": ["a"]}}
    gone = annotation(result("q", "rating", 1), by=2, was_cancelled=True)
    found, notes = read(written(tmp_path, task(1, annotation(across, result("p", "pairwise", "left")), gone)))
    assert found[0].labels == ()
    assert notes == [
        "Passed over: cancelled annotations (1), results across several messages (1), "
        "results of type pairwise (1)."
    ]


def span(message: int, start: int, end: int, label: str, control: str = "lab") -> dict[str, Any]:
    """Return some marked words of a message; offsets count UTF-16 units."""
    place = {"start": str(message), "end": str(message), "startOffset": start, "endOffset": end}
    value = {**place, "paragraphlabels": [label]}
    return {"id": f"{message}-{start}", "from_name": control, "type": "paragraphlabels", "value": value}


def pointed(found: list[LabelRecord]) -> list[tuple[str, str, Any, list[tuple[int, int | None, int | None]]]]:
    return [
        (one.rater, one.question, one.value, [(p.turn, p.start, p.end) for p in one.evidence])
        for one in found
    ]


def test_two_spans_of_a_message_are_tags_that_point_at_their_words(tmp_path: Path) -> None:
    two = annotation(span(1, 0, 2, "warm"), span(1, 12, 16, "rude"))
    found = labels(tmp_path, task(1, two, annotation(span(1, 0, 2, "warm"), by=2)))
    assert {(one.turn, one.level) for one in found} == {(1, "binary")}
    assert pointed(found) == [
        ("annotator 1", "lab: warm", 1, [(1, 0, 2)]),
        ("annotator 1", "lab: rude", 1, [(1, 12, 16)]),
        ("annotator 2", "lab: warm", 1, [(1, 0, 2)]),
        ("annotator 2", "lab: rude", 0, []),
    ]


def test_the_same_label_of_two_spans_is_one_answer_that_points_at_both(tmp_path: Path) -> None:
    found = labels(tmp_path, task(1, annotation(span(1, 4, 8, "warm"), span(1, 0, 2, "warm"))))
    assert pointed(found) == [("annotator 1", "lab", "warm", [(1, 0, 2), (1, 4, 8)])]


def test_offsets_of_javascript_become_characters(tmp_path: Path) -> None:
    chat = [CHAT[0], {"author": "Bo", "text": "\U0001f4a9Hello friend"}]
    one = task(1, annotation(span(1, 8, 14, "warm"), span(1, 1, 2, "warm"), span(1, 9, 90, "warm")))
    found, notes = read(written(tmp_path, one | {"data": {"messages": chat}}))
    (passages,) = [label.evidence for label in found[0].labels]
    assert [chat[1]["text"][p.start : p.end] for p in passages] == ["\U0001f4a9", "friend"]
    assert notes == ["Passed over: offsets that are not within their message (1)."]


def test_answers_in_regions_of_one_message_are_joined(tmp_path: Path) -> None:
    regions = [span(1, 0, 2, "a"), span(1, 4, 8, "a")]
    asked = {
        "mood": ("choices", ["glad"], ["sad"]),
        "why": ("textarea", "for one", "for two"),
        "same": ("number", 3, 3),
        "other": ("rating", 1, 5),
    }
    more = [
        result(control, kind, value, id=f"1-{start}")
        for control, (kind, *pair) in asked.items()
        for start, value in zip((0, 4), pair, strict=True)
    ]
    found, notes = read(written(tmp_path, task(1, annotation(*regions, *more))))
    answers = {one.question: (one.value, len(one.evidence)) for one in found[0].labels}
    assert answers == {
        "lab": ("a", 2),
        "mood: glad": (1, 1),
        "mood: sad": (1, 1),
        "why": ("for one\nfor two", 2),
        "same": (3, 2),
    }
    assert notes == ["Passed over: different numbers for one message (2)."]


@pytest.mark.django_db
def test_two_spans_of_a_message_are_stored_with_their_words(tmp_path: Path) -> None:
    two = annotation(span(1, 0, 2, "warm"), span(1, 12, 16, "rude"))
    imported(written(tmp_path, task(1, two)), format="label-studio")
    stored = Label.objects.order_by("question__key").values_list("question__key", "evidence")
    assert [(key, (one["start"], one["end"])) for key, (one,) in stored] == [
        ("lab: rude", (12, 16)),
        ("lab: warm", (0, 2)),
    ]


def test_files_from_before_label_studio_1_have_completions(tmp_path: Path) -> None:
    old = {"id": 1, "data": {"messages": CHAT}}
    done = {"id": 1, "result": [result("q", "choices", ["good"])]}
    path = written(tmp_path, old | {"completions": [done, done | {"skipped": True}]})
    assert guess(FORMATS, read_start(path)) == "label-studio"
    found, notes = read(path)
    assert said(list(found[0].labels)) == [("slot 1", "q", None, "good")]
    assert notes == ["Passed over: cancelled annotations (1)."]


def test_an_annotation_marked_as_ground_truth_is_an_answer_key(tmp_path: Path) -> None:
    good, bad = (result("q", "choices", [value]) for value in ("good", "bad"))
    keys = [annotation(good, ground_truth=True), annotation(good, by=None, ground_truth=True)]
    found, notes = read(written(tmp_path, task(1, *keys, annotation(bad, by=2, ground_truth=False))))
    assert [(one.kind, one.rater, one.identified, one.value) for one in found[0].labels] == [
        ("key", "annotator 1", True, "good"),
        ("key", "ground truth", True, "good"),
        ("human", "annotator 2", True, "bad"),
    ]
    assert notes == ["Annotations marked as ground truth are an answer key's: 2."]


def test_drafts_and_fields_of_messages_that_are_not_read_are_told(tmp_path: Path) -> None:
    chat = [message | {"time": "9:00"} for message in CHAT]
    path = written(tmp_path, task(1, drafts=[{"result": []}]) | {"data": {"messages": chat}})
    source = Source(path)
    list(FORMATS["label-studio"].read(source))
    assert source.all_notes() == ["Passed over: drafts (1).", "Fields passed over: messages[].time."]


def test_the_short_form_gives_the_same_labels(tmp_path: Path) -> None:
    short = {
        "dialogue": CHAT,
        "topic": "food",
        "id": 1,
        "tone": "warm",
        "tags": {"choices": ["a", "b"]},
        "stars": [{"rating": 4}],
        "turn_tone": [{"start": "1", "end": "1", "choices": ["cold"]}],
        "annotator": 1,
        "annotation_id": 9,
        "lead_time": 3.5,
    }
    path = written(tmp_path, short, {**short, "tone": "cold", "annotator": 2})
    (record,), _ = read(path)
    assert (record.id, dict(record.metadata)) == ("task-1", {"topic": "food"})
    assert said(list(record.labels))[:5] == [
        ("annotator 1", "tone", None, "warm"),
        ("annotator 1", "tags: a", None, 1.0),
        ("annotator 1", "tags: b", None, 1.0),
        ("annotator 1", "stars", None, 4.0),
        ("annotator 1", "turn_tone", 1, "cold"),
    ]
    assert guess(FORMATS, read_start(path)) == "label-studio"


def test_chats_with_roles_and_columns_of_other_names_are_read(tmp_path: Path) -> None:
    roles = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    (record,), _ = read(written(tmp_path, task(1, data={"chat": roles, "conversation_id": "c-9"})))
    assert (record.id, [turn.speaker for turn in record.turns]) == ("c-9", ["user", "assistant"])
    odd = {"log": [{"wer": "Ana", "was": "Hallo"}], "nr": 5, "other": CHAT}
    columns = {"messages": "log", "author": "wer", "text": "was", "dialogue": "nr"}
    (record,), _ = read(written(tmp_path, task(1, data=odd)), mapping=columns)
    assert (record.id, record.turns[0].text) == ("5", "Hallo")


def _changed(path: list[Any], value: Any) -> dict[str, Any]:
    """Return a sound task with one thing in it replaced."""
    whole: Any = copy.deepcopy(task(1, annotation(result("q", "rating", 4, 1))))
    place = whole
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    changed: dict[str, Any] = whole
    return changed


FIRST = ["annotations", 0, "result", 0]
WRONG = [
    (["data"], [], "task 2.data", "must be an object, not a list"),
    (["data", "messages"], [], "task 2.data", "one field must be the list of messages"),
    (
        ["data", "messages", 0],
        {"author": "", "text": "x"},
        "task 2.data.messages[0].author",
        "must say who spoke",
    ),
    (["annotations"], {}, "task 2.annotations", "must be a list, not an object"),
    (
        [*FIRST, "value", "rating"],
        "good",
        "task 2.annotations[0].result[0].value.rating",
        "'good' is not a number",
    ),
    ([*FIRST, "from_name"], 3, "task 2.annotations[0].result[0].from_name", "must name a control"),
    (["annotations", 0, "completed_by"], [1], "task 2.annotations[0].completed_by", "must name an annotator"),
]


@pytest.mark.parametrize(("path", "value", "field", "reason"), WRONG)
def test_what_is_wrong_is_told_by_task_field_and_value(
    tmp_path: Path, path: list[Any], value: Any, field: str, reason: str
) -> None:
    with pytest.raises(ImportProblem) as caught:
        read(written(tmp_path, task(1), _changed(path, value)))
    assert caught.value.field == field
    assert caught.value.reason.startswith(reason)


def test_a_message_that_is_not_there_is_refused(tmp_path: Path) -> None:
    wrong = task(1, annotation(result("q", "rating", 4, 2)))
    with pytest.raises(ImportProblem, match=r"2 is not one of the 2 messages"):
        read(written(tmp_path, wrong))


def test_a_control_answered_in_two_ways_is_refused(tmp_path: Path) -> None:
    both = task(1, annotation(result("q", "rating", 4), result("q", "number", 4)))
    with pytest.raises(ImportProblem, match="the control 'q' is answered with number here and with rating"):
        read(written(tmp_path, both))


OWN = {"dialogue": {"id": "d"}, "continuation": None, "history": 0, "controls": {}}
HOSTILE = [
    {"history": -1},
    {"history": 5},
    {"dialogue": []},
    {"dialogue": {"id": ["x"]}},
    {"continuation": 3},
    {"controls": {"q": 3}},
    {"controls": {"q": {"scheme": "s@1", "tags": [{"path": 3}]}}},
    {"controls": {"q": {"scheme": "s@1", "level": "ordinal", "question": ""}}},
]


@pytest.mark.parametrize("own", HOSTILE)
def test_a_broken_file_of_concords_own_is_a_problem_and_no_crash(tmp_path: Path, own: dict[str, Any]) -> None:
    broken = task(1, annotation(result("q", "choices", ["a"])))
    broken["data"]["concord"] = OWN | own
    with pytest.raises(ImportProblem):
        read(written(tmp_path, broken))


@pytest.mark.parametrize(
    "told", [{"missing": 3}, {"missing": [3]}, {"rater": ""}, {"kind": "x"}, {"sample": -1}]
)
def test_a_broken_note_on_an_annotation_is_a_problem(tmp_path: Path, told: dict[str, Any]) -> None:
    sound = {"rater": "ann", "kind": "human", "identified": True, "sample": 0}
    broken = task(1, annotation(concord=sound | told))
    broken["data"]["concord"] = OWN
    with pytest.raises(ImportProblem):
        read(written(tmp_path, broken))


@pytest.mark.django_db
def test_an_import_is_all_or_nothing_and_happens_once(tmp_path: Path) -> None:
    path = written(tmp_path, *(task(n, annotation(result("stars", "rating", n))) for n in (1, 2, 3)))
    first = imported(path, "talks", format="label-studio")
    assert (first.dialogues, first.labels, first.created) == (3, 3, True)
    assert imported(path, "talks", format="label-studio").created is False
    assert Label.objects.count() == 3
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps([task(1), task(2, annotation(result("stars", "rating", "x")))]))
    problem = refusal(wrong, "others", format="label-studio")
    assert problem.field == "task 2.annotations[0].result[0].value.rating"
    assert not Corpus.objects.filter(name="others").exists()


@pytest.mark.django_db
def test_annotations_are_added_to_the_dialogues_that_are_there(tmp_path: Path) -> None:
    imported(written(tmp_path, task(1), task(2)), "talks", format="label-studio")
    more = tmp_path / "more.json"
    more.write_text(json.dumps([task(2, annotation(result("stars", "rating", 3, 1)))]))
    result_ = imported(more, "talks", format="label-studio", into=True)
    assert (result_.dialogues, result_.labels) == (0, 1)
    label = Label.objects.get()
    assert (label.item.key, label.question.key, label.number) == ("task-2/self/1", "stars", 3.0)


FORMS = Path(__file__).parent / "forms"


def test_words_of_a_plain_text_are_evidence_and_answers_are_about_its_turn() -> None:
    (text, pair), _ = read(FORMS / "label-studio--text.json")
    assert [(turn.speaker, turn.text) for turn in text.turns] == [("unnamed", "I like 😀 Bern.")]
    assert said(list(text.labels)) == [
        ("annotator 1", "label", 0, "PLACE"),
        ("annotator 1", "tone", 0, "kind"),
    ]
    (place,) = text.labels[0].evidence
    assert text.turns[0].text[place.start : place.end] == "Bern"
    assert [turn.speaker for turn in pair.turns] == ["prompt", "answer1", "answer2"]
    assert said(list(pair.labels)) == [("annotator 1", "pw", None, "left")]


def test_a_text_of_lines_with_speakers_is_a_dialogue_with_its_words_in_their_turns(tmp_path: Path) -> None:
    lines = "User: To Bern.\nBot: From where?\nUser: Rome."
    value = {"start": 38, "end": 42, "text": "Rome", "labels": ["PLACE"]}
    marked = {"from_name": "place", "to_name": "text", "type": "labels", "id": "a", "value": value}
    (record,), _ = read(written(tmp_path, task(1, annotation(marked), data={"text": lines})))
    assert [turn.text for turn in record.turns] == ["To Bern.", "From where?", "Rome."]
    assert said(list(record.labels)) == [("annotator 1", "place", 2, "PLACE")]
    assert [(place.start, place.end) for place in record.labels[0].evidence] == [(0, 4)]


def test_a_table_has_an_annotation_a_row() -> None:
    path = FORMS / "label-studio--table.csv"
    assert guess(FORMATS, read_start(path)) == "label-studio"
    (record,), _ = read(path)
    assert [turn.text for turn in record.turns] == ["Where to?", "To Bern 😀 and Rome."]
    assert said(list(record.labels)) == [
        ("ana@example.org", "tone", None, "kind"),
        ("ben@example.org", "tone", None, "rude"),
        ("ben@example.org", "topics: travel", None, 1),
        ("ben@example.org", "topics: towns", None, 1),
    ]
    assert [label.group for label in record.labels] == ["", "", "topics", "topics"]
