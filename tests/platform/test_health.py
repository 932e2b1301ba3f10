"""/healthz and /readyz."""

from __future__ import annotations

import shutil
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.utils import timezone

from config import pages
from config.embedded.supervisor import QUEUES
from jobs.models import Worker


def seen(queue: str, *, ago: timedelta = timedelta(0)) -> None:
    Worker.objects.create(name=f"test-{queue}", queue=queue, last_seen=timezone.now() - ago)


def test_health_asks_nobody_else(client):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_ready_with_a_worker_for_each_queue(client):
    for queue in QUEUES:
        seen(queue)
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "database": True,
        "migrations": True,
        "storage": True,
        "workers": {"calls": True, "metrics": True, "jobs": True},
    }


@pytest.mark.django_db
def test_not_ready_while_a_queue_has_no_worker_that_was_seen_lately(client):
    seen("calls")
    seen("metrics", ago=pages.SEEN_LATELY + timedelta(seconds=1))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["workers"] == {"calls": True, "metrics": False, "jobs": False}


@pytest.mark.django_db
def test_not_ready_while_a_migration_waits(client, monkeypatch):
    monkeypatch.setattr(pages, "_pending_migrations", lambda: True)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert (answer.json()["database"], answer.json()["migrations"]) == (True, False)


def test_not_ready_without_the_database(client, monkeypatch):
    def refuse() -> None:
        raise OperationalError("connection refused by 10.0.0.1")

    monkeypatch.setattr(connection, "ensure_connection", refuse)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["database"] is False
    assert "10.0.0.1" not in answer.text


@pytest.mark.django_db
def test_not_ready_where_an_open_connection_proves_broken(client, monkeypatch):
    def refuse() -> None:
        raise OperationalError("the connection is closed")

    monkeypatch.setattr(pages, "_workers_seen", refuse)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["database"] is False


@pytest.mark.django_db
def test_not_ready_while_nothing_can_be_saved(client, monkeypatch):
    for queue in QUEUES:
        seen(queue)
    free = shutil.disk_usage(settings.HOME).free
    monkeypatch.setattr(pages, "LEAST_ROOM", free * 1000)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert (answer.json()["status"], answer.json()["storage"]) == ("unavailable", False)
    assert answer.json()["database"] is True


@pytest.mark.parametrize("page", ["/healthz", "/readyz"])
def test_health_is_read_only(client, page):
    assert client.post(page).status_code == 405
