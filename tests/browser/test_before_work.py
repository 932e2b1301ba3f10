"""Steps before the next task, by keyboard: reading, agreeing, and attention checks."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.campaigns import campaign_actions as campaigns
from annotation.models import Assignment, ConsentGiven, Guidelines, GuidelinesRead
from tests import factories
from tests.browser.conftest import PHONE, ready

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


def test_consent_comes_first_and_changed_guidelines_before_the_next_task(page_of):
    ana, rosa = factories.user("ana"), factories.user("rosa", researcher=True)
    corpus = factories.corpus()
    factories.dialogue(corpus, turns=3)
    campaign = factories.campaign(corpus, annotators=[ana])
    campaigns.set_consent(by=rosa, campaign=campaign, text="Your answers will be **published**.")
    page = page_of(ana, viewport=PHONE, color_scheme="dark")
    page.goto(f"/work/{campaign.pk}/")
    expect(page.get_by_role("heading", name="Before you begin")).to_be_visible()
    expect(page.locator("#palette")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("button", name="I agree").focus()
    page.keyboard.press("Enter")
    ready(page)
    assert ConsentGiven.objects.get().user == ana
    known = Guidelines.objects.get().text
    campaigns.set_guidelines(by=rosa, campaign=campaign, text=f"{known}\nRate the reply, not the person.")
    page.keyboard.press("4")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="The guidelines have changed")).to_be_visible()
    expect(page.locator(".difference ins")).to_have_text("Rate the reply, not the person.")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    done = Assignment.objects.get(state="submitted")
    (told,) = done.attention.values()
    assert 0 < told <= 1000 * (done.submitted_at - done.leased_at).total_seconds()
    page.get_by_role("button", name="I have read the changes").press("Enter")
    ready(page)
    expect(page.locator("#progress-text")).to_have_text("1 of 3")
    assert GuidelinesRead.objects.count() == 2
