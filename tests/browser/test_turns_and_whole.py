"""An annotator answers questions about each turn and then about the whole, by keyboard alone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from annotation import scheme_actions
from annotation.models import Label
from annotation.schemes import files
from tests import factories
from tests.annotation.test_turns_and_whole import SCHEME
from tests.browser.conftest import PHONE, ready

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


def made(**fields: Any) -> Any:
    ana = factories.user("ana")
    scheme_actions.create(by=None, definition=files.read(SCHEME))
    dialogue = factories.dialogue(factories.corpus(), "d", turns=2, **fields)
    factories.continuation(dialogue, "x", system="x", turns=[{"text": "会議です"}, {"text": "שלום"}])
    return ana, factories.campaign(dialogue.corpus, "talk", annotators=[ana])


def test_turns_and_then_the_whole_by_keyboard_alone(page_of: Any) -> None:
    ana, campaign = made()
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    shown, place = page.locator("#palette .asked:visible h2"), page.locator("#place")
    whole = page.locator(".whole")
    expect(place).to_have_text("Turn 3, Ana · rate 3 to 4, then the whole")
    expect(shown).to_have_text(["How clear is the turn?", "Faults"])
    for key in ("1", "ArrowDown", "2", "r", "ArrowDown"):
        page.keyboard.press(key)
    expect(place).to_have_text("The whole dialogue")
    expect(shown).to_have_text(["How good is the talk?"])
    expect(whole).to_have_attribute("aria-current", "")
    expect(whole).to_be_in_viewport()
    page.keyboard.press("r")
    expect(page.locator(".chip")).to_have_text(["1", "2", "Rude"])
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#saved")).to_contain_text("“How good is the talk?” has no answer yet")
    page.keyboard.press("1")
    expect(shown).to_have_text(["How good is the talk?", "Why so bad?"])
    expect(whole.locator(".chip")).to_have_text("1")
    page.keyboard.type("rude")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    expect(page.locator("#pointing")).to_contain_text("Pointing for “How good is the talk?”: turn 3")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    expect(place).to_contain_text("Turn 4")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#saved")).to_have_text("Draft saved")
    page.reload()
    expect(place).to_have_text("The whole dialogue")
    expect(page.locator("[data-entry=why]")).to_have_value("rude")
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress-text")).to_have_text("1 of 1")
    live = Label.objects.order_by("item__turn__position", "question__position")
    assert [(label.item.kind, label.question.key, label.value) for label in live] == [
        ("turn", "clear", 1.0),
        ("turn", "rude", 0.0),
        ("turn", "clear", 2.0),
        ("turn", "rude", 1.0),
        ("dialogue", "overall", 1.0),
        ("dialogue", "why", "rude"),
    ]
    assert live.get(question__key="overall").evidence[0]["turn"] == 1


def test_the_whole_is_reached_on_a_phone_in_the_dark_and_by_touch(page_of: Any) -> None:
    ana, campaign = made(language="he")
    page = page_of(ana, viewport=PHONE, color_scheme="dark", has_touch=True)
    page.goto(f"/work/{campaign.pk}/")
    page.locator(".whole").tap()
    expect(page.locator("#palette .asked:visible h2")).to_have_text(["How good is the talk?"])
    page.get_by_role("button", name="Turn before, or from the whole to the last turn").tap()
    expect(page.locator("#place")).to_contain_text("Turn 4")
    page.get_by_role("button", name="Turn after, or on to the whole").tap()
    expect(page.locator("#place")).to_have_text("The whole dialogue")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_preview_that_becomes_possible_after_a_click_on_save_does_not_undo_the_click(
    page_of: Any,
) -> None:
    page = page_of(factories.user(researcher=True))
    page.goto("/schemes/new-scheme/")
    page.get_by_label("Title").fill("Clear")
    page.get_by_role("button", name="Add a question").click()
    question = page.get_by_role("group", name="Question 1")
    question.get_by_label("Question", exact=True).fill("How clear?")
    save = page.get_by_role("button", name="Save")
    save.evaluate("save => { save.click(); document.dispatchEvent(new CustomEvent('concord:previewable')); }")
    expect(page.get_by_role("heading", name="Clear")).to_be_visible()


def test_the_editor_makes_such_a_scheme_and_previews_it(page_of: Any) -> None:
    page = page_of(factories.user(researcher=True))
    page.goto("/schemes/new-scheme/")
    page.get_by_label("Title").fill("Both")
    page.get_by_label("One screen has").select_option("continuation")
    page.get_by_role("button", name="Add a question").click()
    first = page.get_by_role("group", name="Question 1")
    first.get_by_label("Question", exact=True).fill("How clear?")
    page.get_by_role("button", name="Add a question").click()
    second = page.get_by_role("group", name="Question 2")
    second.get_by_label("Question", exact=True).fill("How good?")
    second.get_by_label("About").select_option("dialogue")
    frame = page.frame_locator(".preview iframe").last
    expect(frame.locator(".whole")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Both")).to_be_visible()
    expect(page.get_by_text("of the whole dialogue", exact=True)).to_be_visible()
