"""Labels about answers in a script: once, by separate raters, with a reason if missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.corpora import continuing
from annotation.models import Label, System
from annotation.records import Continuation, Turn
from suites.long_dialogue.scripts.answers import WAITS
from suites.long_dialogue.simulations import steps
from tests.suites.long_dialogue.examples import script
from tests.suites.long_dialogue.test_native import bring

pytestmark = pytest.mark.django_db
CHOICES = ["a hat", "red boots", "a coat", "gloves"]


def turns(reply: str, **content: Any) -> list[dict[str, Any]]:
    told = {"question": "q1", "key": "B", "answer": "red boots", "choices": CHOICES, "format": "template"}
    asked = {"speaker": "cara", "text": "What did I buy?", "at": 7, "given": True, "session": "s4"}
    answer = {"speaker": "ana", "text": reply, "at": 7, "session": "s4"}
    return [asked, answer | {"extra": {"answer": told | content}}]


def labels(folder: Path, reply: str, **content: Any) -> dict[tuple[str, str], float | str | None]:
    answers = {"id": "m-1", "system": "m", "mode": "static", "turns": turns(reply, **content)}
    bring(folder, script(continuations=[answers]))
    rows = Label.objects.select_related("rater", "question")
    return {(row.rater.name, row.question.key): row.value if not row.missing else None for row in rows}


def test_a_right_choice_is_observed_keyed_and_scored(tmp_path: Path) -> None:
    assert labels(tmp_path, "(B)", outcome="B") == {
        ("observed", "choice"): "B",
        ("key:loaf", "choice"): "B",
        ("score:strict", "right"): 1.0,
        ("score:lenient", "right"): 1.0,
        ("score:strict", "abstained"): 0.0,
        ("score:lenient", "abstained"): 0.0,
    }


def test_the_text_of_an_option_is_right_by_the_lenient_score_alone(tmp_path: Path) -> None:
    found = labels(tmp_path, "Red boots, I think.", outcome="B", lenient=True)
    assert (found["score:strict", "right"], found["score:lenient", "right"]) == (0.0, 1.0)


def test_of_a_failed_call_everything_but_the_key_is_missing_with_its_reason(tmp_path: Path) -> None:
    found = labels(tmp_path, "", outcome="failed")
    assert {pair for pair, value in found.items() if value is not None} == {("key:loaf", "choice")}
    assert set(Label.objects.exclude(missing="").values_list("missing", flat=True)) == {"failed"}


def test_an_open_answer_that_no_rule_can_read_waits_for_a_judge(tmp_path: Path) -> None:
    labels(tmp_path, "Something for her feet.", outcome="text", format="open")
    waiting = Label.objects.filter(question__key="right")
    assert set(waiting.values_list("number", "missing")) == {(None, WAITS)}
    assert not Label.objects.filter(question__key="choice").exists()


def test_labels_are_written_once_whoever_writes_them_again(tmp_path: Path) -> None:
    answers = {"id": "m-1", "system": "m", "mode": "static", "turns": turns("(A)", outcome="A")}
    corpus = bring(tmp_path, script(continuations=[answers]))
    before = Label.objects.count()
    assert steps.write(corpus) == 0
    assert steps.write(corpus, corpus.dialogues.get().continuations.values_list("pk", flat=True)) == 0
    assert Label.objects.count() == before == 6


def test_what_a_system_answers_is_labelled_as_it_appears(tmp_path: Path) -> None:
    corpus = bring(tmp_path, script())
    made = [Turn(one["speaker"], one["text"], one.get("given", False), 7, session="s4",
                 extra=one.get("extra", {})) for one in turns("(B)", outcome="B")]  # fmt: skip
    system = System.objects.create(corpus=corpus, name="m")
    told = Continuation("m-0", "m", tuple(made), mode="static")
    continuing.add(dialogue=corpus.dialogues.get(), system=system, record=told)
    assert Label.objects.filter(rater__name="score:strict", number=1).count() == 1


def test_a_turn_that_tells_nothing_of_its_answer_gets_no_label(tmp_path: Path) -> None:
    plain = [{"speaker": "ana", "text": "(B)", "at": 7, "session": "s4"}]
    bring(tmp_path, script(continuations=[{"id": "m-1", "system": "m", "mode": "static", "turns": plain}]))
    assert not Label.objects.exists()
