"""An annotator with a telephone: what is rated stays readable above the answers, and taps are few."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation import scheme_actions
from annotation.models import Label
from annotation.schemes import files
from tests import factories
from tests.browser.conftest import ready

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]
PHONES = [{"width": 360, "height": 740}, {"width": 430, "height": 932}]
SCHEME = """
scheme: replies
title: The bot's replies
item_kind: turn
unit: continuation
questions:
- {key: quality, wording: How helpful is the reply?, level: ordinal, values: [1, 2, 3, 4, 5],
   anchors: {1: Useless, 2: Poor, 3: Fair, 4: Good, 5: Excellent}}
- {key: wrong, wording: Wrong facts, level: binary, group: Faults, shortcut: w}
- {key: rude, wording: Rude, level: binary, group: Faults, shortcut: r}
- {key: off, wording: Off topic, level: binary, group: Faults, shortcut: o}
"""
TEXTS = (
    "Hello! I can help you with your booking. Which city do you want to travel to, and on which day?",
    "The train to Vienna leaves at 7:15 and at 9:45. Both are direct and take about four hours.",
    "I have no record of that. Please read the conditions before you ask me again.",
    "Your seat is reserved: coach 21, seat 64, by the window. You get the ticket by mail.",
)
LEAST = 44
"""Pixels of a target that a thumb hits."""
VALUES = ("Useless", "Poor", "Fair", "Good", "Excellent")


@pytest.fixture
def ana() -> Any:
    return factories.user("ana")


@pytest.fixture
def campaign(ana: Any) -> Any:
    scheme_actions.create(by=None, definition=files.read(SCHEME))
    dialogue = factories.dialogue(factories.corpus("chats"), "chat", turns=2)
    factories.continuation(dialogue, "bot", system="bot", turns=[{"text": text} for text in TEXTS])
    return factories.campaign(dialogue.corpus, "replies", annotators=[ana])


class Finger:
    """Taps buttons and counts the taps; a button has to be in reach without scrolling."""

    def __init__(self, page: Page) -> None:
        self.page, self.taps = page, 0

    def tap(self, name: str) -> None:
        button = self.page.locator("#palette, #actions").get_by_role("button", name=name)
        expect(button).to_be_in_viewport(ratio=1)
        button.tap()
        self.taps += 1


@pytest.mark.parametrize("viewport", PHONES)
def test_a_turn_takes_at_most_two_taps(page_of: Any, ana: Any, campaign: Any, viewport: Any) -> None:
    page = page_of(ana, viewport=viewport, has_touch=True, is_mobile=True)
    page.goto(f"/work/{campaign.pk}/")
    ready(page)
    finger, place = Finger(page), page.locator("#place")
    for turn, (tag, value) in enumerate((("", "Good"), ("Wrong facts", "Fair"), ("Rude", "Useless")), 3):
        expect(place).to_contain_text(f"Turn {turn}, ")
        expect(page.locator(".turn[aria-current] .text")).to_be_in_viewport(ratio=1)
        if tag:
            finger.tap(tag)
        finger.tap(value)
    assert finger.taps <= 2 * 3
    expect(place).to_contain_text("Turn 6, ")
    finger.tap("Excellent")
    expect(place).to_contain_text("Turn 6, ")
    expect(page.locator(".chip")).to_have_text(["4", "3", "Wrong facts", "1", "Rude", "5"])
    finger.tap("Undo")
    finger.tap("Undo")
    expect(place).to_contain_text("Turn 5, ")
    for value in ("Poor", "Excellent"):
        finger.tap(value)
    finger.tap("Submit")
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    labels = Label.objects.filter(campaign=campaign).order_by("item", "question")
    assert list(labels.filter(question__key="quality").values_list("number", flat=True)) == [4, 3, 2, 5]
    assert labels.filter(question__key__in=["wrong", "rude", "off"], number=1).count() == 2


def test_an_answer_that_is_changed_stays_at_its_turn(page_of: Any, ana: Any, campaign: Any) -> None:
    page = page_of(ana, viewport=PHONES[0], has_touch=True, is_mobile=True)
    page.goto(f"/work/{campaign.pk}/")
    finger, place = Finger(page), page.locator("#place")
    finger.tap("Good")
    expect(place).to_contain_text("Turn 4, ")
    page.get_by_role("button", name="Turn before").tap()
    finger.tap("Fair")
    finger.tap("Off topic")
    expect(place).to_contain_text("Turn 3, ")
    expect(page.locator(".chip")).to_have_text(["3", "Off topic"])


@pytest.mark.parametrize("viewport", PHONES)
@pytest.mark.parametrize("scheme", ["replies", "cocoeval_overall", "cocoeval_behaviours", "comperdial_turn"])
def test_targets_are_large_and_the_transcript_keeps_its_room(
    page_of: Any, ana: Any, campaign: Any, viewport: Any, scheme: str
) -> None:
    if scheme != "replies":
        campaign = factories.campaign(campaign.corpus, scheme, annotators=[ana])
    page = page_of(ana, viewport=viewport, has_touch=True, is_mobile=True)
    page.goto(f"/work/{campaign.pk}/")
    buttons = page.locator(":is(#palette, #actions, .bar) button:visible")
    sizes = {button.inner_text(): button.bounding_box() for button in buttons.all()}
    assert len(sizes) > len(VALUES)
    assert {name: box for name, box in sizes.items() if min(box["width"], box["height"]) < LEAST} == {}
    reader = page.locator("#reader").bounding_box()
    assert reader["height"] > 0.3 * viewport["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_the_label_of_a_choice_is_centred(page_of: Any, ana: Any, campaign: Any) -> None:
    page = page_of(ana, viewport=PHONES[0], has_touch=True, is_mobile=True)
    page.goto(f"/work/{campaign.pk}/")
    for name in (*VALUES, "Rude"):
        button = page.locator("#palette").get_by_role("button", name=name)
        outer, inner = button.bounding_box(), button.get_by_text(name, exact=True).bounding_box()
        middle = inner["x"] + inner["width"] / 2
        assert middle == pytest.approx(outer["x"] + outer["width"] / 2, abs=1.5), name
