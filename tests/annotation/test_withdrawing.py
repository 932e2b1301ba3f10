"""A researcher returns a submission to its annotator, or voids it."""

import json
import threading

import pytest
from django.db import IntegrityError, connections, transaction
from django.urls import reverse

from annotation.campaigns import campaign_actions as campaigns
from annotation.errors import DraftConflict, LeaseLost, SubmissionRefused
from annotation.models import Assignment, CampaignMember, Label, Slot, live_labels
from annotation.work import submissions
from annotation.work import task_actions as labelling
from annotation.work.task_answers import hold_of
from config.models import Event
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana():
    return factories.user("ana")


@pytest.fixture
def ben():
    return factories.user("ben")


@pytest.fixture
def rosa():
    return factories.user("rosa", researcher=True)


@pytest.fixture
def campaign(ana, ben):
    corpus = factories.corpus()
    factories.dialogue(corpus, "d", turns=2)
    return factories.campaign(corpus, annotators=[ana, ben])


def submit(user, campaign, assignment, value=4, **more):
    item = Assignment.objects.get(pk=assignment).task.item_id
    answers = {str(item): {"overall": value}}
    return labelling.submit(by=user, campaign=campaign.pk, assignment=assignment, answers=answers, **more)


@pytest.fixture
def submission(ana, campaign):
    hold = labelling.start(by=ana, campaign=campaign.pk)[1]
    submit(ana, campaign, hold.assignment, 2)
    return Assignment.objects.get(pk=hold.assignment)


def seen(submission):
    return submissions.submissions(submission.campaign).get(pk=submission.pk).seen


def done(user):
    return CampaignMember.objects.get(user=user).done


def test_a_voided_submission_counts_no_more_and_its_slot_is_free(ana, ben, rosa, campaign, submission):
    assert submissions.void(by=rosa, assignment=submission, reason="not read") == 1
    assert live_labels().count() == 0
    assert Label.objects.get().number == 2
    assert done(ana) == 0
    assert not Slot.objects.get(pk=submission.slot_id).taken
    taken = labelling.start(by=ben, campaign=campaign.pk)[1]
    assert taken.task == submission.task_id
    submit(ben, campaign, taken.assignment, 5)
    assert [label.number for label in live_labels()] == [5]


def test_a_voided_task_does_not_come_back_to_its_annotator(ana, rosa, campaign, submission):
    submissions.void(by=rosa, assignment=submission, reason="not read")
    other = labelling.start(by=ana, campaign=campaign.pk)[1]
    assert other.task != submission.task_id
    assert submit(ana, campaign, other.assignment).next is None
    with pytest.raises(LeaseLost, match="not read"):
        submit(ana, campaign, submission.pk)
    with pytest.raises(LeaseLost, match="not read"):
        labelling.save_draft(
            by=ana, campaign=campaign.pk, assignment=submission.pk, draft={"version": 99}, revising=True
        )
    assert live_labels().count() == 1


def test_a_returned_task_comes_next_with_its_answers_and_the_reason(ana, rosa, campaign, submission):
    in_hand = labelling.start(by=ana, campaign=campaign.pk)[1]
    submissions.return_to_annotator(by=rosa, assignment=submission, reason="read the end")
    assert live_labels().count() == 0
    assert labelling.start(by=ana, campaign=campaign.pk)[1].assignment == in_hand.assignment
    after = submit(ana, campaign, in_hand.assignment, 3).next
    assert (after.assignment, after.note) == (submission.pk, "read the end")
    assert list(after.draft["answers"].values()) == [{"overall": 2}]
    outcome = submit(ana, campaign, submission.pk, 5)
    assert outcome.status == "submitted"
    assert sorted(label.number for label in live_labels()) == [3, 5]
    assert Label.objects.filter(superseded_at__isnull=False).count() == 1
    assert done(ana) == 2


def test_nobody_else_gets_a_returned_task(ana, ben, rosa, campaign, submission):
    submissions.return_to_annotator(by=rosa, assignment=submission, reason="x")
    assert labelling.start(by=ben, campaign=campaign.pk)[1] is None


@pytest.mark.parametrize("end", ["skip", "void", "remove"])
def test_a_returned_task_is_free_once_its_annotator_gives_it_up(ana, ben, rosa, campaign, submission, end):
    submissions.return_to_annotator(by=rosa, assignment=submission, reason="x")
    if end == "skip":
        labelling.skip(by=ana, campaign=campaign.pk, assignment=submission.pk, reason="no")
    elif end == "void":
        submissions.void(by=rosa, assignment=submission, reason="never came back")
    else:
        campaigns.remove_member(by=rosa, campaign=campaign, user=ana)
    assert labelling.start(by=ben, campaign=campaign.pk)[1].task == submission.task_id
    assert live_labels().count() == 0


def test_a_withdrawal_needs_a_reason_and_something_submitted(ana, rosa, campaign, submission):
    with pytest.raises(SubmissionRefused, match="why"):
        submissions.void(by=rosa, assignment=submission, reason="  ")
    hold = labelling.start(by=ana, campaign=campaign.pk)[1]
    leased = Assignment.objects.get(pk=hold.assignment)
    for act in (submissions.void, submissions.return_to_annotator):
        with pytest.raises(SubmissionRefused, match="leased"):
            act(by=rosa, assignment=leased, reason="x")
    submissions.void(by=rosa, assignment=submission, reason="x")
    with pytest.raises(SubmissionRefused, match="voided"):
        submissions.void(by=rosa, assignment=submission, reason="x")


