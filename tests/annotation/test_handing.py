"""Researchers see the tasks held by annotators, take them back, and reassign them."""

from __future__ import annotations

import json
import threading
from datetime import timedelta

import pytest
from django.db import connections
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns.rules import Rules, set_rules
from annotation.errors import LeaseLost, SubmissionRefused
from annotation.models import Assignment, CampaignRole, Slot, live_labels
from annotation.people import groups
from annotation.work import leases, submissions
from annotation.work import task_actions as labelling
from annotation.work.check_actions import set_up
from annotation.work.own_work import progress
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
    factories.dialogue(corpus, "d", turns=4)
    return factories.campaign(corpus, annotators=[ana, ben])


def began(user, campaign):
    hold = labelling.start(by=user, campaign=campaign.pk)[1]
    return Assignment.objects.get(pk=hold.assignment)


def submit(user, campaign, assignment, value=4):
    item = Assignment.objects.get(pk=assignment).task.item_id
    answers = {str(item): {"overall": value}}
    return labelling.submit(by=user, campaign=campaign.pk, assignment=assignment, answers=answers)


def drafted(user, campaign, own):
    draft = {"version": 1, "answers": {str(own.task.item.pk): {"overall": 2}}}
    labelling.save_draft(by=user, campaign=campaign.pk, assignment=own.pk, draft=draft)


def task(campaign, position):
    return campaign.tasks.get(position=position)


def give(by, campaign, position, to, reason="you know it"):
    return submissions.give(by=by, campaign=campaign, task=task(campaign, position), to=to, reason=reason)


def test_what_annotators_hold_is_listed_with_their_drafts(ana, ben, rosa, campaign):
    first = began(ana, campaign)
    drafted(ana, campaign, first)
    began(ben, campaign)
    rows = list(submissions.in_hand(campaign))
    assert [(row.user, bool(row.draft_saved_at)) for row in rows] == [(ana, True), (ben, False)]
    assert [submissions.key_of(row.task) for row in rows] == ["d/self/0", "d/self/1"]
    submit(ana, campaign, first.pk)
    assert [row.task.position for row in submissions.in_hand(campaign)] == [1, 2]


def test_a_task_taken_back_goes_to_others_and_its_draft_stays_with_its_author(ana, ben, rosa, campaign):
    own = began(ana, campaign)
    drafted(ana, campaign, own)
    submissions.take_back(by=rosa, assignment=own, reason="on holiday")
    assert not Slot.objects.get(pk=own.slot_id).taken
    assert began(ben, campaign).task == own.task
    assert began(ana, campaign).task != own.task
    own.refresh_from_db()
    assert (own.state, own.draft["answers"]) == ("taken", {str(own.task.item.pk): {"overall": 2}})


def test_who_lost_a_task_reads_why_and_cannot_submit_it(client, ana, rosa, campaign):
    own = began(ana, campaign)
    submissions.take_back(by=rosa, assignment=own, reason="on holiday")
    drafted(ana, campaign, own)
    with pytest.raises(LeaseLost, match="took this task back: “on holiday”"):
        submit(ana, campaign, own.pk)
    assert live_labels().count() == 0
    client.force_login(ana)
    for address in (reverse("work", args=[campaign.pk]), reverse("my-campaigns")):
        page = client.get(address).content.decode()
        assert "took a task of yours back" in page
        assert "on holiday" in page
    kept = client.get(reverse("work-task", args=[campaign.pk, own.pk])).context["state"]["task"]
    assert "took this task back: “on holiday”" in kept["closed"]
    assert list(kept["draft"]["answers"].values()) == [{"overall": 2}]
    submit(ana, campaign, began(ana, campaign).pk)
    assert "on holiday" not in client.get(reverse("my-campaigns")).content.decode()


