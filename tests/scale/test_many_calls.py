"""A run with many calls is cancelled and retried by a job."""

from __future__ import annotations

from collections import Counter

import pytest
from django.test import Client
from django.urls import reverse

from config.models import Event
from jobs import runs
from jobs.calls import claims
from jobs.models import Call, Job, Run
from judges.runs import run_actions
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories
from tests.jobs.work import work_off

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is counted is above what is done at once, and takes several steps."""
    monkeypatch.setattr(runs, "AT_ONCE", 0)
    monkeypatch.setattr(runs, "STEP", 2)


@pytest.fixture
def run() -> Run:
    """A run of five calls, one of them done."""
    corpus = factories.corpus("talks")
    for number in range(5):
        factories.dialogue(corpus, f"d{number}", turns=2)
    started = run_actions.start(by=None, plan=Judge("rules_baseline").plan(None), selection=Selection(corpus))
    Call.objects.filter(pk=started.calls.earliest("pk").pk).update(state="done")
    return started


def _states(run: Run) -> dict[str, int]:
    return dict(Counter(run.calls.values_list("state", flat=True)))


def _claim(run: Run) -> list[int]:
    return claims.claim(queue=run.queue, worker="w", limit=9)


def test_a_large_run_stops_at_once_and_its_calls_follow(client: Client, run: Run) -> None:
    client.force_login(factories.user(researcher=True))
    client.post(reverse("cancel-run", args=[run.pk]))
    run.refresh_from_db()
    assert (run.state, _states(run), _claim(run)) == ("cancelled", {"done": 1, "pending": 4}, [])
    job = work_off()
    assert (job.state, job.done, job.total, job.result) == ("done", 4, 4, {"run": run.pk})
    assert _states(run) == {"done": 1, "cancelled": 4}


def test_a_run_that_was_resumed_before_its_cancelling_came_keeps_its_calls(run: Run) -> None:
    runs.cancel_calls(by=None, run=run)
    runs.retry_failed(by=None, run=run)
    assert work_off().state == "done"
    assert len(_claim(run)) == 4


def test_a_large_run_is_asked_again_by_a_job(client: Client, run: Run) -> None:
    by = factories.user(researcher=True)
    runs.cancel(by=by, run=run)
    client.force_login(by)
    answer = client.post(reverse("retry-run", args=[run.pk]), follow=True)
    assert "The run&#x27;s calls are being prepared" in answer.content.decode()
    run.refresh_from_db()
    assert (run.state, _states(run)) == ("cancelled", {"done": 1, "cancelled": 4})
    assert work_off().state == "done"
    run.refresh_from_db()
    assert (run.state, _states(run)) == ("queued", {"done": 1, "pending": 4})
    assert Event.objects.get(verb="retry run").by == by


def test_the_api_names_the_job(client: Client, run: Run) -> None:
    runs.cancel(by=None, run=run)
    client.force_login(factories.user(researcher=True))
    answer = client.post(f"/api/v1/runs/{run.pk}/retry/")
    assert (answer.status_code, answer.json()) == (202, {"job": Job.objects.get().pk})


def test_a_call_claimed_in_between_is_not_cancelled(run: Run) -> None:
    (held,) = claims.claim(queue=run.queue, worker="w", limit=1)
    runs.cancel(by=None, run=run)
    assert Call.objects.get(pk=held).state == "leased"
    assert _states(run) == {"done": 1, "leased": 1, "cancelled": 3}


def test_a_run_deleted_meanwhile_leaves_nothing_to_do(run: Run) -> None:
    runs.cancel_calls(by=None, run=run)
    run.calls.all().delete()
    run.delete()
    assert (work_off().state, Job.objects.get().result) == ("done", {})
