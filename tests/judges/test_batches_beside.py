"""Large batches block nobody: direct calls continue during an upload."""

from __future__ import annotations

import time
from typing import Any

import pytest

from jobs.calls import batch_provider, batch_results, batch_steps
from jobs.models import Run
from jobs.queue import timing
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, small_corpus
from tests.judges.test_batches import _hurried, batched, work

pytestmark = pytest.mark.django_db(transaction=True)
__all__ = ["_hurried"]


@pytest.mark.parametrize("transfer", ["upload", "download"])
def test_calls_that_are_asked_at_once_go_on_while_a_file_is_transferred(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch, transfer: str
) -> None:
    run = batched(fake, dialogues=1, batch_most=50)
    monkeypatch.setattr(timing, "LOOK_FIRST", 0.0)
    other = endpoint_of(fake, name="other")
    plainly = getattr(batch_provider, transfer)
    seen: list[int] = []

    def slow(*told: Any) -> Any:
        end = time.monotonic() + 30
        while fake.requests.total() - asked_in_batches() < 12 and time.monotonic() < end:
            time.sleep(0.02)
        seen.append(fake.requests.total() - asked_in_batches())
        return plainly(*told)

    def asked_in_batches() -> int:
        return fake.batches.paid.total()

    monkeypatch.setattr(batch_provider, transfer, slow)
    begin(small_corpus(), Judge("cpdscore_simple", endpoint=other))
    work()
    assert seen == [12], "all were answered while the file was on its way"
    run.refresh_from_db()
    assert run.state == Run.State.DONE


@pytest.mark.exhaustive
def test_no_file_is_larger_than_providers_take(fake: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_steps, "MOST_BYTES", 1)
    run = batched(fake, dialogues=1, batch_most=50)
    work()
    run.refresh_from_db()
    assert (run.state, list(run.batches.values_list("size", flat=True))) == (Run.State.DONE, [1] * 6)


@pytest.mark.exhaustive
def test_between_parts_of_a_large_file_they_have_a_turn(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_results, "TURN", 0.0)
    monkeypatch.setattr(batch_steps, "STEP", 2)
    run = batched(fake, dialogues=1, batch_most=50)
    begin(small_corpus(), Judge("cpdscore_simple", endpoint=endpoint_of(fake, name="other")))
    turns: list[int] = []
    turn = batch_results.Working._turn
    monkeypatch.setattr(batch_results.Working, "_turn", lambda at: turns.append(1) or turn(at))
    work()
    run.refresh_from_db()
    assert (run.state, len(turns) >= 3) == (Run.State.DONE, True)
