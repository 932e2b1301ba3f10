"""Times on pages are in the reader's time zone; those of the API are in UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests import factories
from tests.annotation.test_campaign_setup import as_shown

pytestmark = pytest.mark.django_db
LAST = datetime(2031, 1, 5, 23, 30, tzinfo=UTC)


@pytest.fixture
def corpus() -> Any:
    corpus = factories.corpus()
    factories.dialogue(corpus)
    return corpus


def in_zone(user: Any, zone: str) -> Client:
    client = Client()
    client.force_login(user)
    client.cookies["concord_zone"] = zone
    return client


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("Asia/Tokyo", "Until 6 Jan 2031, 08:30"),
        ("America/New_York", "Until 5 Jan 2031, 18:30"),
        ("", "Until 5 Jan 2031, 23:30 UTC"),
        ("../etc/passwd", "Until 5 Jan 2031, 23:30 UTC"),
    ],
)
def test_a_deadline_is_in_the_zone_of_who_reads_it(corpus: Any, zone: str, text: str) -> None:
    ana = factories.user("ana")
    factories.campaign(corpus, annotators=[ana], deadline=LAST)
    assert text in in_zone(ana, zone).get(reverse("my-campaigns")).content.decode()


def test_a_deadline_is_set_in_one_s_own_zone_and_stored_in_utc(corpus: Any) -> None:
    rosa = factories.user(researcher=True)
    draft = factories.campaign(corpus, by=rosa, opened=False, deadline=LAST)
    client, address = in_zone(rosa, "Asia/Tokyo"), reverse("edit-campaign", args=[draft.pk])
    field = re.search(r'<input[^>]* name="deadline"[^>]*>', client.get(address).content.decode())
    assert field
    assert 'value="2031-01-06T08:30"' in field[0]
    fields = as_shown(client, address) | {"deadline": "2031-01-06T08:30"}
    client.post(address, fields)
    draft.refresh_from_db()
    assert draft.deadline == LAST
    client.post(address, fields | {"deadline": "2031-01-06T09:00"})
    draft.refresh_from_db()
    assert draft.deadline == datetime(2031, 1, 6, tzinfo=UTC)
    told = client.get(reverse("api-campaign", args=[draft.pk])).json()
    assert told["deadline"] == "2031-01-06T00:00:00Z"


def test_the_zone_is_chosen_on_the_account_page(corpus: Any) -> None:
    ana = factories.user("ana")
    factories.campaign(corpus, annotators=[ana], deadline=LAST)
    client = in_zone(ana, "Asia/Tokyo")
    client.post(reverse("time-zone"), {"zone": "Europe/Berlin"})
    assert '<option value="Europe/Berlin" selected>' in client.get(reverse("account")).content.decode()
    assert "Until 6 Jan 2031, 00:30" in client.get(reverse("my-campaigns")).content.decode()
    client.post(reverse("time-zone"), {"zone": "Nowhere/Land"})
    assert client.cookies["concord_zone"].value == ""
