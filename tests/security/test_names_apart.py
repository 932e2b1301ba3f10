"""One name per audience: user names for managing people, pseudonyms with their work, never both.

A campaign's manager reads all its pages, routes and files. Content with a user name has no answer, no remark
and no pseudonym, and nothing by which its rows could be matched with rows that have.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from annotation.campaigns.progress import members
from annotation.corpora.dialogue_view import answers
from annotation.models import (
    Assignment,
    Campaign,
    CampaignMember,
    Label,
    Participant,
    Rater,
    Slot,
    Task,
    Thread,
)
from annotation.people import accounts, participants
from annotation.work import messages, notes
from annotation.work import task_actions as labelling
from annotation.work.labels import called
from calibration.gold import derivation
from calibration.studies import study_actions as studies
from config.models import Event
from tests import factories
from tests.checks import world
from tests.security.far_ids import far_ids, models_in

pytestmark = pytest.mark.django_db
PEOPLE = {"zora-quill": 3, "abel-finch": 4}
"""User names of annotators, and how many tasks each submits."""
TOLD_BY_NAME = {
    *("campaign", "edit-campaign", "participants", "participants-file"),
    *("api-campaign", "api-participants"),
}
"""What tells of people by user name: managing and paying them."""


class Lived(NamedTuple):
    """A campaign in which people answered, remarked, noted, skipped, wrote and hold something."""

    campaign: Campaign
    people: list[User]
    by: User
    client: Client
    query: str
    ids: dict[str, str]


@pytest.fixture(scope="module")
def lived(module_database: None) -> Iterator[Lived]:
    with far_ids():
        yield live()


@pytest.fixture(scope="module")
def texts(lived: Lived) -> dict[str, str]:
    """What the campaign's manager may read, by route and path; what reading leaves behind is taken back."""
    with transaction.atomic():
        read = told(lived)
        transaction.set_rollback(True)
    return read


def live() -> Lived:
    people = [factories.user(name) for name in PEOPLE]
    made = world.campaign(*people, check=2, main=12, check_every=2, repeat_every=3, repeat_after=1)
    made.raters_per_item = 2
    rosa, boss = factories.user("rosa-manages"), factories.user("boss", researcher=True)
    accounts.give_campaign_role(by=boss, campaign=made, person=rosa, role="researcher")
    for person, many in zip(people, PEOPLE.values(), strict=True):
        work(person, made, many)
    study = studies.automatic(corpus=made.corpus, campaign=made, by=boss)
    gold = derivation.make(
        corpus=made.corpus, campaign=made, scheme_version=made.scheme_version, rule="majority", by=boss
    )
    client = Client()
    client.force_login(rosa)
    ids = {"campaign": str(made.pk), "gold": str(gold.pk), "study": str(study.pk)}
    return Lived(made, people, rosa, client, f"?campaign={made.pk}", ids)


def work(person: User, campaign: Campaign, many: int) -> None:
    """Submit so many tasks with remark and note, skip one, hold one, write about one and in general."""
    for number in range(many):
        hold = world.start(person, campaign)
        assert hold is not None
        place: dict[str, Any] = {"by": person, "campaign": campaign.pk, "assignment": hold.assignment}
        notes.set_note(line=1, comment=f"remark {number}", **place)
        item = Assignment.objects.get(pk=hold.assignment).task.item_id
        answers = {str(item): {"overall": 1 + number % 5}}
        labelling.submit(answers=answers, comment=f"remark {number}", flagged=True, **place)
    assert hold is not None
    messages.ask(
        text="remark about this", assignment=hold.assignment, line=1, by=person, campaign=campaign.pk
    )
    messages.ask(text="when am I paid?", by=person, campaign=campaign.pk)
    hold = world.start(person, campaign)
    assert hold is not None
    labelling.skip(by=person, campaign=campaign.pk, assignment=hold.assignment, reason="remark: too hard")
    assert world.start(person, campaign) is not None


def told(lived: Lived) -> dict[str, str]:
    """Return what the campaign's manager may read: the text by the name of its route, all routes walked."""
    found = {}
    for name, path in sorted(set(_paths(get_resolver().url_patterns, "/", lived.ids))):
        is_of_it = any(part in path for part in ("/campaigns/", "/studies/", "/gold"))
        answer = lived.client.get(path + ("" if is_of_it else lived.query), follow=True)
        if answer.status_code != 200:
            continue
        content = b"".join(answer) if answer.streaming else answer.content
        found[f"{name} {path}"] = content.decode(errors="replace")
    return found


FORMS = {"labels": ("csv", "jsonl"), "form": ("csv", "json", "jsonl", "html"), "media": ("csv", "json")}


