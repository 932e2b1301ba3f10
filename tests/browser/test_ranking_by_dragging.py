"""A ranking is ordered by dragging, with mouse and touch; buttons and keys continue from there."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models import Label
from tests import factories
from tests.browser.conftest import PHONE, ready
from tests.comparisons.test_working import SYSTEMS, corpus_of

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


def open_ranking(page_of, **options):
    ana = factories.user("ana")
    corpus = corpus_of(1, SYSTEMS)
    campaign = factories.campaign(corpus, "preference_ranking", annotators=[ana], compared="whole")
    page = page_of(ana, **options)
    page.goto(f"/work/{campaign.pk}/")
    chip(page, "A").wait_for()
    return page


def chip(page, letter):
    return page.locator("[data-order] .chip").filter(has_text=letter)


def order(page):
    return page.locator(".order .place")


def middle(locator, part=0.5):
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] * part


def drag(page, letter, to, part):
    """Drag a response to a place: 0 is its upper edge, 1 its lower, a half its middle."""
    start = middle(chip(page, letter))
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + 5, start[1] + 5)
    page.mouse.move(*middle(to, part), steps=4)
    page.mouse.up()


def places(page):
    """The place of each response, as its row of buttons says it: '-' for none."""
    rows = page.locator("[data-ranking] .scale")
    return "".join((row.locator("[aria-pressed=true]").all_text_contents() or ["-"])[0] for row in rows.all())


def test_dragging_gives_places_and_ties_and_takes_them_back(page_of):
    page = open_ranking(page_of)
    drag(page, "B", page.locator(".order .empty"), 0.5)
    expect(order(page)).to_have_text(["B"])
    assert places(page) == "-1-"
    drag(page, "C", order(page).nth(0), 0.1)
    expect(order(page)).to_have_text(["C", "B"])
    drag(page, "A", order(page).nth(1), 0.5)
    expect(order(page)).to_have_text(["C", "AB"])
    assert places(page) == "221"
    drag(page, "B", order(page).nth(0), 0.1)
    expect(order(page)).to_have_text(["B", "C", "A"])
    assert places(page) == "312"
    drag(page, "C", page.locator("[data-order] .rest"), 1)
    expect(order(page)).to_have_text(["B", "A"])
    page.keyboard.press("u")
    expect(order(page)).to_have_text(["B", "C", "A"])
    ready(page)
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Submit all the same").click()
    expect(page.locator("#progress-text")).to_have_text("1 of 1")
    label = Label.objects.get()
    assert [label.shown.index(int(number)) for number in label.text.split(">")] == [1, 2, 0]


def test_buttons_and_keys_go_on_from_what_was_dragged(page_of):
    page = open_ranking(page_of)
    drag(page, "C", page.locator(".order .empty"), 0.5)
    page.get_by_role("group", name="Place of response A").get_by_role("button", name="2").click()
    expect(order(page)).to_have_text(["C", "A"])
    page.get_by_role("group", name="Place of response B").get_by_role("button", name="3").click()
    expect(order(page)).to_have_text(["C", "A", "B"])


def test_a_click_on_a_letter_moves_nothing(page_of):
    page = open_ranking(page_of)
    chip(page, "B").click()
    expect(order(page)).to_have_count(0)
    assert places(page) == "---"


def test_a_finger_drags_on_a_phone(page_of):
    page = open_ranking(page_of, viewport=PHONE, has_touch=True)
    touch = page.context.new_cdp_session(page)

    def send(kind, *points):
        told = [{"x": x, "y": y} for x, y in points]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": told})

    def swipe(letter, to, part):
        to.scroll_into_view_if_needed()
        start, end = middle(chip(page, letter)), middle(to, part)
        send("touchStart", start)
        for step in range(1, 6):
            send(
                "touchMove",
                (start[0] + (end[0] - start[0]) * step / 5, start[1] + (end[1] - start[1]) * step / 5),
            )
        send("touchEnd")

    swipe("A", page.locator(".order .empty"), 0.5)
    expect(order(page)).to_have_text(["A"])
    swipe("B", order(page).nth(0), 0.1)
    expect(order(page)).to_have_text(["B", "A"])
    assert places(page) == "21-"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
