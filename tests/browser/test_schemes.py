"""A scheme from the editor to an annotator's answers."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign, Label
from tests import factories
from tests.browser.conftest import ready

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


def add_question(page, number, wording, kind):
    page.get_by_role("button", name="Add a question").click()
    expect(page.locator(f"#q{number}-wording")).to_be_focused()
    page.keyboard.type(wording)
    page.get_by_label("Answered by").last.select_option(kind)
    expect(page.locator(f"[name=q{number}-was]")).to_have_value(kind)
    expect(page.locator(".htmx-added")).to_have_count(0)  # now it listens


def test_a_scheme_is_made_seen_saved_asked_and_answered(page_of):
    rosa, ana = factories.user("rosa", researcher=True), factories.user("ana")
    corpus = factories.corpus("talks")
    dialogue = factories.dialogue(corpus, turns=2)
    factories.continuation(dialogue, "x", system="model-x", turns=[{"text": "as it was"}])
    page = page_of(rosa)

    page.goto("/schemes/")
    page.get_by_role("link", name="New scheme").first.click()
    page.wait_for_load_state()  # before that, nobody listens to what is typed
    title = page.get_by_label("Title")
    page.get_by_label("Key").fill("Not A Key")
    expect(title).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Key")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Key").fill("")
    title.fill("Politeness")
    expect(title).not_to_have_attribute("aria-invalid", "true")
    add_question(page, 1, "How polite is it?", "ordinal")
    add_question(page, 2, "Rude words", "tag")
    add_question(page, 3, "Why?", "text")
    page.get_by_label("Asked").last.select_option("q1")
    page.get_by_role("group", name="is answered with").get_by_label("1").check()

    # the preview follows without taking the cursor, and answers to keys as the annotator's page does
    page.locator("#q3-wording").focus()
    page.keyboard.press("End")
    page.keyboard.type(" Say it.")
    shown = page.frame_locator("iframe:not(.coming)")
    expect(shown.locator("[data-entry=why]")).to_have_count(0)
    expect(shown.locator("[data-entry=why_say_it]")).to_be_hidden()
    expect(page.locator("#q3-wording")).to_be_focused()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("#said")).to_have_text("Now question 2 of 3.")
    expect(page.locator("#q3-wording")).to_be_focused()
    # the preview of the new order has taken the old one's place, where an answer would be lost with it
    expect(shown.locator("section.asked").nth(1)).to_have_attribute("data-question", "why_say_it")
    expect(page.locator("iframe.coming")).to_have_count(0)
    shown.get_by_role("button", name="1 1").click()
    expect(shown.locator("[data-entry=why_say_it]")).to_be_visible()
    expect(shown.locator("#saved")).to_have_text("Preview: nothing is kept")

    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Politeness is saved.")
    assert not Label.objects.exists()

    page.goto(f"/campaigns/new/?corpus={corpus.pk}")
    expect(page.get_by_label("Annotation scheme")).to_have_value("politeness@1")
    expect(page.get_by_label("Raters per item")).to_have_value("1")
    expect(page.get_by_role("checkbox", name="ana", exact=True)).to_be_checked()
    shown = page.frame_locator("iframe:not(.coming)")
    expect(shown.get_by_role("heading", name="How polite is it?")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("0 of 1 ratings in")).to_be_visible()

    work = page_of(ana)
    work.goto(f"/work/{Campaign.objects.get().pk}/")
    work.keyboard.press("1")
    work.locator("[data-entry=why_say_it]").fill("It shouts.")
    work.keyboard.press("Escape")
    work.keyboard.press("r")
    ready(work)
    work.keyboard.press("Control+Enter")
    expect(work.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    told = dict(Label.objects.values_list("question__key", "number"))
    assert told == {"how_polite_is_it": 1, "rude_words": 1, "why_say_it": None}
    assert Label.objects.get(question__key="why_say_it").text == "It shouts."
