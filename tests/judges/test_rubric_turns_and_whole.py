"""A rubric on a scheme with questions of both kinds: one call about all turns, one about the whole."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from annotation import scheme_store
from annotation.models import Label
from annotation.schemes import files
from judges.protocols import Unfit, Verdict
from judges.protocols.rubric import TURNS, WHOLE_PART
from judges.runs.plans import Judge
from tests.annotation.test_turns_and_whole import SCHEME
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus
from tests.judges.test_rubric import TEMPLATE, about, over

BOTH = files.read(SCHEME)


def asked_in(part: str) -> Any:
    protocol = over(BOTH)
    return protocol, replace(about(protocol), part=part)


def test_turns_and_the_whole_are_asked_in_a_call_each() -> None:
    protocol, turns = asked_in(TURNS)
    assert (protocol.covers, protocol.item_kinds()) == ("continuation", ("turn", "dialogue"))
    assert protocol.parts("json") == (TURNS, WHOLE_PART)
    first = protocol.prompt(turns, "json").user
    second = protocol.prompt(asked_in(WHOLE_PART)[1], "json").user
    assert "How clear is the turn?" in first
    assert "How good is the talk?" not in first
    assert "How good is the talk?" in second
    assert "How clear is the turn?" not in second
    assert "numbered turns under TURNS together, as a whole" in second


def test_the_second_reply_answers_the_whole_alone() -> None:
    protocol, asked = asked_in(WHOLE_PART)
    fields = {"overall_explanation": "fine", "overall": 3, "overall_evidence": [], "why": None}
    reading = protocol.parse(json.dumps(fields), asked)
    assert reading.verdicts == (Verdict("overall", None, 3.0, explanation="fine"),)
    refused = protocol.unanswered(asked, "too long").verdicts
    assert {(one.question, one.turn) for one in refused} == {("overall", None), ("why", None)}


@pytest.mark.parametrize("variant", ["line", "expected"])
def test_a_call_a_question_cannot_ask_both(variant: str) -> None:
    with pytest.raises(Unfit, match="turns and about the whole dialogue: choose the variant json"):
        TEMPLATE.over(BOTH, variant)


@pytest.mark.django_db(transaction=True)
def test_a_run_labels_turns_and_wholes(fake: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    def say(prompt: str) -> str:
        if "How good is the talk?" in prompt:
            fields = {"overall_explanation": "", "overall": 1, "overall_evidence": [1], "why": "short"}
            return json.dumps(fields)
        n = len(set(re.findall(r"^\| \[(\d+)\]", prompt, re.MULTILINE)))
        turns = [{"turn": t, "clear_explanation": "", "clear": 2} for t in range(1, n + 1)]
        return json.dumps({"rude_explanation": "", "rude_turns": [1], "answers": turns})

    monkeypatch.setattr(fake, "say", say)
    scheme_store.store(definition=BOTH)
    run = begin(
        small_corpus(dialogues=1, turns=3), Judge("rubric", endpoint=endpoint_of(fake), scheme="talk")
    )
    finish()
    assert sorted(run.calls.values_list("part", "state")) == [(TURNS, "done"), (WHOLE_PART, "done")]
    labels = Label.objects.filter(rater=run.rater).values_list("item__kind", "question__key")
    assert sorted(set(labels)) == [
        ("dialogue", "overall"),
        ("dialogue", "why"),
        ("turn", "clear"),
        ("turn", "rude"),
    ]
