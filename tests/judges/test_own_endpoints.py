"""A researcher's own endpoint: the owner and administrators use, change and see it, until it is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus
from annotation.people.deletion import delete_person
from jobs import runs
from jobs.endpoints import endpoint_actions
from jobs.errors import JobError
from jobs.models import Endpoint, Run
from judges.runs.plans import Judge
from judges.runs.run_actions import start_judge
from judges.runs.selection import Selection
from tests import factories
from tests.judges.helpers import small_corpus

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db

KEY = "sk-own-Zq81tRv93xWb77dYc0"
FIELDS = {"name": "mine", "base_url": "https://api.example.com/v1", "model": "m", "key": KEY}
FORM = {**FIELDS, "currency": "USD", "concurrency": "4", "timeout_s": "10", "active": "on"}


@pytest.fixture
def owner() -> User:
    return factories.user("ona", researcher=True)


@pytest.fixture
def own(owner: User) -> Endpoint:
    return endpoint_actions.save(by=owner, fields=FIELDS)


def as_(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def other() -> User:
    return factories.user(researcher=True)


def offered(client: Client, corpus: Corpus) -> bool:
    page = client.get(reverse("new-run"), {"corpus": corpus.pk}).content.decode()
    return " mine</label>" in page


def start(by: User, endpoint: Endpoint) -> Run:
    judge = Judge("cpdscore_detail", endpoint=endpoint)
    run = start_judge(by=by, judge=judge, selection=Selection(small_corpus(dialogues=1)))
    assert isinstance(run, Run)
    return run


def test_a_researcher_adds_an_endpoint_of_their_own_on_the_page(owner: User) -> None:
    page = as_(owner).post(reverse("endpoints"), FORM, follow=True).content.decode()
    row = Endpoint.objects.get()
    assert (row.owner, row.shared, endpoint_actions.key_of(row)) == (owner, False, KEY)
    assert "yours, not shared" in page


def test_others_neither_see_it_nor_choose_it_until_it_is_shared(owner: User, own: Endpoint) -> None:
    corpus = small_corpus(dialogues=1)
    client, administrator = as_(other()), as_(factories.user(administrator=True))
    pages = [reverse("endpoint", args=[own.pk]), reverse("api-endpoint", args=[own.pk])]
    for shared in (False, True):
        endpoint_actions.save(by=owner, fields={"shared": shared}, endpoint=own)
        assert ("mine" in client.get(reverse("endpoints")).content.decode()) is shared
        names = [row["name"] for row in client.get(reverse("api-endpoints")).json()["results"]]
        assert names == ["mine"] * shared
        assert offered(client, corpus) is shared
        assert [client.get(page).status_code for page in pages] == ([403, 200] if shared else [404, 404])
        assert client.post(reverse("test-endpoint", args=[own.pk])).status_code == (302 if shared else 404)
        assert offered(administrator, corpus)
        assert offered(as_(owner), corpus)
        assert [administrator.get(page).status_code for page in pages] == [200, 200]
        patched = client.patch(pages[1], {"model": "x"}, content_type="application/json")
        assert patched.status_code == (403 if shared else 404)


def test_another_cannot_start_estimate_or_continue_a_run_at_it(owner: User, own: Endpoint) -> None:
    stranger, refusal = other(), "belongs to ona and is not shared"
    with pytest.raises(JobError, match=refusal):
        start(stranger, own)
    body = {"protocol": "cpdscore_detail", "endpoint": "mine", "corpus": Corpus.objects.get().name}
    for name in ("api-runs", "api-estimate-run"):
        answer = as_(stranger).post(reverse(name), body, content_type="application/json")
        assert "There is no endpoint" in answer.content.decode()
        assert "api.example.com" not in answer.content.decode()
    run = start(owner, own)
    runs.pause(by=stranger, run=run)
    page = as_(stranger).post(reverse("retry-run", args=[run.pk]), follow=True)
    assert refusal in page.content.decode()
    for verb in (runs.resume, runs.retry, runs.retry_failed):
        with pytest.raises(JobError, match=refusal):
            verb(by=stranger, run=run)
    with pytest.raises(JobError, match=refusal):
        runs.set_caps(by=stranger, run=run, caps={"cap_calls": 5, "cap_tokens": None, "cap_cost": None})
    runs.resume(by=factories.user(administrator=True), run=run)


def test_the_database_refuses_a_run_at_an_endpoint_of_another(owner: User, own: Endpoint) -> None:
    about: dict[str, Any] = {"corpus": factories.corpus(), "queue": "calls", "title": "t", "endpoint": own}
    with pytest.raises(IntegrityError, match="belongs to another account"), transaction.atomic():
        Run.objects.create(created_by=other(), scope_hash="a", **about)
    Run.objects.create(created_by=owner, scope_hash="b", **about)
    Run.objects.create(created_by=factories.user(administrator=True), scope_hash="c", **about)
    Endpoint.objects.update(shared=True)
    Run.objects.create(created_by=other(), scope_hash="d", **about)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"key": "", "key_env": "SOME_API_KEY"}, "a key in the environment"),
        ({"allow_private": True}, "an address at this machine or in its private network"),
        ({"tokenizer": "/etc/passwd"}, "a tokenizer file"),
    ],
)
def test_it_takes_nothing_of_the_server_and_says_whom_to_ask(
    owner: User, fields: dict[str, Any], words: str
) -> None:
    factories.user("ada", administrator=True)
    with pytest.raises(JobError, match=f"Only administrators add an endpoint with {words}: ask ada"):
        endpoint_actions.save(by=owner, fields={**FIELDS, **fields})
    row = {**FIELDS, **fields, "owner": owner}
    row.pop("key")
    with pytest.raises(IntegrityError, match="own_endpoint_takes_nothing"), transaction.atomic():
        Endpoint.objects.create(**row)
    page = as_(owner).get(reverse("endpoints")).content.decode()
    assert "ask ada" in page
    assert not [name for name in ("key_env", "allow_private", "tokenizer") if f'name="{name}"' in page]


def test_an_administrator_does_not_turn_it_into_one_with_a_key_of_the_server(own: Endpoint) -> None:
    administrator = factories.user(administrator=True)
    with pytest.raises(JobError, match="Only administrators add"):
        endpoint_actions.save(by=administrator, fields={"key": "", "key_env": "SOME_API_KEY"}, endpoint=own)


def test_only_the_owner_shares_it(owner: User, own: Endpoint) -> None:
    administrator = factories.user(administrator=True)
    with pytest.raises(JobError, match="Only ona shares mine"):
        endpoint_actions.save(by=administrator, fields={"shared": True}, endpoint=own)
    endpoint_actions.save(by=owner, fields={"shared": True}, endpoint=Endpoint.objects.get())
    page = as_(administrator).post(reverse("endpoint", args=[own.pk]), {**FORM, "key": "", "model": "n"})
    assert page.status_code == 302
    assert Endpoint.objects.values_list("model", "shared").get() == ("n", True)


def test_a_researcher_changes_no_endpoint_of_the_installation(owner: User) -> None:
    row = endpoint_actions.save(by=factories.user(administrator=True), fields=FIELDS)
    assert row.owner is None
    with pytest.raises(PermissionDenied):
        endpoint_actions.save(by=owner, fields={"model": "x"}, endpoint=row)
    assert as_(owner).get(reverse("endpoint", args=[row.pk])).status_code == 403
    assert offered(as_(owner), small_corpus(dialogues=1))


def test_annotators_add_none() -> None:
    with pytest.raises(PermissionDenied):
        endpoint_actions.save(by=factories.user(), fields=FIELDS)


def test_where_researchers_add_none_they_are_told_whom_to_ask(
    owner: User, own: Endpoint, settings: SettingsWrapper
) -> None:
    settings.RESEARCHER_ENDPOINTS = False
    administrator = factories.user("ada", administrator=True)
    client = as_(owner)
    page = client.get(reverse("endpoints")).content.decode()
    assert "To add an endpoint, ask ada." in page
    assert "Add an endpoint" not in page
    assert client.post(reverse("endpoints"), FORM).status_code == 403
    assert client.post(reverse("api-endpoints"), {**FIELDS, "name": "new"}).status_code == 403
    assert not offered(client, small_corpus(dialogues=1))
    with pytest.raises(JobError, match="may not be used any more: ask ada"):
        start(administrator, own)


def test_deleting_a_person_deletes_their_keys(owner: User, own: Endpoint) -> None:
    run = start(owner, own)
    delete_person(person=owner, by=factories.user(administrator=True), confirmation="ona")
    own.refresh_from_db()
    assert (own.owner, own.active, own.stored_key, own.shared) == (None, False, "", False)
    assert Run.objects.get(pk=run.pk).endpoint == own