def test_a_returned_task_can_be_taken_back_and_a_submission_cannot(ana, rosa, campaign):
    own = began(ana, campaign)
    submit(ana, campaign, own.pk)
    with pytest.raises(SubmissionRefused, match="has submitted this task meanwhile"):
        submissions.take_back(by=rosa, assignment=own, reason="x")
    submissions.return_to_annotator(by=rosa, assignment=own, reason="again")
    submissions.take_back(by=rosa, assignment=own, reason="never came back")
    with pytest.raises(SubmissionRefused, match="does not hold this task any more"):
        submissions.take_back(by=rosa, assignment=own, reason="x")


def test_a_given_task_comes_after_the_one_in_hand_with_its_reason(ana, rosa, campaign):
    own = began(ana, campaign)
    given = give(rosa, campaign, 3, ana)
    assert given.lease_expires > timezone.now() + timedelta(hours=71)
    assert began(ana, campaign) == own
    seat, _ = labelling.start(by=ana, campaign=campaign.pk)
    assert progress(seat=seat, hold=None).left == 4
    after = submit(ana, campaign, own.pk).next
    assert (after.assignment, after.note) == (given.pk, "you know it")
    assert began(ana, campaign) == given
    given.refresh_from_db()
    assert given.lease_expires > timezone.now() + timedelta(hours=71)
    assert submit(ana, campaign, given.pk).next.task == task(campaign, 1).pk


def test_a_given_task_is_said_to_be_one(client, ana, rosa, campaign):
    give(rosa, campaign, 2, ana)
    client.force_login(ana)
    state = client.get(reverse("work", args=[campaign.pk])).context["state"]["task"]
    assert (state["told"], state["returned"]) == ("A researcher gave you this task: you know it", False)


def test_a_task_taken_back_or_skipped_may_be_given_to_the_same_person_again(ana, rosa, campaign):
    own = began(ana, campaign)
    submissions.take_back(by=rosa, assignment=own, reason="x")
    assert give(rosa, campaign, 0, ana).pk == own.pk
    labelling.skip(by=ana, campaign=campaign.pk, assignment=own.pk, reason="no")
    give(rosa, campaign, 0, ana)
    submit(ana, campaign, own.pk)
    own.refresh_from_db()
    assert (own.state, own.skip_reason) == ("submitted", "")


def test_a_task_is_passed_from_one_to_another_or_stays_where_it_is(ana, ben, rosa, campaign):
    own = began(ana, campaign)
    submissions.pass_to(by=rosa, assignment=own, to=ben, reason="ben reads Polish")
    assert began(ben, campaign).task == own.task
    other = began(ana, campaign)
    outsider = factories.user("otto")
    with pytest.raises(SubmissionRefused, match="does not take part"):
        submissions.pass_to(by=rosa, assignment=other, to=outsider, reason="x")
    assert began(ana, campaign) == other
    with pytest.raises(SubmissionRefused, match="holds this task already"):
        submissions.pass_to(by=rosa, assignment=other, to=ana, reason="x")


def test_nobody_is_given_what_is_not_free_or_what_they_had(ana, ben, rosa, campaign):
    own = began(ana, campaign)
    with pytest.raises(
        SubmissionRefused, match=r"All places of this task are taken: person-\w+ \(holds it\)"
    ):
        give(rosa, campaign, 0, ben)
    with pytest.raises(SubmissionRefused, match=f"{factories.called(ana, campaign)} holds this task already"):
        give(rosa, campaign, 0, ana)
    submit(ana, campaign, own.pk)
    with pytest.raises(SubmissionRefused, match=r"person-.* has rated this task already"):
        give(rosa, campaign, 0, ana)
    with pytest.raises(SubmissionRefused, match=r"person-\w+ \(rated it\)"):
        give(rosa, campaign, 0, ben)
    submissions.void(by=rosa, assignment=own, reason="x")
    with pytest.raises(SubmissionRefused, match="it was voided"):
        give(rosa, campaign, 0, ana)
    assert give(rosa, campaign, 0, ben).user == ben


def test_a_lease_that_ran_out_is_no_obstacle(ana, ben, rosa, campaign):
    own = began(ana, campaign)
    Assignment.objects.filter(pk=own.pk).update(lease_expires=timezone.now() - timedelta(minutes=1))
    assert give(rosa, campaign, 0, ben).slot_id == own.slot_id


