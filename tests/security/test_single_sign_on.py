"""Single sign-on admits users vouched for by the provider, and no impostor."""

from __future__ import annotations

import html
import time
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from typing import Any

import pytest
import requests
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.models import OneTimeLink, SignInIdentity
from annotation.people import accounts, links, single_sign_on
from config import environment
from config.models import Event
from tests import factories
from tests.security import openid_provider
from tests.security.openid_provider import ANOTHER_KEY, CLIENT, SECRET, Provider

pytestmark = pytest.mark.django_db


@pytest.fixture
def provider() -> Iterator[Provider]:
    single_sign_on.forget()
    with openid_provider.running() as found:
        yield found


@pytest.fixture(autouse=True)
def allow(settings: Settings, provider: Provider) -> Any:
    """Set the provider up; what is called sets it up otherwise."""

    def setting(**more: Any) -> None:
        told = {"issuer": provider.issuer, "client_id": CLIENT, "client_secret": SECRET, "name": "Campus"}
        settings.OIDC = environment.Provider(**told | more)

    setting(new_accounts=True)
    return setting


def sign_in(client: Client, onwards: str = "", **changed: str) -> HttpResponse:
    """Go to the provider and come back, as a browser does."""
    begun = client.get(reverse("sign-in-with"), {"next": onwards} if onwards else {})
    assert begun.status_code == 302
    back = requests.get(begun["Location"], allow_redirects=False, timeout=5).headers["Location"]
    assert back.startswith("http://testserver/sign-in/return/?")
    for before, after in changed.items():
        back = back.replace(before, after)
    return client.get(back.removeprefix("http://testserver"))


def who(client: Client) -> str:
    """Return the name of who is signed in, empty for nobody."""
    answer = client.get(reverse("account"))
    return answer.context["user"].get_username() if answer.status_code == 200 else ""


def refusals() -> list[str]:
    """Return why somebody was not let in, as the log has it."""
    return [one.detail["why"] for one in Event.objects.filter(verb="refuse single sign-on").order_by("pk")]


def test_somebody_new_gets_an_account_and_finds_it_again() -> None:
    for _ in range(2):
        client = Client()
        assert sign_in(client)["Location"] == "/"
        assert who(client) == "ana"
    person = User.objects.get()
    assert (person.email, accounts.role_of(person)) == ("ana@example.org", "annotator")
    assert not person.has_usable_password()
    assert Event.objects.filter(verb="single sign-on", subject=f"account {person.pk}").count() == 2


def test_the_sign_in_page_offers_it_where_it_is_set(settings: Settings) -> None:
    page = Client().get("/sign-in/?next=/account/").content.decode()
    assert "Sign in with Campus" in page
    assert "/sign-in/with/?next=/account/" in page or "/sign-in/with/?next=%2Faccount%2F" in page
    settings.OIDC = None
    assert "Sign in with" not in Client().get("/sign-in/").content.decode()
    assert Client().get(reverse("sign-in-with")).status_code == 404
    assert Client().get(reverse("sign-in-return")).status_code == 404


AMISS = {
    "for another party": {"aud": "another client"},
    "for several parties": {"aud": [CLIENT, "another client"]},
    "for nobody": {"aud": None},
    "by another issuer": {"iss": "https://elsewhere.example.org"},
    "with another nonce": {"nonce": "of another browser"},
    "without a nonce": {"nonce": None},
    "without an end": {"exp": None},
    "expired": {"exp": int(time.time()) - 3600},
    "from the future": {"iat": int(time.time()) + 3600, "nbf": int(time.time()) + 3600},
    "about nobody": {"sub": None},
}


@pytest.mark.parametrize("name", AMISS)
def test_a_token_that_is_not_for_this_sign_in_lets_nobody_in(name: str, provider: Provider) -> None:
    provider.amiss = AMISS[name]
    client = Client()
    assert sign_in(client).status_code == 403
    assert who(client) == ""
    assert not User.objects.exists()
    assert len(refusals()) == 1


