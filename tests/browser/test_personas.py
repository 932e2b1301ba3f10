"""Journeys of personas: two people review them by keyboard, a researcher applies that and makes dialogues."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Corpus, Label
from suites.collecting.models import PersonaSet
from tests import factories
from tests.browser.conftest import PHONE, WIDE, ready, too_wide
from tests.suites.collecting.inventories import draw_set, open_review, review

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]
PICTURES = os.environ.get("PICTURES", "")
CORRECTED = "My name is Mara.\nI'm 40 years old."


def picture(page: Page, name: str) -> None:
    """Keep what the page looks like, where a folder for that is named."""
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)


@pytest.fixture
def cast() -> PersonaSet:
    return draw_set(4)


def test_personas_are_reviewed_applied_and_made_into_dialogues(page_of, cast):
    ana, ben, ruth = factories.user("ana"), factories.user("ben"), factories.user("ruth", researcher=True)
    campaign = open_review(cast, ana, ben)
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    for number in range(4):
        expect(page.locator("#progress-text")).to_have_text(f"{number} of 4")
        expect(page.get_by_text("My name is").first).to_be_visible()
        page.keyboard.press("1" if number else "0")
        if not number:
            picture(page, "review")
            page.locator("[data-entry=corrected_text]").fill(CORRECTED)
            page.keyboard.press("Escape")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("0")
        ready(page)
        page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    corrected = Label.objects.get(question__key="corrected_text").item.continuation.dialogue.key
    fine, wrong = {"consistent": 1, "negative": 0}, {"consistent": 0, "negative": 0}
    review(campaign, ben, {row.key: wrong if row.key == corrected else fine for row in cast.personas.all()})

    page = page_of(ruth)
    page.goto(f"/personas/sets/{cast.pk}/")
    picture(page, "set")
    page.get_by_role("button", name="Apply reviews").click()
    expect(page.get_by_text("3 accepted, 1 corrected, 0 rejected, 0 undecided")).to_be_visible()
    row = next(row for row in cast.personas.all() if row.key == corrected)
    assert row.sentences == CORRECTED.split("\n")
    page.get_by_role("link", name="Make dialogues").click()
    page.get_by_label("Name of the corpus").fill("talks")
    page.get_by_role("button", name="Make").click()
    expect(page.get_by_text("2 dialogues made.")).to_be_visible()
    assert Corpus.objects.get(name="talks").dialogues.count() == 2


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_pages_fit_wide_and_narrow_in_light_and_dark(page_of, cast, size):
    researcher = factories.user("ruth", researcher=True)
    inventory = cast.inventory_id
    page = page_of(researcher)
    page.set_viewport_size(size)
    places = {
        "personas": "/personas/",
        "import": "/personas/import/",
        "inventory": f"/personas/inventories/{inventory}/",
        "head": f"/personas/inventories/{inventory}/heads/1/",
        "texts": f"/personas/inventories/{inventory}/texts/",
        "draw": f"/personas/inventories/{inventory}/draw/",
        "set": f"/personas/sets/{cast.pk}/",
        "persona": f"/personas/sets/{cast.pk}/1/",
        "dialogues": f"/personas/sets/{cast.pk}/dialogues/",
    }
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for name, place in places.items():
            page.goto(place)
            picture(page, f"{name}-{size['width']}-{scheme}")
            assert too_wide(page) == [], name