def test_answers_revised_since_the_researcher_looked_are_not_voided_unseen(ana, rosa, campaign, submission):
    looked_at = seen(submission)
    submit(ana, campaign, submission.pk, 5, revising=True)
    for act in (submissions.void, submissions.return_to_annotator):
        with pytest.raises(SubmissionRefused, match=r"person-.* has changed"):
            act(by=rosa, assignment=submission, reason="x", seen=looked_at)
    assert live_labels().get().number == 5
    submissions.void(by=rosa, assignment=submission, reason="x", seen=seen(submission))
    assert live_labels().count() == 0


def test_a_revision_under_way_is_not_lost_by_a_return(ana, rosa, campaign, submission):
    item = str(submission.task.item_id)
    version = submission.revision + 1
    draft = {"version": version, "answers": {item: {"overall": 5}}}
    labelling.save_draft(
        by=ana,
        campaign=campaign.pk,
        assignment=submission.pk,
        draft=draft,
        revising=True,
        client="tab",
        based_on=submission.revision,
    )
    submissions.return_to_annotator(by=rosa, assignment=submission, reason="x")
    submission.refresh_from_db()
    assert hold_of(submission).draft["answers"] == {item: {"overall": 5}}
    with pytest.raises(DraftConflict):
        submit(ana, campaign, submission.pk, 1, revising=True, client="tab", based_on=version)
    submit(ana, campaign, submission.pk, 5, client="tab", based_on=submission.revision)
    assert live_labels().get().number == 5


def test_what_was_done_is_logged_with_its_reason(rosa, campaign, submission):
    submissions.void(by=rosa, assignment=submission, reason="not read")
    event = Event.objects.get(verb="campaign: void a submission")
    assert (event.by, event.subject) == (rosa, campaign.name)
    assert event.detail == {
        "assignment": submission.pk,
        "annotator": "ana",
        "reason": "not read",
        "labels": 1,
    }


@pytest.mark.parametrize("state", ["returned", "voided", "expired"])
def test_the_database_refuses_to_withdraw_a_submission_with_live_labels(submission, state):
    with pytest.raises(IntegrityError, match="live"), transaction.atomic():
        Assignment.objects.filter(pk=submission.pk).update(state=state, withdrawn_reason="x")


def test_the_database_refuses_a_withdrawal_without_a_reason(submission):
    Label.objects.update(superseded_at=submission.submitted_at)
    with pytest.raises(IntegrityError, match="withdrawal_has_reason"), transaction.atomic():
        Assignment.objects.filter(pk=submission.pk).update(state="voided")


def test_the_database_refuses_a_label_of_a_withdrawn_submission(rosa, submission):
    old = Label.objects.get()
    submissions.void(by=rosa, assignment=submission, reason="x")
    old.pk = None
    with pytest.raises(IntegrityError, match="voided"), transaction.atomic():
        old.save(force_insert=True)


@pytest.mark.django_db(transaction=True)
def test_a_void_and_a_revision_at_the_same_moment_leave_no_label_behind(ana, rosa, campaign, submission):
    outcomes = []

    def run(act):
        try:
            act()
            outcomes.append("done")
        except (LeaseLost, SubmissionRefused) as error:
            outcomes.append(type(error).__name__)
        finally:
            connections.close_all()

    revise = threading.Thread(
        target=run, args=(lambda: submit(ana, campaign, submission.pk, 5, revising=True),)
    )
    void = threading.Thread(
        target=run, args=(lambda: submissions.void(by=rosa, assignment=submission, reason="x"),)
    )
    revise.start()
    void.start()
    revise.join()
    void.join()
    assert outcomes.count("done") >= 1
    assert Assignment.objects.get(pk=submission.pk).state == "voided"
    assert live_labels().count() == 0


@pytest.mark.exhaustive
def test_the_page_lists_submissions_and_withdraws_the_chosen_ones(client, ana, rosa, campaign, submission):
    client.force_login(rosa)
    address = reverse("submissions", args=[campaign.pk])
    page = client.get(address).content.decode()
    assert factories.called(ana, campaign) in page
    body = {"chosen": f"{submission.pk}:{seen(submission)}", "reason": "not read", "verb": "void"}
    answer = client.post(address, body, follow=True)
    assert "1 submission voided" in answer.content.decode()
    assert Assignment.objects.get(pk=submission.pk).state == "voided"
    again = client.post(address, body, follow=True)
    assert "Only a submission can be voided" in again.content.decode()
    nothing = client.post(address, {"reason": "x", "verb": "void"}, follow=True)
    assert "Choose at least one" in nothing.content.decode()


def test_the_api_lists_and_withdraws(client, ana, rosa, campaign, submission):
    client.force_login(rosa)
    listed = client.get(reverse("api-submissions", args=[campaign.pk])).json()["results"]
    assert [(row["assignment"], row["annotator"], row["state"]) for row in listed] == [
        (submission.pk, factories.called(ana, campaign), "submitted")
    ]
    address = reverse("api-submission", args=[campaign.pk, submission.pk])
    body = {"verb": "return", "reason": "read the end", "seen": listed[0]["seen"]}
    answer = client.post(address, json.dumps(body), content_type="application/json")
    assert (answer.status_code, answer.json()["labels"]) == (200, 1)
    refused = client.post(address, json.dumps(body), content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (409, "submission_refused")
