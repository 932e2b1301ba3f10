"""A server that refuses every request with 400, as LiteLLM does for a wrong model: the run stops after ten
equal refusals, caps count the requests sent, and the run shows the server's message."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from jobs import runs
from jobs.calls import dispatcher
from jobs.calls.outcomes import MOST_EQUAL, Counts
from jobs.errors import commonest, same_cause
from jobs.models import Call, Run
from jobs.progress import progress
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, finish_all, small_corpus

KEY = "sk-Zq81tRv93xWb77dYc0"
WRONG = "Invalid model name passed in model=fake-9. Call `/v1/models`. Request {}"


def refusing(fake: FakeLLM, message: str = WRONG, after: int = 0) -> None:
    """Let a fake refuse what comes, each time with another id, after so many good answers."""
    good = fake.answer

    def answer(body: dict[str, object]) -> tuple[int, str]:
        number = fake.requests.total()
        status, text = good(body)  # counts it
        if number < after:
            return status, text
        told = message.format(f"{number:08x}-4f2a")
        return 400, json.dumps({"error": {"message": told, "type": "invalid_request_error"}})

    fake.answer = answer  # type: ignore[method-assign,assignment]


def hundred_calls(fake: FakeLLM, **fields: object) -> Run:
    endpoint = endpoint_of(fake, **{"concurrency": 64, **fields})
    return begin(small_corpus(dialogues=17), Judge("cpdscore_detail", endpoint=endpoint))


@pytest.mark.django_db(transaction=True)
def test_a_run_stops_after_ten_equal_refusals_in_the_servers_words(fake: FakeLLM) -> None:
    refusing(fake)
    run = hundred_calls(fake)
    finish(seconds=60)
    run.refresh_from_db()
    assert run.calls.count() == 102
    assert (run.state, fake.requests.total()) == (Run.State.FAILED, MOST_EQUAL)
    assert run.error.startswith(
        "Stopped after 10 equal refusals before any answer: HTTP 400: Invalid model name passed in "
        "model=fake-9."
    )
    states = {state: run.calls.filter(state=state).count() for state in ("failed", "pending")}
    assert states == {"failed": 10, "pending": 92}


@pytest.mark.django_db(transaction=True)
def test_no_more_are_sent_while_the_refusals_are_being_written(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = dispatcher._write_results

    def write_slowly(*arguments: Any) -> Counts:
        time.sleep(0.3)
        return write(*arguments)

    monkeypatch.setattr(dispatcher, "_write_results", write_slowly)
    refusing(fake)
    run = hundred_calls(fake, concurrency=4)  # claims a few at a time
    finish(seconds=60)
    run.refresh_from_db()
    assert (run.state, fake.requests.total()) == (Run.State.FAILED, MOST_EQUAL)


@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_it_goes_on_once_the_cause_is_gone(fake: FakeLLM) -> None:
    good = fake.answer
    refusing(fake)
    run = hundred_calls(fake)
    finish(seconds=60)
    fake.answer = good  # type: ignore[method-assign]
    runs.retry_failed(by=None, run=run)
    finish(seconds=60)
    run.refresh_from_db()
    assert (run.state, run.calls.filter(state=Call.State.DONE).count()) == (Run.State.DONE, 102)


@pytest.mark.django_db(transaction=True)
def test_after_an_answer_refusals_are_failures_of_their_calls(fake: FakeLLM) -> None:
    refusing(fake, after=1)
    run = hundred_calls(fake)
    finish(seconds=60)
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert run.calls.filter(state=Call.State.FAILED).count() == 101
    assert run.error.startswith("101 of 102 calls failed. The commonest cause: HTTP 400: Invalid model name")


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_what_concerns_one_request_alone_stops_nothing(fake: FakeLLM) -> None:
    refusing(fake, "This model's maximum context length is 4096 tokens, you asked for {}")
    run = hundred_calls(fake)
    finish(seconds=60)
    assert Run.objects.get(pk=run.pk).calls.filter(state=Call.State.FAILED).count() == 102


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_cap_on_calls_counts_what_was_sent_and_refused(fake: FakeLLM) -> None:
    refusing(fake)
    run = hundred_calls(fake)
    runs.set_caps(by=None, run=run, caps={"cap_calls": 6})
    finish_all()
    run.refresh_from_db()
    assert (run.state, fake.requests.total()) == (Run.State.PAUSED, 6)
    assert "cap of 6 calls (6 made)" in run.pause_reason
    told = progress(run)
    assert (told.sent, told.asked) == (6, 0)


@pytest.mark.django_db(transaction=True)
def test_the_runs_error_holds_no_key(fake: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_API_KEY", KEY)
    refusing(fake, f"Unknown key {KEY} in {{}}")
    run = hundred_calls(fake, key_env="FAKE_API_KEY")
    finish(seconds=60)
    run.refresh_from_db()
    assert "HTTP 400: Unknown key [key] in" in run.error


def test_errors_with_other_ids_and_numbers_are_one_cause() -> None:
    errors = [f"HTTP 400: no model m7, id {n:08x}-4f2a (tried {n} times)" for n in range(3)] + ["HTTP 400: x"]
    assert commonest(errors) == ("HTTP 400: no model m7, id 00000000-4f2a", 3)
    assert same_cause("no model llama") != same_cause("no model qwen")
