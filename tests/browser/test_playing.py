"""A visitor plays the agent in the demo's group chat by keyboard, in under three minutes."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Label
from demo import group_chats
from tests import factories
from tests.browser.conftest import PHONE, ready

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]
LIMIT = 180.0


@pytest.fixture
def game():
    """The demo's script with its control, open for a visitor."""
    by = factories.user("rita", researcher=True)
    group_chats.load(group_chats.SHORT, by=by)
    visitor = factories.user("vic")
    return visitor, group_chats.play(by=by, annotators=[visitor])


def decide(page: Page, number: int, *, speaks: bool) -> None:
    """Decide at one point by keyboard: attend, act, whom the message was for, and whom to speak to."""
    page.keyboard.press("1" if speaks else "0")
    page.keyboard.press("1" if speaks else "3")
    page.keyboard.press("1")
    if speaks:
        page.keyboard.press("ArrowDown")
        page.keyboard.press("2")
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress-text")).to_contain_text(f"{number + 1} of")


def test_the_whole_game_takes_less_than_three_minutes_by_keyboard(page_of, game) -> None:
    visitor, campaign = game
    page = page_of(visitor)
    page.goto(f"/work/{campaign.pk}/")
    began = time.monotonic()
    total = campaign.tasks.count()
    spoke = 0
    for number in range(total):
        expect(page.locator("#progress-text")).to_have_text(f"{number} of {total}")
        asked = page.locator(".turn.item .text").inner_text()
        speaks = "Kit" in asked
        spoke += speaks
        if number + 1 < total:
            decide(page, number, speaks=speaks)
        else:
            page.keyboard.press("0")
            page.keyboard.press("3")
            page.keyboard.press("0")
            ready(page)
            page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert time.monotonic() - began < LIMIT
    assert Label.objects.filter(campaign=campaign, question__key="speak").count() == total
    assert 0 < spoke < total


def test_people_are_put_in_and_taken_out_by_digits_and_by_clicks(page_of, game) -> None:
    visitor, campaign = game
    page = page_of(visitor, viewport=PHONE)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("0")
    page.keyboard.press("3")
    pressed = page.locator("[data-names=addressed][aria-pressed=true]")
    page.keyboard.press("1")
    page.keyboard.press("2")
    expect(pressed).to_have_count(2)
    page.keyboard.press("1")
    expect(pressed).to_have_count(1)
    page.keyboard.press("0")
    expect(pressed).to_have_text("0Nobody")
    page.locator("[data-names=addressed]").first.click()
    expect(pressed).to_have_count(1)
    expect(pressed).not_to_contain_text("Nobody")
    expect(page.locator("[data-names=target]").first).to_be_hidden()
