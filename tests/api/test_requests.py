"""Rules for all requests: one format of refusals, paginated lists, idempotency keys."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.test import Client
from django.utils import timezone

from annotation.models import ApiToken, Corpus
from annotation.people import accounts
from config import idempotency
from config.models import StoredResponse
from config.refusals import shaped
from jobs.models import Webhook
from tests import factories
from tests.api.openapi import document
from tests.security.addresses import addresses

KEY = {"headers": {"Idempotency-Key": "one-and-only"}}
SCHEME = {"name": "pilot", "scheme": "comperdial_turn", "raters_per_item": 1}


def signed_in(**role: bool) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(factories.user(**role))
    return client


def post(client: Client, path: str, body: Any, **more: Any) -> Any:
    return client.post(f"/api/v1/{path}", body, content_type="application/json", **more)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"detail": "No."}, {"detail": "No.", "code": "invalid"}),
        ({"detail": "No.", "code": "not_open", "kept": 1}, {"detail": "No.", "code": "not_open", "kept": 1}),
        (
            {"name": ["Taken."], "of": {"x": ["Odd."]}},
            {
                "detail": "name: Taken.",
                "code": "invalid",
                "fields": {"name": ["Taken."], "of.x": ["Odd."]},
            },
        ),
        ({"non_field_errors": ["Both."]}, {"detail": "Both.", "code": "invalid"}),
        (["One.", "Two."], {"detail": "One. Two.", "code": "invalid"}),
        (
            {"detail": ["One.", "Two."]},
            {"detail": "One. Two.", "code": "invalid", "problems": ["One.", "Two."]},
        ),
        (None, {"detail": "Bad Request.", "code": "invalid"}),
    ],
)
def test_every_refusal_gets_the_one_shape(body: Any, told: dict[str, Any]) -> None:
    assert shaped(400, body) == told


@pytest.mark.django_db
def test_every_route_refuses_in_the_one_shape() -> None:
    """Unknown things, wrong methods, media types, bodies and formats, and who is not allowed."""
    root, nobody = signed_in(administrator=True), Client()
    asking = [
        lambda path: root.post(path, "{", content_type="application/json"),
        lambda path: root.post(path, "x", content_type="text/odd"),
        lambda path: root.trace(path),
        lambda path: root.get(path, {"limit": "x", "offset": "y"}),
        lambda path: root.get(path, headers={"Accept": "image/png"}),
        lambda path: nobody.post(path, "{}", content_type="application/json"),
    ]
    seen: set[int] = set()
    paths = [one.path for one in addresses() if one.path.startswith("/api/v1/")]
    for number, path in enumerate([*paths, "/api/v1/nothing/"]):
        answer = asking[number % len(asking)](path)
        seen.add(answer.status_code)
        assert answer.status_code < 500, path
        if answer.status_code >= 400:
            told = answer.json()
            assert isinstance(told["detail"], str), path
            assert told["detail"], path
            assert isinstance(told["code"], str), path
            assert all(isinstance(lines, list) for lines in told.get("fields", {}).values()), path
    assert {400, 401, 404, 405, 406, 415} <= seen, seen


@pytest.mark.django_db
def test_what_breaks_is_told_in_the_same_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.campaigns.campaign_actions.create", lambda **_: 1 / 0)
    corpus = factories.corpus()
    factories.dialogue(corpus)
    answer = post(signed_in(researcher=True), "campaigns/", SCHEME | {"corpus": corpus.name}, **KEY)
    assert (answer.status_code, answer.json()["code"]) == (500, "error")
    assert not StoredResponse.objects.exists()


UNPAGED = {
    "/api/v1/protocols/": "the table of protocols, fixed by the release",
    "/api/v1/metrics/": "the table of metrics, fixed by the release",
    "/api/v1/runs/{id}/causes/": "the causes of one run, 20 at most",
    "/api/v1/generators/": "the table of generators, fixed by the release",
    "/api/v1/gold/rules/": "the table of rules, fixed by the release",
    "/api/v1/endpoints/presets/": "the table of presets, fixed by the release",
    "/api/v1/corpora/{name}/splits/": "a corpus has few",
    "/api/v1/studies/{id}/report/tables/": "the tables of one report",
    "/api/v1/corpora/{id}/scripts/{dialogue}/names/": "a script has few versions of its names",
    "/api/v1/corpora/{name}/systems/": "one form of all the families in a corpus",
    "/api/v1/continuations/{id}/profile/": "what metrics say of one continuation, turn by turn",
    "/api/v1/campaigns/{campaign}/systems/": "a campaign has few systems",
    "/api/v1/work/": "one's own campaigns",
    "/api/v1/account/tokens/": "one's own tokens, 20 at most",
    "/api/v1/work/{campaign}/{assignment}/notes/": "one's own notes on the lines of one task",
}


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_every_list_comes_in_pages() -> None:
    found = {}
    for path, operations in document()["paths"].items():
        answer = operations.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        schema = answer.get("application/json", {}).get("schema", {})
        if schema.get("type") == "array":
            found[path] = schema
    assert found.keys() <= UNPAGED.keys()


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_post_takes_a_key_unless_its_answer_is_a_secret_or_a_file() -> None:
    keyless = set()
    for path, operations in document()["paths"].items():
        post = operations.get("post", {})
        if post and not any(one["name"] == "Idempotency-Key" for one in post.get("parameters", [])):
            keyless.add(path.removeprefix("/api/v1/").partition("/")[0])
    with_secrets = {"account", "campaigns", "invitations", "people", "studies", "webhooks"}
    assert keyless == with_secrets | {"exports", "gold"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("campaigns/", {"state": "odd"}),
        ("runs/", {"campaign": "x"}),
        ("jobs/", {"since": "yesterday"}),
        ("studies/", {"order": "odd"}),
    ],
)
def test_a_list_is_narrowed_and_says_what_it_cannot_be_narrowed_by(path: str, wrong: dict[str, str]) -> None:
    answer = signed_in(researcher=True).get(f"/api/v1/{path}", wrong)
    assert (answer.status_code, answer.json()["fields"].keys()) == (400, wrong.keys())


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_lists_are_narrowed_and_put_in_order() -> None:
    client = signed_in(researcher=True)
    for name in ("beta", "alpha"):
        corpus = factories.corpus(f"corpus of {name}")
        factories.dialogue(corpus)
        factories.campaign(corpus, name=name, opened=name == "alpha")

    def names(**query: str) -> list[str]:
        return [row["name"] for row in client.get("/api/v1/campaigns/", query).json()["results"]]

    assert (names(), names(order="id"), names(order="name")) == (
        ["alpha", "beta"],
        ["beta", "alpha"],
        ["alpha", "beta"],
    )
    assert (names(state="open"), names(text="BET"), names(corpus="corpus of beta")) == (
        ["alpha"],
        ["beta"],
        ["beta"],
    )
    assert len(names(since="0531-01-05T06:23:36+17:29")) == 2
    assert (names(since="2999-01-01"), len(names(since="2020-01-01T00:00:00Z"))) == ([], 2)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_request_sent_twice_under_a_key_counts_once() -> None:
    client = signed_in(researcher=True)
    corpus = factories.corpus()
    factories.dialogue(corpus)
    body = SCHEME | {"corpus": corpus.name}
    first, again = (post(client, "campaigns/", body, **KEY) for _ in range(2))
    assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
    assert ("Idempotency-Replayed" in first.headers, again.headers["Idempotency-Replayed"]) == (False, "true")
    assert corpus.campaigns.count() == 1
    other = post(client, "campaigns/", body | {"name": "other"}, **KEY)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    StoredResponse.objects.update(at=timezone.now() - idempotency.RETENTION)
    assert post(client, "campaigns/", body | {"name": "later"}, **KEY).status_code == 201
    assert corpus.campaigns.count() == 2


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_key_is_its_accounts_and_its_routes_alone() -> None:
    corpus = factories.corpus()
    factories.dialogue(corpus)
    clients = [signed_in(researcher=True), signed_in(researcher=True)]
    for number, client in enumerate(clients):
        body = SCHEME | {"corpus": corpus.name, "name": f"pilot {number}"}
        assert post(client, "campaigns/", body, **KEY).json()["name"] == f"pilot {number}"
    campaign = corpus.campaigns.first()
    copied = post(clients[0], f"campaigns/{campaign.pk}/copy/", {"name": "copy"}, **KEY)
    assert copied.status_code == 201
    assert "Idempotency-Replayed" not in copied.headers


@pytest.mark.django_db
def test_what_is_refused_is_not_kept_and_may_be_mended_under_the_same_key() -> None:
    client, corpus = signed_in(researcher=True), factories.corpus()
    factories.dialogue(corpus)
    assert post(client, "campaigns/", SCHEME | {"corpus": "nothing"}, **KEY).status_code == 400
    assert post(client, "campaigns/", SCHEME | {"corpus": corpus.name}, **KEY).status_code == 201


@pytest.mark.django_db
def test_a_revoked_token_gets_no_kept_answer() -> None:
    person, corpus = factories.user(researcher=True), factories.corpus()
    factories.dialogue(corpus)
    made = accounts.make(person=person, name="x", scope="write", days=1)
    sent = {"headers": KEY["headers"] | {"Authorization": f"Token {made.key}"}}
    body = SCHEME | {"corpus": corpus.name}
    assert post(Client(), "campaigns/", body, **sent).status_code == 201
    ApiToken.objects.all().delete()
    assert post(Client(), "campaigns/", body, **sent).status_code == 401


@pytest.mark.django_db
def test_files_are_known_again_by_what_is_in_them() -> None:
    client = signed_in(researcher=True)

    def send(text: str) -> Any:
        file = SimpleUploadedFile(
            "talks.jsonl", json.dumps({"id": text, "turns": [{"speaker": "A", "text": "Hi"}]}).encode()
        )
        return client.post("/api/v1/imports/", {"file": file, "name": "talks"}, **KEY)

    first, again, other = send("d1"), send("d1"), send("d2")
    assert (first.status_code, again.status_code, other.status_code) == (201, 201, 422)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert Corpus.objects.get().dialogues.count() == 1


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_answers_with_a_secret_are_kept_nowhere() -> None:
    client = signed_in(administrator=True)
    for path, body in (
        ("account/tokens/", {"name": "x", "scope": "read", "days": 1}),
        ("invitations/", {"role": "annotator"}),
        ("webhooks/", {"url": "https://a.example/", "events": ["run.failed"]}),
    ):
        refused = post(client, path, body, **KEY)
        assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_refused"), path
        assert post(client, path, body).status_code == 201, path
    assert Webhook.objects.count() == 1
    assert not StoredResponse.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["", "a b", "ä", "x" * 256])
def test_an_odd_key_is_refused(key: str) -> None:
    answer = post(signed_in(researcher=True), "campaigns/", {}, headers={"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["code"]) == (400, "idempotency_key_invalid")


@pytest.mark.django_db(transaction=True)
def test_six_at_once_under_one_key_make_one_campaign_and_hear_the_same() -> None:
    person, corpus = factories.user(researcher=True), factories.corpus()
    factories.dialogue(corpus)
    together, heard = threading.Barrier(6), []

    def send() -> None:
        client = Client()
        client.force_login(person)
        together.wait()
        answer = post(client, "campaigns/", SCHEME | {"corpus": corpus.name}, **KEY)
        heard.append((answer.status_code, answer.json()["id"]))
        connections.close_all()

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == [(201, corpus.campaigns.get().pk)] * 6
