"""Journeys of reviewers of facts and questions in long dialogues, and of applying the reviews."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Corpus, Label, Record
from suites.long_dialogue.editing import question_editing, question_sets
from tests import factories
from tests.browser.conftest import PHONE, WIDE, ready, too_wide
from tests.suites.long_dialogue.examples import script
from tests.suites.long_dialogue.reviews import brought, opened
from tests.suites.long_dialogue.test_question_sets import FACTS

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]
PICTURES = os.environ.get("PICTURES", "")
TEN = [
    {"id": f"d{number}", "head": "Ana", "relation": "boss", "tail": "Ben", "session": "s1", "turns": [0]}
    for number in range(10)
]


def picture(page: Page, name: str) -> None:
    """Keep what the page looks like, where a folder for that is named."""
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return brought(tmp_path, script(facts=TEN))


def test_ten_facts_are_reviewed_by_keyboard(page_of, corpus):
    ana = factories.user("ana")
    campaign = opened(corpus, "fact_review", ana)
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    for number in range(10):
        expect(page.locator("#progress-text")).to_have_text(f"{number} of 10")
        expect(page.locator(".turn.marked .text")).to_contain_text("Ben is my boss there.")
        page.keyboard.press("1" if number else "0")
        if not number:
            expect(page.locator("input[data-entry=tail]")).to_be_visible()
            page.locator("input[data-entry=tail]").fill("Cara")
            page.keyboard.press("Escape")
            picture(page, "fact")
        ready(page)
        page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    told = Label.objects.filter(campaign=campaign, question__key="right").order_by("id")
    assert list(told.values_list("number", flat=True)) == [0] + [1] * 9
    assert Label.objects.get(question__key="tail").text == "Cara"


def test_evidence_sessions_are_chosen_by_digits_and_others_written(page_of, tmp_path):
    ana = factories.user("ana")
    asked = script()["questions"][0] | {"status": "draft", "evidence": ["s2", "s4"], "styles": {}}
    corpus = brought(tmp_path, script(questions=[asked], question_sets=None))
    campaign = opened(corpus, "quiz_review", ana)
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("1")
    first = page.locator("[data-sessions] .opt").first
    expect(first).to_be_visible()
    page.keyboard.press("1")
    expect(first).to_have_attribute("aria-pressed", "true")
    entry = page.locator("[data-entry=evidence_sessions]")
    expect(entry).to_have_value("s2")
    entry.fill("s2; s5")
    page.keyboard.press("Escape")
    for key in ("ArrowDown", "1", "1"):
        page.keyboard.press(key)
    picture(page, "quiz")
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert Label.objects.get(question__key="evidence_sessions").text == "s2; s5"
    assert set(Label.objects.exclude(number=None).values_list("question__key", "number")) == {
        ("answerable", 1), ("all_needed", 1), ("answer_right", 1),
    }  # fmt: skip


def test_a_researcher_makes_a_set_and_reads_why(page_of, tmp_path):
    researcher = factories.user("ruth", researcher=True)
    corpus = brought(tmp_path, script(facts=FACTS, question_sets=None))
    page = page_of(researcher)
    page.goto(f"/corpora/{corpus.pk}/questions/")
    page.get_by_label("Name").fill("first")
    page.get_by_role("button", name="Make the questions").click()
    expect(page.get_by_role("heading", name="Candidates per session")).to_be_visible()
    page.get_by_role("link", name="What did Cara buy?").first.click()
    expect(page.get_by_text("it was heard before").first).to_be_visible()


def test_pages_fit(page_of, tmp_path):
    researcher = factories.user("ruth", researcher=True)
    corpus = brought(tmp_path, script(facts=FACTS, question_sets=None))
    one = question_sets.make(corpus=corpus, name="first", by=researcher).set
    question_editing.decide(
        corpus=corpus, records=[Record.objects.get(key="f1").pk], status="rejected", by=researcher
    )
    asked = Record.objects.get(key="q1")
    opened(corpus, "fact_review", factories.user("ana"), record_status="all")
    page = page_of(researcher)
    root = f"/corpora/{corpus.pk}/questions/"
    for name, path in {
        "list": "", "set": f"sets/{one.pk}/", "uses": f"sets/{one.pk}/{asked.pk}/", "facts": "fact/",
        "new": "fact/new/", "edit": f"records/{asked.pk}/", "reviews": "fact/reviews/",
        "relations": "relations/", "quiz": "question/",
    }.items():  # fmt: skip
        page.goto(root + path)
        for view, size in (("wide", WIDE), ("phone", PHONE)):
            page.set_viewport_size(size)
            assert not too_wide(page), (name, view)
            picture(page, f"{name}-{view}")
    page.goto(f"/campaigns/{Corpus.objects.get().campaigns.get().pk}/preview/1/")
    picture(page, "work")
