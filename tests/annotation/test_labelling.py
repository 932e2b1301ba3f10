"""Claiming, drafting, submitting, skipping and revising tasks."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.campaigns import campaign_actions as campaigns
from annotation.errors import AlreadySubmitted, AnswerRefused, CampaignNotOpen, LeaseLost, NotTaskHolder
from annotation.models import Assignment, Label
from annotation.work import leases as assigning
from annotation.work import task_actions as labelling
from annotation.work import task_page
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana():
    return factories.user("ana")


@pytest.fixture
def ben():
    return factories.user("ben")


@pytest.fixture
def campaign(ana, ben):
    """Three turns to be rated once each, by ana or ben."""
    corpus = factories.corpus()
    factories.dialogue(corpus, "d", turns=3)
    return factories.campaign(corpus, annotators=[ana, ben])


def start(user, campaign):
    return labelling.start(by=user, campaign=campaign.pk)[1]


def submit(user, campaign, hold, value=4, **more):
    item = Assignment.objects.get(pk=hold.assignment).task.item_id
    answers = {str(item): {"overall": value}}
    return labelling.submit(
        by=user, campaign=campaign.pk, assignment=hold.assignment, answers=answers, **more
    )


def run_out(hold):
    Assignment.objects.filter(pk=hold.assignment).update(lease_expires=timezone.now() - timedelta(minutes=1))


def live(campaign):
    labels = Label.objects.filter(campaign=campaign, superseded_at=None)
    return list(labels.order_by("id").values_list("number", flat=True))


def test_a_submit_records_the_answer_and_hands_out_the_next_task(ana, campaign):
    first = start(ana, campaign)
    outcome = submit(ana, campaign, first, 5)
    assert outcome.status == "submitted"
    assert outcome.next.task != first.task
    assert (outcome.seat.done, live(campaign)) == (1, [5])


def test_asking_again_gives_the_task_in_hand(ana, campaign):
    assert start(ana, campaign).assignment == start(ana, campaign).assignment


def test_two_people_never_hold_the_same_slot(ana, ben, campaign):
    assert start(ana, campaign).task != start(ben, campaign).task


def test_nobody_gets_the_second_slot_of_a_task_they_have(ana, ben):
    corpus = factories.corpus()
    factories.dialogue(corpus, turns=1)
    campaign = factories.campaign(corpus, annotators=[ana, ben], raters=2)
    assert submit(ana, campaign, start(ana, campaign)).next is None
    assert start(ana, campaign) is None
    assert start(ben, campaign) is not None


def test_a_submit_sent_twice_counts_once_and_names_the_same_next_task(ana, campaign):
    hold = start(ana, campaign)
    first = submit(ana, campaign, hold)
    second = submit(ana, campaign, hold)
    assert second.status == "already submitted"
    assert second.next.assignment == first.next.assignment
    assert live(campaign) == [4]


def test_an_older_draft_never_replaces_a_newer_one(ana, campaign):
    hold = start(ana, campaign)

    def save(version):
        draft = {"version": version, "answers": {"1": {"overall": version}}}
        return labelling.save_draft(by=ana, campaign=campaign.pk, assignment=hold.assignment, draft=draft)

    assert [save(1), save(3), save(2)] == [1, 3, 3]
    assert start(ana, campaign).draft["answers"] == {"1": {"overall": 3}}


def test_a_draft_of_a_submitted_task_is_refused(ana, campaign):
    hold = start(ana, campaign)
    submit(ana, campaign, hold)
    with pytest.raises(AlreadySubmitted):
        labelling.save_draft(by=ana, campaign=campaign.pk, assignment=hold.assignment, draft={"version": 9})


def test_a_draft_survives_the_loss_of_its_lease_and_comes_back_with_the_task(ana, ben, campaign):
    hold = start(ana, campaign)
    labelling.save_draft(
        by=ana, campaign=campaign.pk, assignment=hold.assignment, draft={"version": 1, "comment": "x"}
    )
    run_out(hold)
    assert assigning.return_expired() == 1
    again = start(ana, campaign)
    assert (again.assignment, again.draft["comment"]) == (hold.assignment, "x")


def test_a_lease_that_ran_out_may_still_be_submitted_while_nobody_took_the_task(ana, campaign):
    hold = start(ana, campaign)
    run_out(hold)
    assigning.return_expired()
    assert submit(ana, campaign, hold).status == "submitted"


def test_a_submit_after_somebody_else_took_the_task_is_refused_and_the_draft_kept(ana, ben, campaign):
    hold = start(ana, campaign)
    labelling.save_draft(
        by=ana, campaign=campaign.pk, assignment=hold.assignment, draft={"version": 1, "comment": "x"}
    )
    run_out(hold)
    assigning.return_expired()
    for _ in range(3):
        submit(ben, campaign, start(ben, campaign))
    with pytest.raises(LeaseLost, match="someone else"):
        submit(ana, campaign, hold)
    assert Assignment.objects.get(pk=hold.assignment).draft["comment"] == "x"
    assert len(live(campaign)) == 3


def test_the_claim_itself_returns_leases_that_ran_out_when_nothing_else_is_left(ana, ben, campaign):
    lost = start(ana, campaign)
    run_out(lost)
    tasks = set()
    while (hold := start(ben, campaign)) is not None:
        tasks.add(hold.task)
        submit(ben, campaign, hold)
    assert lost.task in tasks
    assert len(tasks) == 3


def test_a_skipped_task_is_free_for_others_and_does_not_come_back(ana, ben, campaign):
    hold = start(ana, campaign)
    outcome = labelling.skip(by=ana, campaign=campaign.pk, assignment=hold.assignment, reason="I know her")
    assert outcome.next.task != hold.task
    assert start(ben, campaign).task == hold.task
    submit(ana, campaign, outcome.next)
    tasks = set()
    while (mine := start(ana, campaign)) is not None:
        tasks.add(mine.task)
        submit(ana, campaign, mine)
    assert hold.task not in tasks


def test_a_skip_needs_a_reason(ana, campaign):
    with pytest.raises(AnswerRefused, match="why"):
        labelling.skip(by=ana, campaign=campaign.pk, assignment=start(ana, campaign).assignment, reason="  ")


def test_a_skipped_task_cannot_be_submitted(ana, campaign):
    hold = start(ana, campaign)
    labelling.skip(by=ana, campaign=campaign.pk, assignment=hold.assignment, reason="x")
    with pytest.raises(LeaseLost, match="skipped"):
        submit(ana, campaign, hold)


def test_a_revision_supersedes_the_answer_and_keeps_the_old_one(ana, campaign):
    hold = start(ana, campaign)
    in_hand = submit(ana, campaign, hold, 2).next
    _, again = labelling.reopen(by=ana, campaign=campaign.pk)
    assert again.assignment == hold.assignment
    assert list(again.draft["answers"].values()) == [{"overall": 2}]
    outcome = submit(ana, campaign, hold, 5, revising=True)
    assert outcome.status == "revised"
    assert outcome.next.assignment == in_hand.assignment
    assert live(campaign) == [5]
    assert Label.objects.filter(campaign=campaign).count() == 2
    assert outcome.seat.done == 1


def test_going_back_twice_reaches_the_task_before(ana, campaign):
    first = start(ana, campaign)
    second = submit(ana, campaign, first).next
    Assignment.objects.filter(pk=first.assignment).update(submitted_at=timezone.now() - timedelta(minutes=5))
    submit(ana, campaign, second)
    _, last = labelling.reopen(by=ana, campaign=campaign.pk)
    _, before = labelling.reopen(by=ana, campaign=campaign.pk, before=last.assignment)
    assert (last.assignment, before.assignment) == (second.assignment, first.assignment)


def test_there_is_nothing_to_go_back_to_at_first(ana, campaign):
    with pytest.raises(NotTaskHolder, match="no earlier"):
        labelling.reopen(by=ana, campaign=campaign.pk)


def test_an_answer_that_a_revision_no_longer_asks_for_becomes_missing(ana):
    corpus = factories.corpus()
    factories.dialogue(corpus, turns=2)
    campaign = factories.campaign(corpus, "comperdial_dialogue", annotators=[ana])
    hold = start(ana, campaign)
    item = Assignment.objects.get(pk=hold.assignment).task.item_id

    def send(values, **more):
        answers = {str(item): values}
        return labelling.submit(
            by=ana, campaign=campaign.pk, assignment=hold.assignment, answers=answers, **more
        )

    send({"overall": 2, "low_fluency": 1})
    assert len(live(campaign)) == 7
    send({"overall": 5}, revising=True)
    labels = Label.objects.filter(campaign=campaign, superseded_at=None)
    assert labels.filter(missing="").get().number == 5
    assert labels.exclude(missing="").count() == 6


@pytest.mark.parametrize("verb", ["pause", "close"])
def test_nothing_is_accepted_in_a_campaign_that_is_not_open_and_drafts_are_kept(ana, campaign, verb):
    hold = start(ana, campaign)
    getattr(campaigns, verb)(by=factories.user(), campaign=campaign)
    with pytest.raises(CampaignNotOpen):
        submit(ana, campaign, hold)
    labelling.save_draft(by=ana, campaign=campaign.pk, assignment=hold.assignment, draft={"version": 1})
    assert start(ana, campaign).assignment == hold.assignment


def test_leases_do_not_run_out_while_a_campaign_is_paused(ana, campaign):
    hold = start(ana, campaign)
    run_out(hold)
    campaigns.pause(by=factories.user(), campaign=campaign)
    assert assigning.return_expired() == 0


def test_strangers_can_neither_start_nor_submit_nor_save(ana, campaign):
    stranger = factories.user()
    hold = start(ana, campaign)
    with pytest.raises(NotTaskHolder):
        start(stranger, campaign)
    with pytest.raises(NotTaskHolder):
        submit(stranger, campaign, hold)
    with pytest.raises(NotTaskHolder):
        labelling.save_draft(
            by=stranger, campaign=campaign.pk, assignment=hold.assignment, draft={"version": 1}
        )


def test_a_member_cannot_submit_the_task_of_another(ana, ben, campaign):
    with pytest.raises(NotTaskHolder):
        submit(ben, campaign, start(ana, campaign))


def test_who_is_taken_out_gives_back_what_they_held_and_keeps_what_they_submitted(ana, ben, campaign):
    hold = submit(ana, campaign, start(ana, campaign)).next
    campaigns.remove_member(by=factories.user(), campaign=campaign, user=ana)
    assert live(campaign) == [4]
    assert start(ben, campaign).task == hold.task
    assert campaigns.add_member(by=factories.user(), campaign=campaign, user=ana).done == 1


def test_guidelines_that_somebody_worked_with_get_a_successor(ana, campaign):
    hold = start(ana, campaign)
    version = campaigns.set_guidelines(by=factories.user(), campaign=campaign, text="New words.").version
    assert version == 2
    assert submit(ana, campaign, hold).next is None
    task_page.accept(by=ana, campaign=campaign.pk, what="guidelines", version=2)
    following = start(ana, campaign)
    assert Assignment.objects.get(pk=hold.assignment).guidelines.version == 1
    assert Assignment.objects.get(pk=following.assignment).guidelines.version == 2


def test_the_pace_and_the_count_of_a_member_follow_their_submits(ana, campaign):
    hold = start(ana, campaign)
    Assignment.objects.filter(pk=hold.assignment).update(leased_at=timezone.now() - timedelta(seconds=40))
    seat = submit(ana, campaign, hold).seat
    assert seat.done == 1
    assert 30 < seat.pace < 50
