"""Downloads of many labels are written by a worker and kept for a while, only for the requester."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.corpora import splits
from annotation.corpora.deletion import purge
from annotation.models import Corpus, TestLook
from calibration.exports import downloads
from calibration.models import Export
from jobs.errors import JobCancelled
from jobs.models import Job
from tests import factories
from tests.calibration.world import world
from tests.jobs.work import work_off

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> None:
    """Whatever is written is above what is written at once, into a home of its own."""
    monkeypatch.setattr(downloads, "AT_ONCE", 0)
    settings.HOME = tmp_path


@pytest.fixture
def corpus() -> Corpus:
    built = world(dialogues=2, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.say("ann", "quality", [1.0, 2.0, 3.0])
    return built.corpus


@pytest.fixture
def rea() -> User:
    return factories.user("rea", researcher=True)


def _ask(client: Client, corpus: Corpus, form: str = "csv") -> None:
    answer = client.get(reverse("export-labels", args=[form]), {"corpus": corpus.pk})
    assert answer.headers["Location"] == f"{reverse('exports')}?corpus={corpus.pk}"


def test_a_page_leads_to_the_file_that_a_worker_writes(client: Client, corpus: Corpus, rea: User) -> None:
    client.force_login(rea)
    _ask(client, corpus)
    page = client.get(reverse("exports"), {"corpus": corpus.pk}).content.decode()
    assert "Written for you" in page
    assert not Export.objects.exists()
    job = work_off()
    assert (job.state, job.result["rows"]) == ("done", 3)
    assert downloads.path_of(job).stat().st_mode & 0o777 == 0o600
    address = reverse("export-file", args=[job.pk])
    for place, query in (("exports", {"corpus": corpus.pk}), ("jobs", {})):
        assert address in client.get(reverse(place), query).content.decode()
    answer = client.get(address)
    content = b"".join(answer)
    assert content.count(b"\n") == 4
    export = Export.objects.get()
    assert export.sha256 == job.result["sha256"] == hashlib.sha256(content).hexdigest()
    assert (export.rows, export.created_by) == (3, rea)
    assert f'filename="labels-corpus-{corpus.pk}.csv"' in answer.headers["Content-Disposition"]


def test_a_file_is_as_if_it_had_been_written_at_once(
    client: Client, corpus: Corpus, rea: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(rea)
    for form in ("csv", "jsonl", "parquet"):
        _ask(client, corpus, form)
        written = b"".join(client.get(reverse("export-file", args=[work_off().pk])))
        with monkeypatch.context() as patch:
            patch.setattr(downloads, "AT_ONCE", 10)
            answer = client.get(reverse("export-labels", args=[form]), {"corpus": corpus.pk})
            assert b"".join(answer) == written


def test_nobody_else_has_the_file(client: Client, corpus: Corpus, rea: User) -> None:
    client.force_login(rea)
    _ask(client, corpus)
    job = work_off()
    client.force_login(factories.user("other", administrator=True))
    for name in ("export-file", "api-export-file"):
        assert client.get(reverse(name, args=[job.pk])).status_code == 404
    assert reverse("export-file", args=[job.pk]) not in client.get(reverse("jobs")).content.decode()


def test_programs_get_the_job_and_then_the_file(client: Client, corpus: Corpus, rea: User) -> None:
    client.force_login(rea)
    answer = client.get(reverse("api-export-labels", args=["jsonl"]), {"corpus": corpus.pk})
    assert (answer.status_code, answer.json()) == (202, {"job": Job.objects.get().pk})
    address = reverse("api-export-file", args=[answer.json()["job"]])
    assert client.get(address).status_code == 404
    job = work_off()
    answer = client.get(address)
    assert answer.headers["Concord-Rows"] == "3"
    assert hashlib.sha256(b"".join(answer)).hexdigest() == job.result["sha256"]


def test_a_look_at_test_is_logged_when_it_is_asked_for_and_once(
    client: Client, corpus: Corpus, rea: User
) -> None:
    splits.draw(corpus=corpus, by=rea, seed=1, test_share=0.5)
    client.force_login(rea)
    address = f"{reverse('export-labels', args=['csv'])}?corpus={corpus.pk}"
    client.post(address, {"part": "test", "purpose": ""})
    assert not Job.objects.exists()
    client.post(address, {"part": "test", "purpose": "the paper"})
    assert TestLook.objects.get().purpose == "export: the paper"
    job = work_off()
    assert job.params["part"] == "test"
    b"".join(client.get(reverse("export-file", args=[job.pk])))
    assert (TestLook.objects.count(), Export.objects.get().part) == (1, "test")


def test_a_file_goes_after_its_time(client: Client, corpus: Corpus, rea: User) -> None:
    client.force_login(rea)
    _ask(client, corpus)
    job = work_off()
    assert downloads.clear() == 0
    Job.objects.update(finished_at=timezone.now() - downloads.RETENTION - timedelta(minutes=1))
    assert client.get(reverse("export-file", args=[job.pk])).status_code == 302
    assert downloads.clear() == 1
    assert not downloads.path_of(job).exists()


def test_a_file_goes_with_its_corpus(client: Client, corpus: Corpus, rea: User) -> None:
    client.force_login(rea)
    _ask(client, corpus)
    job = work_off()
    purge([Corpus.objects.filter(pk=corpus.pk)])
    assert client.get(reverse("export-file", args=[job.pk])).status_code == 302
    assert downloads.clear() == 1


def test_a_job_that_is_cancelled_leaves_no_file(client: Client, corpus: Corpus, rea: User) -> None:
    client.force_login(rea)
    _ask(client, corpus)

    def stop(_done: int, _total: int) -> None:
        raise JobCancelled

    with pytest.raises(JobCancelled):
        downloads.run(Job.objects.get(), stop)  # type: ignore[arg-type]
    assert not list(downloads.folder().iterdir())


def test_a_job_whose_corpus_was_deleted_says_so(client: Client, corpus: Corpus, rea: User) -> None:
    client.force_login(rea)
    _ask(client, corpus)
    purge([Corpus.objects.filter(pk=corpus.pk)])
    assert "was deleted" in work_off().error
