"""USR's and ComperDial's responses with their ratings."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS
from annotation.formats.corpus_format import guess, read_start
from annotation.models import Item, Label
from annotation.schemes import SCHEMES
from tests.importing.helpers import imported, read_file, reading_problem, refusal

QUALITIES = ("Understandable", "Natural", "Maintains Context", "Engaging", "Uses Knowledge", "Overall")


def response(model: str, text: str = "Nice.", count: int = 3, **fields: Any) -> dict[str, Any]:
    """Return a rated response of USR's form."""
    return {"model": model, "response": text, **{name: [1] * count for name in QUALITIES}, **fields}


def context(
    *responses: Any, fact: Any = "_nofact\n", text: Any = "hi\nhello\nhow are you\n", **more: Any
) -> Any:
    """Return a context of USR's form."""
    return {"context": text, "fact": fact, "responses": list(responses), **more}


RATERS = ["a", "b", "c"]
TOPICAL = [
    context(response("Original Ground Truth", "Fine!"), response("Argmax"), annotators=RATERS),
    context(response("Argmax"), response("Argmax", "Good."), fact="Jazz is old.\n", text="jazz\n"),
    context(response("Argmax"), text="hi\nhello\nhow are you"),
]


def written(folder: Path, content: Any, name: str = "tc_usr_data.json") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_context_is_a_dialogue_with_the_original_for_reference(tmp_path: Path) -> None:
    path = written(tmp_path, TOPICAL)
    (first, second, third), _ = read_file(path, "usr")
    assert [(turn.speaker, turn.text, turn.given) for turn in first.turns] == [
        ("User", "hi", True),
        ("System", "hello", True),
        ("User", "how are you", True),
        ("System", "Fine!", True),
    ]
    assert [(part.id, part.mode, part.turns[0].at) for part in first.continuations] == [
        ("Original Ground Truth", "static", 3),
        ("Argmax", "static", 3),
    ]
    assert first.reference(first.continuations[1], 0).text == "Fine!"
    assert (second.metadata, first.metadata) == ({"fact": "Jazz is old."}, {})
    assert [(part.id, part.trial) for part in second.continuations] == [("Argmax", 0), ("Argmax-2", 1)]
    assert (first.id, first.cluster, third.cluster) == (
        "usr-topical-001",
        "usr-topical-001",
        "usr-topical-001",
    )
    assert guess(FORMATS, read_start(path)) == "usr"


def test_a_persona_is_the_profile(tmp_path: Path) -> None:
    fact = "your persona: i like tea.\nYour persona: i sing.\n"
    (record,), _ = read_file(written(tmp_path, [context(response("m"), fact=fact)]), "usr")
    assert record.id == "usr-persona-001"
    assert record.participants[1].profile == ("i like tea.", "i sing.")
    assert record.metadata == {}


@pytest.mark.django_db
def test_six_questions_by_named_and_unnamed_raters(tmp_path: Path) -> None:
    path = written(tmp_path, TOPICAL)
    result = imported(path, format="usr")
    assert (result.dialogues, result.labels) == (3, 5 * 6 * 3)
    assert Item.objects.filter(kind="turn").count() == 5
    assert set(Label.objects.values_list("question__version__scheme__key", flat=True)) == {"usr_turn"}
    named = Label.objects.filter(item__continuation__dialogue__key="usr-topical-001")
    assert set(named.values_list("rater__name", "rater__identified")) == {(name, True) for name in RATERS}
    others = Label.objects.exclude(pk__in=named)
    assert set(others.values_list("rater__identified", flat=True)) == {False}
    assert not imported(path, format="usr").created


@pytest.mark.django_db
def test_both_parts_of_usr_make_one_corpus(tmp_path: Path) -> None:
    written(tmp_path / "usr", TOPICAL)
    written(tmp_path / "usr", [context(response("m"), fact="your persona: x")], "pc_usr_data.json")
    assert imported(tmp_path / "usr", format="usr").dialogues == 4


@pytest.mark.parametrize(
    ("one", "field", "reason"),
    [
        (4, "[0]", "must be an object"),
        (context(text="\n"), "[0].context", "is empty"),
        (context(), "[0].responses", "no responses"),
        (context(response("m"), mood=1), "[0].mood", "not a field"),
        (context(response("m"), annotators=["a", "a"]), "[0].annotators", "different names"),
        (context(response("m"), annotators=["a"]), "[0].responses[0].Understandable", "3 answers of 1"),
        (context(response("")), "[0].responses[0].model", "is empty"),
        (context(response("self")), "[0].responses[0].model", "not `self`"),
        (context(response("m", Overall=["x"])), "[0].responses[0].Overall[0]", "must be a number"),
        (context(response("m", Overall=None)), "[0].responses[0].Overall", "is missing"),
        (
            context(response("Original Ground Truth"), response("Original Ground Truth")),
            "[0].responses[1].model",
            "second time",
        ),
    ],
)
def test_a_bad_context_is_refused(tmp_path: Path, one: Any, field: str, reason: str) -> None:
    problem = reading_problem(written(tmp_path, [one]), "usr")
    assert (problem.field, reason in problem.reason) == (field, True), str(problem)


