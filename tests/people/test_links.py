"""One-time links: the first administrator, invitations, and new passwords."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from annotation.errors import LinkRefused
from annotation.models import ApiToken, OneTimeLink
from annotation.people import accounts, links
from config.models import Event
from tests import factories
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db
NEW = {"username": "ada", "password": "a long password", "again": "a long password"}


def first() -> links.IssuedLink:
    made = links.first_administrator()
    assert made is not None
    return made


def test_the_first_visitor_with_the_link_becomes_the_administrator() -> None:
    address, visitor = f"/link/{first().token}/", Client()
    assert "an administrator" in visitor.get(address).content.decode()
    answer = visitor.post(address, NEW, follow=True)
    assert answer.redirect_chain[-1][0] == "/corpora/"
    assert accounts.role_of(User.objects.get(username="ada")) == "administrator"


def test_while_nobody_manages_it_the_sign_in_page_says_where_the_first_link_is() -> None:
    hint = "Nobody manages this Concord yet"
    assert hint in Client().get("/sign-in/").content.decode()
    factories.user("boss", administrator=True)
    assert hint not in Client().get("/sign-in/").content.decode()


def test_the_first_link_works_once_and_only_while_nobody_is_administrator() -> None:
    token = first().token
    assert Client().post(f"/link/{token}/", NEW).status_code == 302
    again = NEW | {"username": "eve"}
    assert Client().post(f"/link/{token}/", again).status_code == 410
    assert links.first_administrator() is None
    User.objects.filter(username="ada").update(is_superuser=False)
    other = first().token
    factories.user("boss", administrator=True)
    assert Client().post(f"/link/{other}/", again).status_code == 410
    assert not User.objects.filter(username="eve").exists()


def test_a_new_first_link_replaces_the_one_before() -> None:
    before, after = first().token, first().token
    assert Client().get(f"/link/{before}/").status_code == 410
    assert Client().get(f"/link/{after}/").status_code == 200
    with pytest.raises(IntegrityError), transaction.atomic():
        OneTimeLink.objects.create(kind="administrator", token_hash="x", expires_at=timezone.now())


def test_a_link_expires_and_only_its_hash_is_kept() -> None:
    made = links.invite(by=None, role="annotator")
    assert made.token not in str(OneTimeLink.objects.values_list().get())
    OneTimeLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(LinkRefused):
        links.find(made.token)
    with pytest.raises(LinkRefused):
        links.use(token=made.token, username="ada", password="a long password")


def test_an_invited_person_chooses_name_and_password_and_gets_the_role() -> None:
    made = links.invite(by=None, role="researcher", name="ada")
    page = Client().get(f"/link/{made.token}/")
    assert 'value="ada"' in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    assert Client().post(f"/link/{made.token}/", NEW).status_code == 302
    assert accounts.role_of(User.objects.get(username="ada")) == "researcher"
    assert Event.objects.get(subject=f"link {made.link.pk}", verb="use invitation link").by is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {"again": "another"},
        {"username": "<b>"},
        {"username": "Ana"},
        {"password": "ada12345", "again": "ada12345"},
    ],
)
def test_a_refused_name_or_password_leaves_the_link_as_it_was(wrong: dict[str, str]) -> None:
    factories.user("ana")
    token = links.invite(by=None, role="annotator").token
    data = NEW | {"username": "ada12345"} | wrong
    assert Client().post(f"/link/{token}/", data).status_code == 422
    assert Client().post(f"/link/{token}/", NEW).status_code == 302


def test_a_reset_link_sets_a_password_ends_sessions_and_revokes_tokens() -> None:
    ana, elsewhere = factories.user("ana"), Client()
    elsewhere.force_login(ana)
    accounts.make(person=ana, name="x", scope="read", days=1)
    old, made = links.reset(by=None, person=ana), links.reset(by=None, person=ana)
    form = {"password": "another long one", "again": "another long one"}
    assert Client().post(f"/link/{old.token}/", form).status_code == 410
    assert Client().post(f"/link/{made.token}/", form).status_code == 302
    assert elsewhere.get("/account/").status_code == 302
    assert not ApiToken.objects.exists()
    assert Client().post("/sign-in/", {"username": "ana", "password": PASSWORD}).status_code == 200
    assert Client().post("/sign-in/", {"username": "ana", "password": "another long one"}).status_code == 302
    assert Client().post(f"/link/{made.token}/", form).status_code == 410


def test_a_withdrawn_invitation_opens_nothing() -> None:
    made = links.invite(by=None, role="annotator")
    links.withdraw(by=None, link=made.link)
    assert Client().get(f"/link/{made.token}/").status_code == 410


def test_a_deactivated_person_gets_no_reset_link() -> None:
    ana = factories.user("ana")
    User.objects.update(is_active=False)
    ana.refresh_from_db()
    with pytest.raises(LinkRefused, match="deactivated"):
        links.reset(by=None, person=ana)
