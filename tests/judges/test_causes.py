"""The page of a run shows its failures by cause, with an example, and asks one cause again."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from jobs import runs
from jobs.calls.causes import NEXT_STEPS, calls_of_cause, failure_causes
from jobs.errors import ERROR_KINDS, JobError, same_cause
from jobs.models import Call, Job, Run
from judges.runs.plans import Judge
from tests import factories
from tests.jobs.work import work_off
from tests.judges.helpers import begin, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
HOSTILE = "<script>alert('reply')</script>"
ERRORS = (
    ("server", "HTTP 500: worker 17 of req-0a1b2c3d4e fell over (tried 3 times)", ""),
    ("server", "HTTP 500: worker 9 of req-1fffffff01 fell over (tried 6 times)", ""),
    ("server", "HTTP 502: bad gateway", ""),
    ("unparseable", "unparseable: no number in the reply", ""),
    ("unparseable", "unparseable: no number in the reply", HOSTILE),
    ("transport", "HTTP 500: worker 17 of req-0a1b2c3d4e fell over (tried 3 times)", ""),
)


@pytest.fixture
def run() -> Run:
    """A run whose calls failed for four causes."""
    run = begin(small_corpus(dialogues=len(ERRORS)), Judge("rules_baseline"))
    for call, (kind, error, reply) in zip(run.calls.order_by("pk"), ERRORS, strict=True):
        call.state, call.error_kind, call.error, call.reply = Call.State.FAILED, kind, error, reply
        call.save()
    run.state = Run.State.FAILED
    run.save()
    return run


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(factories.user(researcher=True))
    return client


def test_errors_that_differ_in_numbers_and_ids_are_one_cause_of_their_kind(run: Run) -> None:
    causes = failure_causes(run)
    assert [(cause.kind, cause.n) for cause in causes] == [
        ("server", 2),
        ("unparseable", 2),
        ("server", 1),
        ("transport", 1),
    ]
    assert causes[0].error == "HTTP 500: worker 17 of req-0a1b2c3d4e fell over"
    assert causes[1].example.reply == HOSTILE, "the call with a reply is the example"
    assert len({cause.key for cause in causes}) == 4
    for cause in causes:
        texts = calls_of_cause(run, cause.key).values_list("error", flat=True)
        assert {same_cause(text) for text in texts} == {same_cause(cause.error)}


def test_the_calls_of_one_cause_are_asked_again_from_the_page(run: Run, researcher: Client) -> None:
    page = researcher.get(reverse("run", args=[run.pk])).content.decode()
    cause = failure_causes(run)[1]
    assert f'name="cause" value="{cause.key}"' in page
    assert HOSTILE not in page
    assert "&lt;script&gt;alert" in page
    assert cause.next_step in page
    researcher.post(reverse("retry-run", args=[run.pk]), {"cause": cause.key})
    pending = run.calls.filter(state=Call.State.PENDING).order_by("pk")
    assert [call.pk for call in pending] == [call.pk for call in run.calls.order_by("pk")[3:5]]
    run.refresh_from_db()
    assert run.state == Run.State.QUEUED
    assert run.calls.filter(state=Call.State.FAILED).count() == 4


def test_the_api_lists_causes_and_retries_one(run: Run, researcher: Client) -> None:
    rows = researcher.get(reverse("api-run-causes", args=[run.pk])).json()
    assert [row["n"] for row in rows] == [2, 2, 1, 1]
    assert rows[1]["example"]["reply"] == HOSTILE
    assert rows[0]["next_step"] == NEXT_STEPS["server"]
    address = reverse("api-retry-run", args=[run.pk])
    sent = {"data": json.dumps({"cause": rows[2]["key"]}), "content_type": "application/json"}
    assert researcher.post(address, **sent).status_code == 200
    assert run.calls.filter(state=Call.State.PENDING).count() == 1
    assert researcher.post(address, **sent).status_code == 400, "no failed call has this cause any more"


def test_a_cause_of_many_calls_is_asked_again_by_a_job(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "AT_ONCE", 1)
    job = runs.retry(by=None, run=run, cause=failure_causes(run)[0].key)
    assert isinstance(job, Job)
    assert work_off().state == "done"
    assert run.calls.filter(state=Call.State.PENDING).count() == 2
    with pytest.raises(JobError):
        runs.retry(by=None, run=run, cause="0" * 32)


def test_every_error_kind_has_a_next_step() -> None:
    assert set(NEXT_STEPS) == set(ERROR_KINDS)
