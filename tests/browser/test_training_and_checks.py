"""From training through the test to main work with a hidden check, by keyboard, until a warning."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models import Attempt, Label, Rater
from annotation.work.labels import name_of
from tests import factories
from tests.browser.conftest import PHONE, ready
from tests.checks.world import campaign

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


def answer(page, key):
    ready(page)
    page.keyboard.press(key)
    page.keyboard.press("Control+Enter")


def go_on(page, name):
    button = page.get_by_role("button", name=name)
    expect(button).to_be_visible()
    button.press("Enter")


def heading(page, name):
    expect(page.get_by_role("heading", name=name)).to_be_visible()


def test_an_annotator_is_trained_fails_a_test_passes_it_works_and_is_warned(page_of):
    ana, rosa = factories.user("ana"), factories.user("rosa", researcher=True)
    made = campaign(ana, training=1, test=1, check=1, main=7, check_every=2, warn_below=0.9, least=1)
    page = page_of(ana, viewport=PHONE, color_scheme="dark")
    page.goto(f"/work/{made.pk}/")
    heading(page, "First, some training")
    go_on(page, "Begin the training")
    answer(page, "2")
    heading(page, "0 of 1 right")
    expect(page.get_by_role("row", name="not right")).to_contain_text("5")
    expect(page.get_by_text("Because it fits.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    go_on(page, "Next")
    heading(page, "The training is done")
    go_on(page, "Go on")
    heading(page, "A short test")
    go_on(page, "Begin the test")
    answer(page, "2")
    heading(page, "Not passed yet")
    go_on(page, "Try again")
    answer(page, "5")
    heading(page, "Passed. Welcome!")
    go_on(page, "Begin")
    expect(page.locator("#progress-text")).to_have_text("0 of 8")
    warning = page.get_by_role("heading", name="A word about your recent answers")
    for done in range(1, 9):  # the check is among the first two, the warning at most four tasks later
        answer(page, "2")
        expect(page.locator("#progress-text")).to_have_text(f"{done} of 8")
        if warning.is_visible():
            break
    heading(page, "A word about your recent answers")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    go_on(page, "I have read this")
    expect(page.locator("#progress-text")).to_contain_text("of 8")
    assert [attempt.passed for attempt in Attempt.objects.order_by("pk")] == [None, False, True]
    assert Label.objects.filter(occasion="check").count() == 1
    annotator = name_of(Rater.objects.get(user=ana), made.corpus_id)
    checks = page_of(rosa)
    checks.goto(f"/campaigns/{made.pk}/checks/")
    expect(checks.get_by_role("row", name=annotator)).to_contain_text("warned")
    checks.get_by_role("radio", name=f"Choose {annotator}").check()
    checks.get_by_label("Why").fill("too many wrong")
    checks.get_by_role("button", name="Pause", exact=True).click()
    expect(checks.get_by_text(f"{annotator} gets no new tasks.")).to_be_visible()
