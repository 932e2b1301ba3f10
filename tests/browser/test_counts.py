"""A researcher reads counts by system and condition."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation.corpora import splits
from tests import factories
from tests.browser.conftest import PHONE
from tests.calibration.counts.built import Made, planted

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rea():
    return factories.user("rea", researcher=True)


@pytest.fixture
def built() -> Made:
    made = Made(dialogues=4)
    made.mark("judge", planted)
    made.mark("ann", planted, kind="human")
    return made


def test_counts_are_asked_for_by_condition_and_downloaded(page_of, rea, built: Made) -> None:
    page = page_of(rea)
    page.goto(f"/corpora/{built.corpus.name}/results/")
    page.get_by_role("link", name="Behaviour counts and scores").click()
    expect(page.get_by_role("rowheader", name="model").first).to_be_visible()
    page.get_by_label("system", exact=True).uncheck()
    page.get_by_label("prompting").check()
    page.get_by_label("Mean over strata of").select_option("source")
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text("Each cell is the mean over 2 strata of source.")).to_be_visible()
    expect(page.get_by_role("rowheader", name="taxonomy").first).to_be_visible()
    expect(page.get_by_role("img", name="Counts by behaviour")).to_be_visible()
    page.get_by_label("As seen by").select_option("ann")
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text("Turns per continuation, as ann marks them.")).to_be_visible()
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    found = json.loads(Path(download.value.path()).read_text())
    assert (found["rater"], found["strata"], found["by"]) == ("ann", "source", ["prompting"])
    page.locator("figure").get_by_text("Download").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="SVG", exact=True).click()
    assert Path(download.value.path()).read_text().startswith("<svg")


def test_lengths_that_differ_are_led_out_of(page_of, rea) -> None:
    made = Made(dialogues=3, turns=lambda number: 3 + number)
    made.mark("judge", planted)
    page = page_of(rea)
    page.goto(f"/corpora/{made.corpus.pk}/counts/")
    expect(page.get_by_role("status").filter(has_text="3 to 5 turns")).to_be_visible()
    page.get_by_label("Per how many turns").fill("30")
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text("Counts per 30 turns, as judge marks them.")).to_be_visible()
    expect(page.get_by_text("as counted").first).to_be_visible()


def test_test_is_opened_on_purpose(page_of, rea, built: Made) -> None:
    splits.draw(corpus=built.corpus, by=rea)
    page = page_of(rea)
    page.goto(f"/corpora/{built.corpus.pk}/counts/")
    expect(page.get_by_text("dev part of split main")).to_be_visible()
    page.get_by_text("Open test…").click()
    page.get_by_label("What is this look for?").fill("the final table")
    page.get_by_role("button", name="Open test and log this look").click()
    expect(page.get_by_text("test part of split main")).to_be_visible()
    expect(page.get_by_text("“the final table”")).to_be_visible()


def test_counts_fit_a_phone_in_the_dark(page_of, rea, built: Made) -> None:
    page = page_of(rea, viewport=PHONE, color_scheme="dark")
    page.goto(f"/corpora/{built.corpus.pk}/counts/?by=prompting&by=turns_per_call")
    expect(page.get_by_role("heading", name="Distance from people")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
