"""External annotators: they arrive by a link, work in one campaign, and finish with a code."""

from __future__ import annotations

import csv
import hmac
import re
import threading
from datetime import timedelta
from ipaddress import ip_network
from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connections, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import campaign_actions as campaigns
from annotation.errors import CampaignRefused, JoinRefused, LinkRefused, RoleRefused, TokenRefused
from annotation.models import Campaign, CampaignMember, JoinLink, Participant, ParticipantBrowser
from annotation.people import accounts, participants
from annotation.people import links as one_time_links
from config.models import Event
from tests import factories
from tests.config.test_emptying import wait_until_it_waits

pytestmark = pytest.mark.django_db
PROLIFIC = {"PROLIFIC_PID": "5f1", "STUDY_ID": "s1", "SESSION_ID": "z1"}


@pytest.fixture
def campaign() -> Campaign:
    corpus = factories.corpus()
    for number in range(2):
        factories.dialogue(corpus, f"d{number}", turns=1)
    return factories.campaign(corpus, raters=3, consent="I agree.")


def link_into(campaign: Campaign, **told: object) -> JoinLink:
    by = campaign.created_by
    assert by is not None
    return participants.make_link(by=by, campaign=campaign, name="Prolific", **told)  # type: ignore[arg-type]


def address_of(link: JoinLink) -> str:
    return reverse("join", args=[participants.key_of(link)])


def come(link: JoinLink, client: Client | None = None, **ids: str) -> Client:
    client = client or Client()
    answer = client.post(address_of(link), {"participant": "p1"} | ids)
    assert answer.status_code == 302, answer.content
    return client


def ask(client: Client, campaign: Campaign, path: str, **body: object) -> dict:
    answer = client.post(f"/work/{campaign.pk}/{path}", body, content_type="application/json")
    assert answer.status_code == 200, answer.content
    return answer.json()


def rate(client: Client, campaign: Campaign, task: dict) -> dict:
    answers = {str(item): {"overall": 3} for item in task["items"]}
    return ask(client, campaign, f"{task['assignment']}/submit/", answers=answers)


def test_somebody_from_prolific_agrees_rates_all_there_is_and_takes_their_code_back(campaign) -> None:
    link = link_into(campaign, return_url="https://app.prolific.com/done?cc={code}&p={participant}")
    client = Client()
    looked = client.get(address_of(link), PROLIFIC)
    assert "5f1" in looked.content.decode()
    assert not Participant.objects.exists()  # looking, as a preview of a link does, makes nobody
    assert looked["X-Frame-Options"] == "DENY"
    client.post(address_of(link), PROLIFIC)
    who = Participant.objects.get()
    assert (who.external_id, who.study_id, who.session_id) == ("5f1", "s1", "z1")
    assert "I agree." in ask(client, campaign, "next/")["html"]
    state = ask(client, campaign, "accept/", what="consent", version=1)
    state = rate(client, campaign, state["task"])
    assert state["task"] is not None
    assert "completion code" not in state["html"]
    state = rate(client, campaign, state["task"])
    who.refresh_from_db()
    assert f"https://app.prolific.com/done?cc={who.code}&amp;p=5f1" in state["html"]
    assert len(who.code) == 10
    del client.cookies["concord_session"]  # the session ended
    again = come(link, client, PROLIFIC_PID="5f1", participant="")
    assert who.code in ask(again, campaign, "next/")["html"]
    assert User.objects.filter(username__startswith="participant-").count() == 1


def test_the_code_comes_at_the_limit_and_not_before_or_for_nothing(campaign) -> None:
    campaign.most_tasks = 1
    campaign.save()
    link = link_into(campaign, code="CX1")
    client = come(link)
    state = ask(client, campaign, "accept/", what="consent", version=1)
    assert "CX1" in rate(client, campaign, state["task"])["html"]
    late = come(link, participant="p2")
    campaigns.close(by=campaign.created_by, campaign=campaign)
    assert "CX1" not in ask(late, campaign, "next/")["html"]
    assert "CX1" in ask(client, campaign, "next/")["html"]


