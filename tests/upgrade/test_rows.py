"""Nothing that somebody made is lost or altered by an upgrade, and all of it goes on working."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from rest_framework.test import APIClient

from annotation.models import ApiToken, Campaign, Corpus, Label, UserName
from calibration.models import Study
from jobs.models import Endpoint, Run
from tests.upgrade.databases import connected_to, database, rows
from tests.upgrade.previous import TOKEN, UNUSED

MOVED = {
    "annotation_event": "config_event",
    "judges_endpoint": "jobs_endpoint",
    "judges_run": "jobs_run",
    "judges_call": "jobs_call",
}
DROPPED = {"annotation_upload": {"state", "problem", "done_bytes", "dialogues", "beat"}}
"""Columns that went: what an import's job says now, and what `problems` holds."""
FOLLOWED = {"django_content_type", "auth_permission"}
"""Tables to which Django itself adds what is new."""
GONE = {"judges_worker", "calibration_computation", "authtoken_token", "django_migrations"}


@pytest.fixture(scope="module")
def before(published: str, django_db_blocker) -> Iterator[dict[str, Any]]:
    """All rows before the upgrade; Django is connected to the database after it."""
    with django_db_blocker.unblock(), database("rows", like=published) as name, connected_to(name):
        found = rows()
        call_command("migrate", interactive=False, verbosity=0)
        yield found


def test_every_row_is_there_with_its_values(before) -> None:
    assert {table for table, found in before.items() if not found} == UNUSED
    after = rows()
    for table in before.keys() - GONE - UNUSED:
        columns = before[table][0].keys() - DROPPED.get(table, set())
        kept, expected = (
            [{column: row[column] for column in columns} for row in found]
            for found in (after[MOVED.get(table, table)], before[table])
        )
        if table in FOLLOWED:
            kept = kept[: len(expected)]
        assert kept == expected, table
    assert not (GONE | MOVED.keys()) - {"django_migrations"} & after.keys()


def test_new_rows_get_numbers_of_their_own(before) -> None:
    with transaction.atomic():
        endpoint = Endpoint.objects.create(name="third", base_url="https://llm.example/v1", model="m")
        transaction.set_rollback(True)
    assert endpoint.pk == 3


def test_runs_are_of_the_kind_that_their_queue_says(before) -> None:
    assert set(Run.objects.values_list("queue", "kind")) == {("calls", "judge"), ("metrics", "metric")}
    assert [call.reply for run in Run.objects.all() for call in run.calls.all()] == ["3", "3"]


def test_an_endpoint_at_a_private_address_goes_on_working_and_others_stay_closed(before) -> None:
    assert dict(Endpoint.objects.values_list("name", "allow_private")) == {"ours": True, "public": False}


def test_a_token_works_and_only_its_hash_is_left(before) -> None:
    token = ApiToken.objects.get()
    assert token.key_hash == hashlib.sha256(TOKEN.encode()).hexdigest()
    assert TOKEN not in str(rows())
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {TOKEN}")
    answer = client.get("/api/v1/corpora/")
    assert [corpus["name"] for corpus in answer.json()["results"]] == ["kitchen"]


def test_every_account_has_a_name_of_its_own(before) -> None:
    assert set(UserName.objects.values_list("name", flat=True)) == {"ana", "Ana", "ben"}


def test_rules_that_came_with_later_steps_hold_for_rows_from_before(before) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT public), count(*), min(public) > 0 FROM annotation_item")
        distinct, total, positive = cursor.fetchone()
    assert distinct == total == 7
    assert positive
    assert Label.objects.filter(superseded_at=None).count() == 4


def test_pages_of_it_open(before) -> None:
    corpus, campaign, study = Corpus.objects.get(), Campaign.objects.get(), Study.objects.get()
    dialogue = corpus.dialogues.get()
    client = signed_in("ben")
    addresses = [
        "/corpora/", f"/corpora/{corpus.name}/", f"/corpora/dialogue/{dialogue.pk}/", "/campaigns/",
        f"/campaigns/{campaign.pk}/", f"/campaigns/{campaign.pk}/submissions/", "/runs/",
        *(f"/runs/{run.pk}/" for run in Run.objects.all()), "/endpoints/", "/people/",
        "/people/log/", "/studies/", f"/studies/{study.pk}/", "/gold/", "/exports/", "/account/", "/jobs/",
        *(f"/people/{person.pk}/" for person in User.objects.all()),
    ]  # fmt: skip
    assert {address: client.get(address).status_code for address in addresses} == dict.fromkeys(
        addresses, 200
    )
    assert "open campaign" in client.get("/people/log/").content.decode()


def signed_in(name: str) -> Any:
    client = Client()
    client.force_login(User.objects.get(username=name), backend="config.sessions.Accounts")
    return client