def test_a_token_that_another_key_signed_lets_nobody_in(provider: Provider) -> None:
    provider.key = ANOTHER_KEY
    assert sign_in(Client()).status_code == 403
    assert not User.objects.exists()


def test_another_algorithm_than_the_one_set_lets_nobody_in(allow: Any) -> None:
    allow(new_accounts=True, algorithm="RS512")
    assert sign_in(Client()).status_code == 403
    assert not User.objects.exists()


def test_a_code_works_in_the_browser_that_asked_for_it_and_once() -> None:
    mine, other = Client(), Client()
    begun = mine.get(reverse("sign-in-with"))
    back = requests.get(begun["Location"], allow_redirects=False, timeout=5).headers["Location"]
    back = back.removeprefix("http://testserver")
    assert other.get(back).status_code == 403
    assert mine.get(back).status_code == 302
    assert mine.get(back).status_code == 403
    assert who(mine) == "ana"
    assert refusals() == ["state", "state"]


def test_a_provider_that_says_no_or_nothing_is_told_in_one_line(provider: Provider) -> None:
    client = Client()
    assert "did not sign you in" in sign_in(client, **{"code=": "error="}).content.decode()
    provider.away = True
    single_sign_on.forget()
    answer = client.get(reverse("sign-in-with"))
    assert (answer.status_code, "Try again in a minute" in answer.content.decode()) == (403, True)


def causes() -> list[str]:
    """Return what went wrong between Concord and the provider, as the log has it."""
    found = Event.objects.filter(verb="refuse single sign-on").order_by("pk")
    return [one.detail["cause"] for one in found if "cause" in one.detail]


@pytest.mark.parametrize("published", ["one", None])
def test_a_token_without_a_key_id_is_taken_where_the_provider_has_one_key(
    published: str | None, provider: Provider
) -> None:
    provider.kid, provider.kids = None, [published]
    client = Client()
    assert sign_in(client).status_code == 302
    assert who(client) == "ana"


def test_a_token_without_a_key_id_is_refused_where_the_key_could_be_another(provider: Provider) -> None:
    provider.kid, provider.kids = None, ["one", "two"]
    assert sign_in(Client()).status_code == 403
    assert "no kid" in causes()[0]
    assert "publishes 2 for RS256" in causes()[0]
    provider.kid, provider.kids = "three", ["one", "two"]
    assert sign_in(Client()).status_code == 403
    assert "three" in causes()[1]


