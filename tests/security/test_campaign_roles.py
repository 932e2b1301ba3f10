"""Permissions of each role on a campaign's pages and routes: one row per role, one column per route."""

from __future__ import annotations

import html
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation import access
from annotation.models import Campaign, CampaignMember
from annotation.people import accounts
from annotation.work import task_actions as labelling
from tests import factories
from tests.checks import world

pytestmark = pytest.mark.django_db

READ = (
    *("campaign", "submissions", "held", "campaign-preview", "edit-campaign"),
    *("api-campaign", "api-submissions", "api-held"),
    *("campaign-watch", "campaign-checks", "api-campaign-watch", "api-checks", "api-check-results"),
    *("api-check-keys", "campaign-notes", "campaign-messages", "api-campaign-notes", "api-campaign-messages"),
    "api-campaign-report",
    *("campaign-rules", "participants", "participants-file"),
    *("api-campaign-rules", "api-join-links", "api-participants", "api-participant-browsers"),
)
MEASURED = ("golds", "new-gold", "exports", "transcripts")
RESEARCHERS_ALONE = ("campaign-webhooks", "api-campaign-webhooks")
CHANGED = (
    "campaign-state",
    "campaign-members",
    "campaign-guidelines",
    "campaign-consent",
    "reorder-campaign",
    "open-batch",
)
GRANTED = ("campaign-roles", "copy-campaign")
ELSEWHERE = ("corpora", "endpoints", "prompts", *MEASURED, "new-campaign", "new-study", "people")

# role: may read and change the campaign, may adjudicate it, may give roles in it, does its work
MATRIX = {
    "outsider": (False, False, False, False),
    "member": (False, False, False, True),
    "adjudicator": (False, True, False, False),
    "campaign researcher": (True, True, False, False),
    "researcher": (True, True, True, False),
    "administrator": (True, True, True, False),
}


@pytest.fixture
def campaign() -> Campaign:
    corpus = factories.corpus()
    factories.dialogue(corpus)
    return factories.campaign(corpus)


def person_as(role: str, campaign: Campaign) -> User:
    made = factories.user(researcher=role == "researcher", administrator=role == "administrator")
    if role == "member":
        CampaignMember.objects.create(campaign=campaign, user=made)
    if role in ("adjudicator", "campaign researcher"):
        by, given = campaign.created_by, role.split()[-1]
        assert by is not None
        accounts.give_campaign_role(by=by, campaign=campaign, person=made, role=given)
    return made


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.mark.parametrize("role", MATRIX)
def test_each_role_may_do_what_it_is_for_in_its_campaign_and_no_more(role: str, campaign: Campaign) -> None:
    manages, adjudicates, grants, works = MATRIX[role]
    person = person_as(role, campaign)
    client = client_of(person)
    for name in READ:
        assert (client.get(reverse(name, args=[campaign.pk])).status_code == 200) == manages, name
    for name in MEASURED:
        told = client.get(reverse(name), {"campaign": campaign.pk})
        assert (told.status_code == 200) == manages, name
    for name in RESEARCHERS_ALONE:
        is_let_in = client.get(reverse(name, args=[campaign.pk])).status_code == 200
        assert is_let_in == (role in ("researcher", "administrator")), name
    for name in CHANGED:
        assert (client.post(reverse(name, args=[campaign.pk])).status_code == 302) == manages, name
    for name in GRANTED:
        assert (client.post(reverse(name, args=[campaign.pk])).status_code == 302) == grants, name
    assert access.may_manage(person, campaign) == manages
    assert access.may_adjudicate(person, campaign) == adjudicates
    assert (client.get(reverse("work", args=[campaign.pk])).status_code == 200) == works


@pytest.mark.parametrize("role", ["adjudicator", "campaign researcher"])
def test_a_role_in_one_campaign_opens_no_other_and_nothing_else(role: str, campaign: Campaign) -> None:
    other = factories.campaign(campaign.corpus)
    person = person_as(role, campaign)
    client = client_of(person)
    for name in READ:
        assert client.get(reverse(name, args=[other.pk])).status_code == 403, name
    for name in MEASURED:
        assert client.get(reverse(name), {"campaign": other.pk}).status_code == 403, name
    for name in ELSEWHERE:
        assert client.get(reverse(name)).status_code == 403, name
    assert client.get(f"{reverse('edit-campaign', args=[campaign.pk])}?corpus=").status_code == 403
    assert not access.may_adjudicate(person, other)


def test_who_looks_after_a_campaign_finds_it_and_lists_no_other(campaign: Campaign) -> None:
    other = factories.campaign(campaign.corpus)
    client = client_of(person_as("campaign researcher", campaign))
    assert campaign.name in client.get(reverse("my-campaigns")).content.decode()
    listed = client.get(reverse("campaigns")).content.decode()
    assert campaign.name in listed
    assert other.name not in listed
    told = client.get(reverse("api-campaigns")).json()
    assert [one["id"] for one in told["results"]] == [campaign.pk]
    assert client.post(reverse("api-campaigns"), {}).status_code == 403


def test_a_role_taken_away_or_an_account_deactivated_holds_no_longer(campaign: Campaign) -> None:
    person = person_as("campaign researcher", campaign)
    person.is_active = False
    assert not access.may_manage(person, campaign)
    person.is_active = True
    by = campaign.created_by
    assert by is not None
    accounts.take_campaign_role(by=by, campaign_role=person.campaign_roles.get())
    assert not access.may_adjudicate(person, campaign)


def test_who_looks_after_a_campaign_is_led_to_nothing_that_is_closed_to_them(campaign: Campaign) -> None:
    person, ana = person_as("campaign researcher", campaign), factories.user()
    by = campaign.created_by
    assert by is not None
    factories.campaigns.add_member(by=by, campaign=campaign, user=ana)
    hold = world.start(ana, campaign)
    assert hold is not None
    labelling.submit(
        by=ana,
        campaign=campaign.pk,
        assignment=hold.assignment,
        answers={str(campaign.tasks.get(pk=hold.task).item.pk): {"overall": 4}},
        comment="odd",
    )
    client = client_of(person)
    for page in ("campaign", "submissions", "participants", "campaign-rules", "campaign-preview"):
        text = client.get(reverse(page, args=[campaign.pk])).content.decode()
        for address in set(re.findall(r'(?:href|src)="(/[^"#]*)', text)) - {"/"}:
            if not address.startswith("/static/"):
                opened = client.get(html.unescape(address)).status_code
                assert opened in (200, 302), (page, address, opened)
