"""Work that grows with a corpus is a job: opening a campaign, starting runs, deriving gold."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns import campaign_actions as campaigns
from annotation.errors import CampaignRefused
from annotation.models import Campaign, Corpus, Task
from calibration.errors import GoldRuleError
from calibration.gold import derivation
from calibration.models import Gold
from jobs import job_actions
from jobs.errors import JobCancelled
from jobs.models import Call, Job, Run
from jobs.queue import jobs as queue
from judges.errors import JudgeError
from judges.runs import run_actions as starting
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories
from tests.calibration.world import world
from tests.jobs.work import work_off

pytestmark = pytest.mark.django_db(transaction=True)
RULES = Judge("rules_baseline")


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is counted is above what is done at once."""
    for module in (campaigns, derivation, starting):
        monkeypatch.setattr(module, "AT_ONCE", -1 if module is not derivation else 0)


@pytest.fixture
def corpus() -> Corpus:
    found = factories.corpus("talks")
    for number in range(3):
        factories.dialogue(found, f"d{number}", turns=4)
    return found


def _draft(corpus: Corpus) -> Campaign:
    by = factories.user(researcher=True)
    return campaigns.create(by=by, name="Pilot", corpus=corpus, scheme="comperdial_turn")


def test_a_large_campaign_is_opened_beside_the_page(client: Client, corpus: Corpus) -> None:
    campaign = _draft(corpus)
    client.force_login(campaign.created_by)  # type: ignore[arg-type]
    answer = client.post(reverse("campaign-state", args=[campaign.pk]), {"verb": "open"})
    assert answer.headers["Location"] == reverse("jobs")
    assert not Task.objects.exists()
    job = work_off()
    assert (job.state, job.result, job.done, job.total) == ("done", {"made": 12}, 2, 2)
    campaign.refresh_from_db()
    assert (campaign.state, campaign.tasks.count(), campaign.slots.count()) == ("open", 12, 24)


def test_the_api_names_the_job_that_opens_a_campaign(client: Client, corpus: Corpus) -> None:
    campaign = _draft(corpus)
    client.force_login(campaign.created_by)  # type: ignore[arg-type]
    address = f"/api/v1/campaigns/{campaign.pk}/state/"
    answer = client.post(address, json.dumps({"verb": "open"}), content_type="application/json")
    assert (answer.status_code, answer.json()) == (202, {"job": Job.objects.get().pk})


def test_a_campaign_whose_worker_was_lost_while_opening_it_has_each_task_once(corpus: Corpus) -> None:
    campaign = _draft(corpus)
    campaigns.open_campaign(by=campaign.created_by, campaign=campaign)  # type: ignore[arg-type]
    lost = queue.claim(worker="lost")
    assert lost is not None
    campaigns.run(lost, lambda *_: None)  # type: ignore[arg-type]  # it opened the campaign, and died before it said so
    queue.release(worker="lost")
    assert work_off().state == "done"
    assert (campaign.tasks.count(), campaign.slots.count()) == (12, 24)


def test_an_opening_that_is_cancelled_leaves_a_draft_without_tasks(corpus: Corpus) -> None:
    campaign = _draft(corpus)
    campaigns.open_campaign(by=campaign.created_by, campaign=campaign)  # type: ignore[arg-type]

    def stop(done: int, _total: int) -> None:
        if done == 1:
            raise JobCancelled

    with pytest.raises(JobCancelled):
        campaigns.run(Job.objects.get(), stop)  # type: ignore[arg-type]
    campaign.refresh_from_db()
    assert (campaign.state, campaign.tasks.count()) == ("draft", 0)


def test_opening_what_is_open_is_refused_before_any_job(corpus: Corpus) -> None:
    campaign = factories.campaign(corpus)
    with pytest.raises(CampaignRefused):
        campaigns.open_campaign(by=campaign.created_by, campaign=campaign)  # type: ignore[arg-type]
    assert not Job.objects.exists()


def test_a_small_campaign_is_opened_while_the_page_waits(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaigns, "AT_ONCE", 20_000)
    assert campaigns.open_campaign(by=factories.user(researcher=True), campaign=_draft(corpus)) == 12


