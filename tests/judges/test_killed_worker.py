"""Real worker processes over a real database: killed, stopped, or two at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from annotation.models import Label
from judges.models import Call, CallLabel, Run, Worker
from judges.plans import Judge
from judges.work import claiming, identity
from judges.work.heart import Heart
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
WIDTH = 8
MANAGE = Path(settings.BASE_DIR) / "manage.py"
Start = Callable[[], subprocess.Popen[bytes]]


def database_url() -> str:
    found = connection.get_connection_params()
    host = str(found.get("host", "")).replace("/", "%2F")
    user, password = found.get("user", ""), found.get("password", "")
    return f"postgres://{user}:{password}@{host}:{found.get('port', '')}/{found['dbname']}"


@pytest.fixture
def start() -> Iterator[Start]:
    """Start `manage.py work calls` on the test's own database."""
    started: list[subprocess.Popen[bytes]] = []
    environment = os.environ | {"DATABASE_URL": database_url(), "CONCORD_LOG_LEVEL": "INFO"}

    def one() -> subprocess.Popen[bytes]:
        command = [sys.executable, str(MANAGE), "work", "calls"]
        started.append(subprocess.Popen(command, env=environment))
        return started[-1]

    yield one
    for process in started:
        process.kill()
        process.wait()


def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


def done(run: Run) -> int:
    return run.calls.filter(state=Call.State.DONE).count()


def slow_run(fake: FakeLLM, delay: float = 0.1) -> Run:
    fake.delay = delay
    endpoint = endpoint_of(fake, concurrency=4)
    return begin(small_corpus(dialogues=20), Judge("cpdscore_detail", endpoint=endpoint))


def assert_every_item_once(run: Run, fake: FakeLLM) -> None:
    assert Label.objects.count() == 120
    assert CallLabel.objects.count() == 120
    assert Label.objects.values("item", "question", "sample").distinct().count() == 120
    assert max(fake.requests.values()) <= 2, "each call is asked once more at most"


def test_a_killed_worker_loses_nothing_and_nothing_is_done_twice(fake: FakeLLM, start: Start) -> None:
    run = slow_run(fake)
    worker = start()
    until(lambda: done(run) >= 20)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    finished = set(run.calls.filter(state=Call.State.DONE).values_list("pk", flat=True))
    attempts = dict(run.calls.filter(pk__in=finished).values_list("pk", "attempts"))
    held = run.calls.filter(state=Call.State.LEASED).count()
    assert 0 < len(finished) < 120
    assert held > 0
    run.calls.filter(state=Call.State.LEASED).update(lease_expires="2020-01-01T00:00Z")
    assert claiming.sweep() == held
    fake.delay = 0
    finish()
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert dict(run.calls.filter(pk__in=finished).values_list("pk", "attempts")) == attempts
    assert fake.requests.total() <= 120 + held
    assert_every_item_once(run, fake)


def test_a_worker_that_is_told_to_stop_gives_its_calls_back(fake: FakeLLM, start: Start) -> None:
    run = slow_run(fake, delay=0.3)
    worker = start()
    until(lambda: done(run) >= 4)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=15) == 0
    assert not run.calls.filter(state=Call.State.LEASED).exists()
    assert not Worker.objects.exists()
    assert fake.requests.total() == done(run), "what was asked was finished, and nothing else was held"


def test_two_workers_share_a_run(fake: FakeLLM, start: Start) -> None:
    run = slow_run(fake, delay=0.2)
    start()
    start()
    until(lambda: Worker.objects.count() == 2)
    until(lambda: not run.calls.exclude(state=Call.State.DONE).exists())
    until(lambda: Run.objects.get().state == Run.State.DONE)
    assert_every_item_once(run, fake)
    assert set(fake.requests.values()) == {1}


def test_a_waiting_worker_is_woken_at_once(fake: FakeLLM, start: Start) -> None:
    start()
    until(Worker.objects.exists)
    time.sleep(0.5)
    run = begin(small_corpus(dialogues=1), Judge("rules_baseline"))
    begun = time.monotonic()
    until(lambda: Run.objects.get(pk=run.pk).state == Run.State.DONE)
    assert time.monotonic() - begun < 3


def test_what_a_killed_worker_held_is_free_the_moment_another_one_starts(fake: FakeLLM, start: Start) -> None:
    run = slow_run(fake)
    worker = start()
    until(lambda: done(run) >= 8)
    worker.send_signal(signal.SIGKILL)
    until(lambda: identity.began(worker.pid) is None)
    held = run.calls.filter(state=Call.State.LEASED).count()
    assert held > 0
    with Heart("calls"):
        assert not run.calls.filter(state=Call.State.LEASED).exists()
    assert not Worker.objects.exists()


def test_what_a_living_worker_or_one_of_another_machine_holds_stays(fake: FakeLLM) -> None:
    run = slow_run(fake)
    with Heart("calls") as heart:
        held = claiming.claim(queue="calls", worker=heart.name, limit=3, lane=run.endpoint_id)
        other = {"machine": "elsewhere", "pid": 1, "began": 1, "queue": "calls", "last_seen": timezone.now()}
        Worker.objects.create(name="far", **other)
        held += claiming.claim(queue="calls", worker="far", limit=3, lane=run.endpoint_id)
        assert claiming.sweep() == 0
        assert set(run.calls.filter(state=Call.State.LEASED).values_list("pk", flat=True)) == set(held)


def test_a_number_that_is_used_again_is_another_process() -> None:
    began = identity.began(os.getpid())
    assert not identity.is_gone(os.getpid(), began)
    assert identity.is_gone(os.getpid(), (began or 0) + 1)


def test_kills_cost_no_more_than_was_in_flight_and_no_wait_for_a_lease(fake: FakeLLM, start: Start) -> None:
    """Each killed worker is replaced at once. The long form: KILLS=10 DIALOGUES=100."""
    kills, dialogues = int(os.environ.get("KILLS", 3)), int(os.environ.get("DIALOGUES", 15))
    fake.delay = 0.05
    endpoint = endpoint_of(fake, concurrency=WIDTH)
    run = begin(small_corpus(dialogues, turns=20), Judge("cpdscore_detail", endpoint=endpoint))
    total = 20 * dialogues
    for kill in range(1, kills + 1):
        worker = start()
        until(lambda: done(run) >= total * 0.6 * kill / kills, seconds=120)  # noqa: B023
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        with Heart("calls"):
            assert not run.calls.filter(state=Call.State.LEASED).exists()
    start()
    until(lambda: Run.objects.get(pk=run.pk).state == Run.State.DONE, seconds=120)
    assert Label.objects.count() == CallLabel.objects.count() == total
    assert fake.requests.total() <= total + kills * WIDTH
