"""A worker's state when the database interrupts its work: briefly held, and no reply is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from psycopg.errors import DeadlockDetected

from jobs.calls import claims, outcomes
from jobs.calls.dispatcher import Taker
from jobs.calls.outcomes import TRIES, again_after_deadlock
from jobs.models import Call, Run
from jobs.queue import timing
from jobs.queue.worker import Loop
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)


def run_of(fake: FakeLLM) -> Run:
    return begin(small_corpus(), Judge("cpdscore_detail", endpoint=endpoint_of(fake)))


def deadlock() -> OperationalError:
    error = OperationalError("deadlock detected")
    error.__cause__ = DeadlockDetected()
    return error


def failing(work: Callable[..., Any], times: int) -> Callable[..., Any]:
    """Return work that a deadlock undoes so many times."""
    left = [times]

    def once(*told: Any, **named: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise deadlock()
        return work(*told, **named)

    return once


def test_replies_are_written_though_a_deadlock_undid_the_first_try(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(fake)
    monkeypatch.setattr(outcomes, "_write", failing(outcomes._write, 2))
    finish()
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert set(fake.requests.values()) == {1}, "nothing was asked and paid for twice"


def test_a_run_ends_though_the_database_broke_off_a_slice_of_work(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker lives on, and its heart beats: the leases of what it held must not be renewed for ever."""
    run = run_of(fake)
    monkeypatch.setattr(Taker, "prepared", failing(Taker.prepared, 1))
    monkeypatch.setattr(timing, "POLL", 0.01)
    monkeypatch.setattr("jobs.queue.worker._PAUSE_WITHOUT_DATABASE", 0.01)
    loop = Loop("calls")
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def until_done() -> None:
        for _ in range(600):
            if Run.objects.get(pk=run.pk).state == Run.State.DONE:
                break
            threading.Event().wait(0.05)
        loop.stop()
        connection.close()

    watching = threading.Thread(target=until_done)
    watching.start()
    loop.run()
    watching.join()
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert not run.calls.filter(state=Call.State.LEASED).exists()


def test_a_heartbeat_does_not_wait_for_calls_that_are_being_written(fake: FakeLLM) -> None:
    run = run_of(fake)
    run.calls.update(state="leased", worker="a", lease_expires=timezone.now())
    first, *rest = run.calls.order_by("pk").values_list("pk", flat=True)
    beaten = threading.Event()

    def beat() -> None:
        claims.renew(worker="a", calls=[first, *rest])
        connection.close()
        beaten.set()

    with transaction.atomic():
        Call.objects.select_for_update().get(pk=first)
        beating = threading.Thread(target=beat)
        beating.start()
        assert beaten.wait(30)
    beating.join()
    soon = timezone.now() + timedelta(seconds=1)
    assert set(run.calls.filter(lease_expires__gt=soon).values_list("pk", flat=True)) == set(rest)


def test_only_deadlocks_are_tried_again_and_not_for_ever() -> None:
    assert again_after_deadlock(failing(lambda: 7, TRIES - 1)) == 7
    with pytest.raises(OperationalError, match="deadlock"):
        again_after_deadlock(failing(lambda: 7, TRIES))
    tried = []

    def away() -> None:
        tried.append(1)
        raise OperationalError("the database is away")

    with pytest.raises(OperationalError, match="away"):
        again_after_deadlock(away)
    assert len(tried) == 1
