"""Journeys of a researcher: from a report to its individual raters, and from a note to its turn."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests import factories
from tests.browser.conftest import PHONE, unfold
from tests.calibration.world import World, world

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rea():
    return factories.user("rea", researcher=True)


@pytest.fixture
def rated() -> World:
    """Twenty people on a scale and on whether turns show another behaviour; the first wrote a note."""
    built = world("talks", dialogues=10, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    built.ask("another_behaviour", "binary", [0, 1], scheme="tags", wording="Another", positive=1)
    show = {"question": "another_behaviour", "min": 1}
    built.ask("another_behaviour_note", "text", scheme="tags", required=False, show_if=show)
    for place in range(20):
        name = f"p{place:02}"
        built.say(name, "quality", [float(1 + (n + n * place) % 5) for n in range(20)])
        built.say(name, "another_behaviour", [float(place == 0 and n == 3) for n in range(20)])
    built.say("p00", "another_behaviour_note", {built.turns[3]: "answers in another language"})
    return built


def test_raters_are_shown_on_the_question_that_is_chosen(page_of, rea, rated: World) -> None:
    page = page_of(rea)
    page.goto(f"/corpora/{rated.corpus.pk}/report/")
    unfold(page, "Raters")
    page.locator("#raters").get_by_role("link", name="Another", exact=True).click()
    expect(page.get_by_role("heading", name="How raters rate: Another")).to_be_visible()
    table = page.get_by_role("region", name="How raters rate: Another").first
    expect(table.get_by_role("row")).to_have_count(11)
    page.get_by_text("The 10 between them").first.click()
    expect(page.get_by_role("region", name="The 10 between them").first).to_be_visible()


def test_a_note_leads_to_its_turn(page_of, rea, rated: World) -> None:
    page = page_of(rea)
    page.goto(f"/corpora/{rated.corpus.pk}/report/")
    unfold(page, "Raters")
    notes = page.get_by_role("region", name="Turns with another behaviour")
    expect(notes.get_by_text("answers in another language")).to_be_visible()
    notes.get_by_role("link", name="d1/self/1").click()
    expect(page.locator("#turn-2")).to_be_visible()


def test_raters_and_coverage_fit_a_phone(page_of, rea, rated: World) -> None:
    page = page_of(rea, viewport=PHONE, color_scheme="dark")
    page.goto(f"/corpora/{rated.corpus.pk}/report/")
    unfold(page, "Raters")
    expect(page.get_by_role("heading", name="Coverage: Another, Tags")).to_be_visible()
    expect(page.get_by_role("heading", name="How raters rate: Quality")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
