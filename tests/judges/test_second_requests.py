"""A second request is sent only where it can help, and differs from the first."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.models import Call
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
REFUSAL = "I'm sorry, but I can't assist with that request."
JUDGES: list[dict[str, Any]] = [
    {"protocol": "cpdscore_simple"},
    {"protocol": "cpdscore_detail"},
    {"protocol": "cpdscore_original_simple"},
    {"protocol": "cpdscore_original_detail"},
    {"protocol": "cocoeval_behaviours"},
    {"protocol": "cocoeval_overall"},
    {"protocol": "rubric", "scheme": "comperdial_turn"},
    {"protocol": "rubric", "variant": "line", "scheme": "comperdial_turn"},
]
WITH_PROBABILITIES: list[dict[str, Any]] = [
    {"protocol": "rubric", "variant": "expected", "scheme": "comperdial_turn"},
    {"protocol": "g_eval", "scheme": "comperdial_turn"},
]


def name_of(options: dict[str, Any]) -> str:
    return " ".join(options.values())


def asked_about(fake: FakeLLM, options: dict[str, Any], **parameters: Any) -> list[Call]:
    begin(
        small_corpus(dialogues=1, turns=1),
        Judge(endpoint=endpoint_of(fake), parameters=parameters, **options),
    )
    finish()
    return list(Call.objects.all())


@pytest.mark.parametrize("options", [*JUDGES, *WITH_PROBABILITIES], ids=name_of)
def test_a_refusal_is_paid_for_once(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    monkeypatch.setattr(fake, "say", lambda _prompt: REFUSAL)
    calls = asked_about(fake, options)
    assert {(call.state, call.error_kind, call.sent, call.reply) for call in calls} == {
        (Call.State.FAILED, "refusal", 1, REFUSAL)
    }
    assert len(fake.bodies) == len(calls)


@pytest.mark.parametrize("reply", ["Well, it depends.", ""])
@pytest.mark.parametrize("options", JUDGES, ids=name_of)
def test_the_second_request_names_the_fault_of_the_first_reply(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], reply: str
) -> None:
    monkeypatch.setattr(fake, "say", lambda _prompt: reply)
    (call,) = asked_about(fake, options, temperature=0)
    first, second = fake.bodies
    assert (call.state, call.sent, call.reply) == (Call.State.FAILED, 2, reply)
    fault = call.error.removeprefix("unparseable: ")
    assert fault in second["messages"][-1]["content"]
    assert fault not in str(first["messages"])
    assert ({"role": "assistant", "content": reply} in second["messages"]) == bool(reply)


@pytest.mark.parametrize(("parameters", "n"), [({}, 2), ({"temperature": 0}, 1), ({"seed": 3}, 1)])
@pytest.mark.parametrize("options", WITH_PROBABILITIES, ids=name_of)
def test_a_request_for_probabilities_is_repeated_only_where_another_reply_may_come(
    fake: FakeLLM,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    parameters: dict[str, Any],
    n: int,
) -> None:
    monkeypatch.setattr(fake, "say", lambda _prompt: "Well, it depends.")
    (call,) = asked_about(fake, options, **parameters)
    assert (call.state, call.error_kind, call.sent) == (Call.State.FAILED, "unparseable", n)
    assert len({str(body) for body in fake.bodies}) == 1
