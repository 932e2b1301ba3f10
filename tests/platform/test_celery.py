"""Two real Celery workers over a real Redis, one of them killed in the middle of a run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
import redis
from django.conf import settings as configured
from django.db import connection

from config.embedded.programs import celery_worker
from tests.platform.running import MANAGE, PROJECT, environment, free_port, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.redis,
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed"),
]
LEASE_SECONDS = 6
TURNS, DIALOGUES = 40, 3
START = """
from annotation.models import Corpus
from judges.rating import actions, plans, selection
from jobs.models import Endpoint
plan = plans.Judge("cpdscore_simple", endpoint=Endpoint.objects.get()).plan()
print(actions.start(by=None, plan=plan, selection=selection.Selection(Corpus.objects.get())).pk)
"""


@contextmanager
def process(command: list[str], **options: object) -> Iterator[subprocess.Popen[bytes]]:
    """A program in a session of its own, ended with all that it started."""
    started = subprocess.Popen(command, start_new_session=True, **options)
    try:
        yield started
    finally:
        kill(started)


def kill(started: subprocess.Popen[bytes]) -> None:
    """`kill -9`, for the program and its children at once."""
    if started.poll() is None:
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[str]:
    """The address of a Redis server of our own."""
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    with process(["redis-server", *options], stdout=subprocess.DEVNULL):
        client = redis.Redis(port=port)
        wait_until(lambda: answers(client))
        client.close()
        yield f"redis://127.0.0.1:{port}/0"


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


@pytest.fixture
def shape(broker: str) -> dict[str, str]:
    """The environment of the production shape, on this test's database."""
    kept = connection.settings_dict
    database = f"postgres://{kept['USER']}@{quote(kept['HOST'], safe='')}:{kept['PORT']}/{kept['NAME']}"
    lease = str(LEASE_SECONDS)
    more = {"DATABASE_URL": database, "CELERY_BROKER_URL": broker, "CONCORD_LEASE_SECONDS": lease}
    return environment(configured.HOME, **more)


@contextmanager
def celery(shape: dict[str, str], folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Celery program; what it says goes into `folder`."""
    command = [sys.executable, "-m", "celery", "-A", "config.celery", *arguments]
    log = folder / f"{arguments[0]}.log"
    with log.open("ab") as out, process(command, env=shape, cwd=PROJECT, stdout=out, stderr=out) as started:
        yield started


@pytest.mark.django_db(transaction=True)
def test_a_run_ends_complete_and_once_though_one_of_two_workers_is_killed(shape, tmp_path):
    from annotation.models import Label
    from jobs.models import Call, Run, Worker
    from tests.fake_llm import FakeLLM
    from tests.judges.helpers import endpoint_of, small_corpus

    small_corpus(dialogues=DIALOGUES, turns=TURNS)

    def worker(name: str):
        return celery(shape, tmp_path, *celery_worker("calls"), "--hostname", name)

    def holders() -> set[str]:
        return set(Call.objects.filter(state="leased").values_list("worker", flat=True))

    with FakeLLM(delay=0.3) as fake, worker("one@test") as one, worker("two@test"):
        endpoint_of(fake, concurrency=8)
        begun = subprocess.run(
            [*MANAGE, "shell", "-v0", "-c", START], env=shape, capture_output=True, text=True
        )
        assert begun.returncode == 0, begun.stderr
        run = Run.objects.get(pk=int(begun.stdout.split()[-1]))
        with celery(shape, tmp_path, "beat", "--schedule", str(tmp_path / "beat"), "--pidfile="):
            wait_until(lambda: len(holders()) == 2 and run.calls.filter(state="done").count() > 10)
            kill(one)
            wait_until(lambda: Run.objects.get(pk=run.pk).state == "done", 90)

        asked = Counter(fake.requests)
    calls = DIALOGUES * TURNS
    assert Counter(run.calls.values_list("state", flat=True)) == {"done": calls}
    assert Worker.objects.filter(queue="calls").count() == 1, "the killed one is struck off"
    labels = Label.objects.filter(rater=run.rater).values_list("item", "question", "sample")
    assert len(labels) == len(set(labels)) == calls * 6
    repeated = sum(asked.values()) - calls
    assert repeated <= 8, "at most what the killed worker had under way was asked again"
