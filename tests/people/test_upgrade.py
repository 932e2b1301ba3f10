"""Accounts and tokens from before these tables go on working."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from rest_framework.test import APIClient

from annotation.models import ApiToken, UserName
from tests import factories

pytestmark = pytest.mark.django_db
MIGRATION = import_module("config.upgrade.migrations.annotation.0006_people_data")


def test_twins_from_before_keep_their_accounts_and_can_sign_in() -> None:
    User.objects.bulk_create(User(username=name) for name in ("ana", "Ana", "ben"))
    assert not UserName.objects.exists()
    MIGRATION.keep_names(apps, None)
    assert UserName.objects.count() == 3
    twin = User.objects.get(username="Ana")
    twin.save()
    assert UserName.objects.get(user=twin).folded == f"ana#{twin.pk}"


def test_a_token_from_before_works_and_its_key_is_gone() -> None:
    ana = factories.user("ana", researcher=True)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE authtoken_token (key varchar, created timestamptz, user_id bigint)")
        cursor.execute("INSERT INTO authtoken_token VALUES ('0123abc', now(), %s)", [ana.pk])
        cursor.execute(MIGRATION.KEEP_TOKENS)
        cursor.execute("SELECT to_regclass('authtoken_token')")
        assert cursor.fetchone() == (None,)
    assert ApiToken.objects.get().scope == "write"
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION="Token 0123abc")
    assert client.get("/api/v1/corpora/").status_code == 200
