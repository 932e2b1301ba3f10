"""Strata balanced over annotators: everybody gets an even mix of the strata named in a campaign."""

from __future__ import annotations

import re
import threading
from collections import Counter

import pytest
from django.db import connections
from django.urls import reverse

from annotation.campaigns import campaign_actions, editing
from annotation.errors import CampaignRefused
from annotation.models import Assignment, Slot, StratumShare
from annotation.work import leases, submissions
from annotation.work import task_actions as labelling
from tests import factories

pytestmark = pytest.mark.django_db
TOPICS = ("art", "food", "art", "art", "law", "art", "food", "art", "art", "art")


@pytest.fixture
def rosa():
    return factories.user("rosa", researcher=True)


def opened(people, topics=TOPICS, turns=1, **told):
    corpus = factories.corpus()
    for number, topic in enumerate(topics):
        factories.dialogue(corpus, f"d{number}", turns=turns, metadata={"topic": topic})
    told = {"raters": len(people), "balance_by": "metadata.topic", **told}
    return factories.campaign(corpus, annotators=people, **told)


def topic(hold):
    task = Assignment.objects.get(pk=hold.assignment).task
    return task.continuation.dialogue.metadata["topic"]


def submit(who, campaign, hold):
    item = Assignment.objects.get(pk=hold.assignment).task.item_id
    answers = {str(item): {"overall": 3}}
    return labelling.submit(by=who, campaign=campaign.pk, assignment=hold.assignment, answers=answers)


def work(who, campaign, most=100):
    came = []
    while len(came) < most and (hold := labelling.start(by=who, campaign=campaign.pk)[1]) is not None:
        came.append(topic(hold))
        submit(who, campaign, hold)
    return came


def test_the_next_task_is_of_what_somebody_has_done_least_of(rosa):
    people = [factories.user() for _ in range(3)]
    campaign = opened(people)
    for who in people:
        came = work(who, campaign)
        assert set(came[:3]) == {"art", "food", "law"}
        assert sorted(came[3:5]) == ["art", "food"]
        assert came[5:] == ["art"] * 5
    assert Counter(topics for topics in TOPICS) == Counter(came)


@pytest.mark.exhaustive
def test_systems_are_balanced_and_nobody_is_told(client):
    ana = factories.user("ana")
    corpus = factories.corpus()
    for number in range(6):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=0)
        system = "rare-bot" if number > 3 else "common-bot"
        factories.continuation(dialogue, "x", system=system, turns=[{"text": "Yes."}])
    campaign = factories.campaign(corpus, annotators=[ana], balance_by="system")
    client.force_login(ana)
    seen = []
    for _ in range(4):
        hold = labelling.start(by=ana, campaign=campaign.pk)[1]
        seen.append(Assignment.objects.get(pk=hold.assignment).task.continuation.system.name)
        told = client.get(reverse("work", args=[campaign.pk])).content.decode()
        told += client.post(reverse("api-work-next", args=[campaign.pk])).content.decode()
        assert not {"rare-bot", "common-bot"} & set(re.findall(r"[\w-]+", told))
        assert "stratum" not in told
        submit(ana, campaign, hold)
    assert Counter(seen) == {"rare-bot": 2, "common-bot": 2}


def shares(campaign, who):
    rows = StratumShare.objects.filter(stratum__campaign=campaign, user=who, done__gt=0)
    return dict(rows.values_list("stratum__name", "done"))


def test_what_is_skipped_lost_or_voided_does_not_count(rosa):
    ana = factories.user("ana")
    campaign = opened([ana], topics=("art", "food"), turns=3)
    hold = labelling.start(by=ana, campaign=campaign.pk)[1]
    first = topic(hold)
    assert shares(campaign, ana) == {first: 1}
    after = labelling.skip(by=ana, campaign=campaign.pk, assignment=hold.assignment, reason="no").next
    assert topic(after) == first
    assert shares(campaign, ana) == {first: 1}
    submit(ana, campaign, after)
    submissions.void(by=rosa, assignment=Assignment.objects.get(pk=after.assignment), reason="x")
    assert sum(shares(campaign, ana).values()) == 1
    Assignment.objects.filter(state="leased").update(state="expired")
    assert shares(campaign, ana) == {}


