"""Errors of endpoints: retried if that can help, failed at once if not, never a label."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Label
from jobs import runs
from jobs.models import Call, Endpoint, Run
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)


def one_call(fake: FakeLLM, **fields: object) -> Run:
    corpus = small_corpus(dialogues=1)
    return begin(corpus, Judge("cocoeval_behaviours", endpoint=endpoint_of(fake, **fields)))


def finish_all(run: Run, seconds: float = 60) -> Run:
    """Work until the run is over, not waiting for delays: calls that wait are made ready."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        run.calls.update(not_before=None)
        finish()
        run.refresh_from_db()
        if run.state not in runs.ACTIVE:
            return run
    raise AssertionError("the run does not end")


@pytest.mark.parametrize(
    "status", [*(pytest.param(one, marks=pytest.mark.exhaustive) for one in ("429", "503")), "500"]
)
def test_what_may_pass_is_tried_again_and_then_fails(fake: FakeLLM, status: str) -> None:
    fake.mode = status
    run = finish_all(one_call(fake))
    call = run.calls.get()
    assert (call.state, call.attempts, fake.requests.total()) == (Call.State.FAILED, 6, 6)
    assert call.error == f"HTTP {status}: the fake answers {status} (tried 6 times)"
    assert not Label.objects.exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize("status", ["400", "413", "422"])
def test_what_is_refused_for_good_is_asked_once(fake: FakeLLM, status: str) -> None:
    fake.mode = status
    run = finish_all(begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=endpoint_of(fake))))
    assert run.state == Run.State.FAILED
    assert fake.requests.total() == run.calls.count()
    assert set(run.calls.values_list("error", flat=True)) == {f"HTTP {status}: the fake answers {status}"}


@pytest.mark.exhaustive
def test_a_refused_key_stops_the_run_and_it_goes_on_once_the_key_is_right(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "sk-secret-value")
    fake.mode = "401"
    corpus = small_corpus(dialogues=10)
    endpoint = endpoint_of(fake, key_env="FAKE_API_KEY", concurrency=2)
    run = finish_all(begin(corpus, Judge("cpdscore_detail", endpoint=endpoint)))
    assert (run.state, run.error) == (Run.State.FAILED, "HTTP 401: the fake answers 401")
    assert fake.requests.total() < 10, "60 calls were not all tried"
    assert fake.keys == {"Bearer sk-secret-value"}
    fake.mode = "good"
    run = finish_all(runs.retry_failed(by=None, run=run))
    assert run.state == Run.State.DONE
    assert Label.objects.count() == 60


def test_retry_after_is_respected(fake: FakeLLM) -> None:
    fake.mode, fake.retry_after = "429", "7"
    run = one_call(fake)
    before = timezone.now()
    finish()
    call = run.calls.get()
    assert call.state == Call.State.PENDING
    assert call.not_before is not None
    assert timedelta(seconds=6.9) < call.not_before - before < timedelta(seconds=9)
    finish()
    assert fake.requests.total() == 1, "nothing is asked before its time"


def test_a_pause_that_the_endpoint_asks_for_holds_for_its_other_calls(fake: FakeLLM) -> None:
    fake.mode, fake.retry_after = "429", "30"
    endpoint = endpoint_of(fake, concurrency=2)
    run = begin(small_corpus(dialogues=10), Judge("cpdscore_detail", endpoint=endpoint))
    finish(seconds=1)
    finish(seconds=1)
    assert fake.requests.total() <= 4
    assert run.calls.filter(attempts__gt=0).count() <= 4
    assert not run.calls.filter(not_before=None).exists()


@pytest.mark.exhaustive
def test_backoff_grows(fake: FakeLLM) -> None:
    fake.mode = "500"
    run = one_call(fake)
    waits = []
    for _ in range(4):
        run.calls.update(not_before=None)
        begun = timezone.now()
        finish()
        until = run.calls.get().not_before
        waits.append(((until - timezone.now()).total_seconds(), (until - begun).total_seconds()))
    for number, (least, most) in enumerate(waits):  # seen after it was asked and before
        assert least < 1.3 * 2**number
        assert most > 0.7 * 2**number


@pytest.mark.exhaustive
def test_a_server_that_is_silent_times_out_and_is_asked_again(fake: FakeLLM) -> None:
    fake.delay = 1.5
    run = one_call(fake, timeout_s=1)
    finish()
    call = run.calls.get()
    assert (call.state, call.error) == (Call.State.PENDING, "no reply within 1 s")
    fake.delay = 0
    assert finish_all(run).state == Run.State.DONE


def test_a_server_that_is_not_there_is_asked_again(fake: FakeLLM) -> None:
    url = "http://127.0.0.1:9/v1"
    gone = Endpoint.objects.create(name="gone", base_url=url, model="fake-1", allow_private=True)
    run = begin(small_corpus(dialogues=1), Judge("cocoeval_behaviours", endpoint=gone))
    finish()
    call = run.calls.get()
    assert call.state == Call.State.PENDING
    assert call.error.startswith(f"no connection to {url}")


def test_a_body_that_is_no_json_is_no_reply(fake: FakeLLM) -> None:
    fake.mode = "not_json"
    run = one_call(fake)
    finish()
    assert run.calls.get().state == Call.State.PENDING
    assert not Label.objects.exists()


def test_a_failed_call_is_asked_again_on_demand_and_the_done_ones_are_not(fake: FakeLLM) -> None:
    fake.mode, fake.fail_first = "fail_first", 3
    corpus = small_corpus(dialogues=1)
    run = begin(corpus, Judge("cpdscore_detail", endpoint=endpoint_of(fake)))
    Run.objects.update(max_attempts=1)
    run = finish_all(run)
    assert (run.state, run.error) == (
        Run.State.FAILED,
        "3 of 6 calls failed. The commonest cause: HTTP 500: the fake answers 500",
    )
    run = finish_all(runs.retry_failed(by=None, run=run))
    assert (run.state, fake.requests.total(), Label.objects.count()) == (Run.State.DONE, 9, 6)


@pytest.mark.exhaustive
def test_never_more_requests_at_once_than_the_endpoint_allows(fake: FakeLLM) -> None:
    fake.delay = 0.05
    endpoint = endpoint_of(fake, concurrency=3)
    run = begin(small_corpus(dialogues=5), Judge("cpdscore_detail", endpoint=endpoint))
    assert finish_all(run).state == Run.State.DONE
    assert fake.most_at_once == 3


def test_hostile_text_in_a_reply_is_stored_as_text(fake: FakeLLM) -> None:
    fake.say = lambda prompt: "Humanness: 4\x00\ud800 <script>"  # type: ignore[method-assign,assignment]
    run = finish_all(begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=endpoint_of(fake))))
    assert run.state == Run.State.FAILED
    assert "<script>" in run.calls.first().reply