def test_programs_find_the_code_where_the_page_shows_it(campaign) -> None:
    client = come(link_into(campaign, code="CX1", return_url="https://app.prolific.com/done?cc={code}"))
    api, told = f"/api/v1/work/{campaign.pk}/", {"what": "consent", "version": 1}
    assert client.post(f"{api}next/").json()["completion"] is None
    state = client.post(f"{api}accept/", told, content_type="application/json").json()
    while state["task"]:
        assert state["completion"] is None
        answers = {"answers": {str(item): {"overall": 3} for item in state["task"]["items"]}}
        address = f"{api}{state['task']['assignment']}/submit/"
        state = client.post(address, answers, content_type="application/json").json()
    expected = {"code": "CX1", "address": "https://app.prolific.com/done?cc=CX1"}
    assert state["completion"] == expected
    assert client.post(f"{api}next/").json()["completion"] == expected


def test_a_daily_limit_or_a_pause_is_not_the_end(campaign) -> None:
    campaign.most_tasks_a_day = 1
    campaign.save()
    client = come(link_into(campaign, code="CX1"))
    state = ask(client, campaign, "accept/", what="consent", version=1)
    assert "CX1" not in rate(client, campaign, state["task"])["html"]
    campaigns.pause(by=campaign.created_by, campaign=campaign)
    assert "CX1" not in ask(client, campaign, "next/")["html"]


def test_a_link_opens_that_campaign_and_nothing_else(campaign) -> None:
    other = factories.campaign(campaign.corpus)
    client = come(link_into(campaign))
    person = Participant.objects.get().user
    assert not person.has_usable_password()
    assert client.get(reverse("work", args=[other.pk])).status_code == 404
    for name in ("corpora", "campaigns", "exports", "people", "groups"):
        assert client.get(reverse(name)).status_code == 403
    by = campaign.created_by
    for act, refusal in (
        (lambda: campaigns.add_member(by=by, campaign=other, user=person), CampaignRefused),
        (lambda: accounts.make(person=person, name="t", scope="write", days=1), TokenRefused),
        (lambda: one_time_links.reset(by=by, person=person), LinkRefused),
        (
            lambda: accounts.give_campaign_role(by=by, campaign=campaign, person=person, role="adjudicator"),
            RoleRefused,
        ),
    ):
        with pytest.raises(refusal):
            act()
    with pytest.raises(IntegrityError, match="joined another campaign"), transaction.atomic():
        CampaignMember.objects.create(campaign=other, user=person)


