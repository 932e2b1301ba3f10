"""Steps before the next task: agreeing to a consent text, and reading changed guidelines."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import progress
from annotation.errors import AnswerRefused, CampaignRefused, ConsentNeeded, NotTaskHolder
from annotation.models import Assignment, Campaign, Consent, ConsentGiven, Guidelines, GuidelinesRead, Label
from annotation.people.deletion import delete_person
from annotation.work import task_actions as labelling
from annotation.work import task_page
from annotation.work.leases import Hold
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana() -> User:
    return factories.user("ana")


@pytest.fixture
def rosa() -> User:
    return factories.user("rosa", researcher=True)


@pytest.fixture
def campaign(ana: User) -> Campaign:
    """Three turns to be rated once each."""
    corpus = factories.corpus()
    factories.dialogue(corpus, "d", turns=3)
    return factories.campaign(corpus, annotators=[ana])


def start(user: User, campaign: Campaign) -> Hold | None:
    return labelling.start(by=user, campaign=campaign.pk)[1]


def submit(user: User, campaign: Campaign, hold: Hold, **more: Any) -> labelling.Outcome:
    item = Assignment.objects.get(pk=hold.assignment).task.item_id
    answers = {str(item): {"overall": 4}}
    return labelling.submit(
        by=user, campaign=campaign.pk, assignment=hold.assignment, answers=answers, **more
    )


def waiting(user: User, campaign: Campaign) -> task_page.Waiting | None:
    return task_page.waiting(labelling.start(by=user, campaign=campaign.pk)[0])


def begin(user: User, campaign: Campaign) -> Hold:
    hold = start(user, campaign)
    assert hold is not None
    return hold


def test_nobody_gets_a_task_before_they_agreed_and_then_it_is_kept_with_its_time(ana, rosa, campaign):
    campaigns.set_consent(by=rosa, campaign=campaign, text="Your answers are published.")
    assert start(ana, campaign) is None
    before = waiting(ana, campaign)
    assert before is not None
    assert (before.what, before.version, before.text) == ("consent", 1, "Your answers are published.")
    task_page.accept(by=ana, campaign=campaign.pk, what="consent", version=1)
    task_page.accept(by=ana, campaign=campaign.pk, what="consent", version=1)
    assert start(ana, campaign)
    given = ConsentGiven.objects.get()
    assert (given.user, given.consent.version) == (ana, 1)
    assert [(one["agreed_to"], one["agreed_on"]) for one in progress.members(campaign)] == [
        (1, given.at.date())
    ]


@pytest.mark.exhaustive
def test_an_answer_given_before_a_new_consent_text_waits_for_it_and_is_not_lost(ana, rosa, campaign):
    hold = begin(ana, campaign)
    campaigns.set_consent(by=rosa, campaign=campaign, text="Your answers are published.")
    with pytest.raises(ConsentNeeded):
        submit(ana, campaign, hold)
    item = Assignment.objects.get(pk=hold.assignment).task.item_id
    draft = {"version": 1, "answers": {str(item): {"overall": 4}}}
    labelling.save_draft(by=ana, campaign=campaign.pk, assignment=hold.assignment, draft=draft)
    assert not Label.objects.exists()
    task_page.accept(by=ana, campaign=campaign.pk, what="consent", version=1)
    again = begin(ana, campaign)
    assert (again.assignment, again.draft["answers"]) == (hold.assignment, {str(item): {"overall": 4}})
    assert submit(ana, campaign, again).status == "submitted"


def test_a_changed_consent_text_is_asked_for_again_and_the_one_agreed_to_stays(ana, rosa, campaign):
    campaigns.set_consent(by=rosa, campaign=campaign, text="First.")
    campaigns.set_consent(by=rosa, campaign=campaign, text="First, better worded.")
    assert Consent.objects.get().version == 1
    task_page.accept(by=ana, campaign=campaign.pk, what="consent", version=1)
    campaigns.set_consent(by=rosa, campaign=campaign, text="Second.")
    before = waiting(ana, campaign)
    assert before is not None
    assert before.version == 2
    assert Consent.objects.get(version=1).text == "First, better worded."
    campaigns.set_consent(by=rosa, campaign=campaign, text="")
    assert start(ana, campaign)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE annotation_consent SET text = 'Other.'",
        "DELETE FROM annotation_consent",
        "UPDATE annotation_consentgiven SET at = now()",
        "DELETE FROM annotation_consentgiven",
        "UPDATE annotation_guidelinesread SET at = now()",
    ],
)
def test_the_database_keeps_what_somebody_agreed_to(ana, rosa, campaign, statement):
    campaigns.set_consent(by=rosa, campaign=campaign, text="First.")
    task_page.accept(by=ana, campaign=campaign.pk, what="consent", version=1)
    begin(ana, campaign)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.exhaustive
def test_a_person_who_is_deleted_takes_their_agreements_along(ana, campaign, rosa):
    campaigns.set_consent(by=rosa, campaign=campaign, text="First.")
    task_page.accept(by=ana, campaign=campaign.pk, what="consent", version=1)
    begin(ana, campaign)
    delete_person(person=ana, by=factories.user("ada", administrator=True), confirmation="ana")
    assert not ConsentGiven.objects.exists()
    assert not GuidelinesRead.objects.exists()
    assert Consent.objects.get().text == "First."


def test_changed_guidelines_come_with_their_difference_before_the_next_task(ana, rosa, campaign):
    known = Guidelines.objects.get().text
    hold = begin(ana, campaign)
    campaigns.set_guidelines(by=rosa, campaign=campaign, text=known + "\nRate the reply, not the person.")
    outcome = submit(ana, campaign, hold)
    assert (outcome.status, outcome.next) == ("submitted", None)
    before = task_page.waiting(outcome.seat)
    assert before is not None
    assert (before.what, before.since, before.version) == ("guidelines", 1, 2)
    new = [row.right.text for row in before.changes if not row.skipped and not row.same and row.right]
    assert new == ["Rate the reply, not the person."]
    task_page.accept(by=ana, campaign=campaign.pk, what="guidelines", version=2)
    assert begin(ana, campaign).assignment != hold.assignment


def test_two_changes_are_read_as_one_and_reading_the_first_is_not_enough(ana, rosa, campaign):
    begin(ana, campaign)
    campaigns.set_guidelines(by=rosa, campaign=campaign, text="Second.")
    task_page.accept(by=ana, campaign=campaign.pk, what="guidelines", version=2)
    campaigns.set_guidelines(by=rosa, campaign=campaign, text="Third.")
    campaigns.set_guidelines(by=rosa, campaign=campaign, text="Third, again.")
    before = waiting(ana, campaign)
    assert before is not None
    assert (before.since, before.version, before.text) == (2, 3, "Third, again.")
    task_page.accept(by=ana, campaign=campaign.pk, what="guidelines", version=2)
    assert waiting(ana, campaign) == before


def test_who_begins_now_knows_the_guidelines_in_force(ana, rosa, campaign):
    campaigns.set_guidelines(by=rosa, campaign=campaign, text="Second.")
    assert start(ana, campaign)
    assert GuidelinesRead.objects.get().guidelines.text == "Second."


def test_guidelines_that_somebody_read_are_not_rewritten(ana, rosa, campaign):
    task_page.accept(by=ana, campaign=campaign.pk, what="guidelines", version=1)
    assert campaigns.set_guidelines(by=rosa, campaign=campaign, text="New.").version == 2


def test_a_paused_campaign_asks_for_nothing(ana, rosa, campaign):
    hold = begin(ana, campaign)
    campaigns.set_consent(by=rosa, campaign=campaign, text="First.")
    campaigns.pause(by=rosa, campaign=campaign)
    shown = begin(ana, campaign)
    assert shown.assignment == hold.assignment


def test_only_members_accept_and_only_what_there_is(ana, campaign):
    with pytest.raises(NotTaskHolder):
        task_page.accept(by=factories.user("eve"), campaign=campaign.pk, what="guidelines", version=1)
    with pytest.raises(AnswerRefused, match="no version 7 of its guidelines"):
        task_page.accept(by=ana, campaign=campaign.pk, what="guidelines", version=7)
    with pytest.raises(AnswerRefused, match="no version 1 of its consent text"):
        task_page.accept(by=ana, campaign=campaign.pk, what="consent", version=1)


def test_a_consent_text_does_not_name_a_system(rosa, campaign):
    factories.continuation(factories.dialogue(campaign.corpus, "e"), "x", system="GPT-4o", turns=[])
    with pytest.raises(CampaignRefused, match="GPT-4o"):
        campaigns.set_consent(by=rosa, campaign=campaign, text="You rate answers of GPT-4o.")


@pytest.mark.exhaustive
def test_the_pages_ask_escape_and_go_on(client: Client, ana, rosa, campaign):
    client.force_login(rosa)
    client.post(f"/campaigns/{campaign.pk}/consent/", {"text": "<script>x</script> **Agree?**"})
    assert "not yet" in client.get(f"/campaigns/{campaign.pk}/").content.decode()
    client.force_login(ana)
    page = client.get(f"/work/{campaign.pk}/").context["state"]
    assert page["task"] is None
    assert "<strong>Agree?</strong>" in page["html"]
    assert "<script>" not in page["html"]
    sent = {"what": "consent", "version": 1}
    answer = client.post(f"/work/{campaign.pk}/accept/", sent, content_type="application/json").json()
    assert answer["task"]["assignment"] == Assignment.objects.get().pk
    assert client.post(
        f"/work/{campaign.pk}/accept/", {"what": "x"}, content_type="application/json"
    ).json() == {
        "error": "Say what you accept: “consent” or “guidelines”, not “x”.",
        "code": "answer_refused",
    }
    client.force_login(rosa)
    assert "version 1, " in client.get(f"/campaigns/{campaign.pk}/").content.decode()


def test_a_program_is_told_what_waits_and_accepts_it(client: Client, ana, rosa, campaign):
    client.force_login(rosa)
    told = client.put(
        f"/api/v1/campaigns/{campaign.pk}/consent/", {"text": "First."}, content_type="application/json"
    )
    assert told.json() == {"text": "First.", "version": 1}
    client.force_login(ana)
    before = client.post(f"/api/v1/work/{campaign.pk}/next/").json()
    assert before["task"] is None
    assert before["waiting"] == {
        "what": "consent", "version": 1, "text": "First.", "since": None, "changes": []
    }  # fmt: skip
    sent = {"what": "consent", "version": 1}
    after = client.post(f"/api/v1/work/{campaign.pk}/accept/", sent, content_type="application/json").json()
    assert after["waiting"] is None
    assert after["task"]
    client.force_login(rosa)
    found = client.get(f"/api/v1/campaigns/{campaign.pk}/").json()
    assert (found["consent"], found["members"][0]["agreed_to"]) == ("First.", 1)


def test_time_on_task_is_attention_where_a_page_told_it(ana, campaign):
    hold = begin(ana, campaign)
    Assignment.objects.filter(pk=hold.assignment).update(leased_at=timezone.now() - timedelta(minutes=10))
    draft = {"version": 1, "answers": {}}
    keep = {"by": ana, "campaign": campaign.pk, "assignment": hold.assignment, "draft": draft}
    labelling.save_draft(**keep, client="a tab", attention=5_000)
    labelling.save_draft(**keep | {"draft": {"version": 2, "answers": {}}}, client="a tab", attention=9_000)
    late = {"draft": {"version": 3, "answers": {}}, "based_on": 2}
    labelling.save_draft(**keep | late, client="b", attention=1_500)
    seat = submit(ana, campaign, hold, client="b", based_on=3, attention=2_500).seat
    assert seat.pace == pytest.approx(11.5)
    assert Assignment.objects.get(pk=hold.assignment).attention == {"a tab": 9_000, "b": 2_500}


def test_attention_told_twice_or_late_counts_once(ana, campaign):
    hold = begin(ana, campaign)
    keep = {"by": ana, "campaign": campaign.pk, "assignment": hold.assignment, "client": "a"}
    labelling.save_draft(**keep, draft={"version": 1, "answers": {}}, attention=9_000)
    labelling.save_draft(**keep, draft={"version": 1, "answers": {}}, attention=9_000)
    labelling.save_draft(**keep, draft={"version": 2, "answers": {}}, attention=4_000)
    submit(ana, campaign, hold, client="a", attention=10**12)
    assert Assignment.objects.get(pk=hold.assignment).attention == {"a": labelling.MOST_ATTENTION_MS}
