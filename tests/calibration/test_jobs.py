"""A large report is computed in the background: once, with progress, and with the reason where it fails."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from calibration import jobs, studies
from calibration.models import Computation, Report, Study
from tests.calibration.world import world
from tests.factories import user


def _study() -> Study:
    built = world(dialogues=4, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    for name in ("ann", "ben"):
        built.say(name, "quality", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0])
    return studies.automatic(corpus=built.corpus)


def _ended(pk: int) -> Computation:
    for _ in range(300):
        row = Computation.objects.get(pk=pk)
        if row.state != Computation.State.RUNNING:
            return row
        time.sleep(0.05)
    raise AssertionError("the computation did not end")


@pytest.mark.django_db(transaction=True)
def test_a_large_report_is_computed_beside_the_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "SMALL", 0)
    study = _study()
    client.force_login(user(researcher=True))
    page = client.get(reverse("report", args=[study.pk])).content.decode()
    assert "Computing the report" in page
    row = _ended(Computation.objects.get().pk)
    assert (row.state, row.done, row.total) == ("done", 1, 1)
    answer = client.get(reverse("report-progress", args=[study.pk, row.pk]))
    assert answer["HX-Redirect"] == reverse("report", args=[study.pk]) + "?part=all"
    assert "Do the people agree" in client.get(reverse("report", args=[study.pk])).content.decode()
    assert Report.objects.count() == 1


@pytest.mark.django_db
def test_one_computation_at_a_time_per_study_and_part() -> None:
    study = _study()
    row = Computation.objects.create(study=study, part="all")
    assert jobs.start(study=study, part="all", by=None) == row


@pytest.mark.django_db
def test_a_computation_whose_process_ended_is_failed_and_may_be_asked_again() -> None:
    study = _study()
    row = Computation.objects.create(study=study, part="all")
    Computation.objects.filter(pk=row.pk).update(heartbeat=timezone.now() - timedelta(minutes=5))
    assert jobs.under_way(study, "all") is None
    row.refresh_from_db()
    assert row.state == "failed"
    assert "ask again" in row.error


@pytest.mark.django_db
def test_a_computation_that_is_refused_says_why() -> None:
    study = _study()
    study.definition = {"raters": ["nobody"]}
    study.save()
    row = Computation.objects.create(study=study, part="all")
    jobs.work(row.pk)
    row.refresh_from_db()
    assert row.state == "failed"
    assert "no rater 'nobody'" in row.error