def test_a_key_without_an_id_does_not_let_another_signature_in(provider: Provider) -> None:
    provider.kid, provider.kids, provider.key = None, [None], ANOTHER_KEY
    assert sign_in(Client()).status_code == 403
    assert causes() == ["The ID token is refused: Signature verification failed"]


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "a wrong client secret": ({"secret": "another"}, "CONCORD_OIDC_CLIENT_SECRET"),
    "a return address that is not registered": (
        {
            "instead": {
                "/token": (400, {"error": "invalid_grant", "error_description": "redirect_uri differs"})
            }
        },
        "400: invalid_grant: redirect_uri differs",
    ),
    "a token address that answers with a page": ({"instead": {"/token": (200, "<html>")}}, "JSON object"),
    "no ID token": ({"instead": {"/token": (200, {"access_token": "x"})}}, "without an ID token"),
    "an ID token that is none": ({"instead": {"/token": (200, {"id_token": "x"})}}, "Not enough segments"),
    "a token address that fails": ({"instead": {"/token": (502, "")}}, "502: Bad Gateway"),
    "no keys": ({"instead": {"/jwks": (200, {"message": "x"})}}, "does not list keys"),
    "keys that are not there": ({"instead": {"/jwks": (404, "")}}, "/jwks answered 404"),
    "user information that is refused": ({"instead": {"/userinfo": (403, {})}}, "403 Client Error"),
    "user information that is a page": (
        {"instead": {"/userinfo": (200, "<html>")}},
        "/userinfo did not answer",
    ),
    "a token for another party": ({"amiss": {"aud": "another"}}, "for another, not by"),
    "a token by another issuer": ({"amiss": {"iss": "https://x.example"}}, "it is by https://x.example"),
    "a clock that is behind": ({"amiss": {"exp": int(time.time()) - 3600}}, "by Concord's clock"),
    "a clock that is ahead": ({"amiss": {"iat": int(time.time()) + 3600}}, "by Concord's clock"),
    "another nonce": ({"amiss": {"nonce": "x"}}, "Nonce"),
    "two persons": ({"info": {"sub": "x"}}, "speaks of two persons"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_administrators_learn_what_went_wrong_with_the_provider_and_nobody_else(
    name: str, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    amiss, cause = FAULTS[name]
    for part, value in amiss.items():
        setattr(provider, part, value)
    answer = sign_in(Client())
    assert answer.status_code == 403
    assert cause in causes()[0]
    assert causes()[0] in caplog.text
    shown = answer.content.decode()
    assert cause not in shown
    assert provider.issuer not in shown
    assert SECRET not in causes()[0] + caplog.text + shown
    boss, ana = Client(), Client()
    boss.force_login(factories.user("boss", administrator=True))
    ana.force_login(factories.user("annotator"))
    assert cause in html.unescape(boss.get(reverse("audit-log")).content.decode())
    assert cause in str(boss.get("/api/v1/events/").json()).replace("\\'", "'")
    assert ana.get(reverse("audit-log")).status_code == 403
    out = StringIO()
    with suppress(CommandError):  # some of these faults the command finds itself
        call_command("check_sign_in", stdout=out)
    assert cause in out.getvalue()


def test_a_command_finds_a_wrong_secret(provider: Provider) -> None:
    provider.secret = "another"
    with pytest.raises(CommandError, match=r"401: invalid_client: .*CONCORD_OIDC_CLIENT_SECRET"):
        checked()


def test_a_wrong_secret_is_nothing_that_passes_in_a_minute(provider: Provider) -> None:
    provider.secret = "another"
    shown = sign_in(Client()).content.decode()
    assert "Try again in a minute" not in shown
    assert "Tell an administrator" in shown
    provider.secret, provider.instead = SECRET, {"/token": (503, "")}
    assert "Try again in a minute" in sign_in(Client()).content.decode()
    assert refusals() == ["client refused", "no answer"]


def test_what_the_provider_says_against_a_sign_in_is_kept_for_administrators() -> None:
    told = {"code=": "error=access_denied&error_description=Not+in+the+lab&x="}
    shown = sign_in(Client(), **told).content.decode()
    assert causes() == ["Campus led back with: access_denied, Not in the lab"]
    assert "Not in the lab" not in shown


def test_a_provider_that_cannot_be_reached_is_named_with_its_address(provider: Provider) -> None:
    provider.away = True
    shown = Client().get(reverse("sign-in-with")).content.decode()
    assert causes() == [f"{provider.issuer}/.well-known/openid-configuration answered 503: away."]
    assert provider.issuer not in shown


def test_two_persons_in_token_and_user_info_are_nobody(provider: Provider) -> None:
    provider.info = {"sub": "somebody else"}
    assert sign_in(Client()).status_code == 403


def test_an_unverified_address_opens_and_marks_no_account(allow: Any, provider: Provider) -> None:
    allow(new_accounts=True, link_by_email=True)
    owner = accounts.create(by=None, username="owner", role="researcher", password="a long password")
    accounts.set_email(by=None, person=owner, email="ana@example.org")
    for claim in (False, None, "yes", 1 + 1):
        provider.person["email_verified"] = claim
        client = Client()
        sign_in(client)
        assert who(client) == "ana"
    assert User.objects.get(username="ana").email == ""
    assert SignInIdentity.objects.get().user.username == "ana"


def test_an_address_verified_elsewhere_does_not_vouch_for_the_one_in_the_token(
    allow: Any, provider: Provider
) -> None:
    allow(link_by_email=True)
    owner = accounts.create(by=None, username="owner", role="researcher", password="a long password")
    accounts.set_email(by=None, person=owner, email="ana@example.org")
    del provider.person["email_verified"]
    provider.info = {"email": "eve@example.org", "email_verified": True}
    assert sign_in(Client()).status_code == 403
    assert not SignInIdentity.objects.exists()


def test_a_verified_address_opens_the_account_that_has_it_only_where_that_is_set(allow: Any) -> None:
    owner = accounts.create(by=None, username="owner", role="researcher", password="a long password")
    accounts.set_email(by=None, person=owner, email="Ana@Example.org")
    assert sign_in(Client()).status_code == 403
    assert User.objects.count() == 1
    allow(link_by_email=True)
    client = Client()
    sign_in(client)
    assert who(client) == "owner"
    allow()
    assert sign_in(Client()).status_code == 302
    assert refusals() == ["account not linked"]


def test_nobody_new_comes_in_unless_invited(allow: Any, provider: Provider) -> None:
    allow()
    assert sign_in(Client()).status_code == 403
    assert refusals() == ["no account"]
    made = links.invite(by=None, role="researcher", email="ana@example.org")
    provider.person["email_verified"] = False
    assert sign_in(Client()).status_code == 403
    provider.person["email_verified"] = True
    assert sign_in(Client()).status_code == 302
    assert accounts.role_of(User.objects.get()) == "researcher"
    assert OneTimeLink.objects.get(pk=made.link.pk).used_at is not None
    provider.person |= {"sub": "another", "email": "ben@example.org"}
    assert sign_in(Client()).status_code == 403


def test_a_deactivated_person_is_not_let_in(provider: Provider) -> None:
    client = Client()
    sign_in(client)
    accounts.deactivate(by=None, person=User.objects.get())
    assert who(client) == ""
    answer = sign_in(Client())
    assert (answer.status_code, "deactivated" in answer.content.decode()) == (403, True)
    assert refusals() == ["deactivated"]


@pytest.mark.parametrize(
    "onwards", ["https://evil.example.org/", "//evil.example.org", "/\\evil", "javascript:x"]
)
def test_nobody_is_led_elsewhere_afterwards(onwards: str) -> None:
    assert sign_in(Client(), onwards)["Location"] == "/"


def test_one_goes_on_where_one_wanted_to() -> None:
    assert sign_in(Client(), "/account/")["Location"] == "/account/"


def test_roles_follow_groups_where_that_is_set(allow: Any, provider: Provider) -> None:
    allow(new_accounts=True, roles={"lab": "researcher", "it": "administrator"})
    factories.user("boss", administrator=True)
    for groups, role in (
        (["x"], "annotator"),
        (["x", "lab"], "researcher"),
        (["lab", "it"], "administrator"),
    ):
        provider.person["groups"] = groups
        sign_in(Client())
        assert accounts.role_of(User.objects.get(username="ana")) == role
    del provider.person["groups"]
    sign_in(Client())
    assert accounts.role_of(User.objects.get(username="ana")) == "administrator"
    provider.person["groups"] = []
    sign_in(Client())
    assert accounts.role_of(User.objects.get(username="ana")) == "annotator"


def test_the_last_administrator_stays_one_whatever_the_groups_say(allow: Any, provider: Provider) -> None:
    allow(new_accounts=True, roles={"it": "administrator"})
    for groups in (["it"], []):
        provider.person["groups"] = groups
        assert sign_in(Client()).status_code == 302
    assert User.objects.get().is_superuser
    assert Event.objects.filter(verb="keep role").count() == 1


def test_a_name_that_is_taken_gets_a_number_and_no_address_is_shown(provider: Provider) -> None:
    factories.user("Ana")
    client = Client()
    sign_in(client)
    assert who(client) == "ana-2"
    provider.person |= {"sub": "2", "preferred_username": "<b>zoë@example.org", "email": "z@example.org"}
    sign_in(client)
    assert who(client) == "bzoë"
    provider.person |= {"sub": "3", "preferred_username": "!!", "email": None, "name": 5}
    sign_in(client)
    assert who(client) == "person"


def test_signing_out_says_that_one_is_still_signed_in_at_the_provider(provider: Provider) -> None:
    client = Client()
    sign_in(client)
    page = client.post(reverse("logout"), follow=True).content.decode()
    assert who(client) == ""
    assert f"{provider.issuer}/out?client_id=concord" in page
    accounts.create(by=None, username="ben", role="annotator", password="a long password")
    assert client.login(username="ben", password="a long password")
    assert "Sign out there" not in client.post(reverse("logout"), follow=True).content.decode()


def test_administrators_see_how_people_sign_in(client: Client) -> None:
    sign_in(Client())
    client.force_login(factories.user("boss", administrator=True))
    told = {row["username"]: row["signs_in_with"] for row in client.get("/api/v1/people/").json()["results"]}
    assert told == {"ana": ["single sign-on"], "boss": ["password"]}
    number = User.objects.get(username="ana").pk
    assert "single sign-on" in client.get(reverse("person", args=[number])).content.decode()


def test_two_accounts_never_share_an_address(client: Client) -> None:
    client.force_login(factories.user("boss", administrator=True))
    one, two = factories.user("one"), factories.user("two")
    address = reverse("person-email", args=[one.pk])
    client.post(address, {"email": "ana@example.org"})
    assert User.objects.get(pk=one.pk).email == "ana@example.org"
    answer = client.patch(f"/api/v1/people/{two.pk}/", {"email": "ANA@example.org"}, "application/json")
    assert answer.status_code == 422
    assert "Another account" in str(answer.json())
    client.patch(f"/api/v1/people/{one.pk}/", {"email": ""}, "application/json")
    assert User.objects.get(pk=one.pk).email == ""


def checked(**options: Any) -> str:
    out = StringIO()
    call_command("check_sign_in", stdout=out, **options)
    return out.getvalue()


def test_a_command_says_whether_it_is_set_up_rightly(
    settings: Settings, provider: Provider, allow: Any
) -> None:
    told = checked(address="https://concord.example.org")
    assert "https://concord.example.org/sign-in/return/" in told
    assert "1 keys for RS256" in told
    assert "The provider knows the client" in told
    assert SECRET not in told
    allow(algorithm="ES256")
    with pytest.raises(CommandError, match="no key for ES256"):
        checked()
    allow(algorithm="HS256", client_id="")
    with pytest.raises(CommandError, match="CLIENT_ID is not set"):
        checked()
    allow(issuer=provider.issuer + "/")
    with pytest.raises(CommandError, match="calls itself"):
        checked()
    settings.OIDC = None
    with pytest.raises(CommandError, match="is off"):
        checked()


def test_the_environment_says_what_is_set() -> None:
    assert environment.provider_from_environment({"CONCORD_HOME": "x"}) is None
    told = {
        "CONCORD_OIDC_ISSUER": "https://id.example.org/realms/x",
        "CONCORD_OIDC_CLIENT_ID": "concord",
        "CONCORD_OIDC_CLIENT_SECRET": "s",
        "CONCORD_OIDC_ROLES": "cn=lab=researcher, it=Administrator",
        "CONCORD_OIDC_NEW_ACCOUNTS": "1",
    }
    found = environment.provider_from_environment(told)
    assert found is not None
    assert found.faults() == []
    assert (found.title, found.new_accounts, found.link_by_email) == ("id.example.org", True, False)
    assert found.roles == {"cn=lab": "researcher", "it": "administrator"}
    assert "secret" not in repr(found).replace("client_secret", "")
    wrong = environment.provider_from_environment(told | {"CONCORD_OIDC_ISSUER": "http://id.example.org"})
    assert wrong is not None
    assert "not encrypted" in wrong.faults()[0]
