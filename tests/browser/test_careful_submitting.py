"""Protection of an annotator's answers: held keys, unread turns, two tabs, a restarting server."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment, Label
from tests import factories
from tests.browser.conftest import PHONE, ready

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def ana():
    return factories.user("ana")


def meetings(number=1, *, turns=6, text="line"):
    """Meetings whose continuations can be submitted without a single answer."""
    corpus = factories.corpus()
    for _ in range(number):
        dialogue = factories.dialogue(corpus, turns=3)
        lines = [{"text": f"{text} {turn}"} for turn in range(turns)]
        factories.continuation(dialogue, "r", system="model-r", turns=lines)
    return corpus


def submitted():
    return Assignment.objects.filter(state="submitted").count()


def hold_submit(page, times=25):
    """Hold Ctrl+Enter for as many repeats as a keyboard sends in a second."""
    page.keyboard.down("Control")
    for _ in range(times):
        page.keyboard.down("Enter")
        page.wait_for_timeout(40)
    page.keyboard.up("Enter")
    page.keyboard.up("Control")


@pytest.mark.exhaustive
def test_holding_the_submit_keys_submits_one_task_at_most(page_of, ana):
    campaign = factories.campaign(meetings(5), "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    ready(page)
    hold_submit(page)
    expect(page.locator("#progress-text")).to_have_text("1 of 5")
    assert submitted() == 1


@pytest.mark.exhaustive
def test_a_task_shown_for_less_than_a_moment_asks_before_it_goes(page_of, ana):
    campaign = factories.campaign(meetings(2), "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("Control+Enter")
    question = page.get_by_role("dialog", name="Submit already?")
    expect(question).to_contain_text("less than a second")
    hold_submit(page, 5)
    assert submitted() == 0
    page.get_by_role("button", name="Read on").click()
    expect(question).to_be_hidden()
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress-text")).to_have_text("1 of 2")


@pytest.mark.exhaustive
@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 500}, PHONE])
def test_turns_that_were_never_on_screen_are_asked_about(page_of, ana, viewport):
    corpus = meetings(2, turns=30, text="A line that is long enough to fill some of the screen. " * 3)
    campaign = factories.campaign(corpus, "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana, viewport=viewport)
    page.goto(f"/work/{campaign.pk}/")
    ready(page)
    page.get_by_role("button", name="Submit").click()
    question = page.get_by_role("dialog", name="Submit already?")
    expect(question).to_contain_text("turns have not been on screen")
    question.get_by_role("button", name="Read on").click()
    assert submitted() == 0
    for row in range(30):
        page.locator(".turn.item").nth(row).scroll_into_view_if_needed()
        page.wait_for_timeout(30)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#progress-text")).to_have_text("1 of 2")


@pytest.mark.exhaustive
def test_a_hurried_submit_goes_once_it_is_confirmed(page_of, ana):
    campaign = factories.campaign(meetings(2), "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Submit all the same").click()
    expect(page.locator("#progress-text")).to_have_text("1 of 2")


def two_tabs(page_of, ana):
    campaign = factories.campaign(meetings(), "cocoeval_behaviours", annotators=[ana])
    first, second = page_of(ana), page_of(ana)
    for page in (first, second):
        page.goto(f"/work/{campaign.pk}/")
        expect(page.locator("#place")).to_contain_text("Turn 4")
    first.keyboard.press("a")
    expect(first.locator("#saved")).to_have_text("Draft saved")
    second.keyboard.press("d")
    dialog = second.get_by_role("dialog", name="Two sets of answers")
    expect(dialog).to_contain_text("Logical contradiction")
    expect(dialog).to_contain_text("Misunderstanding")
    assert "misunderstanding" not in str(Assignment.objects.get().draft)
    return first, second, dialog


@pytest.mark.exhaustive
def test_two_tabs_on_one_task_show_both_drafts_and_the_one_here_is_kept(page_of, ana):
    first, second, dialog = two_tabs(page_of, ana)
    dialog.get_by_role("button", name="Keep what is here").click()
    expect(second.locator("#saved")).to_have_text("Draft saved")
    assert "misunderstanding" in str(Assignment.objects.get().draft)
    first.keyboard.press("s")
    expect(first.get_by_role("dialog", name="Two sets of answers")).to_be_visible()


@pytest.mark.exhaustive
def test_two_tabs_on_one_task_show_both_drafts_and_the_other_is_taken(page_of, ana):
    _, second, dialog = two_tabs(page_of, ana)
    dialog.get_by_role("button", name="Take the other").click()
    expect(second.locator(".chip")).to_have_text(["Logical contradiction"])
    second.keyboard.press("f")
    expect(second.locator("#saved")).to_have_text("Draft saved")
    draft = str(Assignment.objects.get().draft)
    assert "logical_contradiction" in draft
    assert "redundant_information" in draft


@pytest.mark.exhaustive
def test_a_conflict_survives_a_reload(page_of, ana):
    _, second, _ = two_tabs(page_of, ana)
    second.reload()
    dialog = second.get_by_role("dialog", name="Two sets of answers")
    expect(dialog).to_contain_text("Misunderstanding")
    dialog.get_by_role("button", name="Keep what is here").click()
    expect(second.locator(".chip")).to_have_text(["Misunderstanding"])


@pytest.mark.exhaustive
def test_a_second_different_submit_says_so_and_offers_to_revise(page_of, ana):
    campaign = factories.campaign(meetings(2), "cocoeval_behaviours", annotators=[ana])
    first, second = page_of(ana), page_of(ana)
    for page in (first, second):
        page.goto(f"/work/{campaign.pk}/")
        ready(page)
    first.keyboard.press("Control+Enter")
    expect(first.locator("#progress-text")).to_have_text("1 of 2")
    second.keyboard.press("d")
    second.wait_for_timeout(100)
    second.keyboard.press("Control+Enter")
    dialog = second.get_by_role("dialog", name="Submitted already, with other answers")
    expect(dialog).to_contain_text("Misunderstanding")
    assert Label.objects.filter(number=1).count() == 0
    dialog.get_by_role("button", name="Revise with what is here").click()
    expect(second.get_by_role("alert")).to_contain_text("You are revising")
    second.keyboard.press("Control+Enter")
    expect(second.locator("#progress-text")).to_have_text("1 of 2")
    assert Label.objects.get(number=1, superseded_at=None).question.key == "misunderstanding"


def busy(page, pattern, times):
    """Answer the first requests as a server does whose database restarts; return those that came."""
    came = []

    def answer(route):
        came.append(route.request.post_data_json)
        if len(came) <= times:
            route.fulfill(status=503, headers={"Retry-After": "1"}, body="Restarting.")
        else:
            route.continue_()

    page.route(pattern, answer)
    return came


@pytest.mark.exhaustive
def test_a_draft_waits_while_the_server_restarts_and_is_sent_again(page_of, ana):
    campaign = factories.campaign(meetings(), "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    came = busy(page, "**/draft/", 2)
    page.keyboard.press("a")
    expect(page.locator("#saved")).to_contain_text("Not saved: the server is restarting. Trying again")
    expect(page.locator("#saved")).to_have_text("Draft saved")
    assert len(came) == 3
    assert "logical_contradiction" in str(Assignment.objects.get().draft)


def test_a_submit_waits_while_the_server_restarts_and_is_sent_again(page_of, ana):
    campaign = factories.campaign(meetings(2), "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    came = busy(page, "**/submit/", 2)
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#saved")).to_contain_text("Not submitted yet: the server is restarting")
    expect(page.locator("#progress-text")).to_have_text("1 of 2")
    assert len(came) == 3


@pytest.mark.exhaustive
def test_a_waiting_submit_is_called_off_by_another_change(page_of, ana):
    campaign = factories.campaign(meetings(2), "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    busy(page, "**/submit/", 1)
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#saved")).to_contain_text("Not submitted yet")
    page.keyboard.press("a")
    page.wait_for_timeout(1500)
    assert submitted() == 0
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress-text")).to_have_text("1 of 2")


SLOW_DRAFTS = """
const fetched = window.fetch;
window.fetch = async (address, how) => {
  if (String(address).endsWith("/draft/")) await new Promise((done) => setTimeout(done, 400));
  return fetched(address, how);
};
"""


@pytest.mark.exhaustive
def test_a_submit_waits_for_the_draft_that_is_on_its_way(page_of, ana):
    corpus = factories.corpus()
    factories.dialogue(corpus, turns=1)
    factories.dialogue(corpus, turns=1)
    campaign = factories.campaign(corpus, "comperdial_dialogue", annotators=[ana], include_self=True)
    page = page_of(ana)
    answered = []
    page.on("response", lambda r: r.request.method == "POST" and answered.append((r.url[-7:], r.status)))

    page.add_init_script(SLOW_DRAFTS)
    page.goto(f"/work/{campaign.pk}/")
    ready(page)
    page.keyboard.press("4")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress-text")).to_have_text("1 of 2")
    assert answered == [("/draft/", 200), ("submit/", 200)]
