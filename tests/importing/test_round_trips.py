"""What goes out comes in again unchanged, in every form that has both ways."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import pytest

from annotation.corpora.deletion import purge
from annotation.formats import FORMATS
from annotation.formats.corpus_format import guess, read_start
from annotation.models import Corpus, Label, Scheme
from annotation.text.references import item_key
from calibration.exports.downloads import LABELS, SHAPES, ZIP, Order
from calibration.exports.parts import ExportPart
from calibration.exports.writing import FORMATS as FORMS
from tests.importing.helpers import imported, label, written

pytestmark = pytest.mark.django_db
TURNS = [
    {"speaker": "A", "text": "I like tea 💩 a lot\nand cake"},
    {"speaker": "B", "text": "=HYPERLINK(1) 你不喜欢茶。"},
    {"speaker": "A", "text": "'quoted', \"twice\"; and, commas"},
]
FIVE = {"level": "ordinal", "values": [1, 2, 3, 4, 5]}
TEXT = {"question": "note", "level": "text"}
HOSTILE = [
    "=1+1",
    "+1",
    "@x",
    "-1",
    "'tis",
    "''=",
    "two\nlines",
    "carriage\r\nreturn",
    "汉字 🙂",
    "_x000D_",
    "<b>&",
]
SEEN = [{"continuation": "self", "turn": 0, "start": 2, "end": 10}, {"continuation": "self", "turn": 1}]


def tag(topic: str, value: int | None, turn: int | None = 1, **fields: Any) -> dict[str, Any]:
    """Whether a turn is about a topic, as one of a set."""
    scale = {"question": f"topics:{topic}", "group": "topics", "level": "binary", "values": [0, 1]}
    return label(value, turn, **scale, **fields)


def labels_of_one_dialogue(shift: int) -> list[dict[str, Any]]:
    """Everything that a label can have: several raters and kinds, samples, texts, evidence, reasons."""
    judge = {"rater": "gpt [judge] (v1)", "kind": "judge"}
    return [
        label(4, 0, rater="ann", **FIVE),
        label(5, 0, rater="=cmd", **FIVE),
        label(2, 1, rater="ann", explanation='because, "so"\n=it is 不好', **FIVE),
        label(None, 1, rater="=cmd", missing="not applicable", **FIVE),
        label(3, 0, rater="slot 1", identified=False, **FIVE),
        label(1, None, rater="ann", question="whole", **FIVE),
        *(
            label(1 + sample, 0, sample=sample, explanation=f"try {sample}", **judge, **FIVE)
            for sample in range(3)
        ),
        label(5, 0, rater="truth", kind="key", **FIVE),
        label(0.1 + 0.2 + shift, 0, rater="bleu", kind="metric", question="score", level="interval"),
        label(-1e-300, 1, rater="bleu", kind="metric", question="score", level="interval"),
        *(
            tag(topic, int(n == shift), rater=rater)
            for n, topic in enumerate("abc")
            for rater in ("ann", "=cmd")
        ),
        label(1, 1, rater="ann", question="contradicts", level="binary", values=[0, 1], evidence=SEEN),
        label("=yes", 2, rater="ann", question="act", level="nominal", values=["=yes", "-no", "'so"]),
        *(label(text, turn, rater=f"r{n}", **TEXT) for n, text in enumerate(HOSTILE) for turn in (0, 1)),
    ]


def dialogues(*, with_labels: bool) -> list[dict[str, Any]]:
    made = [{"id": f"d/{n} %", "turns": TURNS} for n in range(3)]
    if with_labels:
        for shift, dialogue in enumerate(made):
            dialogue["labels"] = labels_of_one_dialogue(shift)
    return made


def content(corpus: str) -> list[tuple[Any, ...]]:
    """Every label of a corpus by all that it says, in order."""
    stored = Label.objects.filter(item__corpus__name=corpus, superseded_at=None).select_related(
        "rater", "question", "item__turn", "item__continuation__dialogue"
    )
    return sorted(
        (
            (
                *(one.rater.name, one.rater.kind, one.rater.identified),
                item_key(
                    one.item.continuation.dialogue.key,
                    one.item.continuation.key,
                    one.item.turn.position if one.item.turn else None,
                ),
                *(one.question.key, one.question.level, tuple(one.question.values), one.question.group),
                *(one.number, one.text, one.missing, one.sample, one.occasion, one.explanation),
                one.evidence,
            )
            for one in stored
        ),
        key=repr,
    )


@pytest.fixture
def rated(tmp_path: Path) -> Corpus:
    imported(written(tmp_path, *dialogues(with_labels=True), name="rated.jsonl"), "rated")
    return Corpus.objects.get(name="rated")


@pytest.fixture
def fresh(tmp_path: Path) -> str:
    """A corpus of the same dialogues without labels."""
    imported(written(tmp_path, *dialogues(with_labels=False), name="fresh.jsonl"), "fresh")
    return "fresh"


def exported(corpus: Corpus, folder: Path, what: str, form: str, **choice: str) -> Path:
    extension = FORMS[form].extension if form in FORMS else form
    path = folder / f"out.{extension}"
    with path.open("wb") as file:
        Order(what, corpus, None, ExportPart(None, ""), form, choice=choice).write(file)
    return path


def forget(corpus: Corpus) -> None:
    """Delete a corpus and its questions: nothing of it can help to read its file."""
    purge([Corpus.objects.filter(pk=corpus.pk)])
    Scheme.objects.filter(key__startswith=f"corpus:{corpus.name}:").delete()


BOTH_WAYS = [(shape, form) for shape in SHAPES for form in FORMS]


@pytest.mark.parametrize(("shape", "form"), BOTH_WAYS)
def test_labels_come_in_again_as_they_went_out(
    rated: Corpus, fresh: str, tmp_path: Path, shape: str, form: str
) -> None:
    before = content("rated")
    path = exported(rated, tmp_path, LABELS, form, shape=shape)
    forget(rated)
    key = "ratings-wide" if shape == "wide" else "ratings-csv"
    assert guess(FORMATS, read_start(path)) == key
    result = imported(path, fresh, format=key, into=True)
    assert content(fresh) == before
    assert result.labels == len(before)
    again = imported(path, fresh, format=key, into=True)
    assert (again.labels, again.created) == (result.labels, False)


def project(rated: Corpus, folder: Path) -> list[dict[str, Any]]:
    """The tasks of a Label Studio project; its configuration has every control of theirs."""
    with zipfile.ZipFile(exported(rated, folder, "label-studio", ZIP)) as package:
        tasks: list[dict[str, Any]] = json.loads(package.read("tasks.json"))
        names = {element.get("name") for element in xml.fromstring(package.read("config.xml")).iter()}
    voices = [voice for task in tasks for voice in (*task["annotations"], *task["predictions"])]
    assert {result["from_name"] for voice in voices for result in voice["result"]} <= names
    return tasks


def test_a_label_studio_project_comes_in_again_as_it_went_out(
    rated: Corpus, fresh: str, tmp_path: Path
) -> None:
    before = content("rated")
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(project(rated, tmp_path)))
    forget(rated)
    imported(path, fresh, format="label-studio", into=True)
    assert content(fresh) == before


def test_evidence_passes_through_label_studio_itself(rated: Corpus, fresh: str, tmp_path: Path) -> None:
    """Label Studio drops the fields of annotations that it does not know, and keeps results and data."""
    evidence = [row[-1] for row in content("rated") if row[-1]]
    tasks = project(rated, tmp_path)
    for task in tasks:
        for voice in (*task["annotations"], *task["predictions"]):
            del voice["concord"]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(tasks))
    forget(rated)
    imported(path, fresh, format="label-studio", into=True)
    assert [row[-1] for row in content(fresh) if row[-1]] == evidence
    assert len(evidence) == 3


def test_evidence_in_the_history_of_a_continuation_comes_in_again(tmp_path: Path) -> None:
    seen = [{"continuation": "self", "turn": 0, "start": 7, "end": 12}, {"continuation": "m-0", "turn": 0}]
    contradicts = {"question": "contradicts", "level": "binary", "values": [0, 1], "evidence": seen}
    part = {"id": "m-0", "system": "m", "turns": [{"speaker": "B", "text": "You hate tea."}, TURNS[0]]}
    about = {"continuation": "m-0", **contradicts}
    labels = [label(1, 1, rater="ann", **about), label(1, None, rater="ann", **about)]
    line = {"id": "d1", "turns": TURNS[:1], "continuations": [part], "labels": labels}
    imported(written(tmp_path, line), "rated")
    before = content("rated")
    tasks = project(Corpus.objects.get(name="rated"), tmp_path)
    marks = [r for r in tasks[0]["annotations"][0]["result"] if r["from_name"] == "concord_evidence"]
    assert [
        (mark["value"]["start"], mark["value"]["startOffset"], mark["value"]["endOffset"]) for mark in marks
    ] == [
        ("0", 7, 13),
        ("1", 0, 13),
    ] * 2
    del tasks[0]["annotations"][0]["concord"]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(tasks))
    forget(Corpus.objects.get(name="rated"))
    imported(path, "again", format="label-studio")
    assert [row[-1] for row in content("again")] == [row[-1] for row in before]
