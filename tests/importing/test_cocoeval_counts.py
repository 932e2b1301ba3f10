"""Behaviour counts without turns: read from the paper's own replies, compared, never with kappa."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotation.corpora.import_file import import_path
from annotation.formats import FORMATS
from annotation.formats.corpus_format import Head, guess
from annotation.formats.source import ImportProblem
from annotation.models import Continuation, Corpus, Label
from annotation.schemes.cocoeval import BEHAVIOURS
from calibration.comparisons.count_inputs import read
from calibration.comparisons.counts import compute
from calibration.reports.renderings import RENDERINGS
from calibration.reports.sentences import caveats
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests import factories

pytestmark = pytest.mark.django_db
KEYS = tuple(behaviour.key for behaviour in BEHAVIOURS)
TURNS = 6


@pytest.fixture
def corpus() -> Corpus:
    """Twelve dialogues, each continued by people and by a model."""
    made = factories.corpus("coco")
    for number in range(12):
        dialogue = factories.dialogue(made, f"d{number}", turns=2)
        for key, system in (("human", "human"), ("x", "model")):
            lines = [{"text": f"line {at}"} for at in range(TURNS)]
            factories.continuation(dialogue, key, system=system, turns=lines)
    Continuation.objects.filter(key="x").update(condition={"prompting": "vanilla"})
    return made


def reply(count: Callable[[int], int | None] = lambda place: place % 3) -> dict[str, Any]:
    """The judge's reply under the paper's names."""
    found: dict[str, Any] = {}
    for place, key in enumerate(KEYS):
        name = "interruptions" if key == "interruption" else key
        found |= {f"{name}_explanation": f"why {key}", f"{name}_count": count(place)}
    return found


def line(dialogue: str = "d0", continuation: str = "x", rater: str = "gpt", **more: Any) -> dict[str, Any]:
    return {"dialogue": dialogue, "continuation": continuation, "rater": rater, "reply": reply()} | more


def imported(tmp_path: Path, *lines: dict[str, Any], form: str = "cocoeval_counts") -> Any:
    path = tmp_path / "counts.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return import_path(path=path, format=form, corpus="coco", into=True, by=None)


def test_replies_with_the_papers_names_become_counts_of_dialogue_items(
    corpus: Corpus, tmp_path: Path
) -> None:
    beside = {name: value for name, value in line("d1").items() if name != "reply"} | reply()
    assert imported(tmp_path, line(), beside, line(sample=1)).labels == 30
    found = Label.objects.filter(item__continuation__dialogue__key="d0", sample=0).order_by(
        "question__position"
    )
    assert [label.question.key for label in found] == [f"{key}_count" for key in KEYS]
    assert [label.number for label in found] == [float(place % 3) for place in range(10)]
    assert [label.explanation for label in found] == [f"why {key}" for key in KEYS]
    assert {(label.item.kind, label.question.version.scheme.key) for label in found} == {
        ("dialogue", "cocoeval_counts")
    }
    assert {label.rater.kind for label in found} == {"judge"}
    assert not imported(tmp_path, line(), beside, line(sample=1)).created
    assert Label.objects.count() == 30


@pytest.mark.exhaustive
def test_a_count_that_is_null_is_missing_with_a_reason(corpus: Corpus, tmp_path: Path) -> None:
    result = imported(tmp_path, line(reply=reply(lambda place: None if place == 4 else 0)))
    assert (result.labels, result.missing) == (10, 1)
    assert Label.objects.exclude(missing="").get().missing == "no count given"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (line(reply=reply(lambda place: 7)), "7 turns are counted in a continuation of 6"),
        (line(reply=reply(lambda place: -1)), "must be a whole number from 0"),
        (line(reply={"repetition_count": 1}), "reply.logical_contradiction_count: is missing"),
        (line(reply=reply() | {"interruption_count": 1}), "is there twice, also as interruption_count"),
        (line(reply=reply() | {"anger_count": 1}), "is not a field of the format"),
        (line() | {"repetition_count": 1}, "stands beside `reply`"),
        (line(kind="metric"), "must be one of judge, human"),
        (line("d99"), "there is no dialogue 'd99' in the corpus"),
    ],
)
def test_what_is_wrong_is_refused_by_line_and_field(
    corpus: Corpus, tmp_path: Path, content: dict[str, Any], why: str
) -> None:
    with pytest.raises(ImportProblem) as refusal:
        imported(tmp_path, line("d1"), content)
    assert refusal.value.line == 2
    assert why in str(refusal.value)
    assert not Label.objects.exists()


def test_the_format_is_found_from_how_the_file_begins() -> None:
    flat = {name: value for name, value in line().items() if name != "reply"} | reply()
    for content in (line(), flat):
        assert guess(FORMATS, Head(json.dumps(content).encode())) == "cocoeval_counts"


@pytest.mark.exhaustive
def test_the_papers_names_of_questions_are_read_in_tables_too(corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(
        "item,rater,kind,question,scheme,value\n"
        "d0/x,gpt,judge,interruptions_count,cocoeval_counts,2\n"
        "d0/x/1,gpt,judge,interruptions,cocoeval_behaviours,1\n"
    )
    import_path(path=path, format="ratings-csv", corpus="coco", into=True, by=None)
    found = Label.objects.order_by("question__key").values_list("question__key", "number")
    assert list(found) == [("interruption", 1.0), ("interruption_count", 2.0)]


@pytest.mark.exhaustive
def test_counts_without_turns_stand_in_tables_of_counts_by_condition(corpus: Corpus, tmp_path: Path) -> None:
    lines = [
        line(f"d{number}", key, reply=reply(lambda place, n=number, k=key: (n + place) % 3 + (k == "x")))  # type: ignore[misc]
        for number in range(12)
        for key in ("human", "x")
    ]
    imported(tmp_path, *lines)
    query = read({"rater": "gpt", "by": "prompting", "resamples": 50}, corpus, None)
    people, model = compute(query=query, by=None).table.rows
    cells = {cell.column.key: cell for cell in model.cells}
    assert people.human
    assert cells["repetition_count"].result.value == pytest.approx(2.0)
    assert cells["repetition_count"].difference.result.value == pytest.approx(1.0)
    assert cells["group:Inconsistent"].result.value == pytest.approx(10.0)
    assert "any" not in cells
    assert model.distance["amount"].value == pytest.approx(10.0)


@pytest.mark.exhaustive
def test_a_report_compares_counts_and_says_why_there_is_no_kappa(corpus: Corpus, tmp_path: Path) -> None:
    lines = [
        line(f"d{n}", rater=rater, reply=reply(lambda place, n=n, more=more: (n + place * more) % 5))  # type: ignore[misc]
        for n in range(12)
        for more, rater in enumerate(("gpt", "other"), start=1)
    ]
    imported(tmp_path, *lines)
    study = studies.create(name="counts", corpus=corpus, definition={"resamples": 20}, by=None)
    report = studies.compute(study=study, part="all", by=None)
    result = snapshot_of(report)
    told = " ".join(caveats(result))
    assert "gpt and other count behaviours per continuation and name no turns" in told
    assert "precision and recall compare turn by turn, so they are missing" in told
    (pairs,) = {tuple(entry.name for entry in question.pairs) for question in result.questions}
    assert "spearman" in pairs
    assert not {"cohen_kappa", "mcc", "precision", "recall"} & set(pairs)
    assert not result.tags
    for form in ("md", "html"):
        assert "compare turn by turn" in RENDERINGS[form].write(report)
