"""Parts of a reply besides its text: reasons for a missing text, reasoning, probabilities, form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotation.models import Label
from jobs import runs
from jobs.endpoints.responses import Again, Reply, Withheld, as_json, completion, from_json, tokens_of
from jobs.models import Call, Endpoint, Run
from jobs.progress import progress
from jobs.prompt import Token
from judges.protocols import PROTOCOLS
from judges.runs.estimates import by_kind, by_rater
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

ANSWER = "Humanness: 4"


def said(
    content: Any = ANSWER, *, ended: Any = "stop", logprobs: Any = None, **message: Any
) -> dict[str, Any]:
    whole = {"role": "assistant", "content": content} | message
    choice = {"index": 0, "message": whole, "finish_reason": ended, "logprobs": logprobs}
    return {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}


def reply(*args: Any, **told: Any) -> Reply:
    return completion(said(*args, **told), 5)


def test_reasoning_is_kept_apart_wherever_the_server_puts_it() -> None:
    for name in ("reasoning_content", "reasoning"):
        found = reply(**{name: "Humanness: 1, or so I thought"})
        assert (found.text, found.reasoning) == (ANSWER, "Humanness: 1, or so I thought")
    found = reply(f"\n<think>\nHumanness: 1?\n</think>\n\n{ANSWER}")
    assert (found.text, found.reasoning) == (ANSWER, "Humanness: 1?")
    assert reply("<think>Humanness: 1, and it never ends").text == ""
    assert reply(f"{ANSWER} <think>x</think>").text == f"{ANSWER} <think>x</think>", "only a leading block"


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"ended": "length"}, "truncated"),
        ({"ended": "max_tokens"}, "truncated"),
        ({"ended": "content_filter"}, "content_filter"),
        ({"content": None, "refusal": "I cannot do that."}, "refusal"),
    ],
)
def test_what_is_no_whole_answer_is_told_apart_and_was_paid_for(told: dict[str, Any], kind: str) -> None:
    with pytest.raises(Withheld) as caught:
        reply(**told)
    assert caught.value.kind == kind
    assert (caught.value.reply.tokens_in, caught.value.reply.tokens_out) == (7, 3)


def test_an_error_with_status_200_is_tried_again() -> None:
    with pytest.raises(Again, match="overloaded") as caught:
        completion({"error": {"message": "overloaded"}}, 5)
    assert caught.value.kind == "transport"


def listed(*pairs: tuple[str, float]) -> dict[str, Any]:
    top = [{"token": "5", "logprob": -2.0, "bytes": [53]}, {"token": "4", "logprob": -0.2}]
    return {"content": [{"token": text, "logprob": value, "top_logprobs": top} for text, value in pairs]}


def test_probabilities_come_with_the_tokens_of_the_text() -> None:
    found = reply("4", logprobs=listed(("4", -0.2)))
    assert found.tokens == (Token("4", -0.2, (("5", -2.0), ("4", -0.2))),)
    assert from_json(as_json(found.tokens)) == found.tokens
    thought = reply("<think>x</think>4", logprobs=listed(("<think>x</think>", -0.1), ("4", -0.2)))
    assert [token.text for token in thought.tokens] == ["4"]


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        [],
        {"content": None},
        {"content": [{"token": 4, "logprob": -1}]},
        {"content": [{"token": "4", "logprob": 0.5}]},
        {"content": [{"token": "4", "logprob": True}]},
        {"content": [{"token": "4", "logprob": float("nan")}]},
        {"content": ["4"]},
        {"content": [{"token": "4", "logprob": -1, "top_logprobs": "4"}]},
    ],
)
def test_probabilities_that_make_no_sense_are_none(logprobs: Any) -> None:
    assert tokens_of(logprobs) == ()


pytest_db = pytest.mark.django_db(transaction=True)


def answers(fake: FakeLLM, *bodies: dict[str, Any] | int) -> None:
    """Answer the requests in turn with these completions or statuses, and the last one from then on."""
    left = list(bodies)

    def answer(body: dict[str, Any]) -> tuple[int, str]:
        fake.bodies.append(body)
        told = left.pop(0) if len(left) > 1 else left[0]
        return (told, "{}") if isinstance(told, int) else (200, json.dumps(told))

    fake.answer = answer  # type: ignore[method-assign]


@pytest_db
def test_each_failure_is_counted_by_its_kind_and_a_cut_off_reply_is_never_read(fake: FakeLLM) -> None:
    bodies: list[dict[str, Any] | int] = [
        said(ended="length"),
        said(None, refusal="No."),
        said(ended="content_filter"),
    ]
    answers(fake, *bodies, 413, said("Humanness: 9"), said("what?"))
    endpoint = endpoint_of(fake, concurrency=1)
    run = begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=endpoint))
    Run.objects.update(reasks=0)
    finish()
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    kinds = ("request", "refusal", "content_filter", "truncated", "unparseable", "out_of_scale")
    assert progress(run).failures == dict.fromkeys(kinds, 1)
    counted = run.calls.filter(state=Call.State.FAILED).values_list("error_kind", flat=True)
    assert sorted(counted) == sorted(runs.failures(run))
    assert not Label.objects.exists()
    cut = run.calls.get(error_kind="truncated")
    assert (cut.reply, cut.attempts, cut.asked, cut.tokens_in) == (ANSWER, 1, 1, 7)
    assert "allow more" in cut.error


@pytest_db
def test_reasoning_form_and_probabilities_stay_with_the_call_and_reach_the_reader(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = f"<think>Humanness: 1</think>{ANSWER}"
    answers(fake, said(told, logprobs=listed(("<think>Humanness: 1</think>", -0.1), (ANSWER, -0.3))))
    seen: list[Any] = []
    protocol = PROTOCOLS["cpdscore_detail"]
    read = protocol.read  # type: ignore[attr-defined]
    monkeypatch.setattr(
        type(protocol), "read", lambda self, *args: seen.append(args[1]) or read(*args), raising=False
    )
    judge = Judge("cpdscore_detail", endpoint=endpoint_of(fake), parameters={"logprobs": True})
    run = begin(small_corpus(dialogues=1, turns=1), judge)
    finish()
    call = run.calls.get()
    assert (call.state, call.reply, call.reasoning) == (Call.State.DONE, ANSWER, "Humanness: 1")
    assert call.reply_form == "text"
    assert [token.logprob for token in seen[0]] == [-0.3]
    assert from_json(call.logprobs) == seen[0]
    assert Label.objects.get().number == 4


def knows(fake: FakeLLM, *forms: str) -> None:
    """Let the server know only some forms of structured output."""
    answer = fake.answer

    def told(body: dict[str, Any]) -> tuple[int, str]:
        if body.get("response_format", {"type": "text"})["type"] in forms:
            return answer(body)
        return 400, json.dumps({"error": {"message": "response_format is not supported"}})

    fake.answer = told  # type: ignore[method-assign]


@pytest_db
@pytest.mark.parametrize(
    ("known", "form", "requests"),
    [
        pytest.param(("json_schema", "json_object", "text"), "schema", 1, marks=pytest.mark.exhaustive),
        pytest.param(("json_object", "text"), "json", 2, marks=pytest.mark.exhaustive),
        (("text",), "text", 3),
    ],
)
def test_the_strictest_form_that_a_server_takes_is_found_out_once(
    fake: FakeLLM, known: tuple[str, ...], form: str, requests: int
) -> None:
    knows(fake, *known)
    corpus, endpoint = small_corpus(dialogues=2), endpoint_of(fake, concurrency=1)
    run = begin(corpus, Judge("cocoeval_behaviours", endpoint=endpoint))
    finish()
    assert set(run.calls.values_list("state", "reply_form")) == {("done", form)}
    assert len(fake.arrivals) == requests + 1, "the second call knows"
    assert Endpoint.objects.get().reply_form == form
    begin(corpus, Judge("cocoeval_behaviours", endpoint=endpoint, parameters={"seed": 1}))
    finish()
    assert len(fake.arrivals) == requests + 3, "another slice of work knows, too"


@pytest_db
def test_a_report_can_say_why_answers_lack(fake: FakeLLM) -> None:
    answers(fake, said(ended="length"))
    endpoint = endpoint_of(fake)
    whole = begin(small_corpus(dialogues=1), Judge("cocoeval_behaviours", endpoint=endpoint))
    single = begin(small_corpus(dialogues=2), Judge("cpdscore_detail", endpoint=endpoint))
    finish()
    turns = list(single.calls.values_list("item", flat=True))
    assert by_kind(single.rater, turns[:3]) == {"truncated": 3}
    assert by_rater(Call.objects.filter(run__corpus=single.corpus)) == {single.rater_id: {"truncated": 12}}
    assert by_rater(Call.objects.filter(run=whole)) == {whole.rater_id: {"truncated": 1}}
    first = whole.calls.get().continuation.items.filter(kind="turn").values_list("pk", flat=True)[:2]
    assert by_kind(whole.rater, list(first)) == {"truncated": 2}
    assert by_kind(whole.rater, turns) == {}


@pytest_db
def test_a_repeated_request_shows_the_model_its_reply_and_the_fault(fake: FakeLLM) -> None:
    answers(fake, said("what?"), said(ANSWER))
    endpoint = endpoint_of(fake, concurrency=1)
    begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=endpoint))
    finish()
    (repeated,) = [body for body in fake.bodies if body["messages"][-2]["role"] == "assistant"]
    assert repeated["messages"][-2]["content"] == "what?"
    assert "no score for humanness" in repeated["messages"][-1]["content"]
    assert not Call.objects.exclude(state=Call.State.DONE).exists()


@pytest_db
def test_a_refusal_in_plain_text_is_not_paid_for_again(fake: FakeLLM) -> None:
    answers(fake, said("I'm sorry, but I can't assist with that."))
    run = begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=endpoint_of(fake)))
    finish()
    assert set(run.calls.values_list("state", "error_kind", "asked")) == {("failed", "refusal", 1)}
