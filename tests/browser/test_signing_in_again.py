"""Work continues after the session has ended, and Back never shows a submitted task."""

from __future__ import annotations

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Label
from tests import factories
from tests.browser.conftest import ready

LINES = [{"text": "Shall we start?"}, {"text": "Yes, let us."}]
pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def ana():
    return factories.user("ana")


@pytest.fixture
def page(page_of, ana) -> Page:
    """A task with one answer, the first of two."""
    corpus = factories.corpus()
    for _ in range(2):
        factories.continuation(factories.dialogue(corpus, turns=3), "r", system="model-r", turns=LINES)
    campaign = factories.campaign(corpus, "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    ready(page)
    page.keyboard.press("a")
    expect(page.locator("#saved")).to_have_text("Draft saved")
    return page


def chosen() -> int:
    return Label.objects.filter(number=1).count()


def sign_in(page: Page, password: str) -> None:
    dialog = page.get_by_role("dialog", name="Sign in to continue")
    dialog.get_by_label("Password of ana").fill(password)
    dialog.get_by_role("button", name="Sign in and send").click()


def sign_in_in_another_tab(page: Page) -> None:
    tab = page.context.new_page()
    tab.goto("/sign-in/")
    tab.get_by_label("User name").fill("ana")
    tab.get_by_label("Password").fill(factories.PASSWORD)
    tab.get_by_role("button", name="Sign in").click()
    tab.wait_for_url("**/my/")


def test_the_password_is_asked_for_on_the_spot_and_the_same_answers_are_sent(page):
    Session.objects.all().delete()
    page.keyboard.press("Control+Enter")
    sign_in(page, "not the password")
    expect(page.get_by_role("alert").filter(has_text="The password is not right")).to_be_visible()
    sign_in(page, factories.PASSWORD)
    expect(page.locator("#progress-text")).to_have_text("1 of 2")
    assert chosen() == 1
    page.keyboard.press("d")
    expect(page.locator("#saved")).to_have_text("Draft saved")
    page.wait_for_timeout(1100)  # a task shown for less than a moment asks before it goes
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress-text")).to_have_text("2 of 2")
    assert chosen() == 2


def test_signed_in_again_in_another_tab_the_page_goes_on(page):
    Session.objects.all().delete()
    sign_in_in_another_tab(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress-text")).to_have_text("1 of 2")
    assert chosen() == 1


def test_who_declines_to_sign_in_keeps_the_answers_and_is_asked_at_the_next_submit(page):
    Session.objects.all().delete()
    page.keyboard.press("d")
    dialog = page.get_by_role("dialog", name="Sign in to continue")
    dialog.get_by_role("button", name="Not now").click()
    expect(page.locator("#saved")).to_contain_text("signed out")
    page.keyboard.press("f")
    expect(dialog).to_be_hidden()
    page.keyboard.press("Control+Enter")
    sign_in(page, factories.PASSWORD)
    expect(page.locator("#progress-text")).to_have_text("1 of 2")
    assert chosen() == 3


def test_a_form_that_was_open_before_signing_in_again_is_taken(page_of, ana):
    page = page_of(ana)
    page.goto("/account/comfort/")
    Session.objects.all().delete()
    sign_in_in_another_tab(page)
    with page.expect_response(lambda answer: answer.request.method == "POST") as answer:
        page.locator("main form[method=post] button").first.click()
    assert answer.value.status in (200, 302)


def test_back_shows_the_task_that_is_next_now(page):
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress-text")).to_have_text("1 of 2")
    second = Assignment.objects.get(state="leased").pk
    page.get_by_role("link", name="Concord").click()
    page.wait_for_url("**/my/")
    page.go_back()
    expect(page.locator("#progress-text")).to_have_text("1 of 2")
    page.keyboard.press("d")
    expect(page.locator("#saved")).to_have_text("Draft saved")
    assert Assignment.objects.get(pk=second).draft


def test_pages_of_tasks_are_never_stored(page, client, ana):
    client.force_login(ana)
    for address in (page.url, "/my/", "/my/submissions/"):
        assert client.get(address)["Cache-Control"] == "no-store", address
