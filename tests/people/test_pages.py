"""The pages of people, the same through the API and by command, and their log."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.test import APIClient

from annotation.models import OneTimeLink
from annotation.people import accounts
from config.models import Event
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss() -> User:
    return factories.user("boss", administrator=True)


@pytest.fixture
def page(boss: User) -> Client:
    client = Client()
    client.force_login(boss)
    return client


@pytest.fixture
def api(boss: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(boss)
    return client


def said(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def role_of(name: str) -> str:
    return accounts.role_of(User.objects.get(username=name))


def test_people_are_listed_found_and_counted(page: Client) -> None:
    factories.user("ana")
    text = page.get("/people/").content.decode()
    assert "2 accounts" in text
    assert "Items answered" in text
    found = page.get("/people/?text=AN").content.decode()
    assert "1 account<" in found
    assert page.get("/people/?text=zzz%00").status_code == 200


def test_an_invitation_is_shown_once_listed_and_withdrawn(page: Client) -> None:
    answer = page.post("/people/invite/", {"role": "researcher", "name": "rei", "days": 3})
    assert "no-store" in answer["Cache-Control"]
    address = answer.context["rows"][0][1]
    assert address.startswith("http://testserver/link/")
    assert address in answer.content.decode()
    listed = page.get("/people/").content.decode()
    assert "rei" in listed
    assert address not in listed
    link = OneTimeLink.objects.get()
    assert page.post(f"/people/invitation/{link.pk}/withdraw/").status_code == 302
    assert Client().get(address).status_code == 410


def test_a_bad_invitation_is_refused_in_the_form(page: Client) -> None:
    factories.user("ana")
    for wrong in ({"name": "Ana"}, {"days": 0}, {"role": "king"}, {"name": "<b>x</b>"}):
        form = {"role": "annotator", "name": "", "days": 7} | wrong
        assert page.post("/people/invite/", form).status_code == 422
    assert not OneTimeLink.objects.exists()


def test_a_role_and_a_state_are_changed_on_the_page(page: Client) -> None:
    ana = factories.user("ana")
    page.post(f"/people/{ana.pk}/role/", {"role": "researcher"})
    assert role_of("ana") == "researcher"
    page.post(f"/people/{ana.pk}/state/", {"verb": "deactivate"})
    assert "deactivated" in page.get(f"/people/{ana.pk}/").content.decode()
    page.post(f"/people/{ana.pk}/state/", {"verb": "activate"})
    ana.refresh_from_db()
    assert ana.is_active
    refused = page.post(f"/people/{ana.pk}/role/", {"role": "king"}, follow=True)
    assert "There is no role" in refused.content.decode()


def test_the_only_administrator_cannot_be_taken_away_on_the_page(page: Client, boss: User) -> None:
    answer = page.post(f"/people/{boss.pk}/role/", {"role": "annotator"}, follow=True)
    assert "only administrator" in answer.content.decode()
    answer = page.post(f"/people/{boss.pk}/state/", {"verb": "deactivate"}, follow=True)
    assert "your own account" in answer.content.decode()


def test_a_reset_link_is_shown_once(page: Client) -> None:
    ana = factories.user("ana")
    answer = page.post(f"/people/{ana.pk}/reset-link/")
    assert "no-store" in answer["Cache-Control"]
    assert "works once" in answer.content.decode()
    new = {"password": "another long one", "again": "another long one"}
    assert Client().post(answer.context["rows"][0][1], new).status_code == 302


def test_deleting_says_what_it_destroys(page: Client) -> None:
    ana = factories.user("ana")
    text = page.get(f"/people/{ana.pk}/delete/").content.decode()
    assert "0 labels" in text
    assert "Deactivate instead" in text


def test_the_audit_log_is_filtered_and_paged(page: Client, boss: User) -> None:
    ana = factories.user("ana")
    accounts.set_role(by=boss, person=ana, role="researcher")
    Event.objects.bulk_create(Event(verb="campaign: open", subject=f"<b>c{n}</b>") for n in range(150))
    text = page.get("/people/log/").content.decode()
    assert "Page 1 of 2" in text
    assert "&lt;b&gt;c149" in text
    about = page.get("/people/log/?person=ana").content.decode()
    assert "after researcher, before annotator" in about
    assert about.count("<tr>") == 2
    assert page.get("/people/log/?verb=change+role").content.decode().count("<tr>") == 2
    assert "Nothing logged" in page.get("/people/log/?person=nobody").content.decode()
    assert page.get("/people/log/?verb=unheard").status_code == 422


def test_the_audit_log_says_details_in_words(page: Client) -> None:
    scope = {"systems": ["a", "b"], "include_self": True, "part": None, "rule": {"ties": "lowest"}}
    Event.objects.create(verb="start run", subject="run 1", detail={"scope": scope, "empty": []})
    text = page.get("/people/log/").content.decode()
    assert "empty none, scope (include self yes, part none, rule (ties lowest), systems a, b)" in text
    assert "{" not in text.partition("<tbody>")[2].partition("</tbody>")[0]


def test_each_part_of_the_navigation_is_marked_on_its_own_pages(page: Client) -> None:
    parts = {"/my/": "My work", "/prompts/": "Library", "/people/": "People", "/people/log/": "People"}
    for address, text in (parts | {"/corpora/": "Corpora"}).items():
        shown = page.get(address).content.decode()
        (current,) = re.findall(r'aria-current="true">.*?<span>([^<]*)</span>', shown.partition("</nav>")[0])
        assert current == text


def test_the_api_does_what_the_pages_do(api: APIClient) -> None:
    new = {"username": "ana", "role": "annotator", "password": "a long password"}
    made = api.post("/api/v1/people/", new, format="json")
    assert (made.status_code, made.json()["role"]) == (201, "annotator")
    assert api.post("/api/v1/people/", new, format="json").json()["fields"]["username"]
    one = f"/api/v1/people/{made.json()['id']}/"
    assert api.patch(one, {"role": "researcher", "active": False}, format="json").json()["active"] is False
    assert api.patch(one, {"active": True, "locked": False}, format="json").json()["role"] == "researcher"
    assert api.get("/api/v1/people/?text=ana").json()["count"] == 1
    link = api.post(one + "reset-link/")
    assert (link.status_code, "no-store" in link["Cache-Control"]) == (201, True)
    assert Client().get(link.json()["address"]).status_code == 200
    assert api.delete(one, {"confirmation": "x"}, format="json").status_code == 400
    assert api.delete(one, {"confirmation": "ana"}, format="json").status_code == 200
    verbs = [event["verb"] for event in api.get("/api/v1/events/").json()["results"]]
    assert verbs[0] == "delete person"
    assert "change role" in verbs


def test_the_api_invites(api: APIClient) -> None:
    made = api.post("/api/v1/invitations/", {"role": "annotator", "name": "ana"}, format="json")
    assert Client().get(made.json()["address"]).status_code == 200
    (listed,) = api.get("/api/v1/invitations/").json()["results"]
    assert (listed["name"], "address" in listed) == ("ana", False)
    assert api.delete(f"/api/v1/invitations/{listed['id']}/").status_code == 204
    assert Client().get(made.json()["address"]).status_code == 410


def test_the_api_changes_a_password() -> None:
    ana, client = factories.user("ana"), APIClient()
    client.force_login(ana)
    body = {"old": factories.PASSWORD, "new": "ana"}
    assert client.post("/api/v1/account/password/", body, format="json").status_code == 400
    body["new"] = "another long one"
    assert client.post("/api/v1/account/password/", body, format="json").status_code == 204
    assert client.get("/api/v1/account/tokens/").status_code == 200


def test_the_command_gives_a_role_a_new_password_and_a_token() -> None:
    factories.user("ana")
    said("people", "role", "ana", "researcher")
    assert role_of("ana") == "researcher"
    address = said("people", "reset-link", "ana", "--address", "https://concord.example.org/")
    assert address.startswith("https://concord.example.org/link/")
    assert len(said("people", "token", "ana", "--scope", "write").strip()) > 40


@pytest.mark.parametrize(
    "words,line",
    [
        (["first-administrator"], "There is an administrator already"),
        (["role", "nobody", "annotator"], "There is no account 'nobody'"),
        (["role", "boss", "annotator"], "only administrator"),
    ],
)
def test_the_command_refuses_in_one_line(boss: User, words: list[str], line: str) -> None:
    with pytest.raises(CommandError, match=line):
        said("people", *words)


def test_the_command_prints_the_first_link() -> None:
    address = said("people", "first-administrator").strip()
    new = {"username": "ada", "password": "a long password", "again": "a long password"}
    assert Client().post(address.removeprefix("http://localhost:8000"), new).status_code == 302
    assert role_of("ada") == "administrator"
