"""General pages: signing in, the account, people, errors, and the security headers."""

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from config.permissions import RESEARCHERS, is_researcher
from tests import factories

pytestmark = pytest.mark.django_db


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def annotator() -> User:
    return factories.user("ana")


@pytest.fixture
def administrator() -> User:
    return User.objects.create_superuser("root", password="a long password")


def test_a_visitor_is_sent_to_sign_in() -> None:
    response = Client().get("/account/")
    assert response.status_code == 302
    assert response["Location"].startswith("/sign-in/")


def test_signing_in_leads_an_annotator_to_their_tasks(annotator: User) -> None:
    client = Client()
    response = client.post("/sign-in/", {"username": "ana", "password": "a long password"}, follow=True)
    assert response.redirect_chain[-1][0] == reverse("my-campaigns")


def test_a_wrong_password_is_refused_without_saying_which_part_was_wrong(annotator: User) -> None:
    response = Client().post("/sign-in/", {"username": "ana", "password": "wrong"})
    assert response.status_code == 200
    assert b"correct username and password" in response.content


def test_signing_in_never_redirects_to_another_site(annotator: User) -> None:
    data = {"username": "ana", "password": "a long password", "next": "https://evil.example/"}
    assert "evil" not in Client().post("/sign-in/", data)["Location"]


def test_only_a_researcher_is_a_researcher(annotator: User, administrator: User) -> None:
    researcher = factories.user("rei", researcher=True)
    assert [is_researcher(user) for user in (annotator, researcher, administrator)] == [False, True, True]
    researcher.is_active = False
    assert not is_researcher(researcher)


def test_people_are_managed_by_administrators_alone(annotator: User, administrator: User) -> None:
    assert signed_in(annotator).get("/people/").status_code == 403
    data = {"username": "rei", "role": "researcher", "password": "a long password"}
    assert signed_in(annotator).post("/people/add/", data).status_code == 403
    assert signed_in(administrator).post("/people/add/", data).status_code == 302
    assert User.objects.get(username="rei").groups.get() == Group.objects.get(name=RESEARCHERS)


def test_a_taken_name_is_refused_in_the_form(annotator: User, administrator: User) -> None:
    data = {"username": "ana", "role": "annotator", "password": "a long password"}
    response = signed_in(administrator).post("/people/add/", data)
    assert response.status_code == 422
    assert b"That name is taken" in response.content


def test_a_hostile_name_is_shown_as_text(administrator: User) -> None:
    User.objects.create_user("<script>alert(1)</script>")
    response = signed_in(administrator).get("/people/")
    assert b"<script>alert" not in response.content
    assert b"&lt;script&gt;alert" in response.content


def test_every_page_carries_the_security_headers(annotator: User) -> None:
    response = signed_in(annotator).get("/account/")
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert response["X-Frame-Options"] == "DENY"
    assert response["X-Content-Type-Options"] == "nosniff"


def test_a_missing_page_says_so(annotator: User) -> None:
    response = signed_in(annotator).get("/no-such-page/")
    assert response.status_code == 404
    assert b"Nothing is here" in response.content


def test_a_form_without_its_token_is_refused(annotator: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(annotator)
    assert client.post("/account/token/").status_code == 403
