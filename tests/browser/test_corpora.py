"""Journeys of a researcher through corpora: importing a file, finding a turn, reading a dialogue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation.corpora.properties import set_has_marks
from annotation.models import Corpus, Dialogue
from tests import factories
from tests.browser.conftest import PHONE, too_wide
from tests.browser.working import work_off
from tests.importing.helpers import imported, label, line, written

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rea():
    return factories.user("rea", researcher=True)


def test_a_file_is_imported_browsed_and_read(page_of, rea, tmp_path: Path) -> None:
    turns = [{"speaker": "A", "text": "Hello {laugh} there"}, {"speaker": "B", "text": "<b>Hi</b>"}]
    file = written(tmp_path, line("greeting", turns=turns, labels=[label(4)]), line("d2"), name="chats.jsonl")
    page = page_of(rea)
    page.goto("/corpora/")
    page.get_by_role("link", name="Import a file").click()
    page.wait_for_url("**/corpora/import/new/")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_label("Name of the new corpus")).to_have_value("chats")
    page.get_by_role("button", name="Import 2 dialogues").click()
    expect(page.get_by_text("You may leave this page")).to_be_visible()
    work_off("jobs")
    expect(page.get_by_text("Imported.")).to_be_visible()
    page.get_by_role("link", name="Open the corpus").click()
    page.get_by_role("link", name="Dialogues", exact=True).click()
    page.get_by_label("Text").fill("<b>hi")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("1 turn", exact=True)).to_be_visible()
    set_has_marks(by=None, corpus=Corpus.objects.get(), has_marks=True)
    page.get_by_role("link", name="greeting").click()
    mark = page.get_by_text("{laugh}")
    expect(mark).to_be_visible()
    page.get_by_role("button", name="Transcription marks").click()
    expect(mark).to_be_hidden()
    expect(page.get_by_role("rowheader", name="overall")).to_be_visible()


def test_a_bad_file_says_where_before_anything_is_imported(page_of, rea, tmp_path: Path) -> None:
    file = written(tmp_path, line(), {"id": "x", "turns": [{"speaker": "A", "text": 4}]}, name="bad.jsonl")
    page = page_of(rea)
    page.goto("/corpora/import/new/")
    page.locator("input[type=file]").set_input_files(file)
    page.wait_for_url(re.compile(r"/corpora/import/\d+/"))
    expect(page.get_by_text("turns[0].text")).to_be_visible()
    expect(page.get_by_role("button", name="Import")).to_be_disabled()
    expect(page.get_by_text("must be a text, not a number")).to_be_visible()
    assert not Corpus.objects.exists()


def test_pages_of_corpora_fit_a_phone(page_of, rea, tmp_path: Path) -> None:
    long = {"speaker": "A" * 40, "text": "word " * 80 + "x" * 200}
    imported(written(tmp_path, line("d" * 60, turns=[long, long], labels=[label()])))
    page = page_of(rea, viewport=PHONE)
    dialogue = Dialogue.objects.get()
    for address in ("/corpora/", "/corpora/c/", "/corpora/import/new/", f"/corpora/dialogue/{dialogue.pk}/"):
        page.goto(address)
        assert not too_wide(page), address
