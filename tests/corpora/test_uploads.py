"""Imports of uploads: jobs with visible progress, outcomes, and recovery from a worker's loss."""

from __future__ import annotations

import json
import os
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.corpora import import_file, uploads
from annotation.corpora import uploads as importing
from annotation.models import Corpus, Dialogue, Import, Upload
from jobs import job_actions, kinds
from jobs.models import Job
from jobs.queue import jobs
from tests import factories
from tests.corpora.conftest import with_broker, work_off
from tests.corpora.import_page import import_by_page
from tests.importing.helpers import line
from tests.platform.running import free_port

pytestmark = pytest.mark.django_db(transaction=True)


def received(*lines: object, **fields: object) -> Upload:
    content = "".join(json.dumps(one) + "\n" for one in lines).encode()
    file = SimpleUploadedFile("f.jsonl", content)
    options = {"by": factories.user(researcher=True), "format": "jsonl", "corpus_name": "c", **fields}
    return uploads.receive(files=[file], **options)  # type: ignore[arg-type]


def now(upload: Upload) -> Upload:
    return Upload.objects.select_related("job", "by").get(pk=upload.pk)


def page_of(client: Client, upload: Upload) -> str:
    client.force_login(upload.by)
    return client.get(reverse("upload", args=[upload.pk])).content.decode()


def test_the_stored_file_is_private_and_goes_when_the_import_ends() -> None:
    upload = received(line())
    path = uploads.stored_file(upload)
    assert path.exists()
    assert uploads.folder().stat().st_mode & 0o077 == 0
    work_off()
    assert not path.exists()


def test_an_upload_is_imported_once_however_often_it_is_taken() -> None:
    upload = received(line())
    work_off()
    Job.objects.update(state="queued")  # as if its worker was lost right after the commit
    work_off()
    upload = now(upload)
    assert upload.result
    assert (upload.state, upload.result["created"]) == ("done", True)
    assert (Job.objects.get().result, Import.objects.count()) == (upload.result, 1)


def test_two_workers_on_the_same_upload_import_it_once() -> None:
    upload = received(line())
    job = Job.objects.get()

    def work() -> None:
        importing.run(job, lambda *_: None)  # type: ignore[arg-type]
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result = now(upload).result
    assert result
    assert (result["created"], Import.objects.count()) == (True, 1)


def test_a_programming_error_fails_the_job_which_says_so_and_can_be_done_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_: object) -> None:
        raise ZeroDivisionError

    upload = received(line())
    with monkeypatch.context() as patched:
        patched.setattr(importing, "import_path", broken)
        work_off()
    assert now(upload).state == "failed"
    assert "the server&#x27;s log says more" in page_of(client, upload)
    client.post(reverse("resume-upload", args=[upload.pk]))
    work_off()
    assert now(upload).state == "done"


def test_progress_is_seen_while_the_import_is_not_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_file, "MAX_ENTRIES", 1)
    monkeypatch.setattr(kinds, "EVERY", 0)
    received(line("a"), line("b"))
    seen: list[tuple[str, bool]] = []
    original = import_file.stage

    def watched(*arguments: Any) -> None:
        seen.append(_from_outside())
        original(*arguments)

    monkeypatch.setattr(import_file, "stage", watched)
    work_off()
    assert seen == [("", False), ("1 dialogues", False)]


def _from_outside() -> tuple[str, bool]:
    """Return what another connection reads of the progress, and whether it sees a corpus."""
    found: list[tuple[str, bool]] = []

    def look() -> None:
        found.append((Job.objects.get().note, Corpus.objects.exists()))
        connection.close()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return found[0]


def test_a_page_leaves_the_import_to_a_worker_and_shows_how_far_it_is(client: Client) -> None:
    client.force_login(factories.user(researcher=True))
    content = SimpleUploadedFile("f.jsonl", (json.dumps(line()) + "\n").encode())
    assert "Waiting for a worker" in import_by_page(client, content).content.decode()
    upload = Upload.objects.get()
    assert "f.jsonl" in client.get(reverse("corpora")).content.decode()
    Job.objects.update(
        state="running", lease_expires=timezone.now(), done=40, total=80, note="7 dialogues", worker="w"
    )
    shown = page_of(client, upload)
    assert "50% read" in shown
    assert "7 dialogues" in shown
    jobs.sweep()
    work_off()
    assert "Open the corpus" in page_of(client, upload)


