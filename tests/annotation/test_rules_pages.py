"""Groups and rules are set on pages and through the API; the campaign's page lists unassignable tasks."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns import rules
from annotation.models import PeopleGroup
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher() -> Client:
    client = Client()
    client.force_login(factories.user("rei", researcher=True))
    return client


def test_a_researcher_makes_a_group_describes_a_person_and_sets_rules(researcher: Client) -> None:
    corpus = factories.corpus()
    factories.dialogue(corpus, "d", turns=1, language="zh", metadata={"topic": "law"})
    ana, eva = factories.user("ana"), factories.user("eva")
    campaign = factories.campaign(corpus, annotators=[ana], raters=2, opened=False)
    researcher.post(reverse("add-group"), {"name": "lawyers"})
    group = PeopleGroup.objects.get()
    researcher.post(reverse("group", args=[group.pk]), {"name": "jurists", "people": [eva.pk]})
    told = {"languages": "zh, en", "writes_as": "A. Na\n"}
    assert researcher.post(reverse("described-person", args=[ana.pk]), told).status_code == 302
    assert researcher.post(reverse("described-person", args=[ana.pk]), {"languages": "3"}).status_code == 422
    listed = researcher.get(reverse("groups")).content.decode()
    assert "jurists" in listed
    assert "A. Na" in listed
    address = reverse("campaign-rules", args=[campaign.pk])
    sent = {"by_language": "on", "groups_by": "metadata.topic", f"required-{group.pk}": "1"}
    assert researcher.post(address, sent).headers["Location"] == address
    assert "law" in researcher.get(address).content.decode()
    sent |= {"strata_of": "metadata.topic", "stratum": "law", "stratum_group": str(group.pk)}
    assert researcher.post(address, sent).status_code == 302
    asked = rules.rules_of(type(campaign).objects.get(pk=campaign.pk))
    assert (asked.by_language, asked.strata, asked.required) == (True, {"law": group}, {group: 1})
    researcher.post(reverse("campaign-state", args=[campaign.pk]), {"verb": "open"})
    page = researcher.get(reverse("campaign", args=[campaign.pk])).content.decode()
    assert "1 task in Chinese for jurists: nobody here is in jurists and reads it." in page
    researcher.post(reverse("campaign-members", args=[campaign.pk]), {"group": [group.pk]})
    assert campaign.members.filter(user=eva).exists()


@pytest.mark.exhaustive
def test_programs_do_the_same_and_are_told_what_is_wrong(researcher: Client) -> None:
    corpus = factories.corpus()
    factories.dialogue(corpus, "d", turns=1, language="de")
    ana = factories.user("ana")
    campaign = factories.campaign(corpus, raters=1)
    made = researcher.post("/api/v1/groups/", {"name": "experts", "people": ["ana"]}, "application/json")
    assert made.status_code == 201
    again = researcher.post("/api/v1/groups/", {"name": "experts"}, "application/json")
    assert (again.status_code, list(again.json()["fields"])) == (400, ["name"])
    person = researcher.patch(f"/api/v1/annotators/{ana.pk}/", {"languages": ["de-AT"]}, "application/json")
    assert person.json()["languages"] == ["de"]
    assert person.json()["groups"] == ["experts"]
    address = f"/api/v1/campaigns/{campaign.pk}/rules/"
    told = researcher.put(address, {"by_language": True}, "application/json").json()
    assert told["unclaimable"][0]["sentence"] == "1 task in German: nobody here reads it."
    joined = {"groups": ["experts"]}
    researcher.post(f"/api/v1/campaigns/{campaign.pk}/members/", joined, "application/json")
    assert researcher.get(address).json()["unclaimable"] == []
    wrong = researcher.put(address, {"required": [{"group": "experts", "raters": 9}]}, "application/json")
    assert wrong.status_code == 422