@pytest.mark.django_db
def test_a_rating_off_the_scale_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, [context(response("m", Natural=[4, 1, 1]))])
    assert "is not on the scale of natural in usr_turn: 1, 2, 3" in refusal(path, format="usr").reason


TALK = [{"persona_id": who, "text": f"{who}{n}"} for n in range(2) for who in "AB"]
DIALOGUE = {"persona": {"A": ["I sing."], "B": ["I ski."]}, "dialogue": TALK}
SYSTEMS = ("agent 1", "human 1")


def turn_level(**more: Any) -> list[dict[str, Any]]:
    """Return a turn-level evaluation of two systems in dialogue 1."""
    return [
        {
            "dialogue_id": 1,
            "system": system,
            "turn": n,
            "response": f"{system} {n}",
            "scores": {"x": 4, "y": 5},
            **more,
        }
        for system in SYSTEMS
        for n in (1, 2)
    ]


def dialogue_level(score: Any = None, **more: Any) -> list[dict[str, Any]]:
    """Return a dialogue-level evaluation of the same."""
    own = score if score is not None else {"x": {"overall": 2, "fluency": "n", "humanness": ""}, "y": 4}
    return [{"dialogue_id": 1, "system": system, "scores": own, **more} for system in SYSTEMS]


def comperdial(folder: Path, **files: Any) -> Path:
    """Write the files into a folder, the usual ones where no others are given."""
    folder.mkdir()
    names = {
        "dialogues": "ComperDial_data.json",
        "turns": "ComperDial_turn_level_evaluation.json",
        "wholes": "ComperDial_dialogue_level_evaluation.json",
    }
    usual = {"dialogues": [DIALOGUE, DIALOGUE], "turns": turn_level(), "wholes": dialogue_level()}
    for key, name in names.items():
        content = files.get(key, usual[key])
        if content is not None:
            (folder / name).write_text(json.dumps(content))
    return folder


def test_each_system_answers_at_the_points_of_b(tmp_path: Path) -> None:
    path = comperdial(tmp_path / "c")
    (record,), notes = read_file(path, "comperdial")
    assert [(one.id, one.profile) for one in record.participants] == [("A", ("I sing.",)), ("B", ("I ski.",))]
    assert [part.id for part in record.continuations] == list(SYSTEMS)
    for part in record.continuations:
        assert [(turn.speaker, turn.at) for turn in part.turns] == [("B", 1), ("B", 3)]
    assert record.reference(record.continuations[0], 1).text == "B1"
    assert notes == ["dialogues that nobody responded to, left out: 1"]
    assert guess(FORMATS, read_start(path)) == "comperdial"


@pytest.mark.django_db
def test_scores_and_marks_become_labels(tmp_path: Path) -> None:
    path = comperdial(tmp_path / "c")
    result = imported(path, format="comperdial")
    assert (result.dialogues, result.continuations, result.labels) == (1, 3, 8 + 4 + 4)
    found = Label.objects.filter(item__kind="dialogue", item__continuation__key="agent 1")
    assert set(found.values_list("rater__name", "question__key", "number")) == {
        ("x", "overall", 2.0),
        ("x", "low_fluency", 1.0),
        ("x", "low_humanness", 0.0),
        ("y", "overall", 4.0),
    }
    assert Counter(Label.objects.values_list("question__version__scheme__key", flat=True)) == {
        "comperdial_turn": 8,
        "comperdial_dialogue": 8,
    }
    assert not imported(path, format="comperdial").created


def test_other_arrangements_of_scores_are_read(tmp_path: Path) -> None:
    ids = [{**DIALOGUE, "dialogue_id": "d7", "split": "test"}]
    said = {"dialogue_id": "d7", "model": "m", "response": "Well."}
    turns = [{**said, "turn_id": n, "scores": [3, None, 5]} for n in (0, 1)]
    wholes = [
        {"dialogue_id": "d7", "model": "m", "annotator": 9, "overall": 1, "coherence": "n", "fluency": None}
    ]
    (record,), _ = read_file(
        comperdial(tmp_path / "c", dialogues=ids, turns=turns, wholes=wholes), "comperdial"
    )
    assert (record.id, record.metadata) == ("d7", {"split": "test"})
    told = [
        (label.rater, label.identified, label.turn, label.question, label.value) for label in record.labels
    ]
    assert told == [
        ("slot 1", False, 0, "overall", 3.0),
        ("slot 3", False, 0, "overall", 5.0),
        ("slot 1", False, 1, "overall", 3.0),
        ("slot 3", False, 1, "overall", 5.0),
        ("9", True, None, "overall", 1.0),
        ("9", True, None, "low_fluency", 0.0),
        ("9", True, None, "low_coherence", 1.0),
    ]


