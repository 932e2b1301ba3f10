"""The import page in a browser: a table of one's own in three clicks, corrected, on a phone, by keyboard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Corpus, Label
from tests import factories
from tests.browser.conftest import PHONE, too_wide
from tests.browser.working import work_off

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]

TURNS = (
    ("customer", "Hi, my order 88 has not arrived. It was due on Monday.", ""),
    ("bot", "I'm sorry about the wait. It left our depot this morning and is due tomorrow by noon.", "4"),
    ("customer", "Tomorrow is too late. Can I cancel?", ""),
    ("bot", "Of course. I've cancelled it; the refund takes three days.", "5"),
)


def support(dialogues: int = 40) -> bytes:
    """Return a table with columns of its own: turns in rows, a person and a judge in columns."""
    rows = ["conv_id,author,utterance,ts,anna_quality,gpt_quality,row"]
    for number in range(dialogues):
        for place, (speaker, text, mark) in enumerate(TURNS):
            own = f"{1 + (number + place) % 5}" if mark and number else mark
            judged = f"{1 + (number + place + number % 3) % 5}" if mark else ""
            rows.append(
                f'{4711 + number},{speaker},"{text}",2026-03-02 10:{14 + place},{own},{judged},{len(rows)}'
            )
    return ("\n".join(rows) + "\n").encode()


@pytest.fixture
def rea():
    return factories.user("rea", researcher=True)


def choose(page: Page, name: str = "support.csv", content: bytes | None = None) -> None:
    """Choose a file, which the page sends at once."""
    file = {"name": name, "mimeType": "text/csv", "buffer": content or support()}
    page.wait_for_url("**/corpora/import/new/")
    page.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    page.wait_for_url(re.compile(r"/corpora/import/\d+/"))


def test_a_table_that_is_guessed_right_takes_three_clicks(page_of, rea) -> None:
    page = page_of(rea)
    page.goto("/corpora/")
    page.get_by_role("link", name="Import a file").click()  # 1
    choose(page)  # 2
    expect(page.get_by_role("heading", name="Import support.csv")).to_be_visible()
    expect(page.get_by_label("Role of conv_id")).to_have_value("dialogue")
    expect(page.get_by_text("The first dialogue, as it will be stored")).to_be_visible()
    page.get_by_role("button", name="Import 40 dialogues").click()  # 3
    expect(page.get_by_text("You may leave this page")).to_be_visible()
    work_off("jobs")
    expect(page.get_by_text("Imported.")).to_be_visible()
    assert Corpus.objects.get().name == "support"
    assert Label.objects.count() == 160


def test_a_wrong_guess_is_corrected_beside_the_preview(page_of, rea) -> None:
    page = page_of(rea)
    page.goto("/corpora/import/new/")
    choose(page)
    turn = page.locator(".turn", has_text="depot this morning")
    expect(turn).to_contain_text("anna 4")
    page.get_by_label("Role of anna_quality").select_option("")
    expect(turn).not_to_contain_text("anna 4")
    page.get_by_label("customer").check()
    expect(page.locator(".turn.history")).to_have_count(0)
    page.get_by_label("Next dialogue").click()
    expect(page.get_by_text("Dialogue 2, as it will be stored")).to_be_visible()
    page.get_by_label("Role of row").select_option("text")
    expect(page.get_by_text("is mapped to 2 columns: only one can be that")).to_be_visible()
    expect(page.get_by_role("button", name="Import", exact=False)).to_be_disabled()
    page.get_by_label("Role of row").select_option("")
    page.get_by_role("button", name="Import 40 dialogues").click()
    expect(page.get_by_text("You may leave this page")).to_be_visible()
    work_off("jobs")
    expect(page.get_by_text("Imported.")).to_be_visible()
    assert set(Label.objects.values_list("rater__name", flat=True)) == {"gpt"}


def test_a_choice_made_the_moment_a_preview_appears_counts(page_of, rea) -> None:
    page = page_of(rea)
    page.goto("/corpora/import/new/")
    choose(page)
    page.evaluate(
        """() => document.body.addEventListener("htmx:afterSwap", () => setTimeout(() => {
          const role = document.querySelector("[aria-label='Role of row']");
          role.value = "text";
          role.dispatchEvent(new Event("change", { bubbles: true }));
        }), { once: true })"""
    )
    page.get_by_label("customer").check()
    expect(page.get_by_text("is mapped to 2 columns: only one can be that")).to_be_visible()


def test_a_scale_stays_open_while_it_is_changed(page_of, rea) -> None:
    page = page_of(rea)
    page.goto("/corpora/import/new/")
    choose(page)
    page.get_by_text("Scale: 1, 2, 3, 4, 5").first.click()
    values = page.get_by_label("Answers, lowest first").first
    values.fill("1, 2, 3")
    values.press("Tab")
    expect(page.get_by_text("is not on the scale of quality").first).to_be_visible()
    expect(page.get_by_label("Kind of scale").first).to_be_focused()
    expect(page.get_by_label("Kind of scale").first).to_be_visible()


def test_a_dropped_file_is_sent(page_of, rea) -> None:
    page = page_of(rea)
    page.goto("/corpora/import/new/")
    transfer = page.evaluate_handle(
        """() => {
          const transfer = new DataTransfer();
          const line = JSON.stringify({ id: "d", turns: [{ speaker: "A", text: "Hi" }] });
          transfer.items.add(new File([line], "one.jsonl"));
          return transfer;
        }"""
    )
    page.dispatch_event(".empty", "drop", {"dataTransfer": transfer})
    expect(page.get_by_role("button", name="Import 1 dialogue")).to_be_visible()


def test_without_scripts_buttons_do_the_same(page_of, rea) -> None:
    page = page_of(rea, java_script_enabled=False)
    page.goto("/corpora/import/new/")
    file = {"name": "support.csv", "mimeType": "text/csv", "buffer": support(2)}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Send").click()
    page.get_by_label("Role of anna_quality").select_option("")
    page.get_by_role("button", name="Show the preview", exact=True).click()
    expect(page.get_by_label("Role of anna_quality")).to_have_value("")
    page.get_by_role("button", name="Import 2 dialogues").click()
    work_off("jobs")
    assert Corpus.objects.exists()


def test_the_import_page_fits_every_width_in_both_schemes(page_of, rea) -> None:
    for viewport in ({"width": 1440, "height": 1000}, PHONE):
        page = page_of(rea, viewport=viewport)
        page.goto("/corpora/import/new/")
        assert not too_wide(page)
        choose(page)
        assert not too_wide(page)


def test_a_long_name_and_many_columns_fit_a_phone(page_of, rea, tmp_path: Path) -> None:
    long = "x" * 300
    header = ",".join(["dialogue_id", "speaker_name", "text", *(f"{long}{n}" for n in range(30))])
    row = ",".join(["d", "y" * 200, "z" * 500, *("w" * 300 for _ in range(30))])
    page = page_of(rea, viewport=PHONE)
    page.goto("/corpora/import/new/")
    choose(page, "n" * 200 + ".csv", f"{header}\n{row}\n{row}\n".encode())
    assert not too_wide(page)
