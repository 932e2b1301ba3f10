"""Real worker processes on a real database: killed, stopped, or two at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from annotation.models import Label
from jobs.calls import claims
from jobs.models import Call, Endpoint, OpenRequest, Run, Worker
from jobs.progress import Progress, progress
from jobs.queue.worker import Heartbeat, sweep
from judges.models import CallLabel
from judges.runs import run_actions
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests.fake_llm import TOKENS_IN, TOKENS_OUT, FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus
from tests.judges.servers.echo_server import EchoServer, write_model

pytestmark = pytest.mark.django_db(transaction=True)
MANAGE = Path(settings.BASE_DIR) / "manage.py"
Start = Callable[..., subprocess.Popen[bytes]]
NEVER = 3600
"""Seconds for which no test waits."""
WORK = """
import sys, manage
from jobs.queue import timing
vars(timing).update({timing})
sys.argv = {arguments}
manage.main()
"""


def database_url() -> str:
    found = connection.get_connection_params()
    host = str(found.get("host", "")).replace("/", "%2F")
    user, password = found.get("user", ""), found.get("password", "")
    return f"postgres://{user}:{password}@{host}:{found.get('port', '')}/{found['dbname']}"


@pytest.fixture
def start() -> Iterator[Start]:
    """Start `manage.py work calls` on the test's own database, with other values of `jobs.queue.timing`."""
    started: list[subprocess.Popen[bytes]] = []
    environment = os.environ | {"DATABASE_URL": database_url(), "CONCORD_LEASE_SECONDS": str(NEVER)}

    def one(**timing: float) -> subprocess.Popen[bytes]:
        work = WORK.format(timing=timing, arguments=[str(MANAGE), "work", "calls"])
        started.append(subprocess.Popen([sys.executable, "-c", work], env=environment, cwd=MANAGE.parent))
        return started[-1]

    yield one
    for process in started:
        process.kill()
        process.wait()


def until(condition: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


def done(run: Run) -> int:
    return run.calls.filter(state=Call.State.DONE).count()


def slow_run(fake: FakeLLM, delay: float = 0.1, dialogues: int = 20) -> Run:
    fake.delay = delay
    endpoint = endpoint_of(fake, concurrency=4)
    return begin(small_corpus(dialogues=dialogues), Judge("cpdscore_detail", endpoint=endpoint))


def assert_every_item_once(run: Run, fake: FakeLLM) -> None:
    total = run.calls.count()
    assert Label.objects.count() == CallLabel.objects.count() == total
    assert Label.objects.values("item", "question", "sample").distinct().count() == total
    assert max(fake.requests.values()) <= 2, "each call is asked once more at most"


def test_a_killed_worker_loses_nothing_and_nothing_is_done_twice(fake: FakeLLM, start: Start) -> None:
    run = slow_run(fake, dialogues=8)
    worker = start()
    until(lambda: done(run) >= 8)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    finished = set(run.calls.filter(state=Call.State.DONE).values_list("pk", flat=True))
    attempts = dict(run.calls.filter(pk__in=finished).values_list("pk", "attempts"))
    held = run.calls.filter(state=Call.State.LEASED).count()
    assert 0 < len(finished) < 48
    assert held > 0
    run.calls.filter(state=Call.State.LEASED).update(lease_expires="2020-01-01T00:00Z")
    assert claims.sweep() == held
    fake.delay = 0
    finish()
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert dict(run.calls.filter(pk__in=finished).values_list("pk", "attempts")) == attempts
    assert_every_request_counts(run, fake, held)
    assert fake.requests.total() <= 48 + held
    assert_every_item_once(run, fake)


def assert_every_request_counts(run: Run, fake: FakeLLM, under_way: int) -> Progress:
    """What came to the server is what the run says it sent; what was under way at a kill is estimated."""
    found = progress(run)
    assert len(fake.arrivals) <= found.sent <= len(fake.arrivals) + under_way, "noted, then sent"
    assert 0 < found.lost <= under_way
    assert found.asked == found.sent == found.done + found.lost
    unknown = (found.tokens_in - TOKENS_IN * found.done, found.tokens_out - TOKENS_OUT * found.done)
    assert TOKENS_IN // 2 * found.lost < unknown[0] < 10 * TOKENS_IN * found.lost
    assert TOKENS_OUT // 2 * found.lost < unknown[1] < 10 * TOKENS_OUT * found.lost
    assert found.cost == (found.tokens_in + 10 * found.tokens_out) / Decimal(1_000_000)
    assert not OpenRequest.objects.exists()
    return found


@pytest.mark.exhaustive
def test_what_a_killed_worker_had_sent_counts_as_sent_and_paid(fake: FakeLLM, start: Start) -> None:
    run = slow_run(fake, delay=1.0)
    worker = start()
    until(lambda: done(run) >= 4)
    until(lambda: OpenRequest.objects.count() == 4)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    sweep()
    assert progress(run).lost == 4, "and what was only claimed is not"
    fake.delay = 0
    finish()
    assert assert_every_request_counts(run, fake, 4).done == 120


@pytest.mark.exhaustive
def test_a_killed_worker_loses_no_likelihood_and_no_item_has_two(tmp_path: Path, start: Start) -> None:
    with EchoServer(write_model(tmp_path), delay=0.2) as echo:
        Endpoint.objects.create(
            name="gpu",
            model="m",
            base_url=echo.url,
            allow_private=True,
            concurrency=4,
            price_in=1,
            price_out=10,
        )
        selection = Selection(small_corpus(dialogues=4))
        (run,) = run_actions.start_metrics(by=None, keys=["ll:endpoint=gpu"], selection=selection)
        assert isinstance(run, Run)
        worker = start()
        until(lambda: done(run) >= 4)
        until(lambda: OpenRequest.objects.count() >= 1)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        finished = dict(Label.objects.values_list("pk", "number"))
        echo.delay = 0
        sweep()
        finish()
        run.refresh_from_db()
        found = progress(run)
        assert (run.state, found.done) == (Run.State.DONE, 24)
        assert Label.objects.count() == CallLabel.objects.count() == 24
        assert Label.objects.values("item", "question").distinct().count() == 24
        assert dict(Label.objects.filter(pk__in=finished).values_list("pk", "number")) == finished
        assert 0 < found.lost <= 4
        assert found.asked == found.sent == 24 + found.lost
        assert max(echo.arrivals.values()) <= 2, "each call is asked once more at most"


@pytest.mark.exhaustive
def test_what_a_killed_worker_had_sent_counts_towards_the_cap(fake: FakeLLM, start: Start) -> None:
    run = slow_run(fake, delay=1.0)
    Run.objects.update(cap_calls=10)
    worker = start()
    until(lambda: done(run) >= 4)
    until(lambda: OpenRequest.objects.count() == 4)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    fake.delay = 0
    finish()
    run.refresh_from_db()
    assert (run.state, run.at_cap) == (Run.State.PAUSED, True)
    assert_every_request_counts(run, fake, 4)
    assert (progress(run).sent, done(run)) == (10, 6)


@pytest.mark.exhaustive
def test_requests_that_a_stopping_worker_does_not_wait_for_count(fake: FakeLLM, start: Start) -> None:
    run = slow_run(fake, delay=15)
    Endpoint.objects.update(timeout_s=60)
    worker = start()
    until(lambda: OpenRequest.objects.count() == 4)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=60) == 0
    found = progress(run)
    assert (found.sent, found.asked, found.lost, found.leased) == (4, 4, 4, 0)
    assert found.tokens_in > 0
    fake.delay = 0
    finish()
    assert assert_every_request_counts(run, fake, 4).done == 120


