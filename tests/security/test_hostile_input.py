"""No input breaks a page or a route: hostile bodies, queries, forms, names and numbers."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from annotation.errors import AnswerRefused
from annotation.models import Assignment
from annotation.work.checking import parse
from config import request_json
from tests import factories
from tests.security.addresses import Address, addresses

pytestmark = pytest.mark.django_db
FORM = "application/x-www-form-urlencoded"
DEEP = "[" * 500 + "]" * 500
TEXTS = ("9" * 400, "a\0\ud83d", "-1")
FIELDS = (
    *("page", "limit", "offset", "corpus", "campaign", "snapshot", "part", "cell", "question", "a", "b"),
    *("turn", "text", "speaker", "system", "systems", "into", "name", "scheme", "seed", "test_share"),
    *("format", "only", "metric", "protocol", "endpoint", "username", "person", "rule", "raters", "verb"),
    *("state", "purpose", "raters_per_item", "lease_minutes", "confirmation", "definition", "statistics"),
    *("queue", "samples", "sha256"),
    *("from", "ref", "number", "item", "source", "user", "prompt", "budget", "keys", "note"),
)
BEYOND = (
    *(DEEP, '{"answers": ' + DEEP + "}", '{"a":' * 500 + "1" + "}" * 500, "[" * 100_000, "9" * 310),
    *("9" * 5000, "1e999", "NaN", "[-Infinity]", '{"a": 1', "\udcff", '"\x01"'),
)


@pytest.fixture
def administrator() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(factories.user(administrator=True, researcher=True))
    return client


@pytest.fixture
def places() -> dict[str, str]:
    """A corpus with a campaign, so that pages have something to show."""
    corpus = factories.corpus("x")
    factories.dialogue(corpus)
    return {"corpus": str(corpus.pk), "campaign": str(factories.campaign(corpus).pk)}


def _asked() -> list[Address]:
    return [address for address in addresses() if address.name not in ("readyz", "logout")]


@pytest.mark.parametrize("text", BEYOND, ids=lambda text: ascii(text)[:12])
def test_a_body_beyond_the_limits_is_no_json(text: str) -> None:
    with pytest.raises(request_json.BadJSON):
        request_json.parse(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(AnswerRefused):
        parse(text.encode("utf-8", "surrogateescape"))


def test_a_body_larger_than_the_limit_is_refused_unread(
    administrator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_json, "LIMIT", 1000)
    with pytest.raises(request_json.TooLarge):
        request_json.parse(b" " * (request_json.LIMIT + 1))
    body = b'"' + b"x" * request_json.LIMIT + b'"'
    answer = administrator.post("/api/v1/studies/", body, content_type="application/json")
    assert answer.status_code == 413


def test_what_can_be_stored_comes_through_as_it_is() -> None:
    value = {"a": [1, -2.5, None, True, "ünï 漢 🙂\n"], "deep": [[[[1e300]]]]}
    assert request_json.parse(json.dumps(value).encode()) == value
    assert request_json.parse(b'["a\\u0000b", {"\\ud83d": "\\udc00!"}]') == ["ab", {"?": "?!"}]


@pytest.mark.exhaustive
@pytest.mark.parametrize("body", BEYOND[:2] + BEYOND[4:5], ids=lambda text: ascii(text)[:12])
def test_no_address_breaks_on_a_hostile_body(
    administrator: Client, places: dict[str, str], body: str
) -> None:
    for address in _asked():
        for send in (administrator.post, administrator.put):
            answer = send(address.path, body, content_type="application/json")
            assert answer.status_code < 500, (address, body[:40])


@pytest.mark.parametrize("answer", [int("9" * 310), 10**39, "a\0b", "\ud83d", [[1]], {"a": {}}, -1e308])
@pytest.mark.parametrize("route", ["/work/{}/{}/submit/", "/api/v1/work/{}/{}/submit/", "/work/{}/{}/draft/"])
def test_a_hostile_answer_is_refused_and_nothing_is_recorded(route: str, answer: Any) -> None:
    person = factories.user()
    corpus = factories.corpus()
    factories.dialogue(corpus, turns=2)
    campaign = factories.campaign(corpus, annotators=[person])
    client = Client(raise_request_exception=False)
    client.force_login(person)
    task = client.post(f"/api/v1/work/{campaign.pk}/next/").json()["task"]
    answers = {str(item): {"overall": answer, "naturalness": answer} for item in task["items"]}
    body = json.dumps({"answers": answers, "version": 1})
    answered = client.post(
        route.format(campaign.pk, task["assignment"]), body, content_type="application/json"
    )
    assert answered.status_code < 500
    assert not Assignment.objects.filter(state="submitted").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text)[:12])
def test_no_address_breaks_on_a_hostile_query_or_form(
    administrator: Client, places: dict[str, str], text: str
) -> None:
    written = text.encode("utf-8", "surrogatepass")
    for address in _asked():
        asked = administrator.get(address.path, dict.fromkeys(FIELDS, written))
        assert asked.status_code < 500, address
        for fields in (dict.fromkeys(FIELDS, written), dict.fromkeys(FIELDS, written) | places):
            sent = administrator.post(address.path, urlencode(fields), content_type=FORM)
            assert sent.status_code < 500, address


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", ["a%00b", "%ED%A0%BD", "9" * 30])
def test_no_address_breaks_on_a_hostile_path(administrator: Client, part: str) -> None:
    for address in _asked():
        path = address.path.replace("/1/", f"/{part}/").replace("/x/", f"/{part}/").replace(".x", f".{part}")
        for send in (administrator.get, administrator.post, administrator.delete):
            answer = send(path)
            assert answer.status_code < 500, path


@pytest.mark.exhaustive
def test_options_is_answered_everywhere(administrator: Client) -> None:
    for address in _asked():
        for accept in ("*/*", "text/html", "application/xml"):
            answer = administrator.options(address.path, headers={"accept": accept})
            assert answer.status_code < 500, address


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "100000000", "9" * 400, "ten", ""])
def test_a_limit_that_is_none_is_refused_with_what_is_one(administrator: Client, limit: str) -> None:
    answer = administrator.get("/api/v1/runs/", {"limit": limit})
    assert (answer.status_code, answer.json()["fields"]) == (
        400,
        {"limit": ["A whole number from 1 to 1000."]},
    )


def test_a_limit_and_an_offset_within_bounds_are_taken(administrator: Client, places: dict[str, str]) -> None:
    answer = administrator.get("/api/v1/campaigns/", {"limit": "1000", "offset": "1000000000"})
    assert (answer.status_code, answer.json()["count"], answer.json()["results"]) == (200, 1, [])


def test_the_api_answers_programs_with_json(administrator: Client) -> None:
    answer = administrator.get("/api/v1/nothing/")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")
    assert "html" in administrator.get("/nothing/")["Content-Type"]
