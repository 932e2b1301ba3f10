"""Unanswerable items are announced before the start, in the same words to people and judges."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.campaigns import tasks
from annotation.errors import CampaignRefused
from annotation.models import Campaign, Corpus, Task
from annotation.schemes.definitions import NO_CONVERSATION
from jobs.models import Run
from judges.runs.estimates import estimate, unanswered
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish

pytestmark = pytest.mark.django_db(transaction=True)
STATIC = {
    "system": "answers",
    "mode": "static",
    "turns": [{"text": "one", "at": 1}, {"text": "two", "at": 2}],
}


def mixed(rollouts: int = 1) -> Corpus:
    """A corpus with three static continuations, the last without a reference, and some rollouts."""
    corpus = factories.corpus()
    for number in range(3):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=2 if number == 2 else 3)
        factories.continuation(dialogue, "s", **STATIC)
        if number < rollouts:
            factories.continuation(dialogue, "r", system="goes-on", turns=[{"text": "x"}])
    return corpus


@pytest.mark.parametrize("scheme", ["cocoeval_behaviours", "cocoeval_overall"])
def test_a_campaign_over_static_continuations_is_refused_at_its_creation(scheme: str) -> None:
    with pytest.raises(CampaignRefused, match=NO_CONVERSATION):
        factories.campaign(mixed(rollouts=0), scheme, opened=False)
    assert not Campaign.objects.exists()
    assert factories.campaign(mixed(rollouts=0), "comperdial_dialogue").tasks.count() == 3


def test_static_continuations_are_left_out_of_people_s_tasks_and_it_is_said_before(client: Client) -> None:
    campaign = factories.campaign(mixed(), "cocoeval_behaviours", opened=False)
    left_out = tasks.left_out(campaign)
    assert left_out is not None
    assert left_out.sentence() == f"3 static continuations are left out: {NO_CONVERSATION}."
    client.force_login(factories.user(researcher=True))
    assert left_out.sentence() in client.get(reverse("campaign", args=[campaign.pk])).content.decode()
    told = client.get(reverse("api-campaign", args=[campaign.pk])).json()["left_out"]
    assert told == {"tasks": 3, "mode": "static", "reason": NO_CONVERSATION}
    client.post(reverse("campaign-state", args=[campaign.pk]), {"verb": "open"})
    assert [task.continuation.key for task in Task.objects.all()] == ["r"]


def test_a_judge_s_estimate_says_what_has_no_answer_and_nothing_is_sent_for_it(
    client: Client, fake: FakeLLM, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, endpoint = mixed(), endpoint_of(fake)
    judge = Judge("cocoeval_behaviours", endpoint=endpoint)
    found = estimate(judge, Selection(corpus, samples=2))
    assert found is not None
    assert [(one.calls, one.reason, one.about) for one in found.unanswered] == [(6, NO_CONVERSATION, False)]
    sentence = f"Of all, 6 calls have no answer: {NO_CONVERSATION}."
    assert sentence in found.sentence()
    call_command(
        *("run_judge", "--protocol", "cocoeval_behaviours", "--corpus", corpus.name),
        *("--endpoint", endpoint.name, "--estimate"),
    )
    assert json.loads(capsys.readouterr().out)["unanswered"][0]["calls"] == 3
    client.force_login(factories.user(researcher=True))
    body = {"protocol": "cocoeval_behaviours", "corpus": corpus.name, "endpoint": endpoint.name, "samples": 2}
    answer = client.post(reverse("api-estimate-run"), json.dumps(body), content_type="application/json")
    assert answer.json()["unanswered"] == [{"calls": 6, "reason": NO_CONVERSATION, "about": False}]
    form = {"judge-judge": "cocoeval_behaviours:", "judge-samples": "2"}
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    page = client.post(address, form | {"judge-endpoint": str(endpoint.pk)}).content.decode()
    assert sentence in " ".join(page.split())
    run = begin(corpus, judge)
    finish()
    run.refresh_from_db()
    assert (fake.requests.total(), run.values, run.missing) == (1, 10, 60)
    assert run.missing_reason == NO_CONVERSATION


def test_a_judge_that_asks_nobody_is_started_once_that_was_seen(client: Client) -> None:
    corpus = mixed()
    client.force_login(factories.user(researcher=True))
    form: dict[str, Any] = {"judge-judge": "rules_baseline:", "judge-samples": "1"}
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    page = " ".join(client.post(address, form).content.decode().split())
    assert f"Of all, 3 calls have no answer: {NO_CONVERSATION}." in page
    assert "no text leaves it" in page
    assert not Run.objects.exists()
    client.post(address, form | {"confirmed": "1"})
    assert Run.objects.get().calls.count() == 4


def test_a_protocol_s_own_reason_is_counted_too(fake: FakeLLM) -> None:
    judge = Judge("cpdscore_simple", "with_reference", endpoint_of(fake))
    [one] = unanswered(judge, Selection(mixed(), systems=("answers",)))
    assert (one.calls, one.sentence()) == (1, "1 call has no answer: no reference response")
