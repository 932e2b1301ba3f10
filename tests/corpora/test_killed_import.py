"""A real worker process is killed during an import: the next worker repeats it, once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from annotation.corpora import uploads
from annotation.models import Corpus, Dialogue, Import, Upload
from jobs.models import Job
from tests import factories
from tests.importing.helpers import line

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.exhaustive]
DIALOGUES = 12_000
Start = Callable[[], subprocess.Popen[bytes]]


def database_url() -> str:
    found = connection.get_connection_params()
    host = str(found.get("host", "")).replace("/", "%2F")
    user, password = found.get("user", ""), found.get("password", "")
    return f"postgres://{user}:{password}@{host}:{found.get('port', '')}/{found['dbname']}"


@pytest.fixture
def start() -> Iterator[Start]:
    """Start `manage.py work jobs` on the test's own database and home."""
    started: list[subprocess.Popen[bytes]] = []
    environment = os.environ | {"DATABASE_URL": database_url(), "CONCORD_HOME": str(settings.HOME)}

    def one() -> subprocess.Popen[bytes]:
        command = [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), "work", "jobs"]
        started.append(subprocess.Popen(command, env=environment))
        return started[-1]

    yield one
    for process in started:
        process.kill()
        process.wait()


def until(condition: Callable[[], bool], seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def test_an_import_whose_worker_is_killed_is_done_again_and_counts_once(start: Start) -> None:
    content = "".join(json.dumps(line(f"d{n}")) + "\n" for n in range(DIALOGUES)).encode()
    file = SimpleUploadedFile("large.jsonl", content)
    upload = uploads.receive(
        by=factories.user(researcher=True), file=file, format="jsonl", corpus_name="large"
    )
    for _ in range(2):
        Job.objects.update(done=0)
        worker = start()
        until(lambda: Job.objects.get().done > 0)
        worker.kill()
        worker.wait()
        assert Job.objects.get().state == "running"
        assert not Corpus.objects.exists()
        assert uploads.stored_file(upload).exists()
    start()
    until(lambda: not Job.objects.get().active)
    job = Job.objects.get()
    assert (job.state, job.attempts, job.result["dialogues"]) == ("done", 3, DIALOGUES)
    assert (Dialogue.objects.count(), Import.objects.count()) == (DIALOGUES, 1)
    assert Upload.objects.get().result["created"]
    assert not uploads.stored_file(upload).exists()