@pytest.mark.exhaustive
def test_a_worker_that_comes_up_takes_over_at_once_what_killed_ones_held(fake: FakeLLM, start: Start) -> None:
    width, kills = 8, 2
    fake.delay = 0.2
    endpoint = endpoint_of(fake, concurrency=width)
    run = begin(small_corpus(dialogues=40), Judge("cpdscore_detail", endpoint=endpoint))
    total = run.calls.count()
    at_kills = 0
    for number in range(kills):
        worker = start()
        until(lambda reached=(number + 1) * total // 10: done(run) >= reached)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        at_kills += run.calls.filter(state=Call.State.LEASED).count()
    start()
    until(lambda: done(run) == total)
    again = fake.requests.total() - total
    assert again <= at_kills, f"{again} calls were paid twice, {at_kills} were held at {kills} kills"
    assert Label.objects.count() == total
    assert at_kills > 0


@pytest.mark.exhaustive
def test_a_worker_that_is_told_to_stop_gives_its_calls_back(fake: FakeLLM, start: Start) -> None:
    run = slow_run(fake, delay=0.3)
    worker = start()
    until(lambda: done(run) >= 4)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=60) == 0
    assert not run.calls.filter(state=Call.State.LEASED).exists()
    assert not Worker.objects.exists()
    assert fake.requests.total() == done(run), "what was asked was finished, and nothing else was held"


@pytest.mark.exhaustive
def test_two_workers_share_a_run(fake: FakeLLM, start: Start) -> None:
    run = slow_run(fake, delay=0.1)
    start()
    start()
    until(lambda: Worker.objects.count() == 2)
    until(lambda: not run.calls.exclude(state=Call.State.DONE).exists())
    until(lambda: Run.objects.get().state == Run.State.DONE)
    assert_every_item_once(run, fake)
    assert set(fake.requests.values()) == {1}


@pytest.mark.exhaustive
def test_a_waiting_worker_is_woken_at_once(fake: FakeLLM, start: Start) -> None:
    start(POLL=NEVER)
    until(Worker.objects.exists)
    time.sleep(0.5)
    run = begin(small_corpus(dialogues=1), Judge("rules_baseline"))
    until(lambda: Run.objects.get(pk=run.pk).state == Run.State.DONE)


@pytest.mark.exhaustive
def test_what_a_killed_worker_held_is_free_the_moment_another_one_starts(fake: FakeLLM, start: Start) -> None:
    run = slow_run(fake)
    worker = start()
    until(lambda: done(run) >= 8)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    held = run.calls.filter(state=Call.State.LEASED).count()
    assert held > 0
    with Heartbeat("calls"):
        assert not run.calls.filter(state=Call.State.LEASED).exists()
    assert not Worker.objects.exists()


def test_what_a_living_worker_or_one_of_another_machine_holds_stays(fake: FakeLLM) -> None:
    run = slow_run(fake)
    with Heartbeat("calls") as heartbeat:
        held = claims.claim(queue="calls", worker=heartbeat.name, limit=3, endpoint_id=run.endpoint_id)
        other = {
            "machine": "elsewhere",
            "pid": 1,
            "birth": "1",
            "queue": "calls",
            "last_seen": timezone.now(),
        }
        Worker.objects.create(name="far", **other)
        held += claims.claim(queue="calls", worker="far", limit=3, endpoint_id=run.endpoint_id)
        assert sweep() == 0
        assert set(run.calls.filter(state=Call.State.LEASED).values_list("pk", flat=True)) == set(held)
