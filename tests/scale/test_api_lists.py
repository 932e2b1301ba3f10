"""A page far into an API list is looked up by ids, from the nearer end, with the same result."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config import lists
from tests import factories

pytestmark = pytest.mark.django_db
ITEMS = "/api/v1/corpora/talks/items/?limit=3&offset="


@pytest.fixture
def asking(client: Client) -> Client:
    corpus = factories.corpus("talks")
    for number in range(2):
        factories.dialogue(corpus, f"d{number}", turns=5)
    client.force_login(factories.user(researcher=True))
    return client


@pytest.mark.parametrize("offset", [0, 3, 7, 10, 11, 12, 13, 999])
def test_a_page_far_into_a_list_is_the_same_page(
    asking: Client, monkeypatch: pytest.MonkeyPatch, offset: int
) -> None:
    near = asking.get(f"{ITEMS}{offset}").json()
    monkeypatch.setattr(lists, "FAR", 0)
    assert asking.get(f"{ITEMS}{offset}").json() == near
    assert near["count"] == 12


def test_the_last_page_passes_over_nothing(asking: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "FAR", 0)
    with CaptureQueriesContext(connection) as asked:
        page = asking.get(f"{ITEMS}9").json()
    assert [len(page["results"]), page["next"]] == [3, None]
    listed = [query["sql"] for query in asked if 'FROM "annotation_item"' in query["sql"]]
    assert not [sql for sql in listed if re.search(r"OFFSET [1-9]", sql)]
