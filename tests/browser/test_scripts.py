"""A long dialogue is imported, read by session, searched, redated, and its people are renamed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation.corpora.import_file import import_path
from annotation.models import Corpus
from tests import factories
from tests.browser.conftest import PHONE, too_wide

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]

PICTURES = os.environ.get("CONCORD_LOOKS", "")


def look(page, name: str) -> None:
    """Keep a picture of the whole page for whoever looks at it; none without a folder."""
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)


def series(folder: Path) -> Corpus:
    lines = []
    for number in range(1, 13):
        who = ("Ana", "Ben", "Cara", "Dr Ilse van Oostenbrugge")
        there = who[:2] if number % 3 else who[1:]
        lines.append(
            f"== s{number:02} | 1994-{number:02}-{number + 3:02} | kitchen of the house by the river "
            f"| season: 1 | present: Dan =="
        )
        for turn in range(8):
            lines.append(
                f"{there[turn % len(there)]}: That is what I said, {turn}; boots are for walking, and "
                "walking is what one does in the rain when there is no other way to get home."
            )
    path = folder / "The house by the river.txt"
    path.write_text("\n".join(lines))
    import_path(path=path, format="longform", corpus="House", into=False, by=None, settings={"main": "Ana"})
    return Corpus.objects.get(name="House")


def test_a_script_is_read_by_sessions_and_a_date_is_changed(page_of, tmp_path):
    corpus = series(tmp_path)
    page = page_of(factories.user("rosa", researcher=True))
    page.goto("/corpora/House/dialogues/")
    page.get_by_role("link", name="The house by the river").first.click()
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    look(page, "outline")
    third = page.locator("#session-3")
    third.locator("summary").click()
    expect(third.locator(".turn")).to_have_count(8)
    expect(third).to_contain_text("hears nothing of it")
    page.locator("#session-4 summary").click()
    expect(page.locator("#session-4 .turn")).to_have_count(8)
    expect(third.locator(".turn").first).not_to_be_visible()
    look(page, "unfolded")

    page.get_by_label("Words").fill("boots")
    page.get_by_label("Speaker").fill("cara")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("12 turns")).to_be_visible()
    look(page, "found")
    page.locator("tbody a").first.click()
    expect(page.locator("#session-3")).to_have_attribute("open", "")

    page.locator("#session-3").get_by_role("link", name="Change date, place or people").click()
    look(page, "edit")
    page.get_by_label("Date").fill("1999-12")
    page.get_by_label("Also present").fill("Zoe")
    page.get_by_label("Reason").select_option("talk")
    page.get_by_label("In words").fill("Ben says that it is the last winter of the century")
    page.get_by_role("button", name="Change").click()
    expect(page.get_by_text("Nobody of this dialogue is called 'Zoe'.")).to_be_visible()
    look(page, "refused")
    page.get_by_label("Also present").fill("Ana")
    page.get_by_role("button", name="Change").click()
    expect(page.get_by_text("The session is changed.")).to_be_visible()
    expect(page.locator("#session-3 summary")).to_contain_text("1999-12")
    expect(page.get_by_text("Dates run backwards: s04").first).to_be_visible()
    look(page, "changed")
    page.locator("#session-3").get_by_role("link", name="Change date, place or people").click()
    expect(page.get_by_text("a day named in the talk")).to_have_count(2)
    look(page, "versions")
    assert corpus.dialogues.get().session_versions.count() == 2


def test_other_names_are_made_and_written(page_of, tmp_path):
    corpus = series(tmp_path)
    page = page_of(factories.user("rosa", researcher=True))
    dialogue = corpus.dialogues.get()
    page.goto(f"/corpora/{corpus.pk}/scripts/{dialogue.pk}/")
    page.get_by_role("link", name="Names").click()
    look(page, "no-names")
    page.get_by_label("Genders and nicknames").fill("Ana: female; Annie\nBen: male")
    page.get_by_role("button", name="Make").click()
    expect(page.get_by_text("Version 1 of the anonymised names is kept.")).to_be_visible()
    expect(page.get_by_role("rowheader", name="Annie")).to_be_visible()
    look(page, "names")
    page.get_by_text("Write the next version").click()
    page.locator("textarea[name=pairs]").fill("Ana -> Yvette Q")
    page.get_by_role("button", name="Keep as a new version").click()
    expect(page.get_by_text("'Ana' has 1 words, 'Yvette Q' has 2.")).to_be_visible()
    look(page, "names-refused")


def test_scripts_fit_a_phone(page_of, tmp_path):
    corpus = series(tmp_path)
    page = page_of(factories.user("rosa", researcher=True), viewport=PHONE)
    dialogue = corpus.dialogues.get()
    start = f"/corpora/{corpus.pk}/scripts/{dialogue.pk}/"
    for name, address in (
        ("outline", f"{start}?session=3"),
        ("found", f"{start}?text=boots"),
        ("edit", f"{start}sessions/3/edit/"),
        ("names", f"{start}names/"),
    ):
        page.goto(address)
        assert not too_wide(page), name
        look(page, f"phone-{name}")
