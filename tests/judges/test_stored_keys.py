"""Keys of endpoints in the database: encrypted, sent to their server alone, and shown nowhere."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils.http import urlencode

from config.models import Event
from jobs.endpoints import client as probing
from jobs.endpoints import endpoint_actions
from jobs.endpoints.presets import PRESETS
from jobs.endpoints.responses import MARK
from jobs.errors import JobError
from jobs.models import Endpoint, Job, Run
from jobs.progress import progress
from jobs.queue.worker import Heartbeat
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, finish, small_corpus

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "sk-Stored-Zq81tRv93xWb77dYc0"
URL = "https://api.example.com/v1"


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(factories.user("root", administrator=True))
    return client


def stored(fake: FakeLLM, **fields: object) -> Endpoint:
    """Add an endpoint with a stored key at a fake server."""
    by = factories.user(administrator=True)
    about = {"name": "fake", "base_url": fake.url, "model": "fake-1", "allow_private": True, "key": KEY}
    return endpoint_actions.save(by=by, fields={**about, "timeout_s": 5, **fields})


def every_row() -> str:
    """Return the text of all rows of all tables, as a backup holds them."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        texts = []
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" t')
            texts += [row[0] for row in cursor.fetchall()]
    return "\n".join(texts)


def test_a_run_sends_the_stored_key(fake: FakeLLM) -> None:
    run = begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=stored(fake)))
    finish()
    run.refresh_from_db()
    assert (run.state, fake.keys) == (Run.State.DONE, {f"Bearer {KEY}"})


def test_a_key_is_in_no_page_answer_log_job_event_or_row(
    root: Client, fake: FakeLLM, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    fake.answer = lambda _: (401, json.dumps({"error": {"message": f"Incorrect API key: {KEY}"}}))  # type: ignore[method-assign]
    fields = {"name": "mine", "base_url": URL, "model": "m", "key": KEY, "currency": "USD"}
    numbers = {"concurrency": "4", "timeout_s": "5", "active": "on"}
    sent = [
        root.post(reverse("endpoints"), fields | numbers | {"concurrency": "none"}),
        root.post(reverse("endpoints"), fields | numbers, follow=True),
        root.post(reverse("endpoints"), fields | numbers),  # the name is taken
        root.post(reverse("api-endpoints"), fields | {"name": "api"}, content_type="application/json"),
        root.post(reverse("api-endpoints"), fields | {"name": "api"}, content_type="application/json"),
        root.post(
            reverse("api-endpoints"),
            fields | {"name": "x", "key": f"{KEY} with a space"},
            content_type="application/json",
        ),
        root.post(
            reverse("api-endpoints"),
            fields | {"name": "once"},
            content_type="application/json",
            headers={"Idempotency-Key": "one"},
        ),
    ]
    assert [answer.status_code for answer in sent] == [422, 200, 422, 201, 400, 400, 201]
    run = begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=stored(fake)))
    finish()
    tested = endpoint_actions.ask_for_test(by=run.endpoint.owner or factories.user(), endpoint=run.endpoint)  # type: ignore[union-attr]
    probing.test(tested)
    endpoint = Endpoint.objects.get(name="mine")
    sent += [
        root.get(reverse("endpoints")),
        root.get(reverse("endpoint", args=[endpoint.pk])),
        root.get(reverse("api-endpoints")),
        root.get(reverse("api-endpoint", args=[endpoint.pk])),
        root.get(reverse("run", args=[run.pk])),
        root.get(reverse("api-run", args=[run.pk])),
        root.get(reverse("api-events")),
        root.get(reverse("audit-log")),
    ]
    assert root.get(reverse("api-endpoint", args=[endpoint.pk])).json()["has_stored_key"] is True
    for part in (KEY, KEY[:12], KEY[-12:], endpoint.stored_key):
        assert not [answer for answer in sent if part in answer.content.decode()]
        assert part not in caplog.text
    assert KEY[:12] not in every_row()
    assert KEY not in repr(endpoint) + repr(list(Job.objects.values()))
    assert Event.objects.filter(verb="save endpoint", detail__key="stored").count() == 4


