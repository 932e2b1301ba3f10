"""Notes, messages and preferences, by keyboard and mouse, next to the task."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models import Bookmark, Label, Message, TurnNote
from annotation.people import preferences
from annotation.work import messages, screens
from annotation.work import task_actions as labelling
from tests import factories
from tests.browser.conftest import PHONE

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


def setting_of(number: int = 3):
    ana, rei = factories.user("ana"), factories.user("rei", researcher=True)
    corpus = factories.corpus()
    for _ in range(number):
        factories.continuation(
            factories.dialogue(corpus, turns=2), "r", system="model-r", turns=[{"text": "Yes, of course."}]
        )
    campaign = factories.campaign(corpus, annotators=[ana], by=rei)
    return ana, rei, campaign


def test_a_turn_is_noted_by_key_and_mouse_and_a_message_answered_beside_it(page_of) -> None:
    ana, rei, campaign = setting_of()
    _, hold = labelling.start(by=ana, campaign=campaign.pk)
    page = page_of(ana, viewport=PHONE)
    page.goto(f"/work/{campaign.pk}/")
    item = page.locator(".turn.item")
    page.keyboard.press("B")
    expect(item).to_contain_text("★ bookmarked")
    page.keyboard.press("C")
    dialog = page.get_by_role("dialog", name="Note on a turn")
    expect(dialog.get_by_label("Comment")).to_be_focused()
    page.keyboard.type("<b>Too short</b>")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(dialog.get_by_label("Flag for the researcher")).to_be_checked()
    dialog.get_by_role("button", name="Keep").click()
    expect(item).to_contain_text("⚑ flagged · ★ bookmarked · “<b>Too short</b>”")
    page.locator(".turn.history > .no").first.click()
    dialog.get_by_label("Comment").fill("What is meant?")
    dialog.get_by_role("button", name="Ask the researcher").click()
    mine = page.locator(".turn.history").first.locator("[data-thread]")
    expect(mine).to_contain_text("What is meant?")
    turn = screens.load(hold.task).turns[0]
    own = TurnNote.objects.get(superseded_at=None).assignment
    messages.write(by=rei, campaign=campaign, to=[ana], text="Why?", assignment=own, turn=turn)
    page.reload()
    expect(page.get_by_role("alert").first).to_contain_text("A researcher wrote to you about turn 1.")
    page.get_by_role("button", name="Show it").click()
    told = page.locator(".turn.history").first.locator("[data-thread]").last
    expect(told).to_contain_text("Why?")
    told.get_by_label("Your answer to the researcher").fill("Because 4.")
    page.keyboard.press("Control+Enter")
    expect(told).to_contain_text("Because 4.")
    assert not Label.objects.exists()  # what was typed there was no answer to the task
    assert Message.objects.filter(from_annotator=True).count() == 2
    assert Bookmark.objects.count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_one_key_submits_undo_brings_it_back_and_keys_are_one_s_own(page_of) -> None:
    ana, _, campaign = setting_of()
    preferences.change(by=ana, auto_advance=True, text_size="large", keys={"undo": "z", "guidelines": "u"})
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    expect(page.locator("#undo kbd")).to_have_text("z")
    expect(page.locator("#progress-text")).to_have_text("0 of 3")
    page.keyboard.press("4")
    expect(page.locator("#progress-text")).to_have_text("1 of 3")
    page.keyboard.press("z")
    expect(page.get_by_role("alert").first).to_contain_text("You are revising")
    page.keyboard.press("5")
    expect(page.locator("#banner")).to_be_hidden()
    page.keyboard.press("u")
    expect(page.get_by_role("dialog", name="Guidelines")).to_be_visible()
    live = Label.objects.filter(superseded_at=None)
    assert [label.number for label in live] == [5.0]


def work_for(page, minutes: int) -> None:
    """Let so many minutes go by in which somebody moves the mouse now and then."""
    for half in range(2 * minutes):
        page.mouse.move(100 + half % 7, 100)
        page.clock.run_for(30_000)


def test_a_break_is_proposed_by_the_time_on_task_over_reloads_and_tasks(page_of) -> None:
    ana, _, campaign = setting_of()
    preferences.change(by=ana, break_after=5)
    page = page_of(ana)
    page.clock.install()
    page.goto(f"/work/{campaign.pk}/")
    banner = page.locator("#banner")
    work_for(page, 3)
    expect(banner).to_be_hidden()
    page.reload()
    work_for(page, 1)
    expect(banner).to_be_hidden()
    work_for(page, 2)
    expect(banner).to_contain_text("You have worked for 5 minutes. How about a break?")
    page.get_by_role("button", name="Go on").click()
    work_for(page, 3)
    expect(banner).to_be_hidden()


def test_who_was_away_for_a_while_has_had_their_break(page_of) -> None:
    ana, _, campaign = setting_of()
    preferences.change(by=ana, break_after=5)
    page = page_of(ana)
    page.clock.install()
    page.goto(f"/work/{campaign.pk}/")
    work_for(page, 4)
    page.clock.fast_forward("20:00")
    work_for(page, 3)
    expect(page.locator("#banner")).to_be_hidden()
    work_for(page, 3)
    expect(page.locator("#banner")).to_contain_text("How about a break?")
