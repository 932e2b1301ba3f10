"""A person talks with two systems on a phone: replies side by side, failures, and what researchers see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from suites.collecting.models import Chat
from tests import factories
from tests.browser.barriers import Sound
from tests.browser.conftest import PHONE, WIDE
from tests.browser.working import aside
from tests.suites.collecting.talking import ChatModel, answer_all, system_campaign

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def model() -> Iterator[ChatModel]:
    with ChatModel() as server:
        yield server


def write(page: Page, text: str) -> None:
    field = page.get_by_label("Your turn", exact=True)
    field.fill(text)
    field.press("Enter")


def tops(page: Page) -> tuple[float, float]:
    """Return how far down each of the two replies begins."""
    boxes = [page.get_by_text(f"Reply {place}", exact=True).bounding_box() for place in (1, 2)]
    first, second = (box["y"] if box else -1.0 for box in boxes)
    return first, second


def test_somebody_picks_replies_of_two_systems_on_a_phone(page_of: Any, model: ChatModel) -> None:
    ana, rei = factories.user("ana"), factories.user("rei", researcher=True)
    campaign = system_campaign(
        [ana], model.endpoint(), systems=("Ash", "Birch"), partner="arena", dialogues=1
    )
    page, sound = page_of(ana, viewport=PHONE, has_touch=True, is_mobile=True, color_scheme="dark"), Sound()
    page.goto(f"/work/{campaign.pk}/")
    sound.look("the lobby", page)
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("Your turn: you write first.")).to_be_visible()
    write(page, "Hello")
    expect(page.get_by_text("Partner is writing")).to_be_visible()
    model.status = 500
    aside(answer_all).join()
    expect(page.get_by_text("No reply came.")).to_be_visible()
    sound.look("no reply", page)
    model.status = 200
    model.reply = lambda messages: f"<b>{messages[0]['content'].split()[2]}</b> " + "word " * 60
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Partner is writing")).to_be_visible()
    aside(answer_all).join()
    expect(page.get_by_text("Which reply is better?")).to_be_visible()
    first, second = tops(page)
    assert first < second, "one below the other"
    sound.look("the replies", page)
    page.set_viewport_size(WIDE)
    first, second = tops(page)
    assert first == second, "side by side"
    page.set_viewport_size(PHONE)
    page.get_by_role("button", name="Go on with Reply 2").click()
    expect(page.get_by_role("log").get_by_role("listitem")).to_have_count(2)
    expect(page.get_by_role("button", name="Go on with Reply 2")).to_be_hidden()
    write(page, "And now?")
    expect(page.get_by_text("Partner is writing")).to_be_visible()
    aside(answer_all).join()
    page.get_by_role("button", name="Go on with Reply 1").click()
    expect(page.get_by_text("The conversation is complete.")).to_be_visible()
    sound.look("after the chat", page)
    chat = Chat.objects.get()
    watching, place = page_of(rei), f"/campaigns/{campaign.pk}/conversations/"
    for address in (place, f"{place}{chat.pk}/", f"/runs/{chat.systems.all()[0].run_id}/"):
        watching.goto(address)
        sound.look(address, watching)
    assert sound.wrong == []


def test_a_researcher_adds_systems_on_a_page(page_of: Any, model: ChatModel) -> None:
    campaign = system_campaign([], model.endpoint(), systems=(), opened=False)
    page, sound = page_of(factories.user("rei", researcher=True)), Sound()
    page.goto(f"/campaigns/{campaign.pk}/conversations/")
    page.get_by_role("link", name="Add a system").click()
    expect(page.get_by_text("If all 3 conversations are completed, about 6 calls")).to_be_visible()
    sound.look("a new system", page)
    page.get_by_label("Name", exact=True).fill("Cedar")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("rowheader", name="Cedar")).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("No system yet.")).to_be_visible()
    assert sound.wrong == []
