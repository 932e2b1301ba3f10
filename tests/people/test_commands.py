"""Groups, rules, roles in a campaign, join links and messages are reached from the command line, too."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotation.campaigns.rules import rules_of
from annotation.models import Campaign, CampaignRole, JoinLink, PeopleGroup, Thread
from annotation.people import participants
from tests import factories

pytestmark = pytest.mark.django_db


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


def run(command: str, *words: str) -> list[Any]:
    """Return what a command says, a JSON object a line."""
    out = io.StringIO()
    call_command(command, *words, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_groups_are_made_changed_described_and_deleted(campaign: Campaign) -> None:
    assert run("groups", "create", "experts", "ana", "--by", "rosa")[0]["people"] == ["ana"]
    changed = ("--rename", "expert", "--add", "ben", "--remove", "ana", "--by", "rosa")
    assert run("groups", "change", "experts", *changed)[0]["people"] == ["ben"]
    assert [row["name"] for row in run("groups", "list")] == ["expert"]
    told = run("groups", "describe", "ben", "--languages", "de", "pt-BR", "--by", "rosa")
    assert told[0]["languages"] == ["de", "pt"]
    run("groups", "describe", "ben", "--writes-as", "Ben B.", "--by", "rosa")
    (row,) = [row for row in run("groups", "people") if row["username"] == "ben"]
    assert (row["groups"], row["languages"], row["writes_as"]) == (["expert"], ["de", "pt"], ["Ben B."])
    run("groups", "delete", "expert", "--by", "rosa")
    assert not PeopleGroup.objects.exists()


def test_what_groups_cannot_be_is_one_line(campaign: Campaign) -> None:
    run("groups", "create", "experts", "--by", "rosa")
    for words, line in (
        (("create", "experts", "--by", "rosa"), "There is a group “experts” already"),
        (("create", "others", "nobody", "--by", "rosa"), "There is no account “nobody”"),
        (("create", "others", "--by", "ana"), "“ana” is not a researcher here"),
        (("change", "others", "--by", "rosa"), "There is no group “others”"),
        (("describe", "ana", "--by", "rosa"), "--languages, --writes-as or both"),
        (("describe", "ana", "--languages", "?", "--by", "rosa"), "not the tag of a language"),
    ):
        with pytest.raises(CommandError, match=line.replace("?", r"\?")):
            run("groups", *words)


def test_rules_are_set_from_a_file_and_told_in_words(campaign: Campaign, tmp_path: Path) -> None:
    run("groups", "create", "experts", "ana", "--by", "rosa")
    file = tmp_path / "rules.yaml"
    file.write_text("by_language: true\nrequired:\n- {group: experts, raters: 1}\n")
    campaign.state = Campaign.State.DRAFT
    campaign.save(update_fields=["state"])
    (told,) = run("campaign_rules", "set", "pilot", str(file), "--by", "rosa")
    assert told["required"] == [{"group": "experts", "raters": 1}]
    assert "At least 1 of experts on each task" in told["in_words"]
    assert rules_of(Campaign.objects.get()).by_language
    assert run("campaign_rules", "show", "pilot") == [told]
    file.write_text("required:\n- {group: nobody, raters: 1}\n")
    with pytest.raises(CommandError, match=r"rules\.yaml: required: .*nobody"):
        run("campaign_rules", "set", "pilot", str(file), "--by", "rosa")
    file.write_text("colour: blue\n")
    with pytest.raises(CommandError, match=r"there is no 'colour' here\. There is by_language"):
        run("campaign_rules", "set", "pilot", str(file), "--by", "rosa")
    file.write_text("by_language: false\n")
    with pytest.raises(CommandError, match="“ana” does not look after “pilot”"):
        run("campaign_rules", "set", "pilot", str(file), "--by", "ana")


def test_roles_in_a_campaign_are_given_and_taken(campaign: Campaign) -> None:
    (told,) = run("campaign_roles", "give", "pilot", "ana", "adjudicator", "--by", "rosa")
    assert (told["username"], told["role"]) == ("ana", "adjudicator")
    assert run("campaign_roles", "list", "pilot") == [told]
    with pytest.raises(CommandError, match="ana is no researcher of “pilot”"):
        run("campaign_roles", "take", "pilot", "ana", "researcher", "--by", "rosa")
    assert run("campaign_roles", "take", "pilot", "ana", "adjudicator", "--by", "rosa") == []
    assert not CampaignRole.objects.exists()
    with pytest.raises(CommandError, match="There is no campaign “other”"):
        run("campaign_roles", "list", "other")
    with pytest.raises(CommandError, match="not a researcher here"):
        run("campaign_roles", "give", "pilot", "ben", "researcher", "--by", "ben")


def test_join_links_are_made_listed_and_revoked(campaign: Campaign) -> None:
    more = ("--most", "5", "--until", "2090-01-31T18:00Z", "--address", "https://concord.example.org/")
    (told,) = run("join_links", "make", "pilot", "Prolific", *more, "--by", "rosa")
    link = JoinLink.objects.get()
    assert told["address"] == f"https://concord.example.org/join/{participants.key_of(link)}/"
    assert (told["most"], told["expires_at"]) == (5, "2090-01-31T18:00:00Z")
    assert [row["id"] for row in run("join_links", "list", "pilot")] == [link.pk]
    campaign.state = Campaign.State.OPEN
    campaign.save(update_fields=["state"])
    participants.join(link=link, visitor=participants.Came("p1"), browser="one")
    assert [row["participant"] for row in run("join_links", "participants", "pilot")] == ["p1"]
    code = participants.join(link=link, visitor=participants.Came("p1"), browser="another").code
    (browser,) = run("join_links", "browsers", "pilot")
    assert (browser["participant"], browser["code"]) == ("p1", code)
    run("join_links", "confirm", "pilot", str(browser["id"]), "--by", "rosa")
    assert participants.join(link=link, visitor=participants.Came("p1"), browser="another").user is not None
    run("join_links", "revoke", "pilot", str(link.pk), "--by", "rosa")
    assert JoinLink.objects.get().revoked_at is not None
    for words, line in (
        (("make", "pilot", "x", "--until", "soon", "--by", "rosa"), "“soon” is no moment"),
        (("make", "pilot", "x", "--return-url", "http://x", "--by", "rosa"), "https://"),
        (("revoke", "pilot", "0", "--by", "rosa"), "has no link 0"),
    ):
        with pytest.raises(CommandError, match=line):
            run("join_links", *words)


def test_messages_are_written_answered_and_closed(campaign: Campaign) -> None:
    assert len(run("messages", "write", "pilot", "Read the guidelines.", "--everybody", "--by", "rosa")) == 2
    (told,) = run("messages", "write", "pilot", "Thank you.", "--to", "ana", "--by", "rosa")
    number = str(told["thread"])
    (told,) = run("messages", "answer", "pilot", number, "And more.", "--by", "rosa")
    assert [said["text"] for said in told["messages"]] == ["Thank you.", "And more."]
    assert run("messages", "close", "pilot", number, "--by", "rosa")[0]["closed"] is not None
    with pytest.raises(CommandError, match="closed"):
        run("messages", "answer", "pilot", number, "Late.", "--by", "rosa")
    assert run("messages", "open", "pilot", number, "--by", "rosa")[0]["closed"] is None
    assert len(run("messages", "list", "pilot")) == Thread.objects.count() == 3
    assert run("messages", "list", "pilot", "--waiting") == []
    for words, line in (
        (("write", "pilot", "Hi.", "--to", "rosa", "--by", "rosa"), "does not take part"),
        (("write", "pilot", "Hi.", "--to", "ana", "--by", "ben"), "does not look after"),
        (("write", "pilot", "Hi.", "--to", "ana", "--line", "1", "--by", "rosa"), "no line 1"),
        (("answer", "pilot", "0", "Hi.", "--by", "rosa"), "has no thread 0"),
    ):
        with pytest.raises(CommandError, match=line):
            run("messages", *words)


def test_with_json_a_command_says_one_list(campaign: Campaign) -> None:
    for words in (("groups", "list"), ("campaign_roles", "list", "pilot"), ("messages", "list", "pilot")):
        assert run(*words, "--json") == [[]]
