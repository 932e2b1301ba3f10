"""Tokens: shown once, stored as hashes, with an expiry, for reading or writing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.errors import TokenRefused
from annotation.models import ApiToken
from annotation.people import accounts
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana() -> User:
    return factories.user("ana", researcher=True)


def program(key: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {key}")
    return client


def test_a_token_to_read_reads_and_writes_nothing(ana: User) -> None:
    key = accounts.make(person=ana, name="notebook", scope="read", days=1).key
    assert program(key).get("/api/v1/corpora/").status_code == 200
    refused = program(key).post("/api/v1/studies/", {}, format="json")
    assert (refused.status_code, "may only read" in refused.json()["detail"]) == (403, True)
    assert ApiToken.objects.get().last_used is not None


def test_a_token_to_write_does_both(ana: User) -> None:
    key = accounts.make(person=ana, name="script", scope="write", days=1).key
    assert program(key).get("/api/v1/corpora/").status_code == 200
    assert program(key).post("/api/v1/studies/", {}, format="json").status_code == 400


def test_only_a_hash_is_kept_and_a_guess_is_refused(ana: User) -> None:
    made = accounts.make(person=ana, name="x", scope="read", days=1)
    assert made.key not in str(ApiToken.objects.values_list().get())
    assert program(made.token.key_hash).get("/api/v1/corpora/").status_code == 401


def test_an_expired_token_and_that_of_a_deactivated_person_are_refused(ana: User) -> None:
    key = accounts.make(person=ana, name="x", scope="read", days=1).key
    factories.user(administrator=True)
    accounts.deactivate(by=None, person=ana)
    assert program(key).get("/api/v1/corpora/").status_code == 401
    accounts.activate(by=None, person=ana)
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = program(key).get("/api/v1/corpora/")
    assert (answer.status_code, "expired" in answer.json()["detail"]) == (401, True)


def test_the_page_shows_a_key_once_and_is_not_stored(ana: User) -> None:
    client = Client()
    client.force_login(ana)
    page = client.post("/account/token/", {"name": "notebook", "scope": "read", "days": 30})
    assert "no-store" in page["Cache-Control"]
    made = page.context["made"]
    assert made.key in page.content.decode()
    later = client.get("/account/")
    assert "no-store" in later["Cache-Control"]
    assert "notebook" in later.content.decode()
    assert made.key not in later.content.decode()
    assert made.token.key_hash not in later.content.decode()
    assert client.post(f"/account/token/{made.token.pk}/revoke/").status_code == 302
    assert program(made.key).get("/api/v1/corpora/").status_code == 401


def test_nobody_revokes_another_persons_token(ana: User) -> None:
    made = accounts.make(person=ana, name="x", scope="read", days=1)
    client = Client()
    client.force_login(factories.user(administrator=True))
    assert client.post(f"/account/token/{made.token.pk}/revoke/").status_code == 404
    assert ApiToken.objects.exists()


def test_the_api_makes_lists_and_revokes_tokens(ana: User) -> None:
    client = program(accounts.make(person=ana, name="x", scope="write", days=1).key)
    made = client.post("/api/v1/account/tokens/", {"name": "y", "scope": "read", "days": 5}, format="json")
    assert made.status_code == 201
    assert "no-store" in made["Cache-Control"]
    assert program(made.json()["key"]).get("/api/v1/corpora/").status_code == 200
    listed = client.get("/api/v1/account/tokens/").json()
    assert [token["name"] for token in listed] == ["y", "x"]
    assert "key" not in listed[0]
    assert client.delete(f"/api/v1/account/tokens/{made.json()['id']}/").status_code == 204
    assert program(made.json()["key"]).get("/api/v1/corpora/").status_code == 401


@pytest.mark.parametrize("wrong", [{"days": 0}, {"days": 367}, {"scope": "all"}])
def test_a_token_without_bounds_is_refused(ana: User, wrong: dict[str, object]) -> None:
    with pytest.raises(TokenRefused):
        accounts.make(**({"person": ana, "name": "x", "scope": "read", "days": 1} | wrong))  # type: ignore[arg-type]


def test_an_account_has_at_most_twenty_tokens(ana: User) -> None:
    for _ in range(accounts.MOST_TOKENS):
        accounts.make(person=ana, name="x", scope="read", days=1)
    with pytest.raises(TokenRefused, match="at most 20"):
        accounts.make(person=ana, name="x", scope="read", days=1)
