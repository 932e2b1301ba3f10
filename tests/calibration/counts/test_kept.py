"""Counts of many labels are computed by a worker: requests read no labels, and figures show their date."""

from __future__ import annotations

import pytest
from django.test import Client
from rest_framework.test import APIClient

from annotation.models import Continuation, Rater
from calibration import figure_cache
from calibration.comparisons import counts
from calibration.comparisons.count_inputs import CountsQuery
from calibration.comparisons.counts import compute
from calibration.comparisons.responses import CountsSerializer
from jobs.models import Call, CallCount, Job, Run
from tests.calibration.counts.built import Made, planted
from tests.factories import user
from tests.jobs.work import work_off

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every corpus for a large one."""
    monkeypatch.setattr(figure_cache, "SMALL", 0)


def test_what_a_worker_computed_is_what_a_page_would_have(made: Made, api: APIClient) -> None:
    address = f"/api/v1/corpora/{made.corpus.pk}/counts/"
    expected = CountsSerializer(compute(query=CountsQuery(made.corpus, by=("prompting",)), by=None)).data
    asked = api.get(address, {"by": "prompting"})
    assert (asked.status_code, asked.json()["state"]) == (202, "queued")
    work_off()
    found = api.get(address, {"by": "prompting"})
    assert found.status_code == 200
    answer = found.json()
    assert answer.pop("computed_at") == Job.objects.get().finished_at.isoformat()
    assert answer.pop("labels_since") is False
    assert answer.pop("calls_since") is False
    for name in ("computed_at", "labels_since", "calls_since"):
        expected.pop(name)
    assert answer == expected


@pytest.mark.exhaustive
def test_the_first_answer_and_a_kept_one_read_no_answers(
    made: Made, api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/api/v1/corpora/{made.corpus.pk}/counts/"
    read = counts._read
    monkeypatch.setattr(counts, "_read", lambda *_: pytest.fail("read in the request"))
    assert api.get(address).status_code == 202
    monkeypatch.setattr(counts, "_read", read)
    work_off()
    monkeypatch.setattr(counts, "_read", lambda *_: pytest.fail("read in the request"))
    assert api.get(address).status_code == 200
    assert Job.objects.count() == 1


@pytest.mark.exhaustive
def test_labels_that_come_are_said_and_newer_counts_computed(made: Made, api: APIClient) -> None:
    address = f"/api/v1/corpora/{made.corpus.pk}/counts/"
    asked = {"rater": "judge"}
    api.get(address, asked)
    work_off()
    first = api.get(address, asked).json()
    made.mark("other", planted)
    stale = api.get(address, asked)
    assert (stale.status_code, stale.json()["labels_since"]) == (200, True)
    assert stale.json()["rows"] == first["rows"]
    work_off()
    newer = api.get(address, asked).json()
    assert newer["labels_since"] is False
    assert newer["computed_at"] > first["computed_at"]


@pytest.mark.exhaustive
def test_the_table_of_people_stays_while_more_of_them_join(made: Made, api: APIClient) -> None:
    address = f"/api/v1/corpora/{made.corpus.pk}/counts/"
    asked = {"rater": "people"}
    made.mark("ann", planted, kind="human")
    api.get(address, asked)
    work_off()
    first = api.get(address, asked).json()
    made.mark("sim", planted, kind="human", spec={"simulated": True})
    stale = api.get(address, asked)
    assert stale.status_code == 200
    assert (stale.json()["labels_since"], stale.json()["simulated"]) == (True, False)
    assert stale.json()["rows"] == first["rows"]
    work_off()
    newer = api.get(address, asked).json()
    assert (newer["labels_since"], newer["simulated"]) == (False, True)


@pytest.mark.exhaustive
def test_another_question_is_another_computation(made: Made, api: APIClient) -> None:
    address = f"/api/v1/corpora/{made.corpus.pk}/counts/"
    assert [api.get(address, {"seed": seed}).status_code for seed in (1, 1, 2)] == [202, 202, 202]
    assert Job.objects.count() == 2


@pytest.mark.exhaustive
def test_the_page_goes_on_by_itself_and_says_when_figures_were_computed(made: Made, client: Client) -> None:
    client.force_login(user("rea", researcher=True))
    address = f"/corpora/{made.corpus.pk}/counts/?rater=judge&by=prompting"
    page = client.get(address).content.decode()
    assert "Computing the figures" in page
    assert 'hx-trigger="every 1s"' in page
    assert client.get(f"/corpora/{made.corpus.pk}/counts.csv?rater=judge&by=prompting").status_code == 302
    work_off()
    assert "Computed on" in client.get(address).content.decode()
    assert client.get(f"/corpora/{made.corpus.pk}/counts.csv?rater=judge&by=prompting").status_code == 200
    made.mark("other", planted)
    page = client.get(address).content.decode()
    assert "Labels have been added or withdrawn since" in page
    assert "New figures are being computed" in page


@pytest.mark.exhaustive
def test_a_refusal_of_the_worker_is_told_and_tried_again_on_request(
    made: Made, api: APIClient, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "MOST_ROWS", 1)
    address = f"/api/v1/corpora/{made.corpus.pk}/counts/"
    api.get(address, {"by": "prompting"})
    work_off()
    refused = api.get(address, {"by": "prompting"})
    assert refused.status_code == 400
    assert "choose other keys" in str(refused.json())
    monkeypatch.undo()
    monkeypatch.setattr(figure_cache, "SMALL", 0)
    client.force_login(user("rea", researcher=True))
    page = f"/corpora/{made.corpus.pk}/counts/?by=prompting"
    shown = client.get(page).content.decode()
    assert "choose other keys" in shown
    assert "again=1" in shown
    assert client.get(f"{page}&again=1").headers["Location"] == page
    assert "Computing the figures" in client.get(page).content.decode()
    work_off()
    assert "Computed on" in client.get(page).content.decode()


@pytest.mark.exhaustive
def test_calls_that_fail_are_news_too_and_no_labels(made: Made, api: APIClient, client: Client) -> None:
    address = f"/api/v1/corpora/{made.corpus.pk}/counts/"
    asked = {"rater": "judge"}
    api.get(address, asked)
    work_off()
    rater = Rater.objects.get(name="judge")
    continuation = Continuation.objects.filter(dialogue__corpus=made.corpus).earliest("pk")
    settings = {"corpus": made.corpus, "queue": "calls", "state": "done"}
    writing = Run.objects.create(kind="generate", title="writer", **settings)
    nothing = ("flagged", "troubled", "tokens_in", "tokens_out", "costed", "cost", "timed", "latency_ms")
    CallCount.objects.create(run=writing, state="done", n=1, **dict.fromkeys(nothing, 0))
    assert api.get(address, asked).json()["calls_since"] is False, "what writes changes no figure"
    run = Run.objects.create(kind="judge", rater=rater, **settings)
    Call.objects.create(run=run, rater=rater, continuation=continuation, state="failed")
    stale = api.get(address, asked).json()
    assert (stale["labels_since"], stale["calls_since"]) == (False, True)
    client.force_login(user("rea", researcher=True))
    page = client.get(f"/corpora/{made.corpus.pk}/counts/?rater=judge").content.decode()
    assert "No labels have been added since, but calls of judges or metrics have finished." in page
    assert "Labels have been added or withdrawn since" not in page
    work_off()
    newer = api.get(address, asked).json()
    assert (newer["labels_since"], newer["calls_since"]) == (False, False)
