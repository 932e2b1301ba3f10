"""Generation for many dialogues is started by a job, with the same run as for a small selection."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from jobs.models import Job, Run
from judges.runs.selection import RunSettings
from suites.continuation.models import Production
from suites.continuation.productions import production_actions
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation
from tests import factories
from tests.browser.working import work_off
from tests.judges.helpers import finish
from tests.suites.continuation.test_engine import corpus_of, endpoint_of
from tests.suites.continuation.toy import ToyModel

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three dialogues are many."""
    monkeypatch.setattr(production_actions, "AT_ONCE", 2)


def test_a_job_begins_it_and_names_the_run(toys: ToyModel) -> None:
    corpus, by = corpus_of(3), factories.user(researcher=True)
    chosen = Generation("toy", endpoint_of(toys), {"turns": 2}, {"seed": 1}, "mine", {"mood": "good"})
    settings = RunSettings(caps={"cap_calls": 100})
    job = production_actions.start_job(
        by=by, generation=chosen, dialogues=Dialogues(corpus), trials=2, settings=settings
    )
    assert isinstance(job, Job)
    assert not Run.objects.exists()
    work_off("jobs")
    job.refresh_from_db()
    assert job.state == "done"
    run = Run.objects.get(pk=job.result["run"])
    assert (run.title, run.samples, run.cap_calls, run.created_by) == ("mine", 2, 100, by)
    finish()
    assert Production.objects.filter(run=run, status="done", condition__mood="good").count() == 6


def test_a_job_whose_endpoint_is_gone_is_refused_in_a_line(toys: ToyModel) -> None:
    endpoint = endpoint_of(toys)
    job = production_actions.start_job(
        by=None, generation=Generation("toy", endpoint), dialogues=Dialogues(corpus_of(3))
    )
    endpoint.active = False
    endpoint.save()
    work_off("jobs")
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "its endpoint was taken away")


def test_page_and_api_lead_to_the_job(toys: ToyModel, client: Client) -> None:
    corpus, endpoint = corpus_of(3), endpoint_of(toys)
    client.force_login(factories.user(researcher=True))
    address = f"{reverse('generate')}?corpus={corpus.pk}&generator=toy"
    told = {"endpoint": endpoint.pk, "trials": 1, "confirmed": "1"}
    assert client.post(address, told).url == reverse("jobs")
    body = {"generator": "toy", "corpus": corpus.name, "endpoint": endpoint.name}
    answer = client.post("/api/v1/productions/", body, content_type="application/json")
    assert answer.status_code == 202
    again = client.post("/api/v1/productions/", body, content_type="application/json")
    assert again.json() == answer.json(), "the same is waited for once"
    other = client.post("/api/v1/productions/", body | {"trials": 2}, content_type="application/json")
    assert other.json() != answer.json()
