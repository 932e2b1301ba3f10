"""A campaign is set up on one page, with its questions written in place and the first task beside them."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign
from tests import factories
from tests.annotation.test_ordering import judge, say
from tests.browser.barriers import Sound

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]
PEOPLE = [{"id": "A", "name": "Ana", "role": "user"}, {"id": "B", "name": "Ben", "role": "assistant"}]


def test_a_scale_and_three_tags_about_the_bots_turns_take_two_fields_and_a_click(page_of):
    rosa, _ = factories.user("rosa", researcher=True), factories.user("ann")
    corpus = factories.corpus("chats")
    factories.dialogue(corpus, turns=4, participants=PEOPLE)
    page = page_of(rosa)
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto("/corpora/chats/annotation/")
    page.get_by_role("link", name="New campaign").first.click()
    expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_value("chats ratings")
    expect(page.get_by_role("checkbox", name="assistant")).to_be_checked()
    shown = page.frame_locator("iframe:not(.coming)")
    expect(shown.get_by_role("heading", name="How good is this turn?")).to_be_visible()
    page.get_by_role("textbox", name="Question", exact=True).fill("How helpful is it?")
    page.get_by_label("Tags, one a line").fill("Rude: not polite\nOff topic\nRepeats itself")
    expect(shown.get_by_role("heading", name="How helpful is it?")).to_be_visible()
    expect(shown.get_by_text("Repeats itself")).to_be_visible()
    expect(shown.locator(".turn.item")).to_contain_text("turn 3")
    assert errors == []
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("0 of 2 ratings in, over 2 tasks")).to_be_visible()
    assert Campaign.objects.get().speakers == ["assistant"]


def test_another_scheme_is_shown_in_the_preview_and_only_its_settings(page_of):
    rosa, corpus = factories.user("rosa", researcher=True), factories.corpus("chats")
    factories.dialogue(corpus, turns=4, participants=PEOPLE)
    page = page_of(rosa)
    page.goto(f"/campaigns/new/?corpus={corpus.pk}")
    page.get_by_label("Annotation scheme").select_option("comperdial_dialogue")
    expect(page.get_by_label("Tags, one a line")).to_be_hidden()
    expect(page.get_by_role("checkbox", name="assistant")).to_be_hidden()
    shown = page.frame_locator("iframe:not(.coming)")
    expect(shown.locator(".turn.rated").first).to_be_visible()
    sound = Sound()
    sound.look("a built-in scheme", page)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_label("Annotation scheme").select_option("new")
    expect(page.get_by_label("Tags, one a line")).to_be_visible()
    sound.look("new questions", page)
    assert sound.wrong == []


def test_a_release_check_fills_in_four_raters_unless_a_number_was_typed(page_of):
    rosa, corpus = factories.user("rosa", researcher=True), factories.corpus("chats")
    factories.dialogue(corpus, turns=4, participants=PEOPLE)
    page = page_of(rosa)
    page.goto(f"/campaigns/new/?corpus={corpus.pk}")
    raters, scheme = page.locator("[name=raters_per_item]"), page.get_by_label("Annotation scheme")
    usual = raters.input_value()
    scheme.select_option("ethics")
    expect(raters).to_have_value("4")
    scheme.select_option("comperdial_turn")
    expect(raters).to_have_value(usual)
    raters.fill("3")
    scheme.select_option("ethics")
    expect(raters).to_have_value("3")


def test_the_strata_of_a_review_queue_appear_while_its_fields_are_filled_in(page_of):
    rosa, corpus = factories.user("rosa", researcher=True), factories.corpus("talks")
    for number in range(10):
        factories.dialogue(corpus, f"d{number}", turns=1)
    say(judge(), corpus, **{f"d{number}": number % 5 + 1 for number in range(10)})
    page = page_of(rosa)
    page.goto(f"/campaigns/new/?corpus={corpus.pk}&scheme=comperdial_turn")
    page.get_by_text("A review queue: drawn by what a judge said").click()
    page.get_by_role("checkbox", name="judge", exact=True).check()
    page.get_by_label("To the question").select_option("overall")
    page.get_by_label("Rule of stratum 1").select_option("at_most")
    page.get_by_label("Score, distance or answers of stratum 1").fill("2")
    page.get_by_label("How many of stratum 1 are drawn").fill("all")
    page.get_by_label("Rule of stratum 2").select_option("rest")
    page.get_by_label("How many of stratum 2 are drawn").fill("50%")
    page.get_by_label("How many of stratum 2 are drawn").press("Tab")
    strata = page.get_by_role("region", name="Strata of the review queue")
    expect(strata.get_by_role("row", name="score at most 2 4 4 1")).to_be_visible()
    expect(strata.get_by_role("row", name="rest 6 3 0.5")).to_be_visible()
    expect(page.get_by_text("Estimates speak of the 10 items of these strata")).to_be_visible()
    sound = Sound()
    sound.look("a review queue", page)
    assert sound.wrong == []
    page.get_by_role("button", name="Save as a draft").click()
    expect(page.get_by_role("heading", name="Review queue")).to_be_visible()
    sound.look("the campaign's page", page)
    assert sound.wrong == []
    assert not Campaign.objects.get().tasks.exists()