def test_a_reply_to_a_test_is_shown_without_the_key_that_it_repeats(root: Client, fake: FakeLLM) -> None:
    fake.say = lambda prompt: f"<b>yes</b>, {KEY}"  # type: ignore[method-assign,assignment]
    endpoint = stored(fake)
    root.post(reverse("test-endpoint", args=[endpoint.pk]))
    probing.test(*probing.waiting())
    endpoint.refresh_from_db()
    assert (endpoint.test_reply, endpoint.test_error) == (f"<b>yes</b>, {MARK}", "")
    page = root.get(reverse("endpoints")).content.decode()
    assert "&lt;b&gt;yes&lt;/b&gt;" in page
    assert "<b>yes" not in page


@pytest.mark.parametrize("other", ["https://evil.example/v1", "https://api.example.com:444/v1"])
def test_a_key_does_not_follow_to_another_server(other: str) -> None:
    by = factories.user(administrator=True)
    fields = {"name": "e", "base_url": URL, "model": "m", "key": KEY}
    endpoint = endpoint_actions.save(by=by, fields=fields)
    endpoint_actions.save(by=by, fields={"base_url": f"{URL}/other"}, endpoint=Endpoint.objects.get())
    with pytest.raises(JobError, match=r"was stored for https://api\.example\.com:443: enter the key again"):
        endpoint_actions.save(by=by, fields={"base_url": other}, endpoint=Endpoint.objects.get())
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url=other)
    assert not endpoint_actions.has_key(Endpoint.objects.get())
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url=URL)
    changed = {"base_url": other, "key": "another-key"}
    saved = endpoint_actions.save(by=by, fields=changed, endpoint=Endpoint.objects.get())
    assert endpoint_actions.key_of(saved) == "another-key"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"key": "two words"}, "1 to 1000 printable characters without spaces"),
        ({"key": "a\nb"}, "1 to 1000 printable characters without spaces"),
        ({"key": KEY, "key_env": "SOME_API_KEY"}, "Choose one: a stored key, or the variable of a key"),
        ({"key": KEY, "base_url": "http://api.example.com/v1"}, "unencrypted: give an https address"),
        ({"shared": True}, "belongs to nobody alone"),
    ],
)
def test_a_key_that_cannot_be_used_is_refused_in_one_line(fields: dict[str, object], reason: str) -> None:
    by = factories.user(administrator=True)
    with pytest.raises(JobError, match=reason):
        endpoint_actions.save(by=by, fields={"name": "e", "base_url": URL, "model": "m", **fields})
    assert not Endpoint.objects.exists()


def test_the_form_keeps_a_key_deletes_it_or_replaces_it(root: Client) -> None:
    fields = {"name": "e", "base_url": URL, "model": "m", "key": KEY, "currency": "USD"}
    fields |= {"concurrency": "4", "timeout_s": "5", "active": "on"}
    root.post(reverse("endpoints"), fields)
    address = reverse("endpoint", args=[Endpoint.objects.get().pk])
    for change, key in (({"key": ""}, KEY), ({"key": "newer-key"}, "newer-key"), ({"delete_key": "on"}, "")):
        root.post(address, fields | {"key": ""} | change)
        assert endpoint_actions.key_of(Endpoint.objects.get()) == key


def test_a_changed_secret_rotates(root: Client, settings: SettingsWrapper) -> None:
    by = factories.user(administrator=True)
    first, second = (
        endpoint_actions.save(by=by, fields={"name": name, "base_url": URL, "model": "m", "key": KEY})
        for name in ("first", "second")
    )
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "newer" * 10, [settings.SECRET_KEY]
    assert endpoint_actions.key_of(first) == KEY
    Endpoint.objects.filter(pk=second.pk).update(stored_key="gAAAAA-of-another-installation")
    page = root.get(reverse("endpoints")).content.decode()
    assert "2 stored keys are encrypted with an earlier CONCORD_SECRET_KEY" in page
    answer = root.post(reverse("api-reencrypt-keys"))
    assert answer.json() == {"reencrypted": 1, "unreadable": ["second"]}
    settings.SECRET_KEY_FALLBACKS = []
    first.refresh_from_db()
    assert endpoint_actions.key_of(first) == KEY
    assert "Enter these keys again" in root.post(reverse("reencrypt-keys"), follow=True).content.decode()
    with pytest.raises(PermissionDenied):
        endpoint_actions.reencrypt_keys(by=factories.user(researcher=True))


