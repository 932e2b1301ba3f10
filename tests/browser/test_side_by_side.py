"""An annotator rates several systems' responses to one point on one screen, by keyboard and touch."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.models import Label
from tests import factories
from tests.browser.conftest import PHONE, ready

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]
TEXTS = {"Alpha": "会議は三時です", "Beta": "x" * 2000, "Gamma": "הפגישה מחר"}


def made() -> Any:
    ana, corpus = factories.user("ana"), factories.corpus()
    dialogue = factories.dialogue(corpus, "d", turns=4)
    for system, text in TEXTS.items():
        turns = [{"text": text, "speaker": "B", "at": 1}]
        turns += [{"text": "alone", "speaker": "B", "at": 3}] if system == "Alpha" else []
        factories.continuation(dialogue, system.lower(), system=system, turns=turns, mode="static")
    return ana, factories.campaign(corpus, annotators=[ana], side_by_side=True)


def test_each_response_is_rated_by_keyboard_alone(page_of: Any) -> None:
    ana, campaign = made()
    page = page_of(ana, viewport={"width": 1600, "height": 900})
    page.goto(f"/work/{campaign.pk}/")
    sides, place = page.locator(".sides > section"), page.locator("#place")
    expect(sides).to_have_count(3)
    expect(page.locator(".lines .turn.history")).to_have_count(1)
    tops = {round(side.bounding_box()["y"]) for side in sides.all()}
    assert len(tops) == 1
    expect(place).to_have_text("Response A of 3")
    page.keyboard.press("5")
    page.keyboard.press("ArrowDown")
    expect(place).to_have_text("Response B of 3")
    expect(sides.nth(1).locator("[aria-current]")).to_have_count(1)
    page.keyboard.press("4")
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#saved")).to_contain_text("Not complete")
    expect(place).to_have_text("Response C of 3")
    page.keyboard.press("3")
    expect(page.locator(".chip")).to_have_text(["5", "4", "3"])
    shown = [side.locator("[data-said]").last.text_content() for side in sides.all()]
    page.keyboard.press("Control+Enter")
    if page.locator("#sure[open]").count():
        page.get_by_role("button", name="Submit all the same").click()
    expect(page.locator("#progress-text")).to_have_text("1 of 2")
    told = {label.item.turn.text: label.number for label in Label.objects.all()}
    assert told == dict(zip(shown, [5, 4, 3], strict=True))
    expect(page.locator(".sides")).to_have_count(0)
    expect(place).to_be_hidden()
    page.keyboard.press("2")
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress-text")).to_have_text("2 of 2")


def test_they_are_stacked_on_a_phone_in_the_dark(page_of: Any) -> None:
    ana, campaign = made()
    page = page_of(ana, viewport=PHONE, color_scheme="dark", has_touch=True)
    page.goto(f"/work/{campaign.pk}/")
    sides = page.locator(".sides > section")
    expect(sides).to_have_count(3)
    tops = [side.bounding_box()["y"] for side in sides.all()]
    assert tops == sorted(set(tops))
    page.get_by_role("button", name="Response after").tap()
    expect(page.locator("#place")).to_have_text("Response B of 3")
    expect(sides.nth(1).locator("[aria-current]")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_form_sets_it_up_and_the_preview_shows_it(page_of: Any) -> None:
    _, campaign = made()
    page = page_of(campaign.created_by)
    page.goto(f"/campaigns/new/?corpus={campaign.corpus_id}")
    page.get_by_role("textbox", name="Name").fill("Beside")
    page.get_by_label("Annotation scheme").select_option("comperdial_turn")
    page.get_by_role("heading", name="More settings").click()
    page.get_by_text("Systems", exact=True).last.click()
    page.get_by_label("Show all systems' responses to one point on one screen").check()
    page.get_by_role("button", name="Save as a draft").click()
    page.get_by_role("heading", name="Settings", exact=True).click()
    expect(page.get_by_text("all systems' responses to one point")).to_be_visible()
    page.goto(page.url + "preview/")
    frame = page.frame_locator("iframe").first
    expect(frame.locator(".sides > section")).to_have_count(3)