def test_limits_rules_tests_and_the_state_of_the_campaign_are_respected(ana, ben, rosa, campaign):
    campaign.most_tasks = 1
    campaign.save()
    began(ana, campaign)
    with pytest.raises(SubmissionRefused, match="as many tasks as one person may have here: 1"):
        give(rosa, campaign, 3, ana)
    reading = groups.create(by=rosa, name="readers", people=[ana])
    set_rules(by=rosa, campaign=campaign, rules=Rules(groups_by="system", strata={"human": reading}))
    with pytest.raises(SubmissionRefused, match=r"rules of this campaign keep person-.* from this task"):
        give(rosa, campaign, 3, ben)
    campaigns.pause(by=rosa, campaign=campaign)
    with pytest.raises(SubmissionRefused, match="paused"):
        give(rosa, campaign, 3, ben)


def test_who_has_not_passed_the_test_is_given_nothing(rosa):
    from tests.checks.world import campaign as with_test

    made = with_test(rosa, main=2, test=1)
    set_up(by=rosa, campaign=made, check_every=10)
    ana = factories.user("ana")
    campaigns.add_member(by=rosa, campaign=made, user=ana)
    with pytest.raises(SubmissionRefused, match="training and the test"):
        give(rosa, made, 0, ana)


def test_reasons_are_asked_for_logged_and_name_no_system(ana, rosa, campaign):
    factories.continuation(
        campaign.corpus.dialogues.get(), "x", system="gpt-4o-mini", turns=[{"text": "Yes."}]
    )
    own = began(ana, campaign)
    with pytest.raises(SubmissionRefused, match="Say why"):
        submissions.take_back(by=rosa, assignment=own, reason=" ")
    with pytest.raises(SubmissionRefused, match="names the system"):
        submissions.take_back(by=rosa, assignment=own, reason="gpt-4o-mini wrote it")
    submissions.take_back(by=rosa, assignment=own, reason="on holiday")
    event = Event.objects.get(verb="campaign: take a task back")
    assert (event.by, event.detail["annotator"], event.detail["task"]) == (rosa, "ana", "d/self/0")
    give(rosa, campaign, 0, ana)
    assert Event.objects.get(verb="campaign: give a task").detail["reason"] == "you know it"


def test_a_task_is_named_by_its_key_or_its_number(ana, rosa, campaign):
    third = task(campaign, 2)
    assert submissions.task_named(campaign, "d/self/2") == third
    assert submissions.task_named(campaign, str(third.pk)) == third
    for unknown in ("d/self/9", "d/self", "d", "99999999", ""):
        with pytest.raises(SubmissionRefused, match="has no task"):
            submissions.task_named(campaign, unknown)


def at_once(*acts):
    outcomes = []

    def run(act):
        try:
            act()
            outcomes.append("done")
        except (LeaseLost, SubmissionRefused) as error:
            outcomes.append(type(error).__name__)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(outcomes)


@pytest.mark.django_db(transaction=True)
def test_of_a_submit_and_a_take_back_at_once_exactly_one_holds(ana, rosa, campaign):
    own = began(ana, campaign)
    outcomes = at_once(
        lambda: submit(ana, campaign, own.pk),
        lambda: submissions.take_back(by=rosa, assignment=own, reason="x"),
    )
    own.refresh_from_db()
    assert outcomes in (["LeaseLost", "done"], ["SubmissionRefused", "done"])
    assert live_labels().count() == (own.state == "submitted")
    assert Slot.objects.get(pk=own.slot_id).taken == (own.state == "submitted")