def test_turns_go_in_their_order_within_a_stratum(rosa):
    ana = factories.user("ana")
    campaign = opened([ana], topics=("art", "food"), turns=3)
    came = []
    while (hold := labelling.start(by=ana, campaign=campaign.pk)[1]) is not None:
        task = Assignment.objects.get(pk=hold.assignment).task
        came.append((topic(hold), task.item.turn.position))
        submit(ana, campaign, hold)
    assert [turn for told, turn in came if told == "art"] == [0, 1, 2]
    assert [one[0] for one in came[:2]] in (["art", "food"], ["food", "art"])


def test_batches_and_new_raters_keep_the_balance(rosa):
    ana, ben = factories.user("ana"), factories.user("ben")
    campaign = opened([ana], batch_size=5, task_order="fixed")
    came = work(ana, campaign)
    assert Counter(came) == {"art": 3, "food": 1, "law": 1}
    campaign_actions.open_next(by=rosa, campaign=campaign)
    assert work(ana, campaign)[0] in ("food", "law")
    editing.change(by=rosa, campaign=campaign, raters_per_item=2, annotators=[ana, ben])
    assert not Slot.objects.filter(campaign=campaign, stratum=None).exists()
    assert set(work(ben, campaign, most=3)) == {"art", "food", "law"}


@pytest.mark.exhaustive
def test_what_cannot_be_balanced_is_refused(rosa):
    with pytest.raises(CampaignRefused, match="Work is balanced by"):
        opened([], raters=1, balance_by="colour")
    with pytest.raises(CampaignRefused, match="order for all"):
        opened([], raters=1, task_order="own")
    many = [f"t{number}" for number in range(101)]
    with pytest.raises(CampaignRefused, match="more than 100 values of topic"):
        opened([], topics=many, raters=1)


def test_a_claim_takes_as_many_queries_however_many_tasks_there_are(django_assert_num_queries):
    ana = factories.user()
    campaign = opened([ana])
    seat = leases.take_seat(campaign=campaign.pk, user=ana.pk)
    with django_assert_num_queries(2):
        assert leases.claim(seat=seat) is not None


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_everybody_is_balanced_and_nothing_is_given_twice_at_once(rosa):
    people = [factories.user() for _ in range(4)]
    campaign = opened(people, topics=("art", "food", "law") * 4, raters=2)
    came = {}

    def run(who):
        came[who] = work(who, campaign)
        connections.close_all()

    threads = [threading.Thread(target=run, args=(who,)) for who in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(len(topics) for topics in came.values()) == 24
    assert not Slot.objects.filter(taken=False).exists()
    for who, topics in came.items():
        assert shares(campaign, who) == Counter(topics)
        for done in range(3, min(len(topics), 6) + 1, 3):
            assert len(set(topics[:done])) == 3
    assert StratumShare.objects.count() == sum(len(set(topics)) for topics in came.values())


@pytest.mark.exhaustive
def test_researchers_see_who_did_what(client, rosa):
    ana = factories.user("ana")
    campaign = opened([ana])
    work(ana, campaign, most=3)
    client.force_login(rosa)
    page = client.get(reverse("campaign", args=[campaign.pk])).content.decode()
    assert "What each annotator has done or holds" in page
    told = client.get(reverse("api-campaign", args=[campaign.pk])).json()
    (shares_of_one,) = told["balanced"]
    assert sorted(shares_of_one.values()) == [1, 1, 2]  # one of them held
    form = client.get(f"{reverse('new-campaign')}?corpus={campaign.corpus_id}").content.decode()
    assert "Balance each annotator" in form
