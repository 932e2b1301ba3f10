"""A large corpus is deleted by a worker: requested once, with progress, and repeated if a worker is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.urls import reverse

from annotation.corpora import deletion
from annotation.corpora import deletion as purging
from annotation.errors import DeletionRefused
from annotation.models import Corpus, Label
from jobs.models import Job
from jobs.queue import jobs
from jobs.queue.worker import Heartbeat
from tests import factories
from tests.importing.helpers import imported, label, line, written

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    monkeypatch.setattr(deletion, "AT_ONCE", 0)
    imported(written(tmp_path, line(labels=[label()])), "c")
    return Corpus.objects.get()


def work_off() -> None:
    with Heartbeat("jobs") as heartbeat:
        jobs.work("jobs", seconds=20, heartbeat=heartbeat)


def test_a_page_starts_the_deletion_and_a_worker_does_it(client: Client, large: Corpus) -> None:
    boss = factories.user(administrator=True)
    client.force_login(boss)
    answer = client.post(reverse("delete-corpus", args=["c"]), {"confirmation": "c"}, follow=True)
    assert "is being deleted" in answer.content.decode()
    assert Label.objects.exists()
    work_off()
    assert not Corpus.objects.exists()
    job = Job.objects.get()
    assert (job.state, job.result["deleted"]["annotation_label"]) == ("done", 1)


def test_what_is_not_allowed_starts_nothing(large: Corpus) -> None:
    boss = factories.user(administrator=True)
    with pytest.raises(DeletionRefused):
        deletion.start_deletion(corpus=large, by=boss, confirmation="wrong")
    with pytest.raises(PermissionDenied):
        deletion.start_deletion(corpus=large, by=factories.user(researcher=True), confirmation="c")
    assert not Job.objects.exists()


def test_somebody_who_is_no_administrator_any_more_deletes_nothing(large: Corpus) -> None:
    boss = factories.user(administrator=True)
    deletion.start_deletion(corpus=large, by=boss, confirmation="c")
    boss.is_superuser = False
    boss.save()
    work_off()
    assert (Job.objects.get().state, Corpus.objects.count()) == ("failed", 1)


def test_a_deletion_that_is_done_again_finds_nothing_to_do(large: Corpus) -> None:
    boss = factories.user(administrator=True)
    started = deletion.start_deletion(corpus=large, by=boss, confirmation="c")
    assert isinstance(started, Job)
    assert deletion.under_way(large) == started
    purging.delete_corpus(corpus=large, by=boss, confirmation="c")
    work_off()
    started.refresh_from_db()
    assert (started.state, started.result) == ("done", {"deleted": {}})


def test_the_api_answers_202_with_the_job(client: Client, large: Corpus) -> None:
    client.force_login(factories.user(administrator=True))
    answer = client.delete(
        reverse("api-corpus", args=["c"]), {"confirmation": "c"}, content_type="application/json"
    )
    assert (answer.status_code, answer.json()) == (202, {"job": Job.objects.get().pk})
