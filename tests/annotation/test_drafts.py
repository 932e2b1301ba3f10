"""A draft or submit never overwrites changes that its writer has not seen."""

import json

import pytest
from django.urls import reverse

from annotation.errors import DraftConflict, SubmittedDifferently
from annotation.models import Assignment, Label
from annotation.work import task_actions as labelling
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana():
    return factories.user("ana")


@pytest.fixture
def campaign(ana):
    corpus = factories.corpus()
    factories.dialogue(corpus, "d", turns=3)
    return factories.campaign(corpus, annotators=[ana])


@pytest.fixture
def hold(ana, campaign):
    return labelling.start(by=ana, campaign=campaign.pk)[1]


@pytest.fixture
def save(ana, campaign, hold):
    def saved(value, *, version, client, based_on, **more):
        draft = {"version": version, "answers": {"1": {"overall": value}}}
        return labelling.save_draft(
            by=ana,
            campaign=campaign.pk,
            assignment=hold.assignment,
            draft=draft,
            client=client,
            based_on=based_on,
            **more,
        )

    return saved


@pytest.fixture
def submit(ana, campaign, hold):
    item = factories.item_name(Assignment.objects.get(pk=hold.assignment).task.item, hold.assignment)

    def submitted(value, **more):
        answers = {str(item): {"overall": value}}
        return labelling.submit(
            by=ana, campaign=campaign.pk, assignment=hold.assignment, answers=answers, **more
        )

    return submitted


def kept():
    return Assignment.objects.exclude(draft={}).get().draft["answers"]["1"]["overall"]


def test_a_tab_does_not_replace_the_draft_of_another_that_it_has_not_seen(save):
    save(2, version=1, client="first", based_on=0)
    with pytest.raises(DraftConflict, match="Choose which") as conflict:
        save(5, version=1, client="second", based_on=0)
    with pytest.raises(DraftConflict):
        save(5, version=7, client="second", based_on=0)
    assert conflict.value.stored["answers"] == {"1": {"overall": 2}}
    assert conflict.value.stored["version"] == 1
    assert kept() == 2


def test_a_tab_that_has_seen_the_draft_of_another_goes_on_from_it(save):
    save(2, version=1, client="first", based_on=0)
    assert save(5, version=2, client="second", based_on=1) == 2
    with pytest.raises(DraftConflict):
        save(3, version=3, client="first", based_on=1)
    assert kept() == 5


def test_a_tabs_own_drafts_may_arrive_in_any_order(save):
    assert save(2, version=1, client="first", based_on=0) == 1
    assert save(4, version=3, client="first", based_on=0) == 3
    assert save(3, version=2, client="first", based_on=1) == 3
    assert kept() == 4


def test_the_same_answers_from_two_tabs_are_no_conflict(save):
    save(2, version=1, client="first", based_on=0)
    assert save(2, version=1, client="second", based_on=0) == 1


def test_the_version_goes_on_after_a_submit_so_that_a_late_revision_is_noticed(ana, campaign, save, submit):
    submit(2)
    submit(3, revising=True, client="first", based_on=1)
    with pytest.raises(DraftConflict):
        save(5, version=2, client="second", based_on=1, revising=True)
    with pytest.raises(DraftConflict) as conflict:
        submit(5, revising=True, client="second", based_on=1)
    assert list(conflict.value.stored["answers"].values()) == [{"overall": 3}]
    assert Label.objects.get(superseded_at=None).number == 3


def test_a_submit_from_a_tab_that_has_not_seen_the_draft_of_another_is_refused(save, submit):
    save(2, version=1, client="first", based_on=0)
    with pytest.raises(DraftConflict):
        submit(5, client="second", based_on=0)
    assert Label.objects.count() == 0
    assert submit(5, client="second", based_on=1).status == "submitted"


def test_a_second_different_submit_says_so_and_keeps_what_stands(submit):
    submit(2)
    with pytest.raises(SubmittedDifferently, match="revise") as refused:
        submit(5)
    assert list(refused.value.stored["answers"].values()) == [{"overall": 2}]
    assert refused.value.stored["version"] == Assignment.objects.get(state="submitted").revision
    assert Label.objects.get().number == 2
    with pytest.raises(SubmittedDifferently):
        submit(2, comment="forgotten before")
    assert submit(2).status == "already submitted"


@pytest.mark.parametrize("route", ["work-submit", "api-work-submit"])
def test_the_refusal_carries_what_stands(client, ana, campaign, hold, submit, route):
    submit(2)
    client.force_login(ana)
    item = factories.item_name(Assignment.objects.get(pk=hold.assignment).task.item, hold.assignment)
    body = json.dumps({"answers": {str(item): {"overall": 5}}})
    refused = client.post(
        reverse(route, args=[campaign.pk, hold.assignment]), body, content_type="application/json"
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "submitted_differently")
    assert refused.json()["kept"]["answers"] == {str(item): {"overall": 2}}


@pytest.mark.exhaustive
@pytest.mark.parametrize("body", [{}, {"answers": None}, {"answers": []}, {"answers": "x"}])
@pytest.mark.parametrize("route", ["work-submit", "api-work-submit"])
def test_a_submit_without_answers_is_refused(client, ana, route, body):
    corpus = factories.corpus()
    factories.dialogue(corpus, turns=3)
    campaign = factories.campaign(corpus, "cocoeval_behaviours", annotators=[ana])
    hold = labelling.start(by=ana, campaign=campaign.pk)[1]
    client.force_login(ana)
    address = reverse(route, args=[campaign.pk, hold.assignment])
    refused = client.post(address, json.dumps(body), content_type="application/json")
    assert refused.status_code in (400, 422)
    assert Label.objects.count() == 0
