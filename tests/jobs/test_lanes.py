"""Lanes: a real worker finishes a report while a long job of its own waits, and a kill loses neither."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client

from annotation.corpora import deletion
from annotation.models import Corpus
from calibration.models import Report
from calibration.studies import study_actions
from jobs import job_actions
from jobs.kinds import KINDS, SHORT, lane_of
from jobs.models import Job
from jobs.queue import jobs as queue
from jobs.queue.worker import Heartbeat
from tests import factories
from tests.calibration.world import world

pytestmark = pytest.mark.django_db(transaction=True)
Worker = subprocess.Popen[bytes]


@pytest.fixture
def start() -> Iterator[Callable[[], Worker]]:
    """Start `manage.py work jobs` on the test's own database and home."""
    workers: list[Worker] = []
    options = connection.get_connection_params()
    host = str(options.get("host", "")).replace("/", "%2F")
    account = f"{options.get('user', '')}:{options.get('password', '')}"
    address = f"postgres://{account}@{host}:{options.get('port', '')}/{options['dbname']}"
    environment = os.environ | {"DATABASE_URL": address, "CONCORD_HOME": str(settings.HOME)}

    def begin() -> Worker:
        command = [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), "work", "jobs"]
        workers.append(subprocess.Popen(command, env=environment))
        return workers[-1]

    yield begin
    for process in workers:
        process.kill()
        process.wait()


def until(condition: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


@contextmanager
def blocked(corpus: Corpus) -> Iterator[None]:
    """Hold a row of a corpus, so that a job that deletes the corpus waits."""
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT 1 FROM annotation_corpus WHERE id = %s FOR UPDATE", [corpus.pk])
        yield


def deletion_job(name: str = "large") -> tuple[Corpus, Job]:
    corpus = factories.corpus(name)
    factories.dialogue(corpus, "d", turns=2)
    root = factories.user("root", administrator=True)
    job = job_actions.start(kind=deletion.KIND, subject=name, by=root, params={"corpus": corpus.pk})
    return corpus, job


def report_job() -> Job:
    rated = world()
    rated.ask("clear", "binary", [0, 1])
    for rater in "ab":
        rated.say(rater, "clear", [number % 2 for number in range(len(rated.turns))])
    return study_actions.start(study=study_actions.automatic(corpus=rated.corpus), part="all", by=None)


def test_a_report_is_finished_while_a_long_job_waits_and_a_killed_worker_loses_neither(
    start: Callable[[], Worker],
) -> None:
    corpus, long = deletion_job()
    with blocked(corpus):
        worker = start()
        until(lambda: Job.objects.get(pk=long.pk).state == "running")
        short = report_job()  # asked for later, when the long job has begun
        until(lambda: not Job.objects.get(pk=short.pk).active)
        assert Job.objects.get(pk=short.pk).state == "done"
        assert Report.objects.exists()
        assert Job.objects.get(pk=long.pk).state == "running"
        worker.kill()
        worker.wait()
    start()
    until(lambda: not Job.objects.get(pk=long.pk).active)
    long.refresh_from_db()
    assert (long.state, long.attempts) == ("done", 2)
    assert not Corpus.objects.filter(pk=corpus.pk).exists()


def test_the_heartbeat_renews_the_leases_of_both_lanes(tmp_path: Path) -> None:
    jobs = [
        Job.objects.create(kind="count", subject="long", lane="long"),
        Job.objects.create(kind="count", subject="short", lane="short"),
    ]
    leased: set[int] = set()
    for job in jobs:
        job.params = {"log": str(tmp_path / job.lane), "total": 10_000, "seconds": 0.001}
        job.save()

    def both() -> bool:
        leased.update(heartbeat._leased)
        return all((tmp_path / job.lane).exists() for job in jobs)

    with Heartbeat("jobs") as heartbeat:
        queue.work("jobs", seconds=20, heartbeat=heartbeat, stopping=both)
        assert heartbeat._leased == set()
    assert leased == {job.pk for job in jobs}
    assert {job.state for job in Job.objects.all()} == {"queued"}, "both were given back"


def test_a_lane_takes_its_oldest_job_first_and_none_of_the_other_lane() -> None:
    kinds = ("import", "report", "import", "report")
    jobs = [job_actions.start(kind=kind, subject=str(n), by=None) for n, kind in enumerate(kinds)]
    assert [job.lane for job in jobs] == ["long", "short", "long", "short"]
    order = [
        queue.claim(worker="w", in_lane=lane) for lane in ("short", "long", "short", "long", "short", "long")
    ]
    assert [job and job.pk for job in order] == [jobs[n].pk for n in (1, 0, 3, 2)] + [None, None]


def test_every_short_kind_is_a_kind_and_the_rest_is_long() -> None:
    assert set(KINDS) >= SHORT
    assert {lane_of(key) for key in ("import", "deletion", "opening", "search", "simulation")} == {"long"}


def test_the_api_tells_and_filters_by_lane(client: Client) -> None:
    job_actions.start(kind="import", subject="a", by=None)
    short = job_actions.start(kind="report", subject="b", by=None)
    client.force_login(factories.user(researcher=True))
    rows = client.get("/api/v1/jobs/", {"lane": "short"}).json()["results"]
    assert [(row["id"], row["lane"]) for row in rows] == [(short.pk, "short")]