def test_the_settings_take_earlier_secrets_after_a_comma(monkeypatch: pytest.MonkeyPatch) -> None:
    from config import settings as module

    monkeypatch.setenv("CONCORD_SECRET_KEY", " newer , earlier,earliest ")
    assert module._secret_keys() == ["newer", "earlier", "earliest"]


def test_a_run_says_that_no_worker_reads_its_key(fake: FakeLLM, settings: SettingsWrapper) -> None:
    run = begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=stored(fake)))
    settings.SECRET_KEY = "another" * 10
    finish()
    assert fake.requests.total() == 0
    with Heartbeat("calls"):
        assert progress(run).key_note.startswith("No worker can read the stored key: the calls wait")
    with pytest.raises(JobError, match="CONCORD_SECRET_KEY is not the one that it was stored with"):
        endpoint_actions.key_of(run.endpoint)  # type: ignore[arg-type]


def test_what_is_stored_is_no_key_and_differs_each_time() -> None:
    tokens = {endpoint_actions.encrypt(KEY, URL) for _ in range(3)}
    assert len(tokens) == 3
    assert not [token for token in tokens if KEY in token]
    assert {endpoint_actions.decrypt(token, URL) for token in tokens} == {KEY}


def test_a_declaration_in_the_environment_takes_a_name_over_without_its_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner = factories.user("rei", researcher=True)
    fields = {"name": "mine", "base_url": URL, "model": "m", "key": KEY, "shared": True}
    endpoint_actions.save(by=owner, fields=fields)
    monkeypatch.setenv("CONCORD_ENDPOINT_MINE", "https://evil.example/v1|m")
    (row,) = endpoint_actions.sync_environment()
    assert (row.base_url, row.owner, row.stored_key, row.shared) == (
        "https://evil.example/v1",
        None,
        "",
        False,
    )


def test_the_database_refuses_two_keys() -> None:
    with pytest.raises(IntegrityError, match="endpoint_has_one_key"), transaction.atomic():
        Endpoint.objects.create(name="e", base_url=URL, model="m", key_env="A_KEY", stored_key="x")


# Presets


@pytest.mark.parametrize("key", PRESETS)
def test_a_preset_fills_in_an_endpoint_that_can_be_saved(root: Client, key: str) -> None:
    page = root.get(reverse("endpoints"), {"preset": key})
    form, preset = page.context["form"], PRESETS[key]
    assert f'value="{preset.base_url}"' in page.content.decode()
    assert preset.note.split("'")[0] in page.content.decode()
    fields = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False, "")}
    saved = root.post(reverse("endpoints"), {**fields, "model": preset.model})
    assert saved.status_code == 302, saved.context["form"].errors
    row = Endpoint.objects.get()
    assert (row.name, row.concurrency, row.allow_private) == (preset.title, preset.concurrency, preset.local)
    again = root.get(reverse("endpoints"), {"preset": key}).context["form"]
    assert again["name"].value() == f"{preset.title} 2"


@pytest.mark.parametrize(
    ("onwards", "place"),
    [("/runs/new/?corpus=1", "/runs/new/?corpus=1"), ("//elsewhere.example/", "/endpoints/#endpoint-")],
)
def test_a_saved_endpoint_leads_back_within_concord(root: Client, onwards: str, place: str) -> None:
    address = f"{reverse('endpoints')}?{urlencode({'preset': 'vllm', 'next': onwards})}"
    form = root.get(address).context["form"]
    fields = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False, "")}
    saved = root.post(address, {**fields, "model": "m"})
    assert saved.headers["Location"].startswith(place)


def test_researchers_are_offered_no_server_of_the_private_network(client: Client) -> None:
    client.force_login(factories.user(researcher=True))
    rows = client.get(reverse("api-endpoint-presets")).json()
    assert [row["key"] for row in rows] == [row.key for row in PRESETS.values() if not row.local]
    assert rows[0]["batch_share"] == "0.5000"
    page = client.get(reverse("endpoints"), {"preset": "ollama"}).content.decode()
    assert "11434" not in page
