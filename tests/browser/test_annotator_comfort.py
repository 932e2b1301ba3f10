"""Elements available to an annotator while working: questions, banners, help, names."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.campaigns import campaign_actions as campaigns
from annotation.models import Label
from annotation.work import submissions
from tests import factories
from tests.browser.conftest import PHONE, ready

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]
LOW = {"width": 1280, "height": 420}


@pytest.fixture
def ana():
    return factories.user("ana")


def talks(number=2, *, turns=3, **fields):
    corpus = factories.corpus()
    for _ in range(number):
        dialogue = factories.dialogue(corpus, turns=3, **fields)
        lines = [{"text": f"line {turn}. " + "And so on. " * 20} for turn in range(turns)]
        factories.continuation(dialogue, "r", system="model-r", turns=lines)
    return corpus


def open_task(page_of, ana, scheme, corpus=None, **options):
    campaign = factories.campaign(corpus or talks(), scheme, annotators=[ana])
    page = page_of(ana, **options)
    page.goto(f"/work/{campaign.pk}/")
    return campaign, page


def question(page, key):
    return page.locator(f"[data-question={key}]")


def submit(page):
    """Submit, whatever was not on screen."""
    ready(page)
    page.keyboard.press("Control+Enter")


@pytest.mark.parametrize("viewport", [LOW, PHONE])
def test_the_second_question_comes_into_view_once_the_first_is_answered(page_of, ana, viewport):
    _, page = open_task(page_of, ana, "cocoeval_overall", viewport=viewport)
    page.keyboard.press("7")
    buttons = question(page, "collaborativeness").locator(".opt").first
    expect(buttons).to_be_in_viewport(ratio=1)


def test_the_question_without_an_answer_comes_into_view_when_a_submit_is_refused(page_of, ana):
    _, page = open_task(page_of, ana, "cocoeval_overall", viewport=LOW)
    page.keyboard.press("7")
    page.locator("#palette").evaluate("palette => palette.scrollTop = 0")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#saved")).to_contain_text("Not complete")
    expect(question(page, "collaborativeness").locator(".opt").first).to_be_in_viewport(ratio=1)


def test_what_a_low_score_asks_for_comes_into_view(page_of, ana):
    _, page = open_task(page_of, ana, "comperdial_dialogue", viewport=PHONE)
    page.locator("#palette").evaluate("palette => palette.scrollTop = 0")
    page.keyboard.press("2")
    expect(page.get_by_role("heading", name="What caused the low score?")).to_be_in_viewport()


def test_that_a_task_is_being_revised_stays_in_view(page_of, ana):
    _, page = open_task(page_of, ana, "cocoeval_behaviours", talks(2, turns=12))
    ready(page)
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Submit all the same").click()
    expect(page.locator("#progress-text")).to_have_text("1 of 2")
    page.keyboard.press("p")
    expect(page.get_by_role("alert")).to_contain_text("You are revising")
    page.locator(".turn.item").last.scroll_into_view_if_needed()
    expect(page.get_by_role("alert")).to_be_in_viewport(ratio=1)


def test_a_revised_task_is_not_counted_twice(page_of, ana):
    _, page = open_task(page_of, ana, "comperdial_turn", talks(1, turns=1))
    page.keyboard.press("4")
    submit(page)
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    page.get_by_role("button", name="Revise my last task").click()
    expect(page.get_by_role("alert")).to_contain_text("revising")
    expect(page.locator("#progress-text")).to_have_text("1 of 1")


def test_a_pressed_value_stands_out_from_the_others(page_of, ana):
    _, page = open_task(page_of, ana, "cocoeval_overall")
    page.keyboard.press("7")
    contrast = """() => {
      const lum = (colour) => {
        const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map((c) => c / 255)
          .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const pressed = getComputedStyle(document.querySelector(".opt[aria-pressed=true]")).backgroundColor;
      const around = getComputedStyle(document.querySelector("#palette")).backgroundColor;
      const [low, high] = [lum(pressed), lum(around)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    }"""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(contrast) >= 3, scheme


def test_the_help_of_a_tag_goes_when_the_tag_is_undone(page_of, ana):
    _, page = open_task(page_of, ana, "cocoeval_behaviours")
    page.keyboard.press("d")
    expect(page.locator("[data-help=misunderstanding]")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator("[data-help=misunderstanding]")).to_be_hidden()


def test_another_behaviour_asks_at_once_what_it_is(page_of, ana):
    campaign, page = open_task(page_of, ana, "cocoeval_behaviours", talks(1))
    ready(page)
    page.keyboard.press("o")
    note = page.get_by_role("textbox", name="What is it?")
    expect(note).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#saved")).to_contain_text("“What is it?” has no answer yet")
    expect(note).to_be_focused()
    page.keyboard.type("shouting")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert Label.objects.get(campaign=campaign, number=None).text == "shouting"


def test_profiles_are_open_where_persona_consistency_is_asked_and_stay_as_they_are_left(page_of, ana):
    people = [{"id": "A", "name": "Ana", "profile": ["likes short meetings"]}, {"id": "B", "name": "Ben"}]
    _, page = open_task(page_of, ana, "comperdial_turn", talks(1, turns=3, participants=people))
    profile = page.get_by_text("likes short meetings")
    expect(profile).to_be_visible()
    page.locator(".about > summary").click()
    expect(profile).to_be_hidden()
    page.keyboard.press("4")
    submit(page)
    expect(page.locator("#progress-text")).to_have_text("1 of 3")
    expect(profile).to_be_hidden()
    page.locator(".about > summary").click()
    page.keyboard.press("4")
    submit(page)
    expect(page.locator("#progress-text")).to_have_text("2 of 3")
    expect(profile).to_be_visible()


def test_the_guidelines_in_force_are_one_key_away(page_of, ana):
    campaign, page = open_task(page_of, ana, "comperdial_turn")
    campaigns.set_guidelines(by=ana, campaign=campaign, text="# Take care\n\nRead **all** of it.")
    page.keyboard.press("g")
    dialog = page.get_by_role("dialog", name="Guidelines")
    expect(dialog.get_by_role("heading", name="Take care")).to_be_visible()
    expect(dialog.locator("strong")).to_have_text("all")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 800}, PHONE])
def test_a_name_stands_beside_its_right_to_left_text_and_is_not_cut(page_of, ana, viewport):
    corpus = factories.corpus()
    people = [{"id": "A", "name": "عبد الرحمن بن محمد الأنصاري"}, {"id": "B", "name": "Ben"}]
    dialogue = factories.dialogue(corpus, turns=1, participants=people)
    lines = [{"text": "مرحبا بكم في الاجتماع"}, {"text": "Hello."}]
    factories.continuation(dialogue, "r", system="model-r", turns=lines)
    _, page = open_task(page_of, ana, "cocoeval_behaviours", corpus, viewport=viewport)
    row = page.locator(".turn.item").first
    name, text = row.locator(".who").bounding_box(), row.locator(".text").bounding_box()
    assert name["x"] + name["width"] / 2 >= text["x"] + text["width"] / 2
    if viewport is PHONE:
        assert row.locator(".who").evaluate("who => who.scrollWidth <= who.clientWidth")


def test_the_page_has_one_heading_of_the_first_level(page_of, ana):
    campaign, page = open_task(page_of, ana, "comperdial_turn")
    expect(page.get_by_role("heading", level=1)).to_have_text(campaign.name)


def test_a_finished_campaign_does_not_ask_to_continue(page_of, ana):
    _, page = open_task(page_of, ana, "comperdial_turn", talks(1, turns=1))
    page.keyboard.press("4")
    submit(page)
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    page.goto("/my/")
    expect(page.get_by_role("link", name="Continue")).to_have_count(0)
    expect(page.get_by_role("link", name="Look again or revise")).to_be_visible()


def test_a_returned_task_says_why_and_is_done_again(page_of, ana):
    campaign, page = open_task(page_of, ana, "comperdial_turn", talks(1, turns=1))
    page.keyboard.press("2")
    submit(page)
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    submission = campaign.assignments.get()
    submissions.return_to_annotator(by=ana, assignment=submission, reason="Read the <b>end</b>")
    page.goto("/my/")
    page.get_by_role("link", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("returned this task to you: Read the <b>end</b>")
    expect(page.locator("[data-scale][aria-pressed=true]")).to_contain_text("2")
    page.keyboard.press("5")
    submit(page)
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert Label.objects.get(superseded_at=None).number == 5
