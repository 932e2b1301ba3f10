"""Wrong passwords delay the next attempt, then lock; all of it is logged and counted in the database."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_network
from types import SimpleNamespace

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.db.models import F
from django.http import HttpResponse
from django.test import Client

from annotation import apps
from annotation.people import sign_in
from config.models import Event
from tests import factories
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db


def attempt(password: str = "wrong", name: str = "ana", **headers: str) -> HttpResponse:
    return Client(**headers).post("/sign-in/", {"username": name, "password": password})


def let_time_pass(**time: int) -> None:
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(**time))


@pytest.fixture(autouse=True)
def ana() -> User:
    return factories.user("ana")


def in_the_same_moment(monkeypatch: pytest.MonkeyPatch, password: str = "wrong") -> HttpResponse:
    """Try again in the moment of the last try, however slow the machine."""
    last = AccessAttempt.objects.latest("attempt_time").attempt_time
    with monkeypatch.context() as patch:
        patch.setattr(sign_in, "timezone", SimpleNamespace(now=lambda: last))
        return attempt(password)


def test_after_three_wrong_passwords_the_next_try_waits_and_then_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [attempt().status_code for _ in range(3)] == [200, 200, 200]
    assert in_the_same_moment(monkeypatch).status_code == 429
    early = in_the_same_moment(monkeypatch, PASSWORD)
    assert (early.status_code, early["Retry-After"]) == (429, "2")
    let_time_pass(seconds=3)
    assert attempt(PASSWORD).status_code == 302


def test_each_further_wrong_password_doubles_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    attempt()
    attempt()
    waits = []
    for _ in range(4):
        attempt()
        waits.append(int(in_the_same_moment(monkeypatch)["Retry-After"]))
        let_time_pass(seconds=61)
    assert waits == [2, 4, 8, 16]


def lock() -> None:
    while AccessAttempt.objects.filter(failures_since_start__gte=10).count() == 0:
        attempt()
        let_time_pass(seconds=61)


def test_ten_wrong_passwords_lock_even_the_right_one_for_half_an_hour() -> None:
    lock()
    locked = attempt(PASSWORD)
    assert (locked.status_code, locked["Retry-After"]) == (429, "1800")
    assert "30 minutes" in locked.content.decode()
    let_time_pass(minutes=31)
    assert attempt(PASSWORD).status_code == 302


def test_a_lock_holds_for_one_address_alone_and_an_administrator_lifts_it(ana: User) -> None:
    lock()
    assert sign_in.is_locked(ana)
    assert attempt(PASSWORD, REMOTE_ADDR="198.51.100.7").status_code == 302
    sign_in.unlock(by=None, person=ana)
    assert attempt(PASSWORD).status_code == 302
    assert Event.objects.filter(verb="unlock account").exists()


def test_a_right_password_forgets_the_wrong_ones() -> None:
    attempt()
    attempt()
    assert attempt(PASSWORD).status_code == 302
    assert not AccessAttempt.objects.exists()


def test_failures_are_logged_with_the_account_and_never_with_what_was_typed(ana: User) -> None:
    attempt("my secret")
    attempt("x", name="my secret password")
    logged = list(Event.objects.filter(verb="failed sign-in").values_list("subject", "detail"))
    assert [subject for subject, _ in logged] == ["no such account", f"account {ana.pk}"]
    assert logged[0][1] == {"address": "127.0.0.1"}
    assert "secret" not in str(list(Event.objects.values_list("subject", "detail")))
    assert "my secret" not in str(AccessAttempt.objects.filter(username="ana").values().get())


def test_a_lock_is_logged(ana: User) -> None:
    lock()
    assert Event.objects.filter(verb="lock sign-in", subject=f"account {ana.pk}").exists()


@pytest.mark.parametrize("name", ["a" * 100_000, "a\0b", "", "<script>", "\ud800"])
def test_hostile_names_are_refused_like_any_other(name: str) -> None:
    data = {"username": name.encode("utf-8", "surrogatepass").decode("utf-8", "replace"), "password": "x"}
    assert Client().post("/sign-in/", data).status_code in (200, 429)


def test_behind_a_proxy_the_address_is_the_one_it_appended(settings: object, rf: object) -> None:
    settings.PROXIES = [ip_network("127.0.0.0/8"), ip_network("10.0.0.7")]  # type: ignore[attr-defined]
    for sender, header, client in (
        ("127.0.0.1", "203.0.113.9, 198.51.100.7", "198.51.100.7"),
        ("127.0.0.1", "203.0.113.9, 198.51.100.7, 10.0.0.7", "198.51.100.7"),
        ("::ffff:127.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("127.0.0.1", "198.51.100.7, unknown", "127.0.0.1"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("192.0.2.1", "203.0.113.9", "192.0.2.1"),
    ):
        request = rf.get("/", REMOTE_ADDR=sender, HTTP_X_FORWARDED_FOR=header)  # type: ignore[attr-defined]
        assert sign_in.address_of(request) == client


def test_tls_at_a_proxy_does_not_make_its_header_believed(settings: object, rf: object) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")  # type: ignore[attr-defined]
    request = rf.get("/", HTTP_X_FORWARDED_FOR="203.0.113.9")  # type: ignore[attr-defined]
    assert sign_in.address_of(request) == "127.0.0.1"
    assert apps.NO_PROXIES in [warning.msg for warning in apps._outside_services()]
    settings.PROXIES = [ip_network("127.0.0.1")]  # type: ignore[attr-defined]
    assert apps.NO_PROXIES not in [warning.msg for warning in apps._outside_services()]