def _paths(patterns: Any, prefix: str, ids: dict[str, str]) -> Any:
    for pattern in patterns:
        routes = [prefix + str(pattern.pattern)]
        if isinstance(pattern, URLResolver):
            yield from _paths(pattern.url_patterns, routes[0], ids)
            continue
        assert isinstance(pattern, URLPattern)
        for name in pattern.pattern.converters:
            place = re.compile(rf"<(?:\w+:)?{name}>")
            values = FORMS.get(name) or ([ids[name]] if name in ids else None)
            if name == "pk" and (thing := re.match(r"/(?:api/v1/)?(golds?|stud(?:y|ies))/", routes[0])):
                values = [ids["gold" if thing[1].startswith("gold") else "study"]]
            if values is None:
                routes = []
                break
            routes = [place.sub(value, route) for route in routes for value in values]
        is_about = ("<" not in "".join(routes)) and routes and pattern.pattern.converters
        if is_about or (pattern.name or "").startswith(("export", "api-export")):
            yield from ((pattern.name or "", route.replace("^", "").replace("$", "")) for route in routes)


def test_what_holds_a_user_name_holds_no_answer_and_no_pseudonym(lived: Lived, texts: dict[str, str]) -> None:
    called_so = [called(person.pk, lived.campaign.corpus_id) for person in lived.people]
    assert len(texts) > 30, sorted(texts)
    by_name, by_pseudonym = set(), set()
    for address, text in texts.items():
        name = address.split(" ")[0]
        names = [person for person in PEOPLE if person in text]
        pseudonyms = [one for one in called_so if one in text]
        if names:
            by_name.add(name)
            assert name in TOLD_BY_NAME, f"{address} tells user names"
        if pseudonyms:
            by_pseudonym.add(name)
        assert not (names and pseudonyms), f"{address} tells both names"
    assert {"campaign", "api-campaign"} <= by_name
    assert by_pseudonym >= {
        *("submissions", "held", "campaign-watch", "campaign-checks", "campaign-checks-file"),
        *("campaign-notes", "campaign-notes-file", "campaign-messages", "export-labels", "report"),
        *(
            "api-campaign-messages",
            "api-submissions",
            "api-held",
            "api-campaign-watch",
            "api-check-results",
            "api-campaign-notes",
        ),
    }


def test_no_account_number_stands_beside_work_and_no_number_of_work_beside_a_user_name(
    texts: dict[str, str],
) -> None:
    for address, text in texts.items():
        rows = models_in(text)
        if address.split(" ")[0] in TOLD_BY_NAME:
            assert not rows & {Rater, Assignment, Label, Task, Slot}, f"{address} tells ids of {rows}"
        else:
            assert not rows & {User, CampaignMember}, f"{address} tells ids of {rows}"


def test_every_thread_has_one_name_for_researchers_and_another_for_its_annotator(lived: Lived) -> None:
    """About a task or about the campaign, on the page, and over HTTP."""
    person = lived.people[0]
    mine, place = called(person.pk, lived.campaign.corpus_id), f"/api/v1/campaigns/{lived.campaign.pk}"
    sent = lived.client.post(f"{place}/messages/", {"to": [mine], "text": "a word"}, "application/json")
    assert sent.status_code == 201, sent.content
    page = lived.client.post(
        f"/campaigns/{lived.campaign.pk}/messages/", {"to": [mine], "text": "another"}, follow=True
    )
    assert "Sent to 1 annotator" in page.content.decode()
    rows = lived.client.get(f"{place}/messages/").json()["results"]
    threads = {row["thread"]: row for row in rows if row["annotator"] == mine}
    assert sorted(row["assignment"] is None for row in threads.values()) == [False, True, True, True]
    for row in rows:
        spoken = {row["annotator"], *(said["by"] for said in row["messages"])} - {lived.by.username}
        assert spoken <= {called(one.pk, lived.campaign.corpus_id) for one in lived.people}
    own = Client()
    own.force_login(person)
    told = own.get("/api/v1/work/messages/").json()["results"]
    assert {row["thread"] for row in told} == set(threads)
    assert {row["annotator"] for row in told} == {person.username}
    assert mine not in json.dumps(told) + own.get("/my/messages/").content.decode()


def test_nobody_is_written_to_by_user_name(lived: Lived) -> None:
    name = lived.people[0].username
    address = f"/campaigns/{lived.campaign.pk}/messages/"
    refused = lived.client.post(f"/api/v1{address}", {"to": [name], "text": "a word"}, "application/json")
    assert refused.status_code == 422
    assert "pseudonym" in refused.json()["detail"]
    page = lived.client.post(address, {"to": [name], "text": "a word"})
    assert page.status_code == 422
    assert name not in lived.client.get(f"{address}?annotator={name}").content.decode().replace(
        f"Messages with <bdi>{name}", ""
    )
    assert not Thread.objects.filter(messages__text="a word").exists()


