"""Groups, rules, campaign roles, join links and messages are available through the API, too."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError

from annotation.campaigns.rules import rules_of
from annotation.models import Campaign, CampaignRole, JoinLink, PeopleGroup, Thread
from annotation.people import participants
from tests import factories
from tests.api_command import api

pytestmark = pytest.mark.django_db
call = partial(api, account="rosa")


@pytest.fixture
def rosa() -> User:
    return factories.user("rosa", researcher=True)


@pytest.fixture
def campaign(rosa: User) -> Campaign:
    corpus = factories.corpus()
    factories.dialogue(corpus, language="de")
    return factories.campaign(
        corpus, annotators=[factories.user("ana"), factories.user("ben")], by=rosa, name="pilot"
    )


def refused(*words: str, account: str = "rosa") -> str:
    """The sentence of a refusal."""
    with pytest.raises(CommandError) as error:
        api(*words, account=account)
    assert error.value.returncode == 4
    return str(error.value)


def person(name: str) -> Any:
    (row,) = [row for row in call("GET", "annotators/")["results"] if row["username"] == name]
    return row


def test_groups_are_made_changed_described_and_deleted(campaign: Campaign) -> None:
    group = call("POST", "groups/", "name=experts", "people=ana")
    assert group["people"] == ["ana"]
    changed = call("PATCH", f"groups/{group['id']}/", "name=expert", "people=ben")
    assert (changed["name"], changed["people"]) == ("expert", ["ben"])
    assert [row["name"] for row in call("GET", "groups/")["results"]] == ["expert"]
    ben = f"annotators/{person('ben')['id']}/"
    assert call("PATCH", ben, "languages=de", "languages=pt-BR")["languages"] == ["de", "pt"]
    call("PATCH", ben, "writes_as=Ben B.")
    row = person("ben")
    assert (row["groups"], row["languages"], row["writes_as"]) == (["expert"], ["de", "pt"], ["Ben B."])
    call("DELETE", f"groups/{group['id']}/")
    assert not PeopleGroup.objects.exists()


def test_what_groups_cannot_be_is_one_line(campaign: Campaign) -> None:
    call("POST", "groups/", "name=experts")
    ana = f"annotators/{person('ana')['id']}/"
    assert "There is a group “experts” already" in refused("POST", "groups/", "name=experts")
    assert "username=nobody does not exist" in refused("POST", "groups/", "name=others", "people=nobody")
    assert "not the tag of a language" in refused("PATCH", ana, "languages=?")
    refused("POST", "groups/", "name=others", account="ana")
    refused("PATCH", "groups/0/", "name=others")


def test_rules_are_set_from_a_file(campaign: Campaign, tmp_path: Path) -> None:
    call("POST", "groups/", "name=experts", "people=ana")
    rules, file = f"campaigns/{campaign.pk}/rules/", tmp_path / "rules.yaml"
    file.write_text("by_language: true\nrequired:\n- {group: experts, raters: 1}\n")
    campaign.state = Campaign.State.DRAFT
    campaign.save(update_fields=["state"])
    written = call("PUT", rules, f"@{file}")
    assert written["required"] == [{"group": "experts", "raters": 1}]
    assert rules_of(Campaign.objects.get()).by_language
    assert call("GET", rules) == written
    file.write_text("required:\n- {group: nobody, raters: 1}\n")
    assert "nobody" in refused("PUT", rules, f"@{file}")
    assert "There is no field colour here" in refused("PUT", rules, "colour=blue")
    refused("PUT", rules, "by_language:=false", account="ana")


def test_roles_in_a_campaign_are_given_and_taken(campaign: Campaign) -> None:
    roles = f"campaigns/{campaign.pk}/roles/"
    role = call("POST", roles, "username=ana", "role=adjudicator")
    assert (role["username"], role["role"]) == ("ana", "adjudicator")
    assert call("GET", roles)["results"] == [role]
    refused("DELETE", f"{roles}0/")
    call("DELETE", f"{roles}{role['id']}/")
    assert not CampaignRole.objects.exists()
    refused("GET", "campaigns/0/roles/")
    refused("POST", roles, "username=ben", "role=researcher", account="ben")


def test_join_links_are_made_listed_and_revoked(campaign: Campaign) -> None:
    links = f"campaigns/{campaign.pk}/join-links/"
    made = call(
        *("POST", links, "name=Prolific", "most=5", "expires_at=2090-01-31T18:00Z"),
        *("--address", "http://localhost:9000"),
    )
    link = JoinLink.objects.get()
    assert made["address"] == f"http://localhost:9000/join/{participants.key_of(link)}/"
    assert (made["most"], made["expires_at"]) == (5, "2090-01-31T18:00:00Z")
    assert [row["id"] for row in call("GET", links)["results"]] == [link.pk]
    campaign.state = Campaign.State.OPEN
    campaign.save(update_fields=["state"])
    participants.join(link=link, visitor=participants.Came("p1"), browser="one")
    rows = call("GET", f"campaigns/{campaign.pk}/participants/")["results"]
    assert [row["participant"] for row in rows] == ["p1"]
    code = participants.join(link=link, visitor=participants.Came("p1"), browser="another").code
    (browser,) = call("GET", f"campaigns/{campaign.pk}/browsers/")["results"]
    assert (browser["participant"], browser["code"]) == ("p1", code)
    call("POST", f"campaigns/{campaign.pk}/browsers/{browser['id']}/confirm/")
    assert participants.join(link=link, visitor=participants.Came("p1"), browser="another").user is not None
    call("DELETE", f"{links}{link.pk}/")
    assert JoinLink.objects.get().revoked_at is not None
    assert "expires_at" in refused("POST", links, "name=x", "expires_at=soon")
    assert "https://" in refused("POST", links, "name=x", "return_url=http://x")
    refused("DELETE", f"{links}0/")


def test_messages_are_written_answered_and_closed(campaign: Campaign) -> None:
    threads = f"campaigns/{campaign.pk}/messages/"
    first, _ = call("POST", threads, "text=Read the guidelines.", "everybody=true")
    to = f"to={first['annotator']}"  # by pseudonym
    (thread,) = call("POST", threads, "text=Thank you.", to)
    address = f"{threads}{thread['thread']}/"
    answered = call("POST", address, "verb=answer", "text=And more.")
    assert [message["text"] for message in answered["messages"]] == ["Thank you.", "And more."]
    assert call("POST", address, "verb=close")["closed"]
    assert "closed" in refused("POST", address, "verb=answer", "text=Late.")
    assert not call("POST", address, "verb=open")["closed"]
    assert call("GET", threads)["count"] == Thread.objects.count() == 3
    assert "does not take part" in refused("POST", threads, "text=Hi.", "to=rosa")
    assert "no line 1" in refused("POST", threads, "text=Hi.", to, "line=1")
    refused("POST", threads, "text=Hi.", to, account="ben")
    refused("POST", f"{threads}0/", "verb=answer", "text=Hi.")