def test_a_link_ends_when_it_is_full_late_or_revoked_and_for_who_was_taken_out(campaign) -> None:
    link = link_into(campaign, most=1)
    client = come(link)
    assert Client().post(address_of(link), {"participant": "p2"}).status_code == 410
    come(link, client)  # who is in can come back
    person = Participant.objects.get().user
    campaigns.remove_member(by=campaign.created_by, campaign=campaign, user=person)
    assert Client().post(address_of(link), {"participant": "p1"}).status_code == 410
    late = link_into(campaign)
    JoinLink.objects.filter(pk=late.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    revoked = link_into(campaign)
    participants.revoke(by=campaign.created_by, link=revoked)
    for key in (participants.key_of(late), participants.key_of(revoked), "1", f"{link.pk}.{'x' * 43}"):
        assert Client().get(reverse("join", args=[key])).status_code == 410


@pytest.mark.parametrize("hostile", ["<script>", "a b", "x" * 65, "=1+1", "ä", "../etc", "-x"])
def test_an_id_that_is_none_is_refused_and_never_shown_raw(campaign, hostile: str) -> None:
    link = link_into(campaign)
    answer = Client().get(address_of(link), {"PROLIFIC_PID": hostile})
    assert answer.status_code == 422
    assert hostile not in answer.content.decode().partition('id="main">')[2]
    assert Client().post(address_of(link), {"workerId": "ok", "hitId": hostile}).status_code == 422
    assert not Participant.objects.exists()


def test_who_only_looks_at_mturk_and_who_brings_no_id_are_told_what_to_do(campaign) -> None:
    address = address_of(link_into(campaign))
    looking = Client().get(address, {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"})
    assert "Accept the task" in looking.content.decode()
    assert 'id="participant"' in Client().get(address).content.decode()
    assert Client().post(address, {"participant": ""}).status_code == 422


def test_too_many_from_one_address_wait(campaign, monkeypatch) -> None:
    monkeypatch.setattr(participants, "TRIES_AN_HOUR", 2)
    link = link_into(campaign)
    come(link)
    come(link, participant="p2")
    refused = Client().post(address_of(link), {"participant": "p3"})
    assert (refused.status_code, refused["Retry-After"]) == (429, "3600")
    come(link_into(campaign), participant="p3")  # another link is counted by itself


def test_behind_a_declared_proxy_joins_are_counted_for_the_address_that_asked_it(
    campaign, monkeypatch, settings
) -> None:
    monkeypatch.setattr(participants, "TRIES_AN_HOUR", 1)
    link = link_into(campaign)

    def status(number: int, sender: str) -> int:
        ids = {"participant": f"p{number}"}
        return Client().post(address_of(link), ids, HTTP_X_FORWARDED_FOR=sender).status_code

    settings.PROXIES = [ip_network("127.0.0.1")]
    assert [status(1, "203.0.113.1"), status(2, "203.0.113.2"), status(3, "6.6.6.6, 203.0.113.2")] == [
        *(302, 302),
        429,
    ]
    settings.PROXIES = []  # nobody who sets the header by themselves gets another count
    assert [status(4, "203.0.113.4"), status(5, "203.0.113.5")] == [302, 429]


def join_code(answer: HttpResponse) -> str:
    assert answer.status_code == 403
    (code,) = re.findall(r">([A-Z2-7]{8})<", answer.content.decode())
    return code


@pytest.mark.exhaustive
def test_an_id_that_is_known_is_let_into_no_other_browser_before_a_researcher_confirms_it(campaign) -> None:
    link = link_into(campaign)
    own = come(link)
    cookie = own.cookies["concord_browser"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/join/")
    guesser, phone = Client(), Client()
    guessed = join_code(guesser.post(address_of(link), {"participant": "p1"}))
    code = join_code(phone.post(address_of(link), {"participant": "p1"}))
    assert code != guessed
    for client in (guesser, phone):
        assert "sessionid" not in client.cookies
        assert client.get(reverse("work", args=[campaign.pk])).status_code == 302
    assert join_code(phone.post(address_of(link), {"participant": "p1"})) == code  # asked again, the same
    researcher = Client()
    researcher.force_login(factories.user(researcher=True))
    page = reverse("participants", args=[campaign.pk])
    shown = researcher.get(page).content.decode()
    assert code in shown
    assert guessed in shown
    rows = researcher.get(f"/api/v1/campaigns/{campaign.pk}/browsers/").json()["results"]
    assert [(row["participant"], row["code"]) for row in rows] == [("p1", guessed), ("p1", code)]
    researcher.post(page, {"confirm": str(rows[1]["id"])})
    come(link, phone)
    come(link, own)
    assert join_code(guesser.post(address_of(link), {"participant": "p1"})) == guessed
    assert Participant.objects.count() == 1
    event = Event.objects.get(verb="campaign: confirm browser")
    assert event.detail["annotator"] == Participant.objects.get().user.username


def test_a_browser_is_confirmed_over_http_and_in_its_own_campaign_alone(campaign) -> None:
    link = link_into(campaign)
    come(link)
    phone = Client()
    join_code(phone.post(address_of(link), {"participant": "p1"}))
    (browser,) = participants.waiting(campaign)
    other = factories.campaign(campaign.corpus)
    researcher = Client()
    researcher.force_login(factories.user(researcher=True))
    elsewhere = researcher.post(f"/api/v1/campaigns/{other.pk}/browsers/{browser.pk}/confirm/")
    assert elsewhere.status_code == 404
    assert phone.post(address_of(link), {"participant": "p1"}).status_code == 403
    answer = researcher.post(f"/api/v1/campaigns/{campaign.pk}/browsers/{browser.pk}/confirm/")
    assert answer.status_code == 204
    come(link, phone)


@pytest.mark.exhaustive
def test_confirmed_browsers_are_listed_with_time_and_name_and_a_confirmation_is_taken_back(campaign) -> None:
    link = link_into(campaign)
    own, phone, guesser = come(link), Client(), Client()
    code = join_code(phone.post(address_of(link), {"participant": "p1"}))
    waiting = join_code(guesser.post(address_of(link), {"participant": "p1"}))
    rosa, researcher = factories.user("rosa", researcher=True), Client()
    researcher.force_login(rosa)
    page, listed = reverse("participants", args=[campaign.pk]), f"/api/v1/campaigns/{campaign.pk}/browsers/"
    assert "Confirmed browsers" not in researcher.get(page).content.decode()
    (number, _) = [row["id"] for row in researcher.get(listed).json()["results"]]
    researcher.post(page, {"confirm": str(number)})
    come(link, phone)
    rows = {row["code"]: row for row in researcher.get(listed).json()["results"]}
    assert set(rows) == {code, waiting}, "the browser in which they joined asked for nothing"
    assert (rows[code]["confirmed_by"], rows[waiting]["confirmed_by"]) == ("rosa", None)
    assert rows[code]["confirmed_at"] > rows[code]["asked_at"]
    assert rows[waiting]["confirmed_at"] is None
    _, shown = researcher.get(page).content.decode().split("Confirmed browsers")
    assert code in shown
    assert waiting not in shown
    assert "by <bdi>rosa</bdi>" in shown
    done = researcher.post(page, {"dismiss": str(number)}, follow=True).content.decode()
    assert "The confirmation is taken back" in done
    assert "Confirmed browsers" not in done
    work = reverse("work", args=[campaign.pk])
    assert [client.get(work).status_code for client in (phone, own)] == [302, 302], "nobody is signed in"
    assert join_code(phone.post(address_of(link), {"participant": "p1"})) == code
    come(link, own)
    assert own.get(work).status_code == 200
    again = participants.browsers(campaign).get(code=code)
    participants.confirm(by=rosa, browser=again)
    come(link, phone)
    assert researcher.delete(f"{listed}{again.pk}/").status_code == 204
    assert phone.get(work).status_code == 302


def test_who_confirmed_a_browser_may_be_deleted_and_it_stays_in_the_list(campaign) -> None:
    link, phone = link_into(campaign), Client()
    come(link)
    join_code(phone.post(address_of(link), {"participant": "p1"}))
    rosa = factories.user("rosa", researcher=True)
    participants.confirm(by=rosa, browser=participants.waiting(campaign).get())
    ParticipantBrowser.objects.update(confirmed_by=None)
    (row,) = participants.browsers(campaign)
    assert row.confirmed_at is not None


def test_a_browser_is_dismissed_waiting_or_confirmed_and_has_to_ask_again(campaign) -> None:
    link = link_into(campaign)
    come(link)
    guesser, phone = Client(), Client()
    join_code(guesser.post(address_of(link), {"participant": "p1"}))
    join_code(phone.post(address_of(link), {"participant": "p1"}))
    first, second = participants.waiting(campaign)
    researcher = Client()
    researcher.force_login(factories.user(researcher=True))
    page = reverse("participants", args=[campaign.pk])
    researcher.post(page, {"confirm": str(second.pk)})
    researcher.post(page, {"dismiss": str(first.pk)})
    assert not participants.waiting(campaign).exists()
    come(link, phone)
    address = f"/api/v1/campaigns/{campaign.pk}/browsers/{second.pk}/"
    assert researcher.delete(address).status_code == 204
    assert researcher.delete(address).status_code == 404
    join_code(phone.post(address_of(link), {"participant": "p1"}))
    assert Event.objects.filter(verb="campaign: dismiss browser").count() == 2


@pytest.mark.django_db(transaction=True)
def test_who_comes_by_two_links_at_once_is_one_participant_and_nobody_fails() -> None:
    by = factories.user(researcher=True)
    dialogue = factories.dialogue(factories.corpus())
    campaign = factories.campaign(dialogue.corpus, by=by)
    links = [participants.make_link(by=by, campaign=campaign, name=name) for name in ("one", "two")]
    joined, make_account = [], participants._account

    def slowly() -> User:
        """Make the account of who comes first once the other one is there too."""
        wait_until_it_waits()
        return make_account()

    def join(link: JoinLink) -> None:
        try:
            joined.append(
                participants.join(link=link, visitor=participants.Came("p1"), browser="the same browser").user
            )
        finally:
            connections.close_all()

    with mock.patch.object(participants, "_account", slowly):
        threads = [threading.Thread(target=join, args=(link,)) for link in links]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(joined) == 2
    assert joined[0] == joined[1] == Participant.objects.get().user


def test_a_participant_has_few_browsers_that_wait(campaign) -> None:
    link = link_into(campaign)
    come(link)
    for _ in range(participants.MOST_WAITING + 2):
        join_code(Client().post(address_of(link), {"participant": "p1"}))
    assert participants.waiting(campaign).count() == participants.MOST_WAITING


def test_where_ids_come_signed_an_id_without_its_signature_is_nobody(campaign) -> None:
    campaign.join_proof = "signed"
    campaign.save(update_fields=["join_proof"])
    link, other = link_into(campaign), link_into(campaign)
    researcher = Client()
    researcher.force_login(factories.user(researcher=True))
    links = researcher.get(f"/api/v1/campaigns/{campaign.pk}/join-links/").json()["results"]
    key = next(row["signing_key"] for row in links if row["id"] == link.pk)
    assert key in researcher.get(reverse("participants", args=[campaign.pk])).content.decode()
    signature = hmac.new(key.encode(), b"p1", "sha256").hexdigest()
    for wrong in ("", "x", signature[:-1], participants.signature(other, "p1"), "ä" * 64):
        answer = Client().post(address_of(link), {"participant": "p1", "signature": wrong})
        assert (answer.status_code, Participant.objects.count()) == (410, 0)
    assert (
        signature
        in Client().get(address_of(link), {"participant": "p1", "signature": signature}).content.decode()
    )
    come(link, signature=signature)
    come(link, signature=signature)  # in another browser
    assert Participant.objects.count() == 1


def test_where_no_proof_is_asked_for_the_id_is_enough_and_the_browser_is_not_remembered(campaign) -> None:
    campaign.join_proof = "none"
    campaign.save(update_fields=["join_proof"])
    link = link_into(campaign)
    own, other = come(link), Client()
    come(link, other)
    campaign.join_proof = "browser"
    campaign.save(update_fields=["join_proof"])
    come(link, own)
    join_code(other.post(address_of(link), {"participant": "p1"}))


def test_the_proof_is_a_setting_of_the_campaign_that_may_change_at_any_time(campaign) -> None:
    researcher = Client()
    researcher.force_login(factories.user(researcher=True))
    assert factories.campaign(campaign.corpus).join_proof == "browser"
    address = f"/api/v1/campaigns/{campaign.pk}/"
    answer = researcher.patch(address, {"join_proof": "signed"}, "application/json")
    assert answer.json()["join_proof"] == "signed"
    assert researcher.patch(address, {"join_proof": "x"}, "application/json").status_code == 400


def test_a_link_is_made_as_it_makes_sense(campaign) -> None:
    for told, field in (
        ({"return_url": "javascript:alert(1)"}, "return_url"),
        ({"return_url": "https://a@evil.example/"}, "return_url"),
        ({"code": "a b"}, "code"),
        ({"most": 0}, "most"),
        ({"expires_at": timezone.now()}, "expires_at"),
    ):
        with pytest.raises(JoinRefused) as refusal:
            link_into(campaign, **told)
        assert refusal.value.field == field


def test_a_researcher_makes_links_and_pays_by_a_list(campaign) -> None:
    client = Client()
    client.force_login(factories.user(researcher=True))
    page = reverse("participants", args=[campaign.pk])
    assert client.post(page, {"name": "mine", "return_url": "http://x"}).status_code == 422
    client.post(page, {"name": "mine", "code": "C1"})
    link = JoinLink.objects.get()
    assert address_of(link) in client.get(page).content.decode()
    come(link, participant="p1", study="s:1")
    rows = list(csv.DictReader(client.get(f"{page[:-1]}.csv").content.decode().splitlines()))
    assert [(row["participant"], row["study"], row["state"]) for row in rows] == [("p1", "s:1", "at work")]
    told = client.get(f"/api/v1/campaigns/{campaign.pk}/participants/").json()["results"]
    assert (told[0]["participant"], told[0]["code"]) == ("p1", "")
    made = client.post(f"/api/v1/campaigns/{campaign.pk}/join-links/", {"name": "api"}, "application/json")
    assert made.json()["address"].startswith("http://testserver/join/")
    client.post(page, {"revoke": str(link.pk)})
    assert Client().get(address_of(link)).status_code == 410