def test_members_are_listed_without_what_tells_how_much_they_did(lived: Lived) -> None:
    assert {tuple(sorted(member)) for member in members(lived.campaign)} == {
        ("agreed_on", "agreed_to", "user_id", "username")
    }
    whole = lived.client.get(f"/api/v1/campaigns/{lived.campaign.pk}/").json()
    for member in whole["members"]:
        assert set(member) == {"username", "agreed_to", "agreed_on"}
    numbers = {str(row.user_id) for row in Assignment.objects.all()}
    for address in ("submissions", "watch", "held", "checks/results"):
        found = lived.client.get(f"/api/v1/campaigns/{lived.campaign.pk}/{address}/")
        assert found.status_code == 200, address
        assert "user" not in json.dumps(found.json()), f"{address} tells account numbers: {numbers}"


def test_work_is_told_in_the_order_of_pseudonyms(lived: Lived) -> None:
    """User names in the order of the alphabet beside pseudonyms in the same order would be a key."""
    place = f"/api/v1/campaigns/{lived.campaign.pk}"
    watch = [one["name"] for one in lived.client.get(f"{place}/watch/").json()["progress"]["annotators"]]
    checks = [one["annotator"] for one in lived.client.get(f"{place}/checks/results/").json()["people"]]
    assert watch == sorted(watch)
    assert checks == sorted(checks)
    assert len(watch) == len(checks) == 2


def test_answers_on_a_dialogue_s_page_are_in_the_order_of_pseudonyms() -> None:
    people = [factories.user("abel"), factories.user("zora")]
    corpus = factories.corpus()
    factories.dialogue(corpus, turns=1)
    made = factories.campaign(corpus, annotators=people, raters=2)
    for person in people:
        hold = world.start(person, made)
        assert hold is not None
        world.answer(person, made, hold)
    for secret in range(100):
        Rater.objects.filter(user=people[0]).update(secret=f"{secret:032x}")
        if called(people[0].pk, corpus.pk) > called(people[1].pk, corpus.pk):
            break
    (label, *_) = Label.objects.filter(campaign=made).select_related("item__continuation")
    orders = [list(names) for entry in answers(label.item.continuation) for names in entry.by_kind.values()]
    expected = [called(person.pk, corpus.pk) for person in reversed(people)]
    assert expected in orders
    assert all(order == sorted(order) for order in orders)


def test_nobody_is_found_by_user_name_where_answers_are(lived: Lived) -> None:
    person = lived.people[0]
    mine = called(person.pk, lived.campaign.corpus_id)
    place = f"/api/v1/campaigns/{lived.campaign.pk}"
    for address in ("submissions", "held"):
        both = [
            lived.client.get(f"{place}/{address}/?annotator={one}").json() for one in (person.username, mine)
        ]
        assert [bool(one["results"]) for one in both] == [False, True], address
    page = lived.client.get(f"/campaigns/{lived.campaign.pk}/submissions/?annotator={person.username}")
    assert mine not in page.content.decode()
    refused = lived.client.post(
        f"{place}/checks/people/",
        {"annotator": person.username, "verb": "pause", "reason": "x"},
        "application/json",
    )
    assert refused.status_code == 400
    done = lived.client.post(
        f"{place}/checks/people/", {"annotator": mine, "verb": "pause", "reason": "x"}, "application/json"
    )
    assert done.status_code == 204


def test_the_list_to_pay_by_tells_no_pseudonym_and_the_page_no_number_of_tasks() -> None:
    made = world.campaign(check=2, main=6, check_every=3)
    assert made.created_by is not None
    link = participants.make_link(by=made.created_by, campaign=made, name="Prolific")
    joined = participants.join(link=link, visitor=participants.Came("p1"), browser="b")
    assert joined.user is not None
    for _ in range(2):
        hold = world.start(joined.user, made)
        assert hold is not None
        world.answer(joined.user, made, hold)
    client = Client()
    client.force_login(made.created_by)
    (row,) = client.get(f"/api/v1/campaigns/{made.pk}/participants/").json()["results"]
    assert not {"submitted", "joined_at", "finished_at"} & set(row)
    page = client.get(f"/campaigns/{made.pk}/participants/").content.decode()
    assert "Submitted" not in page
    paid = client.get(f"/campaigns/{made.pk}/participants.csv")
    (line,) = csv.DictReader(io.StringIO(paid.content.decode()))
    assert line["submitted"] == "2"
    assert called(joined.user.pk, made.corpus_id) not in paid.content.decode()
    assert Event.objects.filter(verb="campaign: export participants").exists(), "it could tell who is who"
    assert Participant.objects.filter(campaign=made).count() == 1
