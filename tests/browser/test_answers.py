"""The Answers report is read, filtered to one answer, and fits a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests import factories
from tests.browser.pictures import Pictures
from tests.suites.long_dialogue.answers_world import bring, usual, walked

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


def walks():
    """The usual walks, and those of two more memories under other names."""
    known = usual()
    more = [
        walked(f"model-{name}", trial, **{"memory": "session", "retriever": "bm25", "k": 10, "names": names})
        | {"turns": known[trial]["turns"]}
        for name in ("a", "b")
        for trial in (0, 1)
        for names in ("original", "anonymised")
    ]
    return [*known, *more]


def test_a_report_of_answers_leads_to_one_answer(page_of, tmp_path):
    corpus = bring(tmp_path, *walks())
    pictures = Pictures()
    researcher = factories.user("rosa", researcher=True)
    for name, options in (
        ("wide", {}),
        ("narrow", {"viewport": {"width": 360, "height": 800}}),
        ("dark", {"color_scheme": "dark"}),
    ):
        page = page_of(researcher, **options)
        page.goto(f"/corpora/{corpus.pk}/answers/?resamples=200")
        expect(page.get_by_role("heading", name="Answers", exact=True)).to_be_visible()
        expect(page.locator("figure svg").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        pictures.take(f"answers-{name}", page)
        pictures.take(f"answers-table-{name}", page, top=".part table")
        page.locator("details#options > summary").click()
        page.get_by_label("Layout").select_option("table3")
        page.get_by_role("button", name="Report").click()
        expect(page.get_by_text("Random guessing, expected")).to_be_visible()
        pictures.take(f"answers-table3-{name}", page)
        page.get_by_role("link", name="Answers one by one").click()
        page.get_by_label("Outcome").select_option("right")
        page.get_by_role("button", name="Show").click()
        page.wait_for_url("**outcome=right**")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        pictures.take(f"answers-list-{name}", page)
        page.locator("tbody a").first.click()
        expect(page.get_by_text("Why the key is")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        pictures.take(f"answer-{name}", page)
