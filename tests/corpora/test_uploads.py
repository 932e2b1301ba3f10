"""Imports of uploads: progress that others see, endings, and what was cut off."""

from __future__ import annotations

import json
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.importing import batches, uploads
from annotation.models import Corpus, Upload
from tests import factories
from tests.importing.helpers import line


def received(*lines: object, **fields: object) -> Upload:
    content = "".join(json.dumps(one) + "\n" for one in lines).encode()
    file = SimpleUploadedFile("f.jsonl", content)
    options = {"by": factories.user(researcher=True), "format": "jsonl", "corpus_name": "c", **fields}
    return uploads.receive(file=file, **options)  # type: ignore[arg-type]


@pytest.mark.django_db
def test_the_stored_file_is_private_and_goes_when_the_import_ends() -> None:
    upload = received(line())
    path = uploads.stored_file(upload)
    assert path.exists()
    assert uploads.folder().stat().st_mode & 0o077 == 0
    uploads.work(upload.pk)
    assert not path.exists()


@pytest.mark.django_db
def test_an_upload_is_imported_once_however_often_it_is_taken() -> None:
    upload = received(line())
    for _ in range(2):
        uploads.work(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.result["created"]) == ("done", True)


@pytest.mark.django_db
def test_a_programming_error_leaves_a_row_that_says_so_and_is_not_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(**_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(uploads, "import_path", broken)
    upload = received(line())
    with pytest.raises(ZeroDivisionError):
        uploads.work(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.problem["reason"]) == ("refused", uploads.INTERRUPTED)


@pytest.mark.django_db(transaction=True)
def test_progress_is_seen_while_the_import_is_not_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MAX_ENTRIES", 1)
    monkeypatch.setattr(uploads, "EVERY", 0)
    upload = received(line("a"), line("b"))
    seen: list[tuple[int, bool]] = []
    original = batches._size

    def watched(dialogue: object) -> tuple[int, int]:
        seen.append(_from_outside(upload.pk))
        return original(dialogue)  # type: ignore[arg-type]

    monkeypatch.setattr(batches, "_size", watched)
    uploads.work(upload.pk)
    assert seen == [(0, False), (1, False)]


def _from_outside(key: int) -> tuple[int, bool]:
    """Return how many dialogues another connection reads of, and whether it sees a corpus."""
    found: list[tuple[int, bool]] = []

    def look() -> None:
        found.append((Upload.objects.get(pk=key).dialogues, Corpus.objects.exists()))
        connection.close()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.django_db(transaction=True)
def test_a_page_starts_an_import_that_goes_on_in_a_thread(client: Client) -> None:
    client.force_login(factories.user(researcher=True))
    content = SimpleUploadedFile("f.jsonl", (json.dumps(line()) + "\n").encode())
    client.post(reverse("import-corpus"), {"file": content, "format": "jsonl", "name": "c"})
    upload = Upload.objects.get()
    deadline = time.monotonic() + 20
    while upload.state not in ("done", "refused") and time.monotonic() < deadline:
        time.sleep(0.05)
        upload.refresh_from_db()
    assert upload.state == "done"
    assert "Open the corpus" in client.get(reverse("upload", args=[upload.pk])).content.decode()


@pytest.mark.django_db
def test_an_import_that_was_cut_off_is_offered_again_and_left_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = received(line())
    Upload.objects.update(state="running", beat=timezone.now() - timedelta(hours=1))
    client.force_login(upload.by)
    assert "cut off" in client.get(reverse("upload", args=[upload.pk])).content.decode()
    assert not Corpus.objects.exists()
    monkeypatch.setattr(uploads, "start", lambda *, upload: uploads.work(upload.pk))
    client.post(reverse("resume-upload", args=[upload.pk]))
    assert Corpus.objects.get().dialogues.count() == 1


@pytest.mark.django_db
def test_an_import_that_is_alive_is_not_started_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = received(line())
    monkeypatch.setattr(uploads, "start", lambda *, upload: pytest.fail("started again"))
    client.force_login(upload.by)
    client.post(reverse("resume-upload", args=[upload.pk]))
    assert "read" in client.get(reverse("upload", args=[upload.pk])).content.decode()


@pytest.mark.django_db
def test_an_uploaded_meeting_is_called_by_its_own_name(tmp_path: Path) -> None:
    meeting = {"meeting_transcripts": [{"speaker": "A", "content": "Hi"}], "topic_list": []}
    file = SimpleUploadedFile("Bed003.json", json.dumps(meeting).encode())
    person = factories.user(researcher=True)
    upload = uploads.receive(by=person, file=file, format="qmsum", corpus_name="c")
    uploads.work(upload.pk)
    assert Corpus.objects.get().dialogues.get().key == "Bed003"
