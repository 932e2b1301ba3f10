"""Monitoring a campaign: new labels appear at once, with agreement, severity and divisive items."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import krippendorff
import pytest
from django.urls import reverse

from annotation.corpora import splits
from annotation.work import task_actions as labelling
from calibration import campaign_progress
from calibration.campaign_progress import Act, in_a_row
from tests import factories
from tests.checks import world

pytestmark = pytest.mark.django_db
ANSWERS = {"ana": (1, 2, 3, 4, 5, 5), "ben": (1, 2, 3, 4, 5, 1), "cyd": (2, 3, 4, 5, 5, 5)}


@pytest.fixture(autouse=True)
def nothing_kept():
    campaign_progress.moments.forget()


@pytest.fixture
def rea():
    return factories.user("rea", researcher=True)


@pytest.fixture
def campaign(rea):
    corpus = factories.corpus("talks")
    for number in range(6):
        talk = factories.dialogue(corpus, f"d{number}", turns=2, language=("en", "zh")[number % 2])
        factories.continuation(talk, "x", system="model-x", turns=[{"text": "a reply"}])
    people = [factories.user(name) for name in (*ANSWERS, "dora")]
    made = factories.campaign(corpus, annotators=people, raters=3, by=rea, task_order="fixed", name="pilot")
    for person in people[:3]:
        for value in ANSWERS[person.username]:
            _, hold = labelling.start(by=person, campaign=made.pk)
            items = made.tasks.get(pk=hold.task).item
            answers = {str(items.pk): {"overall": value}}
            labelling.submit(by=person, campaign=made.pk, assignment=hold.assignment, answers=answers)
    return made


@pytest.fixture
def api(client, rea):
    client.force_login(rea)
    return lambda **asked: client.get(f"/api/v1/campaigns/{campaign_pk()}/watch/", asked)


def campaign_pk() -> int:
    from annotation.models import Campaign

    return Campaign.objects.get(name="pilot").pk


def called(name, campaign):
    return factories.called(factories.User.objects.get(username=name), campaign)


def test_progress_is_told_by_annotator_and_by_stratum(campaign, api):
    told = api(by="language").json()["progress"]
    assert [told["counts"][name] for name in ("submitted", "slots", "tasks")] == [18, 18, 6]
    assert {row["name"]: (row["tasks"], row["submitted"], row["slots"]) for row in told["strata"]} == {
        "en": (3, 9, 9),
        "zh": (3, 9, 9),
    }
    assert {row["name"]: row["submitted"] for row in told["annotators"]} == {
        called("ana", campaign): 6, called("ben", campaign): 6, called("cyd", campaign): 6,
        called("dora", campaign): 0,
    }  # fmt: skip
    assert [row["submitted"] for row in told["days"] if row["submitted"]] == [18]
    assert told["forecast"] == {"left": 0, "a_day": 18.0, "days": 0.0}


@pytest.mark.exhaustive
def test_hidden_checks_are_no_ratings_that_come_in(db):
    ana = factories.user("ana")
    made = world.campaign(ana, check=2, main=6, check_every=3)
    assert world.work(ana, made).count("check") == 2
    told = campaign_progress.watch(made).progress
    assert [one.submitted for one in told.annotators] == [6]
    assert [many for _, many in told.days if many] == [6] == [told.counts.submitted]


@pytest.mark.exhaustive
def test_agreement_is_that_of_the_library_and_stands_with_its_interval(campaign, api):
    told = api().json()["agreement"]
    (overall,) = [row for row in told["questions"] if row["question"].endswith("/overall")]
    alpha = overall["statistics"][0]
    expected = krippendorff.alpha(list(ANSWERS.values()), level_of_measurement="ordinal")
    assert alpha["value"] == pytest.approx(expected, abs=1e-12)
    assert alpha["low"] <= alpha["value"] <= alpha["high"]
    assert (alpha["n_items"], alpha["n_clusters"], alpha["n_raters"]) == (6, 6, 3)
    assert "few_clusters" in alpha["flags"]
    severity = {
        row["rater"]: next(one["value"] for one in row["figures"] if one["name"] == "rater_severity")
        for row in told["raters"]
    }
    ana, ben, cyd = (severity[called(name, campaign)] for name in ANSWERS)
    assert cyd > ana > ben


@pytest.mark.exhaustive
def test_what_divides_people_comes_first_with_their_answers(campaign, api):
    first, second, *_ = api().json()["agreement"]["dividing"]
    assert first["item"] == "d5/x/0"
    assert {one["rater"]: one["value"] for one in first["answers"]} == {
        called(name, campaign): value for name, value in (("ana", "5"), ("ben", "1"), ("cyd", "5"))
    }
    assert first["apart"] == pytest.approx(8 / 3)
    assert second["apart"] < first["apart"]


@pytest.mark.exhaustive
def test_a_closed_test_part_is_left_out_and_said_so(campaign, api, rea, monkeypatch):
    split = splits.draw(corpus=campaign.corpus, seed=1, test_share=0.5, by=rea)
    test = splits.clusters(split=split, part="test")
    told = api().json()["agreement"]
    assert told["test_left_out"]
    assert told["questions"][0]["statistics"][0]["n_items"] == 6 - len(test)
    assert not test & {row["item"].partition("/")[0] for row in told["dividing"]}
    monkeypatch.setattr(campaign_progress, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(campaign_progress, "REST", 0)
    splits.open_test(split=split, by=rea, purpose="to see it")
    assert api().json()["agreement"]["questions"][0]["statistics"][0]["n_items"] == 6


@pytest.mark.exhaustive
def test_a_submission_is_seen_at_the_next_look(campaign, api, monkeypatch):
    monkeypatch.setattr(campaign_progress, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(campaign_progress, "REST", 0)
    before = api().json()
    ana = factories.User.objects.get(username="ana")
    _, hold = labelling.reopen(by=ana, campaign=campaign.pk)
    item = campaign.tasks.get(pk=hold.task).item
    labelling.submit(
        by=ana, campaign=campaign.pk, assignment=hold.assignment, revising=True,
        answers={str(item.pk): {"overall": 1}},
    )  # fmt: skip
    after = api().json()
    alpha = [told["agreement"]["questions"][0]["statistics"][0]["value"] for told in (before, after)]
    assert alpha[0] != alpha[1]


def test_what_is_not_there_yet_says_so(rea, client):
    corpus = factories.corpus()
    factories.dialogue(corpus)
    made = factories.campaign(corpus, by=rea, annotators=[factories.user("eve")])
    client.force_login(rea)
    page = client.get(reverse("campaign-watch", args=[made.pk])).content.decode()
    assert "No answers yet" in page
    assert "Nothing came in within the last 14 days" in page
    refused = client.get(f"/api/v1/campaigns/{made.pk}/watch/?by=stratum")
    assert refused.status_code == 400
    assert "has no stratum to tell by" in refused.json()["fields"]["by"][0]
    assert client.get("/api/v1/campaigns/0/watch/").status_code == 404


@pytest.mark.exhaustive
def test_the_page_keeps_itself_up_to_date_until_told_to_stop(campaign, client, rea):
    client.force_login(rea)
    address = reverse("campaign-watch", args=[campaign.pk])
    live = client.get(address).content.decode()
    still = client.get(f"{address}?live=0").content.decode()
    assert 'hx-trigger="every 5s"' in live
    assert 'hx-trigger="every 5s"' not in still
    assert "Keep up to date" in still
    assert "d5, turn 3" in live


def test_what_one_person_did_in_a_row_is_one_line() -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def act(minute: int, who: str, what: str, reason: str = "") -> Act:
        return Act(noon - timedelta(minutes=minute), who, what, None, reason)

    acts = [
        act(0, "ana", "submitted a task"),
        act(1, "ana", "submitted a task"),
        act(2, "ana", "skipped a task", "too long"),
        act(3, "ana", "submitted a task"),
        act(4, "ben", "submitted a task"),
        act(5, "root", "closed"),
        act(6, "root", "closed"),
    ]
    lines = in_a_row(acts)
    assert [(line.who, line.what, line.reason) for line in lines] == [
        ("ana", "submitted 2 tasks", ""),
        ("ana", "skipped a task", "too long"),
        ("ana", "submitted a task", ""),
        ("ben", "submitted a task", ""),
        ("root", "closed", ""),
        ("root", "closed", ""),
    ]
    assert (lines[0].since, lines[0].at) == (acts[1].at, acts[0].at)
