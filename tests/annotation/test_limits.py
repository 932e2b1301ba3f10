"""Deadlines, and limits on one person's submits: in total, and per UTC day."""

import threading
from datetime import timedelta

import pytest
from django.db import connections
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import editing
from annotation.errors import CampaignNotOpen, LimitReached
from annotation.models import Assignment, CampaignMember
from annotation.work import submissions
from annotation.work import task_actions as labelling
from tests import factories


def opened(ana, **told):
    corpus = factories.corpus()
    factories.dialogue(corpus, turns=6)
    return factories.campaign(corpus, annotators=[ana], **told)


@pytest.fixture
def ana(db):
    return factories.user("ana")


def submit(who, campaign, hold):
    item = Assignment.objects.get(pk=hold.assignment).task.item
    answers = {str(item.pk): {"overall": 4}}
    return labelling.submit(by=who, campaign=campaign.pk, assignment=hold.assignment, answers=answers)


def work(who, campaign, most=100):
    """Submit until nothing comes, or `most` tasks; return how many were submitted."""
    done = 0
    while done < most and (hold := labelling.start(by=who, campaign=campaign.pk)[1]) is not None:
        submit(who, campaign, hold)
        done += 1
    return done


def yesterday(campaign):
    """Let a day pass for everybody in the campaign."""
    day = (timezone.now() - timedelta(days=1)).date()
    CampaignMember.objects.filter(campaign=campaign).update(done_on=day)


@pytest.mark.parametrize(
    ("told", "reached"), [({"most_tasks": 2}, "total"), ({"most_tasks_a_day": 2}, "day")]
)
def test_nobody_submits_more_than_their_limit(ana, told, reached):
    campaign = opened(ana, **told)
    assert work(ana, campaign) == 2
    seat, hold = labelling.start(by=ana, campaign=campaign.pk)
    assert hold is None
    assert seat.limits.reached == reached
    yesterday(campaign)
    assert work(ana, campaign) == (2 if reached == "day" else 0)


def test_a_task_whose_lease_ran_out_is_not_submitted_beyond_the_limit_and_its_draft_is_kept(ana):
    campaign = opened(ana, most_tasks=1)
    _, first = labelling.start(by=ana, campaign=campaign.pk)
    labelling.save_draft(
        by=ana, campaign=campaign.pk, assignment=first.assignment, draft={"version": 1, "answers": {}}
    )
    Assignment.objects.filter(pk=first.assignment).update(state="skipped", skip_reason="later")
    assert work(ana, campaign) == 1
    Assignment.objects.filter(pk=first.assignment).update(state="expired")
    with pytest.raises(LimitReached, match=r"as one person may here: 1\. Your draft is kept"):
        submit(ana, campaign, first)
    assert Assignment.objects.get(pk=first.assignment).draft["version"] == 1


def test_a_task_in_hand_is_refused_when_the_limit_falls_below_what_is_done(ana):
    campaign = opened(ana)
    work(ana, campaign, 2)
    _, hold = labelling.start(by=ana, campaign=campaign.pk)
    editing.change(by=factories.user(researcher=True), campaign=campaign, most_tasks=2)
    with pytest.raises(LimitReached):
        submit(ana, campaign, hold)
    assert labelling.start(by=ana, campaign=campaign.pk)[1] is None


def test_what_a_researcher_returns_counted_already_and_may_be_done_again(ana):
    campaign = opened(ana, most_tasks=2, most_tasks_a_day=2)
    work(ana, campaign)
    rosa, last = factories.user(researcher=True), campaign.assignments.latest("id")
    submissions.return_to_annotator(by=rosa, assignment=last, reason="again, please")
    assert work(ana, campaign) == 1
    member = campaign.members.get()
    assert (member.done, member.done_today) == (2, 2)


def test_a_voided_task_makes_room_for_another(ana):
    campaign = opened(ana, most_tasks=2, most_tasks_a_day=2)
    work(ana, campaign)
    rosa, last = factories.user(researcher=True), campaign.assignments.latest("id")
    submissions.void(by=rosa, assignment=last, reason="hurried")
    assert work(ana, campaign) == 1


