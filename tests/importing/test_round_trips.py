"""What goes out comes in again unchanged, in every form that has both ways."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS
from annotation.formats.corpus_format import guess, read_start
from annotation.models import Corpus, Label
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


BOTH_WAYS = [(shape, form) for shape in SHAPES for form in FORMS]


@pytest.mark.parametrize(("shape", "form"), BOTH_WAYS)
def test_labels_come_in_again_as_they_went_out(
    rated: Corpus, fresh: str, tmp_path: Path, shape: str, form: str
) -> None:
    path = exported(rated, tmp_path, LABELS, form, shape=shape)
    key = "ratings-wide" if shape == "wide" else "ratings-csv"
    assert guess(FORMATS, read_start(path)) == key
    result = imported(path, fresh, format=key, into=True)
    assert content(fresh) == content("rated")
    assert result.labels == len(content("rated"))
    again = imported(path, fresh, format=key, into=True)
    assert (again.labels, again.created) == (result.labels, False)


def test_a_label_studio_project_comes_in_again_as_it_went_out(
    rated: Corpus, fresh: str, tmp_path: Path
) -> None:
    with zipfile.ZipFile(exported(rated, tmp_path, "label-studio", ZIP)) as package:
        package.extract("tasks.json", tmp_path)
    imported(tmp_path / "tasks.json", fresh, format="label-studio", into=True)
    assert content(fresh) == content("rated")
