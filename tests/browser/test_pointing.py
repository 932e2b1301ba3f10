"""An annotator marks the turns and words that support answers, by keyboard and mouse."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation import scheme_actions
from annotation.models import Label
from annotation.records import Passage
from annotation.schemes import files
from annotation.text import references
from tests import factories
from tests.annotation.test_evidence import SCHEME
from tests.browser.conftest import ready

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]

SELECT = """([line, from, to]) => {
  const said = document.querySelectorAll(".turn [data-said]")[line - 1].firstChild;
  const text = said.textContent;
  getSelection().setBaseAndExtent(said, text.indexOf(from), said, text.indexOf(to) + to.length);
}"""


def test_pointing_by_keys_and_by_mouse(page_of):
    ana = factories.user("ana")
    scheme_actions.create(by=None, definition=files.read(SCHEME))
    corpus = factories.corpus()
    dialogue = factories.dialogue(corpus, "d", turns=2)
    factories.continuation(dialogue, "x", system="x", turns=[{"text": "👩‍👩‍👧 café 会議 is on שלום עולם"}])
    campaign = factories.campaign(corpus, "pointing", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    faults = page.get_by_role("group", name="What “It contradicts something” refers to")
    clear = page.get_by_role("group", name="What “How clear is it?” refers to")
    told = page.locator("#pointing")
    expect(page.locator(".turn")).to_have_count(3)
    expect(faults).to_be_hidden()
    page.get_by_role("button", name="It contradicts something").click()
    expect(faults).to_be_visible()
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#saved")).to_contain_text("say which turns “It contradicts something” refers to")
    expect(told).to_contain_text("Pointing for “It contradicts something”: turn 3")
    page.keyboard.press("ArrowUp")
    expect(told).to_contain_text("turn 2, Ben: turn 1")
    page.keyboard.press("Enter")
    expect(faults.get_by_role("button", name="Go to turn 2")).to_be_visible()
    expect(page.locator(".turn.pointed .no")).to_have_text("2")
    page.locator(".turn .no").first.click()
    expect(page.locator(".turn.pointed .no")).to_have_text(["1", "2"])
    page.keyboard.press("u")
    expect(page.locator(".turn.pointed .no")).to_have_text("2")
    page.keyboard.press("Escape")
    expect(told).to_have_text("No longer pointing.")
    page.keyboard.press("1")
    expect(clear).to_be_visible()
    page.keyboard.press("e")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(told).to_have_text("café")
    page.keyboard.press("Shift+ArrowRight")
    expect(told).to_have_text("café 会議")
    page.keyboard.press("Enter")
    chip = clear.get_by_role("button", name="Go to turn 3 “café 会議”")
    expect(chip).to_be_visible()
    page.keyboard.press("Escape")
    page.evaluate(SELECT, [3, "שלום", "עולם"])
    page.keyboard.press("e")
    expect(clear.locator(".chip")).to_have_count(2)
    expect(page.locator("#saved")).to_have_text("Draft saved")
    page.reload()
    expect(clear.locator(".chip")).to_have_count(2)
    clear.get_by_role("button", name="Do not point at turn 3 “café 会議”").click()
    expect(clear.locator(".chip")).to_have_count(1)
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress-text")).to_have_text("1 of 1")
    kept = {
        label.question.key: references.read(label.evidence)
        for label in Label.objects.filter(evidence__isnull=False)
    }
    text = "👩‍👩‍👧 café 会議 is on שלום עולם"
    assert kept["contradicts"] == (Passage("self", 1),)
    assert [references.quoted(one, text) for one in kept["clear"]] == ["שלום עולם"]
