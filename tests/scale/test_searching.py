"""A search stops after a time limit, says so, and finds every turn once when continued."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.corpora import queries
from annotation.models import Corpus, Turn
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus(monkeypatch: pytest.MonkeyPatch) -> Corpus:
    """Seven dialogues of three turns among those of another corpus, searched two at a time."""
    monkeypatch.setattr(queries, "FIRST", 2)
    monkeypatch.setattr(queries, "LONGEST", 2)
    found, other = factories.corpus("talks"), factories.corpus("other")
    for number in range(7):
        factories.dialogue(found, f"d{number}", turns=3)
        factories.dialogue(other, f"d{number}", turns=3)
    return found


def _all(corpus: Corpus, most: int, **asked: str) -> tuple[list[int], int]:
    """Return the turns that a search finds in all its parts, and how many parts there are."""
    turns: list[int] = []
    after, parts = "", 0
    while parts == 0 or after:
        found = queries.search(corpus, after=after, most=most, **asked)
        turns += [turn.pk for turn in found.turns]
        after, parts = found.after, parts + 1
    return turns, parts


def _wanted(corpus: Corpus) -> list[int]:
    rows = Turn.objects.filter(continuation__dialogue__corpus=corpus)
    return list(rows.order_by("continuation__dialogue", "pk").values_list("pk", flat=True))


@pytest.mark.parametrize("most", [1, 2, 3, 5, 100])
def test_parts_of_a_search_hold_each_turn_once_and_in_order(corpus: Corpus, most: int) -> None:
    turns, parts = _all(corpus, most)
    assert turns == _wanted(corpus)
    assert parts == -(-21 // most)


def test_a_search_whose_time_is_over_says_where_to_go_on(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "SECONDS", 0.0)
    first = queries.search(corpus, text="nowhere to be seen", most=10)
    assert (first.turns, first.is_whole) == ([], False)
    assert first.after
    assert _all(corpus, 10, text="nowhere to be seen") == ([], 4)
    assert _all(corpus, 10) == (_wanted(corpus), 4)


def test_a_page_goes_on_by_itself_where_nothing_is_found_yet(
    client: Client, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "SECONDS", 0.0)
    client.force_login(factories.user(researcher=True))
    page = client.get("/corpora/talks/dialogues/", {"text": "nowhere"}).content.decode()
    assert "Nothing found so far." in page
    assert 'hx-trigger="load"' in page
    monkeypatch.undo()
    page = client.get("/corpora/talks/dialogues/", {"text": "nowhere"}).content.decode()
    assert "Nothing found" in page
    assert "Go on searching" not in page


def test_programs_follow_the_next_address(client: Client, corpus: Corpus) -> None:
    client.force_login(factories.user(researcher=True))
    address, turns = "/api/v1/corpora/talks/turns/?limit=4", []
    while address:
        answer = client.get(address).json()
        turns += [turn["dialogue"] for turn in answer["results"]]
        address = answer["next"]
    assert turns == [f"d{number}" for number in range(7) for _ in range(3)]


def test_a_place_that_is_none_begins_anew(corpus: Corpus) -> None:
    assert len(queries.search(corpus, after="'; drop", most=100).turns) == 21