def test_a_judge_over_a_large_corpus_is_started_by_a_worker(corpus: Corpus) -> None:
    selection = Selection(corpus)
    job = starting.start_judge(by=None, judge=RULES, selection=selection)
    assert isinstance(job, Job)
    assert starting.start_judge(by=None, judge=RULES, selection=selection) == job
    assert not Call.objects.exists()
    ended = work_off()
    run = Run.objects.get()
    assert (ended.state, ended.result) == ("done", {"run": run.pk})
    assert (run.state, run.calls.count(), run.scope_hash) == ("queued", 3, selection.digest())


def test_a_metric_over_a_large_corpus_is_started_by_a_worker(corpus: Corpus) -> None:
    [job] = starting.start_metrics(by=None, keys=["dnr@reference"], selection=Selection(corpus))
    assert isinstance(job, Job)
    ended = work_off()
    assert (ended.state, ended.error) == ("done", "")
    assert Run.objects.get().rater.name.startswith("dnr")


def test_a_metric_that_there_is_none_of_is_refused_before_any_job(corpus: Corpus) -> None:
    with pytest.raises(JudgeError, match="wisdom"):
        starting.start_metrics(by=None, keys=["wisdom"], selection=Selection(corpus))
    assert not Job.objects.exists()


def test_a_start_whose_worker_was_lost_makes_each_call_once(corpus: Corpus) -> None:
    starting.start_judge(by=None, judge=RULES, selection=Selection(corpus))
    lost = queue.claim(worker="lost")
    assert lost is not None
    starting.run(lost, lambda *_: None)  # type: ignore[arg-type]
    queue.release(worker="lost")
    assert work_off().state == "done"
    assert (Run.objects.count(), Call.objects.count()) == (1, 3)


def test_a_start_says_why_it_came_to_nothing(corpus: Corpus) -> None:
    starting.start_judge(by=None, judge=RULES, selection=Selection(corpus))
    job = Job.objects.get()
    job.params["scope"]["corpus"] = 0
    job.save()
    assert "was deleted" in work_off().error


def test_a_cancelled_start_can_be_done_again(corpus: Corpus) -> None:
    job = starting.start_judge(by=None, judge=RULES, selection=Selection(corpus))
    assert isinstance(job, Job)
    job_actions.cancel(job=job, by=None)
    assert work_off().state == "cancelled"
    job_actions.retry(job=job, by=None)
    assert (work_off().state, Call.objects.count()) == ("done", 3)


def _tagged() -> tuple[Corpus, dict[str, object]]:
    built = world(dialogues=1, turns=4)
    built.ask("off_topic", "binary", [0, 1], scheme="tags")
    for name in ("ann", "ben", "cem"):
        built.say(name, "off_topic", [1.0, 0.0, 1.0, 0.0])
    version = next(iter(built.questions.values())).version
    how = {"scheme_version": version, "options": {}, "raters": [], "by": None, "campaign": None}
    return built.corpus, how


def test_gold_of_many_labels_is_made_by_a_worker_and_once() -> None:
    corpus, how = _tagged()
    job = derivation.gold_or_job(corpus=corpus, rule="majority", **how)  # type: ignore[arg-type]
    assert isinstance(job, Job)
    ended = work_off()
    gold = Gold.objects.get()
    assert (ended.state, ended.result) == ("done", {"gold": gold.pk})
    assert list(gold.labels.order_by("item_id").values_list("number", flat=True)) == [1, 0, 1, 0]
    again = derivation.gold_or_job(corpus=corpus, rule="majority", **how)  # type: ignore[arg-type]
    assert isinstance(again, Job)
    work_off()
    again.refresh_from_db()
    assert (again.result, Gold.objects.count()) == ({"gold": gold.pk}, 1)


def test_a_rule_that_there_is_none_of_is_refused_before_any_job() -> None:
    corpus, how = _tagged()
    with pytest.raises(GoldRuleError, match="no rule"):
        derivation.gold_or_job(corpus=corpus, rule="dice", **how)  # type: ignore[arg-type]
    assert not Job.objects.exists()


def test_cancelled_gold_leaves_none() -> None:
    corpus, how = _tagged()
    derivation.gold_or_job(corpus=corpus, rule="majority", **how)  # type: ignore[arg-type]

    def stop(done: int, total: int) -> None:
        if done == total:
            raise JobCancelled

    with pytest.raises(JobCancelled):
        derivation.run(Job.objects.get(), stop)  # type: ignore[arg-type]
    assert not Gold.objects.exists()
