"""Jobs on a page, through the API and by command: listed, cancelled, repeated."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from jobs import job_actions
from jobs.models import Job
from tests.factories import user

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(user(researcher=True))
    return client


def begin(subject: str) -> Job:
    return job_actions.start(kind="count", subject=subject, by=None)


def failed(subject: str) -> Job:
    job = begin(subject)
    Job.objects.filter(pk=job.pk).update(state="failed", error="line 3: no id")
    return job


def test_an_empty_list_says_what_will_be_there(researcher: Client) -> None:
    assert "No job yet" in researcher.get(reverse("jobs")).content.decode()


def test_the_list_shows_hostile_subjects_as_text_and_refreshes_only_while_something_is_active(
    researcher: Client,
) -> None:
    job = begin("<b>x</b>")
    page = researcher.get(reverse("jobs")).content.decode()
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "every 5s" in page
    researcher.post(reverse("cancel-job", args=[job.pk]))
    page = researcher.get(reverse("jobs")).content.decode()
    assert "cancelled" in page
    assert "every 5s" not in page


def test_a_failed_job_shows_why_and_is_done_again(researcher: Client) -> None:
    job = failed("a")
    assert "line 3: no id" in researcher.get(reverse("jobs")).content.decode()
    researcher.post(reverse("retry-job", args=[job.pk]))
    job.refresh_from_db()
    assert job.state == "queued"


def test_the_api_lists_cancels_and_refuses_what_cannot_be_done_again(researcher: Client) -> None:
    job = begin("a")
    assert researcher.get(reverse("api-jobs")).json()["results"][0]["id"] == job.pk
    refused = researcher.post(reverse("api-retry-job", args=[job.pk]))
    assert refused.status_code == 400
    assert "The job is queued" in refused.content.decode()
    assert researcher.post(reverse("api-cancel-job", args=[job.pk])).json()["state"] == "cancelled"
