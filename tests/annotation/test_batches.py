"""Tasks in batches: annotators get only tasks of open batches."""

from __future__ import annotations

import threading

import pytest
from django.db import IntegrityError, connections, transaction
from django.urls import reverse

from annotation.campaigns import campaign_actions, editing
from annotation.errors import CampaignRefused, SubmissionRefused
from annotation.models import Assignment, Campaign
from annotation.work import leases, submissions
from annotation.work import task_actions as labelling
from annotation.work.own_work import progress, with_work
from config.models import Event
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosa():
    return factories.user("rosa", researcher=True)


def opened(people, size=2, dialogues=1, turns=5, **told):
    corpus = factories.corpus()
    for _ in range(dialogues):
        factories.dialogue(corpus, turns=turns)
    told = {"raters": len(people), "batch_size": size, **told}
    return factories.campaign(corpus, annotators=people, **told)


def work(who, campaign):
    """Work until nothing is left and return the places of the tasks in the order in which they came."""
    came = []
    while (hold := labelling.start(by=who, campaign=campaign.pk)[1]) is not None:
        task = Assignment.objects.get(pk=hold.assignment).task
        came.append(task.position)
        answers = {str(task.item_id): {"overall": 3}}
        labelling.submit(by=who, campaign=campaign.pk, assignment=hold.assignment, answers=answers)
    return came


def test_annotators_get_open_batches_and_no_more_until_the_next_is_opened(rosa):
    ana = factories.user()
    campaign = opened([ana])
    assert work(ana, campaign) == [0, 1]
    assert with_work(user=ana.pk) == set()
    assert campaign_actions.open_next(by=rosa, campaign=campaign) == 2
    seat, hold = labelling.start(by=ana, campaign=campaign.pk)
    assert progress(seat=seat, hold=hold).left == 2
    assert work(ana, campaign) == [2, 3]
    campaign_actions.open_next(by=rosa, campaign=campaign)
    assert work(ana, campaign) == [4]
    assert Event.objects.filter(verb="campaign: open a batch", by=rosa).count() == 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("order", ["drawn", "own"])
def test_in_any_order_nobody_leaves_the_open_batches(rosa, order):
    people = [factories.user() for _ in range(3)]
    campaign = opened(people, size=6, dialogues=6, turns=2, task_order=order)
    for who in people:
        assert sorted(work(who, campaign)) == list(range(6))


@pytest.mark.exhaustive
def test_a_batch_opens_itself_when_the_last_one_is_complete(rosa):
    ana, ben = factories.user("ana"), factories.user("ben")
    campaign = opened([ana, ben], next_batch="complete")
    assert work(ana, campaign) == [0, 1]
    campaign.refresh_from_db()
    assert campaign.batches_open == 1
    assert work(ben, campaign) == list(range(2))[:2] + [2, 3]
    assert work(ana, campaign) == [2, 3, 4]
    assert work(ben, campaign) == [4]
    campaign.refresh_from_db()
    assert campaign.batches_open == 3
    event = Event.objects.filter(verb="campaign: open a batch").order_by("id").first()
    assert (event.by, event.detail["batch"], event.detail["campaign"]) == (None, 2, campaign.pk)


@pytest.mark.exhaustive
def test_a_skipped_task_keeps_its_batch_incomplete(rosa):
    ana, ben = factories.user("ana"), factories.user("ben")
    campaign = opened([ana, ben], next_batch="complete", raters=1)
    hold = labelling.start(by=ana, campaign=campaign.pk)[1]
    labelling.skip(by=ana, campaign=campaign.pk, assignment=hold.assignment, reason="no")
    assert work(ana, campaign) == [1]
    assert work(ben, campaign) == [0, 2, 3, 4]


def test_the_database_lets_nobody_into_a_batch_that_is_not_open(rosa):
    ana = factories.user("ana")
    campaign = opened([ana])
    slot = campaign.slots.get(position=2)
    told = {"slot": slot, "task_id": slot.task_id, "campaign": campaign, "user": ana}
    with pytest.raises(IntegrityError, match="batch is not open"), transaction.atomic():
        Assignment.objects.create(**told, lease_expires=campaign.created_at)
    with pytest.raises(SubmissionRefused, match="not open yet"):
        submissions.give(by=rosa, campaign=campaign, task=slot.task, to=ana, reason="x")
    with pytest.raises(IntegrityError, match="campaign_batches_known"), transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(batch_size=0)


