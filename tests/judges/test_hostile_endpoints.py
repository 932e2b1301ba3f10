"""Responses of a hostile or broken endpoint: that call fails, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import cycle
from typing import Any

import pytest

from annotation.models import Label
from jobs import runs
from jobs.calls import prepared
from jobs.endpoints.responses import MOST_CHARACTERS
from jobs.endpoints.wire import MOST_BYTES
from jobs.models import Call, Run
from judges.protocols import PROTOCOLS
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)


def completion(content: Any = "Humanness: 4", **fields: Any) -> str:
    whole = {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]} | fields
    return json.dumps(whole)


DEEP = "[" * 100_000
NO_TEXT = {
    "an image as content": completion([{"type": "image_url", "image_url": {"url": "Humanness: 4"}}]),
    "an object as content": completion({"text": "Humanness: 4"}),
    "a number as content": completion(4),
    "no message": completion(choices=[{"index": 0, "message": None}]),
    "a text as message": completion(choices=[{"index": 0, "message": "Humanness: 4"}]),
    "an empty choice": completion(choices=[None]),
    "an object as choices": completion(choices={"0": {"message": {"content": "Humanness: 4"}}}),
    "a text as choices": completion(choices="Humanness: 4"),
    "too long a text": completion("Humanness: 4" + " " * MOST_CHARACTERS),
    "too long a body": completion(filler="x" * MOST_BYTES),
    "too deep a body": DEEP,
}
ODD_COUNTS: dict[str, Any] = {
    "more tokens than a column holds": {"prompt_tokens": 10**12, "completion_tokens": 1},
    "a negative count": {"prompt_tokens": -1, "completion_tokens": 1},
    "a count in words": {"prompt_tokens": "many", "completion_tokens": 1},
    "a fraction": {"prompt_tokens": 1.5, "completion_tokens": 1},
    "a truth value": {"prompt_tokens": True, "completion_tokens": 1},
    "no object": [1, 2],
}


@pytest.fixture
def hostile() -> Iterator[FakeLLM]:
    with FakeLLM() as server:
        yield server


def sends(server: FakeLLM, body: str) -> None:
    server.answer = lambda _: (200, body)  # type: ignore[method-assign]


def detail(server: FakeLLM, name: str = "fake", dialogues: int = 1) -> Run:
    corpus = small_corpus(dialogues=dialogues)
    return begin(corpus, Judge("cpdscore_detail", endpoint=endpoint_of(server, name=name)))


def first(kinds: Iterable[str]) -> list[Any]:
    """The first of several kinds, and the others left to `make test-all`."""
    one, *others = kinds
    return [one, *(pytest.param(other, marks=pytest.mark.exhaustive) for other in others)]


@pytest.mark.parametrize("kind", first(NO_TEXT))
def test_a_reply_without_a_readable_text_fails_its_call(hostile: FakeLLM, kind: str) -> None:
    sends(hostile, NO_TEXT[kind])
    run = detail(hostile)
    finish()
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert set(run.calls.values_list("state", "attempts")) == {(Call.State.FAILED, 2)}
    assert all(run.calls.values_list("error", flat=True))
    assert not Label.objects.exists()


@pytest.mark.parametrize("kind", first(ODD_COUNTS))
def test_token_counts_that_make_no_sense_are_not_kept_and_said(hostile: FakeLLM, kind: str) -> None:
    sends(hostile, completion(usage=ODD_COUNTS[kind]))
    run = detail(hostile)
    finish()
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    call = run.calls.earliest("pk")
    assert (call.tokens_in, call.cost) == (None, None)
    assert call.flags == ["the endpoint's token counts make no sense and were not kept"]
    assert Label.objects.count() == 6


def test_a_healthy_run_beside_a_hostile_endpoint_is_not_held_up(fake: FakeLLM, hostile: FakeLLM) -> None:
    bodies = cycle([*NO_TEXT.values(), completion(usage=ODD_COUNTS["more tokens than a column holds"])])
    hostile.answer = lambda _: (200, next(bodies))  # type: ignore[method-assign]
    bad, good = detail(hostile, "hostile", dialogues=4), detail(fake, "healthy", dialogues=14)
    finish()
    assert (Run.objects.get(pk=good.pk).state, good.calls.count()) == (Run.State.DONE, 84)
    assert Run.objects.get(pk=bad.pk).state == Run.State.FAILED


def test_whatever_reading_a_reply_raises_fails_that_call_alone(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = detail(fake)
    victim = run.calls.earliest("pk").pk
    read = prepared.read

    def broken(job: Any, reply: Any) -> Any:
        if job.call.pk == victim:
            raise MemoryError("nothing left")
        return read(job, reply)

    monkeypatch.setattr(prepared, "read", broken)
    finish()
    assert run.calls.get(pk=victim).error == "defect: MemoryError: nothing left"
    assert run.calls.filter(state=Call.State.DONE).count() == 5


def test_a_prompt_that_cannot_be_made_fails_that_call_alone(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = detail(fake)
    prompt = PROTOCOLS["cpdscore_detail"].prompt  # type: ignore[attr-defined]

    def broken(self: Any, case: Any, variant: str, wording: Any = None) -> Any:
        return [][1] if case.turn == 2 else prompt(case, variant, wording)

    monkeypatch.setattr(type(PROTOCOLS["cpdscore_detail"]), "prompt", broken)
    finish()
    failed = run.calls.get(state=Call.State.FAILED)
    assert failed.error == "defect in the protocol: IndexError: list index out of range"
    assert run.calls.filter(state=Call.State.DONE).count() == 5


@pytest.mark.exhaustive
def test_a_reader_that_does_not_end_is_stopped(fake: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    run = detail(fake)

    def endless(self: Any, reply: str, case: Any) -> Any:
        while True:
            pass

    monkeypatch.setattr(prepared, "PARSE_SECONDS", 0.05)
    monkeypatch.setattr(type(PROTOCOLS["cpdscore_detail"]), "parse", endless)
    finish()
    assert set(run.calls.values_list("state", "error")) == {
        (Call.State.FAILED, "unparseable: reading it took more than 0.05 s")
    }


@pytest.mark.parametrize("asked", first(["nan", "inf", "-1", "Fri, 31 Dec 9999 23:59:59 -2359", "soon"]))
def test_a_senseless_retry_after_holds_nothing_up_for_long(fake: FakeLLM, asked: str) -> None:
    fake.mode, fake.retry_after = "429", asked
    run = detail(fake)
    finish(seconds=1)
    assert Run.objects.get(pk=run.pk).state in runs.ACTIVE
    assert all(call.error.startswith("HTTP 429") for call in run.calls.filter(attempts__gt=0))


def test_a_compressed_reply_is_not_unpacked(fake: FakeLLM) -> None:
    fake.headers = {"Content-Encoding": "gzip"}
    run = detail(fake)
    finish()
    assert set(run.calls.values_list("error", flat=True)) == {
        "the reply is compressed, which was not asked for"
    }