def test_columns_say_what_a_file_calls_its_fields(tmp_path: Path) -> None:
    turns = [{"bot": one.pop("system"), **one} for one in turn_level()]
    path = comperdial(tmp_path / "c", turns=turns, wholes=None)
    assert "--map system=NAME" in reading_problem(path, "comperdial").reason
    (record,), _ = read_file(path, "comperdial", mapping={"system": "bot"})
    assert len(record.continuations) == 2


def test_dialogues_alone_are_read(tmp_path: Path) -> None:
    path = comperdial(tmp_path / "c", turns=None, wholes=None)
    assert len(read_file(path, "comperdial")[0]) == 2
    assert len(read_file(path / "ComperDial_data.json", "comperdial")[0]) == 2


@pytest.mark.parametrize(
    ("files", "file", "field", "reason"),
    [
        ({"dialogues": {}}, "data", "", "must be a list"),
        ({"dialogues": [4]}, "data", "[0]", "must be an object"),
        ({"dialogues": [{**DIALOGUE, "persona": {"C": []}}]}, "data", "[0].persona.C", "not a field"),
        ({"dialogues": [{**DIALOGUE, "dialogue": TALK[:1]}]}, "data", "[0].dialogue", "no turn of B"),
        (
            {"dialogues": [{**DIALOGUE, "dialogue": [{"persona_id": "C", "text": "x"}]}]},
            "data",
            "[0].dialogue[0].persona_id",
            "one of A, B",
        ),
        ({"turns": turn_level(dialogue_id=9)}, "turn", "[0].dialogue_id", "not the id of a dialogue"),
        ({"turns": turn_level(turn=3)}, "turn", "[0].turn", "beyond the 2 turns"),
        ({"turns": turn_level(turn="x")}, "turn", "[0].turn", "whole number"),
        ({"turns": turn_level(response=4)}, "turn", "[0].response", "must be a text"),
        ({"turns": turn_level(system="self")}, "turn", "[0].system", "not `self`"),
        ({"turns": turn_level(scores="4")}, "turn", "[0].scores", "score from 1 to 5"),
        ({"turns": turn_level(scores={"": 4})}, "turn", "[0].scores.", "an annotator's name"),
        ({"turns": turn_level(scores=None)}, "turn", "[0].score", "is missing"),
        ({"turns": turn_level()[1:]}, "turn", "", "no response to dialogue '1' at turn 1"),
        ({"turns": turn_level(turn=1)}, "turn", "[1].response", "differs from what"),
        ({"wholes": dialogue_level(system="z")}, "dialogue", "[0]", "no responses"),
        (
            {"wholes": dialogue_level({"x": {"overall": 2, "fluency": "yes"}})},
            "dialogue",
            "[0].scores.x.overall, fluency",
            "must be n",
        ),
        ({"wholes": dialogue_level([2], fluency="n")}, "dialogue", "fluency", "not arranged"),
        ({"turns": None}, "dialogue", "", "send it, too"),
        ({"dialogues": None}, "", "", "neither ComperDial_dialogue_data.json nor"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, files: Any, file: str, field: str, reason: str) -> None:
    problem = reading_problem(comperdial(tmp_path / "c", **files), "comperdial")
    names = {"data": "_data", "turn": "_turn_level", "dialogue": "_dialogue_level", "": ""}
    assert names[file] in problem.file
    assert (problem.field, reason in problem.reason) == (field, True), str(problem)


def test_another_file_in_the_folder_is_refused(tmp_path: Path) -> None:
    path = comperdial(tmp_path / "c")
    (path / "more.json").write_text("{}")
    assert reading_problem(path, "comperdial").file == "more.json"


@pytest.mark.django_db
def test_a_score_off_the_scale_keeps_nothing(tmp_path: Path) -> None:
    path = comperdial(tmp_path / "c", turns=turn_level(scores={"x": 9}), wholes=None)
    assert "9 is not on the scale of overall in comperdial_turn" in refusal(path, format="comperdial").reason


def test_usr_asks_the_six_questions_on_their_scales() -> None:
    scales = {question.key: question.values for question in SCHEMES["usr_turn"].questions}
    assert scales == {
        "understandable": (0, 1),
        "natural": (1, 2, 3),
        "maintains_context": (1, 2, 3),
        "engaging": (1, 2, 3),
        "uses_knowledge": (0, 1),
        "overall": (1, 2, 3, 4, 5),
    }
