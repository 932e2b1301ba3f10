"""Lists that stand on one page: sorted by their headings, and narrowed to what is typed."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models.corpora import Import
from tests import factories
from tests.browser.barriers import Sound

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


def names(page) -> list[str]:
    return page.locator("#list tbody tr:not([hidden]) th").all_inner_texts()


def test_a_list_is_sorted_by_its_headings_and_narrowed(page_of) -> None:
    factories.corpus("Talks 10")
    for number in range(9):
        corpus = factories.corpus(f"Talks {number}")
        dialogues = (number * 4) % 9
        Import.objects.create(corpus=corpus, format="jsonl", counts={"dialogues": dialogues, "items": 0})
    page = page_of(factories.user("rosa", researcher=True))
    page.goto("/corpora/")
    page.get_by_role("button", name="Dialogues").click()
    expect(page.get_by_role("columnheader", name="Dialogues")).to_have_attribute("aria-sort", "ascending")
    dialogues = [int(text) for text in page.locator("#list tbody td:nth-child(2)").all_inner_texts()]
    assert dialogues == sorted(dialogues) == [0, *range(9)]
    page.get_by_role("button", name="Dialogues").click()
    assert names(page)[0] == "Talks 2", "the most dialogues come first"
    page.get_by_role("button", name="Corpus").click()
    assert names(page) == [*(f"Talks {number}" for number in range(9)), "Talks 10"]
    page.get_by_role("searchbox", name="Filter the list").fill("talks 7")
    assert names(page) == ["Talks 7"]
    sound = Sound()
    sound.look("a sorted list", page)
    assert sound.wrong == []


def test_a_list_that_fetches_itself_anew_is_not_sorted_for_five_seconds_only(page_of) -> None:
    rosa = factories.user("rosa", researcher=True)
    corpus = factories.corpus("talks")
    factories.dialogue(corpus, "d")
    for number in range(9):
        factories.campaign(corpus, by=rosa, name=f"Round {number}")
    page = page_of(rosa)
    page.goto("/corpora/talks/annotation/")
    expect(page.get_by_role("columnheader", name="Campaign")).to_be_visible()
    assert page.locator(".table-sort, input[placeholder=Filter]").count() == 0
