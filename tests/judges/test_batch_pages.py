"""Batches on the run's page, in commands and in the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs.endpoints.endpoint_actions import sync_environment
from jobs.errors import JobError
from jobs.models import Batch, Endpoint, Run
from judges.runs import run_actions
from judges.runs.estimates import estimate
from judges.runs.plans import Judge
from judges.runs.selection import RunSettings, Selection
from tests import factories
from tests.judges.helpers import small_corpus

pytestmark = pytest.mark.django_db


def endpoint(**fields: Any) -> Endpoint:
    told = {"name": "e", "base_url": "https://example.org/v1", "model": "m", "batch_share": "0.5"}
    made = Endpoint.objects.create(**(told | {"price_in": 1, "price_out": 10} | fields))
    return Endpoint.objects.get(pk=made.pk)


def run_with(**batch: Any) -> tuple[Run, Batch]:
    judge = Judge("cpdscore_detail", endpoint=endpoint())
    run = run_actions.start(
        by=None,
        plan=judge.plan(),
        selection=Selection(small_corpus(dialogues=1)),
        settings=RunSettings(mode="batch"),
    )
    told = {"state": "unclear", "size": 6, "error": "<b>nobody</b> knows"} | batch
    made = Batch.objects.create(run=run, endpoint=run.endpoint, share="0.5", **told)
    run.calls.update(state="batched", batch=made, attempts=1)
    return run, made


def test_the_page_shows_batches_and_asks_what_became_of_an_unclear_one(client: Client) -> None:
    client.force_login(factories.user(researcher=True))
    run, batch = run_with()
    shown = client.get(reverse("run", args=[run.pk])).content.decode()
    assert "in batches" in shown
    assert str(batch.key) in shown
    assert "&lt;b&gt;nobody&lt;/b&gt; knows" in shown
    wrong = client.post(reverse("adopt-batch", args=[batch.pk]), {"provider_id": "a/b"})
    assert wrong.status_code == 422
    assert "is not the id of a batch" in wrong.content.decode()
    client.post(reverse("adopt-batch", args=[batch.pk]), {"provider_id": "batch_7"})
    batch.refresh_from_db()
    assert (batch.state, batch.provider_id) == ("under_way", "batch_7")
    progress = client.get(reverse("run-progress", args=[run.pk])).content.decode()
    assert "batch_7" in progress
    look = reverse("look-at-batch", args=[batch.pk])
    assert look in progress
    assert "Look now" in progress
    Batch.objects.update(state="collected", files="left", files_note="<i>HTTP 403", next_look=None)
    progress = client.get(reverse("run-progress", args=[run.pk])).content.decode()
    assert "files not deleted: &lt;i&gt;HTTP 403" in progress
    assert "Delete its files" in progress
    assert look in progress
    client.post(look)
    assert Batch.objects.get().files == "there"
    late = client.post(reverse("give-up-batch", args=[batch.pk]), follow=True).content.decode()
    assert "only one of which it is unclear what became can be adopted or given up" in late


def test_the_api_lists_and_changes_batches(client: Client) -> None:
    client.force_login(factories.user(researcher=True))
    run, batch = run_with()
    told = client.get(reverse("api-run", args=[run.pk])).json()
    assert (told["mode"], told["progress"]["batched"], told["batches"][0]["state"]) == ("batch", 6, "unclear")
    listed = client.get(reverse("api-batches", args=[run.pk])).json()["results"]
    assert [(row["id"], row["size"], row["share"]) for row in listed] == [(batch.pk, 6, 0.5)]
    assert client.post(reverse("api-look-at-batch", args=[batch.pk])).status_code == 400
    given_up = client.post(reverse("api-give-up-batch", args=[batch.pk])).json()
    assert (given_up["state"], given_up["returned"]) == ("given_up", 6)
    assert set(run.calls.values_list("state", "attempts")) == {("pending", 1)}


def test_a_batch_is_adopted_and_looked_at_over_the_api(client: Client) -> None:
    client.force_login(factories.user(researcher=True))
    _, batch = run_with()
    adopted = client.post(reverse("api-adopt-batch", args=[batch.pk]), {"provider_id": "batch_7"}).json()
    assert (adopted["state"], adopted["provider_id"]) == ("under_way", "batch_7")
    Batch.objects.update(next_look="2100-01-01T00:00Z")
    looked_at = client.post(reverse("api-look-at-batch", args=[batch.pk])).json()
    assert looked_at["next_look"] <= timezone.now().isoformat()
    late = client.post(reverse("api-give-up-batch", args=[batch.pk])).json()
    assert "is under way: only one of which it is unclear" in late["detail"]
    assert client.post(reverse("api-adopt-batch", args=[batch.pk])).json()["code"] == "invalid"
    assert client.post(reverse("api-look-at-batch", args=[99999])).status_code == 404


def test_a_run_is_started_in_batches_only_where_the_endpoint_takes_them(client: Client) -> None:
    client.force_login(factories.user(researcher=True))
    corpus, plain = small_corpus(dialogues=1), endpoint(name="plain", batch_share=None)
    told = {"judge-judge": "cpdscore_detail:without_reference", "judge-samples": 1}
    asked = told | {"judge-endpoint": plain.pk, "judge-mode": "batch"}
    page = f"{reverse('new-run')}?corpus={corpus.pk}"
    refused = client.post(page, asked)
    assert refused.status_code == 422
    assert "The endpoint plain takes no batches" in refused.content.decode()
    asked |= {"judge-endpoint": endpoint().pk}
    assert "in batches, within a day" in client.post(page, asked).content.decode()
    client.post(page, asked | {"confirmed": "1"})
    assert Run.objects.get().mode == Run.Mode.BATCH
    body = {"corpus": corpus.name, "protocol": "cpdscore_detail", "endpoint": "plain", "mode": "batch"}
    answer = client.post(reverse("api-runs"), body, content_type="application/json")
    assert (answer.status_code, "takes no batches" in answer.content.decode()) == (400, True)


def test_an_estimate_in_batches_costs_the_share() -> None:
    judge, selection = Judge("cpdscore_detail", endpoint=endpoint()), Selection(small_corpus(dialogues=1))
    at_once, batched = estimate(judge, selection), estimate(judge, selection, "batch")
    assert at_once is not None
    assert batched is not None
    assert at_once.cost
    assert batched.cost == at_once.cost / 2
    assert "in batches, within a day;" in batched.sentence()
    with pytest.raises(JobError, match="takes no batches"):
        estimate(Judge("cpdscore_detail", endpoint=endpoint(name="p", batch_share=None)), selection, "batch")


def test_the_environment_declares_the_share_and_the_most_of_a_batch() -> None:
    name = "CONCORD_ENDPOINT_B"
    (made,) = sync_environment({name: "http://h/v1|m||||||||0.5|70"})
    assert (float(made.batch_share or 0), made.batch_most, made.concurrency) == (0.5, 70, 16)
    (made,) = sync_environment({name: "http://h/v1|m"})
    assert made.batch_share is None
    with pytest.raises(JobError, match="is not a share of the prices"):
        sync_environment({name: "http://h/v1|m||||||||1.5"})
