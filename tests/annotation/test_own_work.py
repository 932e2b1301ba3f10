"""An annotator's overview: own submissions, remaining tasks, deadlines of revisions, preferences."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.campaigns import editing
from annotation.errors import CampaignRefused, ComfortRefused, RevisionClosed
from annotation.models import Assignment
from annotation.people import preferences
from annotation.work import notes, own_work, screens
from annotation.work import task_actions as labelling
from annotation.work.own_work import SubmissionQuery
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def rei():
    return factories.user("rei", researcher=True)


@pytest.fixture
def ana():
    return factories.user("ana")


@pytest.fixture
def client(ana) -> Client:
    client = Client()
    client.force_login(ana)
    return client


@pytest.fixture
def campaign(rei, ana):
    corpus = factories.corpus()
    for number in range(2):
        dialogue = factories.dialogue(corpus, turns=2)
        lines = [{"text": f"apples {number}, says gpt-zeta"}, {"text": "pears come later"}]
        factories.continuation(dialogue, "x", system="gpt-zeta", turns=lines)
    return factories.campaign(corpus, annotators=[ana], by=rei, name="fruit", task_order="fixed")


def submit(person, campaign, value=4, **more):
    _seat, hold = labelling.start(by=person, campaign=campaign.pk)
    (item,) = screens.load(hold.task, assignment=hold.assignment).items
    questions = campaign.scheme_version.questions.filter(required=True, level="ordinal")
    answers = {str(item): {question.key: value for question in questions}}
    place = {"campaign": campaign.pk, "assignment": hold.assignment}
    labelling.submit(by=person, **place, answers=answers, **more)
    return hold, answers


def found(person, **wanted):
    return [row.pk for row in own_work.own_submissions(person, SubmissionQuery(**wanted))]


def test_a_search_finds_what_was_on_the_screen_and_nothing_else(ana, campaign) -> None:
    first, _ = submit(ana, campaign)
    assert found(ana, text="APPLES 0") == [first.assignment]
    assert found(ana, text="pears") == []  # comes after the turn that was rated
    assert found(ana, text="gpt-zeta") == []  # was hidden
    assert found(ana, text="zeta") == []


def test_submissions_are_found_by_answer_comment_flag_bookmark_and_campaign(ana, campaign) -> None:
    first, _ = submit(ana, campaign, 2, comment="Hard to say", flagged=True)
    second, _ = submit(ana, campaign, 5)
    place = {"by": ana, "campaign": campaign.pk, "assignment": second.assignment, "line": 1}
    notes.set_note(**place, comment="Strange turn", bookmarked=True)
    assert found(ana) == [second.assignment, first.assignment]
    assert (
        found(ana, text="hard to") == found(ana, flagged=True) == found(ana, answer="2") == [first.assignment]
    )
    assert found(ana, text="strange") == found(ana, bookmarked=True) == [second.assignment]
    assert found(ana, commented=True, campaign=campaign.pk) == [second.assignment, first.assignment]
    assert found(ana, until=timezone.now().date() - timedelta(days=2)) == []
    assert found(factories.user("ben")) == []


def test_the_pages_and_the_api_list_own_submissions_without_a_system(client, ana, campaign) -> None:
    hold, _ = submit(ana, campaign, comment="<b>bold</b>")
    page = client.get("/my/submissions/?text=apples&answer=4&since=yesterday").content.decode()
    assert f"/work/{campaign.pk}/{hold.assignment}/" in page
    assert "apples 0" in page
    assert "gpt-zeta" not in page
    assert "<b>bold" not in page
    (row,) = client.get("/api/v1/work/submissions/?commented=1").json()["results"]
    assert row["assignment"] == hold.assignment
    assert row["closed"] == ""
    assert row["answers"] == ["Overall: 4"]
    mine = client.get("/my/").content.decode()
    assert "1 task done, 3 left" in mine
    assert "gpt-zeta" not in mine


def test_a_question_without_a_short_name_is_named_by_its_wording(ana, campaign) -> None:
    submit(ana, campaign)
    campaign.scheme_version.questions.update(short_name="")
    (row,) = own_work.describe_submissions(own_work.own_submissions(ana, SubmissionQuery()))
    assert row.answers == ["How good is this response overall?: 4"]


def test_pace_counts_attention_and_days(ana, campaign) -> None:
    for attention in (2_000, 4_000, 9_000):
        submit(ana, campaign, client="tab", attention=attention)
    told = own_work.paces(user=ana.pk)[campaign.pk]
    assert (told.seconds, told.n, told.days[-1].tasks, told.days[-1].share) == (4.0, 3, 3, 100)
    assert len(told.days) == own_work.DAYS
    assert own_work.tasks_left(user=ana.pk) == {campaign.pk: 1}


def test_the_end_names_the_next_campaign_with_work(client, ana, rei, campaign) -> None:
    other = factories.campaign(
        campaign.corpus, "comperdial_dialogue", annotators=[ana], by=rei, name="next one"
    )
    for _ in range(4):
        submit(ana, campaign)
    page = client.get(f"/work/{campaign.pk}/").content.decode()
    assert "next one" in page
    assert f"/work/{other.pk}/" in page
    assert "/my/submissions/" in page


def test_a_submission_is_revised_for_as_long_as_the_campaign_says(client, ana, rei, campaign) -> None:
    hold, answers = submit(ana, campaign)
    place = {"by": ana, "campaign": campaign.pk, "assignment": hold.assignment, "answers": answers}
    assert labelling.submit(**place, comment="first", revising=True).status == "revised"
    editing.change(by=rei, campaign=campaign, revise_hours=2)
    assert labelling.submit(**place, comment="second", revising=True).status == "revised"
    Assignment.objects.filter(pk=hold.assignment).update(submitted_at=timezone.now() - timedelta(hours=3))
    with pytest.raises(RevisionClosed, match="2 hours"):
        labelling.submit(**place, comment="third", revising=True)
    editing.change(by=rei, campaign=campaign, revise_hours=0)
    with pytest.raises(RevisionClosed, match="cannot be revised"):
        labelling.reopen(by=ana, campaign=campaign.pk)
    assert "cannot be revised" in client.get(f"/work/{campaign.pk}/{hold.assignment}/").content.decode()
    with pytest.raises(CampaignRefused, match="rated, shown, off"):
        editing.change(by=rei, campaign=campaign, unseen_check="always")


def test_settings_of_a_person_are_kept_on_the_account(client, ana, campaign) -> None:
    page = client.get("/account/comfort/")
    assert page.status_code == 200
    told = {"auto_advance": True, "text_size": "large", "break_after": 30, "keys": {"flag": "k"}}
    path = "/api/v1/account/comfort/"
    kept = client.patch(path, told, content_type="application/json").json()
    assert kept["keys"]["flag"] == "k"
    assert kept["keys"]["undo"] == "u"
    assert '"text_size": "large"' in client.get(f"/work/{campaign.pk}/").content.decode()
    form = page.context["form"].initial | {"key_flag": "u", "text_size": "usual", "break_after": ""}
    refused = client.post("/account/comfort/", form)
    assert refused.status_code == 422
    assert "already" in refused.content.decode()
    swapped = preferences.change(by=ana, keys={"flag": "u", "undo": "m"})
    assert preferences.keys_of(swapped)["flag"] == "u"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"keys": {"flag": "5"}}, "key_flag"),
        ({"keys": {"flag": "kk"}}, "key_flag"),
        ({"keys": {"fly": "k"}}, "keys"),
        ({"break_after": 1}, "break_after"),
        ({"text_size": "huge"}, "text_size"),
    ],
)
def test_settings_that_cannot_be_are_refused(ana, changes, field) -> None:
    with pytest.raises(ComfortRefused) as refusal:
        preferences.change(by=ana, **changes)
    assert refusal.value.field == field