def test_who_is_taken_out_and_let_in_again_has_no_more_than_before(ana):
    campaign, rosa = opened(ana, most_tasks_a_day=2), factories.user(researcher=True)
    work(ana, campaign)
    campaigns.remove_member(by=rosa, campaign=campaign, user=ana)
    campaigns.add_member(by=rosa, campaign=campaign, user=ana)
    assert work(ana, campaign) == 0


def test_after_the_deadline_nothing_is_handed_out_or_accepted_and_drafts_are_kept(ana):
    campaign, rosa = opened(ana), factories.user(researcher=True)
    work(ana, campaign, 1)
    _, hold = labelling.start(by=ana, campaign=campaign.pk)
    editing.change(by=rosa, campaign=campaign, deadline=timezone.now() - timedelta(hours=1))
    draft = {"version": 1, "answers": {}}
    labelling.save_draft(by=ana, campaign=campaign.pk, assignment=hold.assignment, draft=draft)
    for refused in (
        lambda: submit(ana, campaign, hold),
        lambda: labelling.skip(by=ana, campaign=campaign.pk, assignment=hold.assignment, reason="late"),
        lambda: labelling.reopen(by=ana, campaign=campaign.pk),
    ):
        with pytest.raises(CampaignNotOpen, match="deadline of this campaign has passed"):
            refused()
    assert labelling.start(by=ana, campaign=campaign.pk)[1] is None
    editing.change(by=rosa, campaign=campaign, deadline=timezone.now() + timedelta(days=1))
    again = labelling.start(by=ana, campaign=campaign.pk)[1]
    assert (again.assignment, again.draft["version"]) == (hold.assignment, 1)


@pytest.mark.parametrize(
    ("told", "ahead", "said"),
    [
        ({"most_tasks": 2}, "At most 2 tasks a person", "All you may do here is done"),
        ({"most_tasks_a_day": 2}, "At most 2 a day (0 today)", "Enough for today"),
        ({"deadline": True}, "Until ", "The deadline has passed"),
    ],
)
def test_annotators_are_told_of_limits_before_and_when_they_are_reached(client, ana, told, ahead, said):
    if "deadline" in told:
        told = {"deadline": timezone.now() + timedelta(hours=1)}
    campaign = opened(ana, **told)
    client.force_login(ana)
    mine = client.get(reverse("my-campaigns")).content.decode()
    assert ahead in mine
    assert "Start" in mine
    work(ana, campaign, 2)
    if "deadline" in told:
        campaign.deadline = timezone.now() - timedelta(hours=1)
        campaign.save()
    mine = client.get(reverse("my-campaigns")).content.decode()
    assert "Continue" not in mine
    state = client.post(reverse("api-work-next", args=[campaign.pk])).json()
    assert state["limits"]["notice"]
    assert state["progress"]["left"] == (4 if "most_tasks_a_day" in told else 0)
    assert (
        client.get(reverse("api-my-campaigns")).json()[0]["limits"]["reached"] == state["limits"]["reached"]
    )
    assert state["limits"]["notice"].split(":")[0] in mine
    assert said in client.post(reverse("work-next", args=[campaign.pk])).json()["html"]


@pytest.mark.django_db(transaction=True)
def test_a_limit_holds_for_one_person_in_many_tabs_at_once():
    ana = factories.user("ana")
    campaign = opened(ana, most_tasks=4, most_tasks_a_day=4)

    def tab():
        try:
            for _ in range(6):
                hold = labelling.start(by=ana, campaign=campaign.pk)[1]
                if hold is not None:
                    submit(ana, campaign, hold)
        finally:
            connections.close_all()

    tabs = [threading.Thread(target=tab) for _ in range(5)]
    for thread in tabs:
        thread.start()
    for thread in tabs:
        thread.join()
    assert campaign.assignments.filter(state="submitted").count() == 4
    assert campaign.members.get().done == 4
