"""Invitations by e-mail: sent by a worker or shown to copy, one link each; accounts are not revealed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.errors import EmailRefused, LinkRefused
from annotation.models import OneTimeLink
from annotation.people import accounts, links, names
from config import environment
from config.models import Event
from jobs.models import Job
from tests import factories
from tests.people import smtp_server
from tests.people.smtp_server import Server

pytestmark = pytest.mark.django_db
NEW = {"username": "ana", "password": "a long password", "again": "a long password"}
LINK = re.compile(r"https?://\S+/link/\S+/")


@pytest.fixture
def boss() -> User:
    return factories.user("boss", administrator=True)


@pytest.fixture
def browser(boss: User) -> Client:
    client = Client()
    client.force_login(boss)
    return client


@pytest.fixture
def set_up(settings: Settings) -> Callable[[str], None]:
    """Set mail up by an address, as the environment does."""

    def setting(url: str) -> None:
        settings.MAIL = environment.mail_from_environment({"CONCORD_EMAIL_URL": url})
        for name, value in settings.MAIL.settings.items():
            setattr(settings, name, value)

    return setting


@pytest.fixture
def outbox(set_up: Callable[[str], None], settings: Settings) -> list[Any]:
    """Mail that is kept in memory."""
    set_up("smtp://localhost")
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    mail.outbox = []
    return mail.outbox


@pytest.fixture
def server(set_up: Callable[[str], None]) -> Iterator[Server]:
    with smtp_server.running() as found:
        set_up(f"smtp+plain://127.0.0.1:{found.port}")
        yield found


def invite(browser: Client, emails: str, **more: str) -> Any:
    asked = {"role": "annotator", "days": "7", "emails": emails, "name": ""} | more
    return browser.post(reverse("invite-person"), asked)


def worked() -> None:
    """Do what a worker would do."""
    for job in Job.objects.filter(kind="invitations", state="queued").order_by("pk"):
        links.run(job, lambda done, total, note="": None)  # type: ignore[arg-type]
        Job.objects.filter(pk=job.pk).update(state="done")


def test_a_pasted_list_is_sent_one_link_each_by_a_worker(browser: Client, server: Server) -> None:
    pasted = "Ana <ana@example.org>, BEN@example.org;\n cyd@example.org ben@example.org\n"
    assert invite(browser, pasted).status_code == 302
    assert server.letters == []
    assert "being sent" in browser.get(reverse("people")).content.decode()
    worked()
    assert [to for to, _ in server.letters] == [["ana@example.org"], ["ben@example.org"], ["cyd@example.org"]]
    found = {LINK.search(letter.get_payload())[0] for _, letter in server.letters}  # type: ignore[index]
    assert len(found) == 3
    letter = server.letters[0][1]
    assert (letter["To"], letter["Subject"]) == ("ana@example.org", "You are invited to Concord")
    assert "boss invites you" in letter.get_payload()
    page = browser.get(reverse("people")).content.decode()
    assert page.count("Send again") >= 3
    assert "being sent" not in page


def test_the_link_in_the_letter_makes_the_account_and_its_address_is_known(
    browser: Client, outbox: list[Any]
) -> None:
    invite(browser, "ana@example.org", role="researcher", name="ana")
    worked()
    address = LINK.search(outbox[0].body)[0]  # type: ignore[index]
    assert address.startswith("http://testserver/link/")
    visitor = Client()
    assert visitor.post(address.removeprefix("http://testserver"), NEW).status_code == 302
    assert User.objects.get(username="ana").email == "ana@example.org"
    assert Client().get(address.removeprefix("http://testserver")).status_code == 410


def test_what_a_server_refuses_is_told_and_the_rest_is_sent(browser: Client, server: Server) -> None:
    server.refused = {"ben@example.org"}
    invite(browser, "ana@example.org, ben@example.org, cyd@example.org")
    worked()
    told = dict(OneTimeLink.objects.values_list("email", "mail"))
    assert told == {"ana@example.org": "sent", "ben@example.org": "failed", "cyd@example.org": "sent"}
    page = browser.get(reverse("people")).content.decode()
    assert "does not take this address: 550 5.1.1 nobody here of that name" in page
    server.refused = set()
    number = OneTimeLink.objects.get(mail="failed").pk
    browser.post(reverse("send-invitation", args=[number]))
    worked()
    assert OneTimeLink.objects.get(pk=number).mail == "sent"
    assert server.letters[-1][0] == ["ben@example.org"]


def test_a_server_that_is_not_there_is_told(browser: Client, set_up: Callable[[str], None]) -> None:
    set_up("smtp+plain://127.0.0.1:9")
    invite(browser, "ana@example.org")
    worked()
    assert "cannot be reached" in OneTimeLink.objects.get().mail_error


def test_sent_again_the_link_of_before_opens_nothing(browser: Client, outbox: list[Any]) -> None:
    invite(browser, "ana@example.org")
    worked()
    browser.post(reverse("send-invitation", args=[OneTimeLink.objects.get().pk]))
    worked()
    first, second = (LINK.search(one.body)[0].removeprefix("http://testserver") for one in outbox)  # type: ignore[index]
    assert (Client().get(first).status_code, Client().get(second).status_code) == (410, 200)


def test_withdrawn_or_done_twice_nothing_more_is_sent(browser: Client, outbox: list[Any]) -> None:
    invite(browser, "ana@example.org, ben@example.org")
    withdrawn = OneTimeLink.objects.get(email="ben@example.org")
    browser.post(reverse("withdraw-invitation", args=[withdrawn.pk]))
    worked()
    Job.objects.update(state="queued")
    worked()
    assert [one.to for one in outbox] == [["ana@example.org"]]


def test_without_mail_each_link_is_shown_once_to_copy(browser: Client) -> None:
    page = browser.get(reverse("people")).content.decode()
    assert "No mail is set up" in page
    page = invite(browser, "ana@example.org\nben@example.org").content.decode()
    assert len(set(LINK.findall(page))) == 2
    assert not Job.objects.exists()
    assert not LINK.search(browser.get(reverse("people")).content.decode())
    with pytest.raises(EmailRefused, match="No mail is set up"):
        links.send_invitations(by=None, invitations=OneTimeLink.objects.all(), base="http://x")


def test_whether_an_address_has_an_account_makes_no_difference(browser: Client, outbox: list[Any]) -> None:
    known = accounts.create(by=None, username="known", role="annotator", password="a long password")
    accounts.set_email(by=None, person=known, email="known@example.org")
    answers = []
    for email in ("known@example.org", "nobody@example.org"):
        invite(browser, email)
        worked()
        answers.append(browser.get(reverse("people")).content.decode().count(email))
    assert answers[0] == answers[1]
    assert [one.to for one in outbox] == [["known@example.org"], ["nobody@example.org"]]
    address = LINK.search(outbox[0].body)[0].removeprefix("http://testserver")  # type: ignore[index]
    assert Client().post(address, NEW | {"username": "other"}).status_code == 302
    assert User.objects.get(username="other").email == ""


HOSTILE = [
    "ana@example.org\nBcc: all@example.org",
    "ana@example.org\r\nBcc: all@example.org",
    "ana@example.org%0aBcc:all@example.org,",
    '"ana\n"@example.org',
    "ana@example.org>\nRCPT TO:<all@example.org",
    "ana@exa\u2028mple.org",
    "аna@example.org",
    "a" * 65 + "@example.org",
    "ana@@example.org",
    "ana@example",
    ".ana@example.org",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_no_address_is_refused_and_nobody_is_invited(
    text: str, browser: Client, outbox: list[Any]
) -> None:
    answer = invite(browser, f"ben@example.org\n{text}")
    assert answer.status_code == 422
    assert "Not an e-mail address" in answer.content.decode()
    assert not OneTimeLink.objects.exists()
    assert outbox == []


def test_a_list_has_an_end_and_a_name_is_for_one() -> None:
    with pytest.raises(EmailRefused, match="at most 200"):
        links.addresses_in("\n".join(f"a{n}@example.org" for n in range(201)))
    with pytest.raises(EmailRefused, match="at least one"):
        links.addresses_in(" ,;\n")
    with pytest.raises(EmailRefused, match="for one person"):
        links.invite_by_mail(by=None, emails=["a@example.org", "b@example.org"], role="annotator", name="ana")
    assert names.address_fault("ana.o'neill+x@mail.example.co.uk") == ""


def test_an_invitation_to_an_address_replaces_the_one_before(boss: User) -> None:
    first = links.invite(by=boss, role="annotator", email="ana@example.org")
    second = links.invite(by=boss, role="researcher", email="Ana@example.org ")
    assert OneTimeLink.objects.get() == second.link
    with pytest.raises(LinkRefused):
        links.find(first.token)


def test_programs_invite_and_see_what_became_of_it(browser: Client, outbox: list[Any]) -> None:
    def post(address: str, body: dict[str, Any]) -> Any:
        return browser.post(address, json.dumps(body), "application/json")

    answer = post("/api/v1/invitations/by-mail/", {"emails": ["ana@example.org"], "role": "researcher"})
    assert (answer.status_code, [row["mail"] for row in answer.json()]) == (201, ["queued"])
    assert answer.json()[0]["address"] is None
    worked()
    (row,) = browser.get("/api/v1/invitations/").json()["results"]
    assert (row["email"], row["mail"], row["mail_error"]) == ("ana@example.org", "sent", "")
    assert post(f"/api/v1/invitations/{row['id']}/send/", {}).json()["mail"] == "queued"
    refused = post("/api/v1/invitations/by-mail/", {"emails": ["ben@example.org", "x\ny"]})
    assert (refused.status_code, "Not an e-mail address" in str(refused.json())) == (422, True)
    assert OneTimeLink.objects.count() == 1


def test_an_address_without_mail_is_told_once_over_http(browser: Client) -> None:
    answer = browser.post("/api/v1/invitations/by-mail/", {"emails": ["a@example.org"]}, "application/json")
    assert LINK.match(answer.json()[0]["address"])
    number = answer.json()[0]["id"]
    assert browser.post(f"/api/v1/invitations/{number}/send/").status_code == 422


def test_every_sending_is_logged_without_the_address(browser: Client, outbox: list[Any]) -> None:
    invite(browser, "ana@example.org")
    verbs = set(Event.objects.values_list("verb", flat=True))
    assert {"invite", "send invitation", "start job"} <= verbs
    assert "ana@example.org" not in str(list(Event.objects.values_list("subject", "detail")))
    assert "ana@example.org" not in str(list(Job.objects.values_list("subject", "params")))


def test_the_environment_says_how_mail_is_sent() -> None:
    def told(**values: str) -> environment.Mail:
        return environment.mail_from_environment(
            {f"CONCORD_EMAIL_{name}": value for name, value in values.items()}
        )

    assert told() == environment.Mail()
    found = told(URL="smtp://me:s%40crt@mail.example.org", FROM="Concord <concord@example.org>").settings
    assert (found["EMAIL_PORT"], found["EMAIL_USE_TLS"], found["EMAIL_HOST_PASSWORD"]) == (587, True, "s@crt")
    assert told(URL="smtps://mail.example.org").settings["EMAIL_USE_SSL"]
    assert told(URL="console:").settings["EMAIL_BACKEND"].endswith("console.EmailBackend")
    assert "s3cret" not in repr(told(URL="smtp://me:s3cret@mail.example.org"))
    for wrong in ("mail.example.org", "http://mail.example.org", "smtp://:99999", "smtp://x:port"):
        assert told(URL=wrong).fault.startswith("CONCORD_EMAIL_URL")
    assert "EMAIL_FROM" in told(URL="smtp://mail.example.org", FROM="nobody").fault
