"""Real Celery workers on a real Redis: a worker is killed during a run, and Redis fails and returns."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
import redis
from django.conf import settings as configured
from django.db import connection

from config.embedded.supervisor import celery_sweeper, celery_worker
from tests.corpora.import_page import import_by_page
from tests.platform.running import MANAGE, PROJECT, environment, free_port, wait_until

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.redis,
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed"),
]
LEASE_SECONDS = 6
TURNS, DIALOGUES = 40, 3
START = """
from annotation.models import Corpus
from judges.runs import plans, run_actions, selection
from jobs.models import Endpoint
plan = plans.Judge("cpdscore_simple", endpoint=Endpoint.objects.get()).plan()
print(run_actions.start(by=None, plan=plan, selection=selection.Selection(Corpus.objects.earliest("pk"))).pk)
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


@contextmanager
def redis_server(port: int, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A Redis server of our own that answers."""
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with process(["redis-server", *options], stdout=subprocess.DEVNULL) as started:
        client = redis.Redis(port=port)
        wait_until(lambda: answers(client))
        client.close()
        yield started


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of a Redis server of our own, and its process."""
    port = free_port()
    with redis_server(port, tmp_path) as started:
        yield f"redis://127.0.0.1:{port}/0", started


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


@pytest.fixture
def shape(broker: tuple[str, object]) -> dict[str, str]:
    """The environment of the production shape, on this test's database."""
    kept = connection.settings_dict
    database = f"postgres://{kept['USER']}@{quote(kept['HOST'], safe='')}:{kept['PORT']}/{kept['NAME']}"
    lease = str(LEASE_SECONDS)
    more = {"DATABASE_URL": database, "CELERY_BROKER_URL": broker[0], "CONCORD_LEASE_SECONDS": lease}
    return environment(configured.HOME, **more)


@contextmanager
def celery(shape: dict[str, str], folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Celery program; what it says goes into `folder`."""
    command = [sys.executable, "-m", "celery", "-A", "config.celery", *arguments]
    log = folder / "celery.log"
    with log.open("ab") as out, process(command, env=shape, cwd=PROJECT, stdout=out, stderr=out) as started:
        yield started


def start_run(shape: dict[str, str]):
    """Start a judge on all turns, in a process that knows the broker."""
    from jobs.models import Run

    begun = subprocess.run([*MANAGE, "shell", "-v0", "-c", START], env=shape, capture_output=True, text=True)
    assert begun.returncode == 0, begun.stderr
    return Run.objects.get(pk=int(begun.stdout.split()[-1]))


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
        run = start_run(shape)
        with celery(shape, tmp_path, *celery_sweeper(tmp_path / "beat")):
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


@pytest.mark.django_db(transaction=True)
def test_what_is_sent_while_redis_is_away_is_done_within_the_sweep_once_it_is_back_though_a_judge_runs(
    broker, shape, tmp_path, client, monkeypatch
):
    from django.core.files.uploadedfile import SimpleUploadedFile

    from jobs.models import Job, Run
    from jobs.queue.timing import SWEEP_EVERY
    from tests import factories
    from tests.corpora.conftest import with_broker
    from tests.fake_llm import FakeLLM
    from tests.importing.helpers import line
    from tests.judges.helpers import endpoint_of, small_corpus

    address, server = broker
    small_corpus(dialogues=DIALOGUES, turns=TURNS)
    with_broker(monkeypatch, address)
    client.force_login(factories.user("ada", administrator=True))

    def upload(name: str):
        file = SimpleUploadedFile("f.jsonl", (json.dumps(line(name)) + "\n").encode())
        since = time.monotonic()
        assert import_by_page(client, file, name=name).status_code == 200
        return Job.objects.latest("pk"), time.monotonic() - since

    def ended(job) -> bool:
        job.refresh_from_db()
        return job.state == "done"

    parts = [celery_worker("calls"), celery_worker("jobs"), celery_sweeper(tmp_path / "beat")]
    with FakeLLM(delay=1.0) as fake, ExitStack() as started:
        endpoint_of(fake, concurrency=1)
        for part in parts:
            started.enter_context(celery(shape, tmp_path, *part))
        before, _ = upload("before")
        wait_until(lambda: ended(before))
        run = start_run(shape)
        wait_until(lambda: run.calls.filter(state="done").count() > 3)
        kill(server)
        away, seconds = upload("away")
        assert seconds < 5
        time.sleep(5)  # the workers are in the middle of trying to connect
        assert not ended(away)
        started.enter_context(redis_server(int(address.rpartition(":")[2].partition("/")[0]), tmp_path))
        back = time.monotonic()
        wait_until(lambda: ended(away), 2 * SWEEP_EVERY)
        print(f"done {time.monotonic() - back:.1f} s after Redis was back; upload {seconds:.2f} s")
        calls = run.calls.filter(state="done").count()
        wait_until(lambda: run.calls.filter(state="done").count() > calls, 2 * SWEEP_EVERY)
        assert Run.objects.get(pk=run.pk).state == "running", "it was under way all the time"
