"""Journeys of an annotator: rating a turn, rating a dialogue, tagging a continuation."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.campaigns import campaign_actions as campaigns
from annotation.models import Assignment, Campaign, Label
from annotation.work import task_actions as labelling
from tests import factories
from tests.browser.conftest import PHONE, ready

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def ana():
    return factories.user("ana")


@pytest.fixture
def corpus():
    """A dialogue with seven static responses, and a longer one with a rollout."""
    corpus = factories.corpus()
    static = factories.dialogue(corpus, "static", turns=6, summary="Two people meet.")
    responses = [{"speaker": "B", "text": f"answer {at}", "at": at} for at in (1, 3, 5)]
    factories.continuation(static, "s", system="model-s", mode="static", turns=responses)
    return corpus


@pytest.fixture
def meeting():
    corpus = factories.corpus()
    dialogue = factories.dialogue(corpus, "meeting", turns=5)
    lines = [{"text": f"line {number}"} for number in range(6)]
    factories.continuation(dialogue, "r", system="model-r", turns=lines)
    return corpus


def values(campaign):
    labels = Label.objects.filter(campaign=campaign, superseded_at=None, missing="")
    return list(labels.order_by("id").values_list("question__key", "number"))


def test_rating_turns_with_the_keyboard_alone(page_of, ana, corpus):
    campaign = factories.campaign(corpus, annotators=[ana])
    page = page_of(ana)
    page.goto("/my/")
    page.keyboard.press("Tab")
    page.get_by_role("link", name="Start").focus()
    page.keyboard.press("Enter")
    for number, value in enumerate([5, 2, 4]):
        expect(page.locator("#progress-text")).to_have_text(f"{number} of 3")
        expect(page.locator(".turn.item .text")).to_have_text(f"answer {2 * number + 1}")
        page.keyboard.press(str(value))
        expect(page.locator("[data-scale][aria-pressed=true]")).to_contain_text(str(value))
        ready(page)
        page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert values(campaign) == [("overall", 5), ("overall", 2), ("overall", 4)]
    page.get_by_role("button", name="Revise my last task").press("Enter")
    expect(page.locator("[data-scale][aria-pressed=true]")).to_contain_text("4")


@pytest.mark.exhaustive
def test_the_context_of_a_static_response_ends_at_its_point(page_of, ana, corpus):
    factories.campaign(corpus, annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{Campaign.objects.get().pk}/")
    expect(page.locator(".turn .text")).to_have_text(["turn 0", "answer 1"])


@pytest.mark.exhaustive
def test_rating_a_dialogue_asks_for_causes_of_a_low_score_alone(page_of, ana, corpus):
    campaign = factories.campaign(corpus, "comperdial_dialogue", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    texts = ["turn 0", "answer 1", "turn 1", "turn 2", "answer 3", "turn 3", "turn 4", "answer 5"]
    expect(page.locator(".turn .text")).to_have_text(texts)
    causes = page.get_by_role("group", name="What caused the low score?")
    expect(causes).to_be_hidden()
    page.keyboard.press("4")
    expect(causes).to_be_hidden()
    page.keyboard.press("2")
    expect(causes).to_be_visible()
    page.get_by_role("button", name="Humanness").click()
    ready(page)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert dict(values(campaign))["low_humanness"] == 1
    assert len(values(campaign)) == 7


@pytest.mark.exhaustive
def test_tagging_a_continuation(page_of, ana, meeting):
    campaign = factories.campaign(meeting, "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    expect(page.locator("#place")).to_have_text("Turn 6, Ana · tag 6 to 11")
    page.keyboard.press("r")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("k")
    page.locator(".turn.item").nth(4).click()
    page.get_by_role("button", name="Another behaviour").click()
    page.get_by_role("textbox", name="What is it?").fill("shouting")
    expect(page.locator(".chip")).to_have_text(["Repetition", "Interruption", "Another behaviour"])
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    positive = [
        (label.question.key, label.item.turn.position)
        for label in Label.objects.filter(campaign=campaign, number=1).order_by("item__turn__position")
    ]
    assert positive == [("repetition", 0), ("interruption", 1), ("another_behaviour", 4)]
    assert Label.objects.filter(campaign=campaign, number=0).count() == 6 * 11 - 3
    assert Label.objects.get(campaign=campaign, number=None).text == "shouting"


@pytest.mark.exhaustive
def test_a_draft_survives_a_reload(page_of, ana, meeting):
    campaign = factories.campaign(meeting, "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("a")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("s")
    page.keyboard.press("c")
    page.locator("#comment-text").fill("hard to say")
    page.keyboard.press("Escape")
    expect(page.locator("#saved")).to_have_text("Draft saved")
    page.reload()
    expect(page.locator(".chip")).to_have_text(["Logical contradiction", "Factual inaccuracy"])
    expect(page.locator("#comment-text")).to_have_value("hard to say")


def test_a_draft_is_kept_without_a_connection_and_sent_when_it_is_back(page_of, ana, meeting):
    campaign = factories.campaign(meeting, "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    page.context.set_offline(True)
    page.keyboard.press("a")
    expect(page.locator("#saved")).to_contain_text("Not saved: no connection")
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#saved")).to_contain_text("no connection")
    page.context.set_offline(False)
    expect(page.locator("#saved")).to_have_text("Draft saved")
    assert "logical_contradiction" in str(Assignment.objects.get().draft)


@pytest.mark.exhaustive
def test_undo_takes_back_one_change_after_the_other(page_of, ana, meeting):
    campaign = factories.campaign(meeting, "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("a")
    page.keyboard.press("d")
    page.keyboard.press("u")
    expect(page.locator(".chip")).to_have_text(["Logical contradiction"])
    page.keyboard.press("u")
    expect(page.locator(".chip")).to_have_count(0)


@pytest.mark.exhaustive
def test_an_earlier_task_is_revised_and_work_goes_on_where_it_was(page_of, ana, corpus):
    campaign = factories.campaign(corpus, annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("3")
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress-text")).to_have_text("1 of 3")
    page.keyboard.press("p")
    expect(page.get_by_role("alert")).to_contain_text("You are revising")
    page.reload()
    expect(page.locator("[data-scale][aria-pressed=true]")).to_contain_text("3")
    page.keyboard.press("5")
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".turn.item .text")).to_have_text("answer 3")
    assert values(campaign) == [("overall", 5)]


@pytest.mark.exhaustive
def test_a_skip_asks_why(page_of, ana, corpus):
    campaign = factories.campaign(corpus, annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("x")
    dialog = page.get_by_role("dialog", name="Skip this task")
    dialog.get_by_label("Something is broken").check()
    dialog.get_by_role("button", name="Skip").click()
    expect(page.locator(".turn.item .text")).to_have_text("answer 3")
    assert Assignment.objects.get(state="skipped").skip_reason == "Something is broken"


@pytest.mark.exhaustive
def test_a_task_that_went_to_someone_else_is_told_and_the_next_one_is_at_hand(page_of, ana, corpus):
    ben = factories.user("ben")
    campaign = factories.campaign(corpus, annotators=[ana, ben])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    expect(page.locator(".turn.item .text")).to_have_text("answer 1")
    Assignment.objects.filter(user=ana).update(state="expired")
    labelling.start(by=ben, campaign=campaign.pk)
    page.keyboard.press("4")
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("went to someone else")
    page.get_by_role("button", name="Next task").click()
    expect(page.locator(".turn.item .text")).to_have_text("answer 3")


@pytest.mark.exhaustive
def test_a_paused_campaign_says_so_and_keeps_the_draft(page_of, ana, corpus):
    campaign = factories.campaign(corpus, annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    campaigns.pause(by=ana, campaign=campaign)
    page.keyboard.press("4")
    expect(page.locator("#saved")).to_have_text("Draft saved")
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#saved")).to_contain_text("The campaign is paused")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("paused")
    expect(page.locator("[data-scale][aria-pressed=true]")).to_contain_text("4")


@pytest.mark.exhaustive
def test_the_keys_are_listed_and_guidelines_are_one_key_away(page_of, ana, corpus):
    campaign = factories.campaign(corpus, annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    expect(page.get_by_role("dialog", name="Guidelines")).to_contain_text("six aspects")


@pytest.mark.exhaustive
def test_on_a_phone_the_answers_stay_in_reach_and_nothing_is_cut_off(page_of, ana, meeting):
    campaign = factories.campaign(meeting, "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana, viewport=PHONE, has_touch=True)
    page.goto(f"/work/{campaign.pk}/")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"]
    page.locator(".turn.item").nth(5).tap()
    page.get_by_role("button", name="Interruption").tap()
    expect(page.locator(".turn.item").nth(5).locator(".chip")).to_be_in_viewport()
    expect(page.get_by_role("button", name="Submit")).to_be_in_viewport()
    ready(page)
    page.get_by_role("button", name="Submit").tap()
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()


def test_a_transcript_is_never_run(page_of, ana):
    corpus = factories.corpus()
    hostile = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    dialogue = factories.dialogue(
        corpus, turns=1, summary=hostile, participants=[{"id": "A", "name": hostile}]
    )
    factories.continuation(dialogue, "x", system="model-x", turns=[{"text": hostile}, {"text": hostile}])
    campaign = factories.campaign(corpus, "cocoeval_behaviours", annotators=[ana])
    page = page_of(ana)
    page.on("dialog", lambda dialog: pytest.fail("a script of the transcript ran"))
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("a")
    expect(page.locator(".turn.item .text").last).to_have_text(hostile)
    assert page.locator("#main img").count() == 0