def test_an_import_is_cancelled_and_done_again_by_who_sent_it(client: Client) -> None:
    upload = received(line())
    client.force_login(factories.user(researcher=True))
    assert client.post(reverse("cancel-upload", args=[upload.pk])).status_code == 404
    client.force_login(upload.by)
    client.post(reverse("cancel-upload", args=[upload.pk]))
    work_off()
    assert "was cancelled; nothing was kept" in page_of(client, upload)
    assert not Corpus.objects.exists()
    client.post(reverse("resume-upload", args=[upload.pk]))
    work_off()
    assert Corpus.objects.get().dialogues.count() == 1


def test_a_running_import_that_is_cancelled_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_file, "MAX_ENTRIES", 1)
    monkeypatch.setattr(kinds, "EVERY", 0)
    upload = received(line("a"), line("b"))
    original = import_file.stage

    def cancelled(*arguments: Any) -> None:
        thread = threading.Thread(target=_cancel)
        thread.start()
        thread.join()
        original(*arguments)

    monkeypatch.setattr(import_file, "stage", cancelled)
    work_off()
    assert (now(upload).state, Dialogue.objects.count(), Corpus.objects.count()) == ("cancelled", 0, 0)


def _cancel() -> None:
    job_actions.cancel(job=Job.objects.get(), by=None)
    connection.close()


def test_an_import_that_is_alive_is_not_started_again(client: Client) -> None:
    upload = received(line())
    client.force_login(upload.by)
    client.post(reverse("resume-upload", args=[upload.pk]))
    assert Job.objects.get().state == "queued"
    assert "Not imported again" in page_of(client, upload)


def test_a_person_who_is_no_researcher_any_more_imports_nothing() -> None:
    upload = received(line())
    upload.by.groups.clear()
    work_off()
    assert (now(upload).state, Corpus.objects.count()) == ("failed", 0)


def test_a_refused_file_is_told_by_the_job_too() -> None:
    received(line(), "no dialogue")
    work_off()
    job = Job.objects.get()
    assert job.error == "f.jsonl, line 2: must be an object, not a text"
    assert job.result["problems"][0]["line"] == 2


def test_files_that_nobody_needs_any_more_are_cleared_away() -> None:
    waiting, cancelled, old = received(line()), received(line()), received(line())
    for upload in (cancelled, old):
        uploads.cancel(upload=upload, by=upload.by)
    Job.objects.filter(upload=old).update(finished_at=timezone.now() - timedelta(days=8))
    unknown = uploads.folder() / "987654321"
    unknown.write_text("x")
    for file in (*map(uploads.stored_file, (waiting, cancelled, old)), unknown):
        os.utime(file, (0, 0))
    assert uploads.clear() == 2
    assert [uploads.stored_file(one).exists() for one in (waiting, cancelled, old)] == [True, True, False]


def test_a_file_that_is_not_imported_is_kept_for_a_day() -> None:
    person = factories.user(researcher=True)
    young, old = (uploads.keep(by=person, files=[SimpleUploadedFile("f.jsonl", b"{}")]) for _ in range(2))
    Upload.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(hours=25))
    for upload in (young, old):
        os.utime(uploads.stored_file(upload), (0, 0))
    uploads.clear()
    assert Upload.objects.get() == young
    assert [uploads.stored_file(upload).exists() for upload in (young, old)] == [True, False]


def test_an_import_is_started_once() -> None:
    upload = received(line())
    uploads.start(upload=upload, by=upload.by, corpus_name="other")
    assert (Job.objects.count(), now(upload).corpus_name) == (1, "c")


def test_an_uploaded_meeting_is_called_by_its_own_name(tmp_path: Path) -> None:
    meeting = {"meeting_transcripts": [{"speaker": "A", "content": "Hi"}], "topic_list": []}
    file = SimpleUploadedFile("Bed003.json", json.dumps(meeting).encode())
    person = factories.user(researcher=True)
    uploads.receive(by=person, files=[file], format="qmsum", corpus_name="c")
    work_off()
    assert Corpus.objects.get().dialogues.get().key == "Bed003"


def test_an_upload_is_taken_as_usual_while_the_broker_is_away(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with_broker(monkeypatch, f"redis://127.0.0.1:{free_port()}/0")
    client.force_login(factories.user(researcher=True))
    file = SimpleUploadedFile("f.jsonl", (json.dumps(line()) + "\n").encode())
    assert import_by_page(client, file, name="c").status_code == 200
    assert Job.objects.get().state == "queued"
    assert "no wake-up for jobs, the sweep finds its work: the broker is away" in caplog.text
    work_off()
    assert Corpus.objects.get().name == "c"
