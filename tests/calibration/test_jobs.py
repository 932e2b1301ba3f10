"""A large report is a job: computed once, with progress, and with the reason where it fails."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from calibration.models import Report, Study
from calibration.studies import actions as studies
from calibration.studies import job as jobs
from jobs.models import Job
from jobs.queue import jobs as queue
from jobs.queue.heartbeat import Heart
from tests.calibration.world import world
from tests.factories import user


def _study() -> Study:
    built = world(dialogues=4, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    for name in ("ann", "ben"):
        built.say(name, "quality", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0])
    return studies.automatic(corpus=built.corpus)


def _work_off() -> None:
    with Heart("jobs") as heart:
        queue.work("jobs", seconds=20, heart=heart)


@pytest.mark.django_db(transaction=True)
def test_a_large_report_is_computed_beside_the_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "SMALL", 0)
    study = _study()
    client.force_login(user(researcher=True))
    page = client.get(reverse("report", args=[study.pk])).content.decode()
    assert "Computing the report" in page
    job = Job.objects.get()
    assert (
        "Waiting for a worker"
        in client.get(reverse("report-progress", args=[study.pk, job.pk])).content.decode()
    )
    _work_off()
    job.refresh_from_db()
    assert (job.state, job.done, job.total) == ("done", 1, 1)
    answer = client.get(reverse("report-progress", args=[study.pk, job.pk]))
    assert answer["HX-Redirect"] == reverse("report", args=[study.pk]) + "?part=all"
    assert "Do the people agree" in client.get(reverse("report", args=[study.pk])).content.decode()
    assert Report.objects.get().pk == job.result["report"]


@pytest.mark.django_db
def test_one_computation_at_a_time_per_study_and_part() -> None:
    study = _study()
    job = jobs.start(study=study, part="all", by=None)
    assert jobs.start(study=study, part="all", by=None) == job == jobs.under_way(study, "all")


@pytest.mark.django_db(transaction=True)
def test_a_report_whose_worker_was_lost_is_computed_all_the_same() -> None:
    study = _study()
    job = jobs.start(study=study, part="all", by=None)
    queue.claim(worker="lost")
    assert queue.release(worker="lost") == 1
    _work_off()
    job.refresh_from_db()
    assert (job.state, job.attempts) == ("done", 2)
    assert Report.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_computation_that_is_refused_says_why() -> None:
    study = _study()
    study.definition = {"raters": ["nobody"]}
    study.save()
    job = jobs.start(study=study, part="all", by=None)
    _work_off()
    job.refresh_from_db()
    assert job.state == "failed"
    assert "no rater 'nobody'" in job.error


@pytest.mark.django_db
def test_the_progress_of_one_study_is_not_shown_under_another(client: Client) -> None:
    study = _study()
    other = studies.create(name="other", corpus=study.corpus, definition={}, by=None)
    job = jobs.start(study=study, part="all", by=None)
    client.force_login(user(researcher=True))
    assert client.get(reverse("report-progress", args=[other.pk, job.pk])).status_code == 404
