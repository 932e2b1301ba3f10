"""Adjudication in the browser: by keyboard alone, with drafts that are restored and never overwritten."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models import Label, Occasion
from calibration.adjudication import rounds
from calibration.models import AdjudicationDecision, AdjudicationRound
from tests import factories
from tests.browser.conftest import PHONE
from tests.calibration.world import world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rea():
    return factories.user("rea", researcher=True)


@pytest.fixture
def begun(rea):
    """A round of two cases on a scale of three."""
    built = world("talks", dialogues=3, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3], wording="How good is it?", anchors={"3": "good"})
    for name, values in {"zed": [1, 1, 3, 2, 2, 2], "ann": [1, 3, 3, 2, 2, 1]}.items():
        built.say(name, "quality", [float(value) for value in values])
    plan = rounds.Plan(built.corpus, None, built.questions["quality"].version, rules={"no_majority": True})
    return rounds.begin(by=rea, name="First round", plan=plan)


def decide_page(page_of, rea, begun, **options):
    page = page_of(rea, **options)
    page.goto(f"/adjudicate/{begun.pk}/")
    expect(page.locator("#decision")).to_be_visible()
    return page


def decisions():
    return list(Label.objects.filter(occasion=Occasion.ADJUDICATION).order_by("pk"))


def test_a_round_is_decided_by_key_alone(page_of, rea, begun):
    page = decide_page(page_of, rea, begun)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    expect(page.locator("[name=choice]:checked")).to_have_value("1")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[name=choice]:checked")).to_have_value("2")
    page.keyboard.press("r")
    page.keyboard.type("because 3 is good")
    expect(page.locator("#saved")).to_have_text("Draft saved")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("1 of 2")).to_be_visible()
    page.keyboard.press("x")
    page.keyboard.press("r")
    page.keyboard.type("the text is cut off")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("All cases are decided")).to_be_visible()
    first, second = decisions()
    assert (first.number, first.explanation) == (3.0, "because 3 is good")
    assert second.number is None
    assert "cut off" in second.explanation + second.missing


@pytest.mark.exhaustive
def test_typing_a_reason_chooses_nothing(page_of, rea, begun):
    page = decide_page(page_of, rea, begun)
    page.keyboard.press("r")
    page.keyboard.type("12 x p ?")
    expect(page.locator("#reason")).to_have_value("12 x p ?")
    expect(page.locator("[name=choice]:checked")).to_have_count(0)
    expect(page.locator("dialog[open]")).to_have_count(0)


@pytest.mark.exhaustive
def test_a_draft_comes_back_after_a_reload(page_of, rea, begun):
    page = decide_page(page_of, rea, begun, viewport=PHONE)
    page.locator("[name=choice]").nth(1).check()
    page.locator("#reason").fill("so far")
    expect(page.locator("#saved")).to_have_text("Draft saved")
    page.reload()
    expect(page.locator("[name=choice]:checked")).to_have_value("1")
    expect(page.locator("#reason")).to_have_value("so far")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.exhaustive
def test_another_tab_s_draft_is_never_overwritten_unasked(page_of, rea, begun):
    here = decide_page(page_of, rea, begun)
    there = decide_page(page_of, rea, begun)
    there.keyboard.press("1")
    expect(there.locator("#saved")).to_have_text("Draft saved")
    here.keyboard.press("3")
    banner = here.get_by_role("alert")
    expect(banner).to_contain_text("Another tab or device kept another draft")
    here.get_by_role("button", name="Take the other").click()
    expect(here.locator("[name=choice]:checked")).to_have_value("0")
    held = AdjudicationDecision.objects.get(state="held")
    assert held.draft["answer"] == 1


@pytest.mark.exhaustive
def test_what_is_refused_stays_on_screen_with_the_answer(page_of, rea, begun):
    page = decide_page(page_of, rea, begun)
    page.keyboard.press("3")
    expect(page.locator("#saved")).to_have_text("Draft saved")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Say why")
    expect(page.locator("[name=choice]:checked")).to_have_value("2")
    assert not decisions()
    assert AdjudicationRound.objects.get().decisions.filter(state="held").count() == 1