@pytest.mark.django_db(transaction=True)
def test_of_two_gives_of_the_last_place_one_is_refused(ana, ben, rosa, campaign):
    outcomes = at_once(
        lambda: give(rosa, campaign, 3, ana),
        lambda: give(rosa, campaign, 3, ben),
    )
    assert outcomes == ["SubmissionRefused", "done"]
    assert Assignment.objects.filter(task=task(campaign, 3), state="leased").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_tasks_passed_crosswise_do_not_block_each_other(ana, ben, rosa, campaign):
    first, second = began(ana, campaign), began(ben, campaign)
    outcomes = at_once(
        lambda: submissions.pass_to(by=rosa, assignment=first, to=ben, reason="x"),
        lambda: submissions.pass_to(by=rosa, assignment=second, to=ana, reason="x"),
    )
    assert outcomes == ["done", "done"]


def test_the_page_lists_takes_back_and_gives(client, ana, ben, rosa, campaign):
    client.force_login(rosa)
    address = reverse("held", args=[campaign.pk])
    assert "Nobody holds a task" in client.get(address).content.decode()
    own = began(ana, campaign)
    assert f'value="{own.pk}"' in client.get(address).content.decode()
    body = {"chosen": own.pk, "reason": "on holiday", "verb": "pass", "to": factories.called(ben, campaign)}
    assert (
        f"1 task given to {factories.called(ben, campaign)}"
        in client.post(address, body, follow=True).content.decode()
    )
    body = {"chosen": Assignment.objects.get(user=ben).pk, "reason": "x", "verb": "take-back"}
    assert "1 task taken back" in client.post(address, body, follow=True).content.decode()
    body = {"task": "d/self/3", "to": factories.called(ana, campaign), "reason": "x", "verb": "give"}
    assert (
        f"given to {factories.called(ana, campaign)}"
        in client.post(address, body, follow=True).content.decode()
    )
    assert (
        f"{factories.called(ana, campaign)} holds this task already"
        in client.post(address, body, follow=True).content.decode()
    )
    nothing = client.post(address, {"verb": "pass", "reason": "x"}, follow=True)
    assert "Choose at least one task" in nothing.content.decode()


@pytest.mark.exhaustive
def test_who_looks_after_the_campaign_may_do_it_too(client, ana, rosa, campaign):
    keeper = factories.user("kim")
    CampaignRole.objects.create(campaign=campaign, user=keeper, role="researcher")
    own = began(ana, campaign)
    client.force_login(keeper)
    body = {"chosen": own.pk, "reason": "on holiday", "verb": "take-back"}
    client.post(reverse("held", args=[campaign.pk]), body)
    own.refresh_from_db()
    assert own.state == "taken"


@pytest.mark.exhaustive
def test_the_api_lists_takes_back_and_gives(client, ana, ben, rosa, campaign):
    client.force_login(rosa)
    own = began(ana, campaign)
    address = reverse("api-held", args=[campaign.pk])
    row = client.get(address).json()["results"][0]
    assert (row["assignment"], row["annotator"], row["about"]) == (
        own.pk,
        factories.called(ana, campaign),
        "d/self/0",
    )
    taking = reverse("api-take-back", args=[campaign.pk, own.pk])

    def post(where, **body):
        answer = client.post(where, json.dumps(body), content_type="application/json")
        return answer.status_code, answer.json()

    assert post(taking, reason="on holiday")[1]["state"] == "taken"
    status, told = post(taking, reason="on holiday")
    assert (status, told["code"]) == (409, "submission_refused")
    status, told = post(address, task="d/self/0", to=factories.called(ben, campaign), reason="you know it")
    assert (status, told["annotator"], told["given"]) == (201, factories.called(ben, campaign), "you know it")
    assert post(address, task="d/self/7", to=factories.called(ben, campaign), reason="x")[0] == 409
    assert (
        post(
            reverse("api-take-back", args=[campaign.pk, told["assignment"]]),
            reason="x",
            to=factories.called(ana, campaign),
        )[0]
        == 200
    )


def test_a_given_task_waits_its_turn_after_what_was_returned_and_its_lease_is_not_shortened(
    ana, rosa, campaign
):
    given = give(rosa, campaign, 2, ana)
    seat = leases.take_seat(campaign=campaign.pk, user=ana.pk)
    assert leases.resume(seat=seat).assignment == given.pk
    before = given.lease_expires
    given.refresh_from_db()
    assert given.lease_expires == before
