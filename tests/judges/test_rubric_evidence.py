"""Judges cite turns by the numbers in the prompt, and only turns that are shown."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from annotation import scheme_store
from annotation.models import Label
from annotation.records import Passage
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from annotation.text import references
from judges.protocols import Unparseable, Verdict
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus
from tests.judges.test_rubric import about, over

POINTING = SchemeDefinition(
    key="pointing",
    version=1,
    title="Contradictions",
    item_kind="turn",
    unit="item",
    introduction="",
    questions=(
        QuestionDefinition(
            "contradicts", "Does it contradict?", "binary", (0, 1), positive=1, evidence="turns",
            evidence_required=True,
        ),
        QuestionDefinition("clear", "How clear?", "ordinal", (1, 2)),
    ),
)  # fmt: skip
WHOLE = replace(POINTING, item_kind="dialogue")


def reply(numbers: Any, value: int = 1) -> str:
    fields = {"contradicts_explanation": "", "contradicts": value, "clear_explanation": "", "clear": 2}
    return json.dumps(fields | {"contradicts_evidence": numbers})


def test_turns_are_numbered_where_evidence_is_asked_and_only_there() -> None:
    protocol = over(POINTING)
    prompt = protocol.prompt(about(protocol), "json").user
    assert "| [1] Ana (host): Shall we?" in prompt or "| [1] Ana: Shall we?" in prompt
    assert "| [2]" in prompt
    assert '"contradicts_evidence": [...]' in prompt
    plain = over(replace(POINTING, questions=POINTING.questions[1:]))
    assert "[1]" not in plain.prompt(about(plain), "json").user


def test_numbers_become_turns_and_those_not_shown_are_left_aside_and_flagged() -> None:
    protocol = over(POINTING)
    asked = about(protocol)
    reading = protocol.parse(reply([2, 1, 9]), asked)
    told = {one.question: one for one in reading.verdicts}
    assert told["contradicts"].evidence == (Passage("self", 0), Passage("c", 0))
    assert told["clear"].evidence == ()
    assert reading.flags == ("no_such_turn: contradicts points at 9, no turn shown",)
    assert protocol.parse(protocol.write(reading, asked, "json"), asked).verdicts == reading.verdicts
    assert protocol.parse(reply([]), asked).flags == ("no_evidence: contradicts points at no turn",)
    assert protocol.parse(reply([1], value=0), asked).verdicts[0] == Verdict("contradicts", 0, 0.0)
    with pytest.raises(Unparseable, match="contradicts_evidence is missing or no list"):
        protocol.parse(reply("turn 1"), asked)


@pytest.mark.parametrize("entry", [[1], {"turn": 1}, True, 1.0, "one", None])
def test_evidence_that_is_no_number_is_left_aside_and_flagged(entry: Any) -> None:
    protocol = over(POINTING)
    reading = protocol.parse(reply([2, entry]), about(protocol))
    verdicts = {verdict.question: verdict for verdict in reading.verdicts}
    assert verdicts["contradicts"].evidence == (Passage("c", 0),)
    assert reading.flags == (f"no_such_turn: contradicts points at {entry}, no turn shown",)


def test_of_a_whole_dialogue_the_judged_turns_have_numbers() -> None:
    protocol = over(WHOLE)
    reading = protocol.parse(reply([1, 2]), about(protocol))
    assert reading.verdicts[0].evidence == (Passage("c", 0), Passage("c", 2))


@pytest.mark.django_db(transaction=True)
def test_labels_of_judges_keep_what_they_point_at(fake: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    scheme_store.store(definition=POINTING)
    monkeypatch.setattr(fake, "say", lambda prompt: reply([1, 3, 99]))
    judge = Judge("rubric", endpoint=endpoint_of(fake, model="m1"), scheme=POINTING.key)
    run = begin(small_corpus(dialogues=1, turns=2), judge)
    finish()
    labels = Label.objects.filter(rater=run.rater, question__key="contradicts")
    kept = [references.read(label.evidence) for label in labels.order_by("item__turn__position")]
    assert kept == [(Passage("self", 0), Passage("c", 0))] * 2
