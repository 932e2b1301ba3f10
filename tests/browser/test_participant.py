"""A participant arrives by a link, consents, rates by keyboard, and receives a completion code."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models import Label, Participant
from annotation.people import participants
from tests import factories
from tests.browser.conftest import PHONE, ready

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_participant_rates_and_takes_a_code_back(page_of) -> None:
    corpus = factories.corpus()
    for name in ("one", "two"):
        factories.dialogue(corpus, name, turns=1)
    rosa = factories.user("rosa", researcher=True)
    campaign = factories.campaign(corpus, raters=2, by=rosa, consent="Your answers will be **published**.")
    link = participants.make_link(
        by=rosa, campaign=campaign, name="wave", return_url="https://prolific.example/done?cc={code}"
    )
    page = page_of(viewport=PHONE, color_scheme="dark")
    page.goto(f"/join/{participants.key_of(link)}/?PROLIFIC_PID=5f1")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("heading", name="Before you begin")).to_be_visible()
    page.get_by_role("button", name="I agree").press("Enter")
    for number, value in enumerate("52"):
        expect(page.locator("#progress-text")).to_have_text(f"{number} of 2")
        ready(page)
        page.keyboard.press(value)
        page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    person = Participant.objects.get()
    assert person.external_id == "5f1"
    address = f"https://prolific.example/done?cc={person.code}"
    expect(page.get_by_role("link", name="Finish and return")).to_have_attribute("href", address)
    assert sorted(Label.objects.filter(campaign=campaign).values_list("number", flat=True)) == [2, 5]
