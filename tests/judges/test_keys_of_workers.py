"""A worker without an endpoint's key leaves its calls to a worker that has it, and reports that."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from jobs.endpoints import client as probing
from jobs.endpoints import endpoint_actions
from jobs.models import Call, Run, Worker
from jobs.progress import progress
from jobs.queue import timing
from jobs.queue import worker as heartbeat
from jobs.queue.worker import Heartbeat
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus
from tests.judges.test_killed_worker import database_url

pytestmark = pytest.mark.django_db(transaction=True)


def keyed_run(fake: FakeLLM) -> Run:
    endpoint = endpoint_of(fake, key_env="SOME_API_KEY")
    return begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=endpoint))


def test_a_worker_without_the_key_leaves_the_calls_to_one_that_has_it(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = keyed_run(fake)
    finish()
    run.refresh_from_db()
    assert (run.state, run.error, fake.requests.total()) == (Run.State.QUEUED, "", 0)
    assert set(run.calls.values_list("state", "attempts")) == {(Call.State.PENDING, 0)}
    monkeypatch.setenv("SOME_API_KEY", "sk-some-key")
    finish()
    run.refresh_from_db()
    assert (run.state, fake.requests.total()) == (Run.State.DONE, 6)


def test_the_runs_page_says_which_workers_lack_the_key(fake: FakeLLM, client: Client) -> None:
    run = keyed_run(fake)
    client.force_login(factories.user(researcher=True))
    with Heartbeat("calls"):
        page = client.get(f"/runs/{run.pk}/").content.decode()
        assert "No worker has SOME_API_KEY in its environment" in page
        assert "within 120 seconds" in page
        Worker.objects.create(name="other", queue="calls", last_seen=timezone.now())
        told = client.get(f"/api/v1/runs/{run.pk}/").json()["progress"]["key_note"]
    assert told.startswith("1 of 2 workers have no SOME_API_KEY in their environment")


def test_a_run_fails_only_when_nobody_has_the_key_for_the_stated_time(fake: FakeLLM) -> None:
    run = keyed_run(fake)
    with Heartbeat("calls"):
        heartbeat.sweep()
        run.refresh_from_db()
        assert (run.state, run.unserved_since is not None) == (Run.State.QUEUED, True)
        long_ago = timezone.now() - timedelta(seconds=timing.KEY_WAIT + 1)
        Run.objects.filter(pk=run.pk).update(unserved_since=long_ago)
        other = Worker.objects.create(name="other", queue="calls", last_seen=timezone.now())
        heartbeat.sweep()
        run.refresh_from_db()
        assert (run.state, run.unserved_since) == (Run.State.QUEUED, None), "one that has it was seen"
        other.delete()
        Run.objects.filter(pk=run.pk).update(unserved_since=long_ago)
        heartbeat.sweep()
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert "SOME_API_KEY, which is not set where the workers run: none had it for 120 seconds" in run.error
    assert fake.requests.total() == 0


def test_without_any_worker_a_run_just_waits(fake: FakeLLM) -> None:
    run = keyed_run(fake)
    endpoint_actions.sweep_keys()
    run.refresh_from_db()
    assert (run.state, run.unserved_since, progress(run).key_note) == (Run.State.QUEUED, None, "")


def test_a_test_is_left_to_a_worker_with_the_key(fake: FakeLLM) -> None:
    endpoint = endpoint_of(fake, key_env="SOME_API_KEY", test_asked=timezone.now())
    with Heartbeat("calls"):
        assert probing._mine() == [endpoint], "nobody has it: this one says so"
        Worker.objects.create(name="other", queue="calls", last_seen=timezone.now())
        assert probing._mine() == []


@pytest.fixture
def standing_worker(fake: FakeLLM) -> Iterator[subprocess.Popen[bytes]]:
    """A worker of its own process, whose environment lacks the key."""
    environment = {name: text for name, text in os.environ.items() if name != "FAKE_API_KEY"}
    worker = subprocess.Popen(
        [sys.executable, "manage.py", "work", "calls"],
        cwd=settings.BASE_DIR,
        env=environment | {"DATABASE_URL": database_url()},
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 120
        while not Worker.objects.filter(queue="calls").exists():
            assert time.monotonic() < end, "the worker does not start"
            time.sleep(0.2)
        yield worker
    finally:
        worker.terminate()
        worker.wait(timeout=30)


@pytest.mark.usefixtures("standing_worker")
@pytest.mark.exhaustive
def test_a_command_with_the_key_ends_its_run_beside_a_worker_without(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    import signal

    corpus = small_corpus(dialogues=1)
    monkeypatch.setenv("FAKE_API_KEY", "sk-fake-key")
    monkeypatch.setenv("CONCORD_ENDPOINT_X", f"{fake.url}|fake-1|FAKE_API_KEY")
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        call_command(
            *("run_judge", "--protocol", "cpdscore_detail", "--endpoint", "x", "--quiet"), corpus=corpus.name
        )
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    run = Run.objects.get()
    assert (run.state, run.error, fake.requests.total()) == (Run.State.DONE, "", 6)
    assert fake.keys == {"Bearer sk-fake-key"}