@pytest.mark.exhaustive
def test_what_cannot_be_opened_is_refused(rosa):
    plain = opened([], raters=1, size=None)
    with pytest.raises(CampaignRefused, match="not in batches"):
        campaign_actions.open_next(by=rosa, campaign=plain)
    draft = opened([], raters=1, opened=False)
    with pytest.raises(CampaignRefused, match="opens with the campaign"):
        campaign_actions.open_next(by=rosa, campaign=draft)
    whole = opened([], raters=1, size=9)
    with pytest.raises(CampaignRefused, match="All batches are open"):
        campaign_actions.open_next(by=rosa, campaign=whole)
    with pytest.raises(CampaignRefused, match="between 1"):
        opened([], raters=1, size=0)
    with pytest.raises(CampaignRefused, match="next batch opens by"):
        opened([], raters=1, next_batch="soon")
    with pytest.raises(CampaignRefused, match="opened campaign cannot change"):
        editing.change(by=rosa, campaign=whole, batch_size=3)
    editing.change(by=rosa, campaign=whole, next_batch="complete")


def test_a_copy_begins_with_its_first_batch(rosa):
    campaign = opened([], raters=1)
    campaign_actions.open_next(by=rosa, campaign=campaign)
    copy = editing.copy(by=rosa, campaign=campaign, name="again")
    assert (copy.batch_size, copy.batches_open) == (2, 1)


def test_a_claim_in_batches_is_still_one_query(django_assert_num_queries):
    ana = factories.user()
    campaign = opened([ana], next_batch="complete")
    seat = leases.take_seat(campaign=campaign.pk, user=ana.pk)
    with django_assert_num_queries(1):
        assert leases.claim(seat=seat) is not None


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_several_who_find_nothing_open_one_batch_and_all_get_on(rosa):
    people = [factories.user() for _ in range(3)]
    campaign = opened(people, size=3, turns=6, raters=1, next_batch="complete")
    for who in people:
        hold = labelling.start(by=who, campaign=campaign.pk)[1]
        item = Assignment.objects.get(pk=hold.assignment).task.item_id
        Assignment.objects.filter(pk=hold.assignment).update(
            state="submitted", submitted_at=campaign.created_at
        )
        assert item
    holds = []

    def begin(who):
        holds.append(labelling.start(by=who, campaign=campaign.pk)[1])
        connections.close_all()

    threads = [threading.Thread(target=begin, args=(who,)) for who in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({hold.task for hold in holds if hold is not None}) == 3
    campaign.refresh_from_db()
    assert campaign.batches_open == 2


@pytest.mark.exhaustive
def test_pages_tell_of_batches_and_open_them(client, rosa):
    ana = factories.user("ana")
    campaign = opened([ana])
    work(ana, campaign)
    client.force_login(ana)
    state = client.get(reverse("work", args=[campaign.pk])).context["state"]
    assert "More tasks will open later" in state["html"]
    client.force_login(rosa)
    address = reverse("campaign", args=[campaign.pk])
    page = client.get(address)
    told = page.context["batches"]
    assert (told.opened, told.total) == (1, 3)
    assert [(one.number, one.submitted, one.complete, one.opened) for one in told.listed] == [
        (1, 2, True, True),
        (2, 0, False, False),
    ]
    answer = client.post(reverse("open-batch", args=[campaign.pk]), follow=True)
    assert "Batch 2 is open" in answer.content.decode()
    form = client.get(reverse("edit-campaign", args=[campaign.pk])).content.decode()
    assert "When another one opens" in form
    assert "Tasks of a batch" not in form
    watched = client.get(f"{reverse('campaign-watch', args=[campaign.pk])}?by=batch").content.decode()
    assert "Batch" in watched


@pytest.mark.exhaustive
def test_the_api_tells_and_opens(client, rosa):
    campaign = opened([factories.user()])
    client.force_login(rosa)
    address = reverse("api-batches-of-campaign", args=[campaign.pk])
    assert client.get(address).json()["opened"] == 1
    assert client.post(address).json()["opened"] == 2
    assert client.post(address).json()["opened"] == 3
    assert client.get(address).json()["opened"] == 3
    refused = client.post(address)
    assert (refused.status_code, "All batches are open" in refused.json()["detail"]) == (422, True)
    watched = client.get(f"{reverse('api-campaign-watch', args=[campaign.pk])}?by=batch").json()
    told = [(one["name"], one["tasks"]) for one in watched["progress"]["strata"]]
    assert told == [("3", 1), ("2", 2), ("1", 2)]
    plain = opened([], raters=1, size=None)
    told = client.get(reverse("api-batches-of-campaign", args=[plain.pk])).json()
    assert (told["batch_size"], told["total"], told["listed"]) == (None, 0, [])
