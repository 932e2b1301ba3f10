"""Small requests beside heavy ones: they wait for no long transaction, and find a connection."""

from __future__ import annotations

import threading

import psycopg
import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from annotation.campaigns import campaign_actions
from config import planner
from config.embedded import server, supervisor
from config.web import front
from tests import factories

BRIEFLY = "10s"
"""Far more than these requests take, and less than the long transaction, which never ends by itself."""


@pytest.mark.django_db(transaction=True)
def test_a_campaign_of_twelve_dialogues_opens_while_a_large_import_has_not_ended(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "WORTH_TELLING", 1)
    monkeypatch.setattr("annotation.campaigns.tasks.WORTH_TELLING", 1)
    corpus, by = factories.corpus("talks"), factories.user(researcher=True)
    for number in range(12):
        factories.dialogue(corpus, f"d{number}", turns=4)
    campaign = campaign_actions.create(by=by, name="Pilot", corpus=corpus, scheme="comperdial_turn")
    client.force_login(by)
    with psycopg.connect(**connection.get_connection_params()) as large:
        for table in ("annotation_task", "annotation_slot", "annotation_turn", "annotation_label"):
            large.execute(f"ANALYZE {table}")  # as an import does before its last rows
        with connection.cursor() as cursor:
            cursor.execute(f"SET statement_timeout = '{BRIEFLY}'")
        response = client.post(reverse("campaign-state", args=[campaign.pk]), {"verb": "open"})
    assert response.status_code == 302
    campaign.refresh_from_db()
    assert (campaign.state, campaign.tasks.count()) == ("open", 48)


@pytest.mark.django_db(transaction=True)
def test_two_transactions_update_statistics_in_opposite_orders_without_a_deadlock() -> None:
    both, failures = threading.Barrier(2, timeout=60), list[Exception]()

    def update(*tables: str) -> None:
        try:
            with transaction.atomic():
                planner.analyse_tables(tables[0])
                both.wait()
                planner.analyse_tables(tables[1])
                both.wait()
        except Exception as error:  # noqa: BLE001 (the test reports it)
            failures.append(error)
        finally:
            connection.close()

    names = ("annotation_turn", "annotation_item")
    threads = [threading.Thread(target=update, args=order) for order in (names, names[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_the_database_has_a_connection_for_every_thread_of_all_web_processes() -> None:
    threads = front.THREADS + front.MOST_LONG
    in_reserve = 100  # workers, commands, and PostgreSQL's own
    assert int(server.OPTIONS["max_connections"]) >= supervisor.MOST_WEB_PROCESSES * threads + in_reserve
