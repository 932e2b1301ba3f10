"""Journeys of a researcher: reading a report, opening test, deriving gold labels and exporting them."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation.corpora import splits
from calibration.models import Gold
from tests import factories
from tests.browser.conftest import PHONE, unfold
from tests.calibration.world import World, world

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rea():
    return factories.user("rea", researcher=True)


@pytest.fixture
def rated() -> World:
    built = world("talks", dialogues=8, turns=3)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    values = [float(1 + (n * 7) % 5) for n in range(24)]
    built.say("ann", "quality", values)
    built.say("ben", "quality", [min(5.0, v + n % 2) for n, v in enumerate(values)])
    built.say("gpt", "quality", [max(1.0, v - n % 3) for n, v in enumerate(values)], kind="judge")
    return built


def test_a_report_is_read_and_its_chart_downloaded(page_of, rea, rated: World) -> None:
    page = page_of(rea)
    page.goto("/corpora/talks/results/")
    page.get_by_role("link", name="Report of the corpus").click()
    expect(page.get_by_role("heading", name="Does gpt agree with people?")).to_be_visible()
    expect(page.get_by_role("heading", name="How well do people agree?")).to_be_visible()
    expect(page.get_by_role("img", name="Agreement with people")).to_be_visible()
    expect(page.get_by_role("cell", name="gpt with people")).to_be_hidden()
    unfold(page, "Agreement")
    expect(page.get_by_role("cell", name="gpt with people")).to_be_visible()
    page.locator(".overview summary").click()
    with page.expect_download() as download:
        page.locator(".overview").get_by_role("link", name="SVG").click()
    assert Path(download.value.path()).read_text().startswith("<svg")
    page.locator(".pagehead").get_by_text("Download", exact=True).click()
    with page.expect_download() as download:
        page.locator(".pagehead").get_by_role("link", name="Markdown").click()
    assert "## Verdicts" in Path(download.value.path()).read_text()
    page.get_by_role("button", name="Recompute").click()
    expect(page.get_by_text("Nothing changed")).to_be_visible()


def test_the_turns_behind_a_figure_are_three_clicks_away(page_of, rea, rated: World) -> None:
    page = page_of(rea)
    page.goto(f"/corpora/{rated.corpus.pk}/report/")
    unfold(page, "Agreement")
    page.get_by_role("link", name="gpt with people").click()
    expect(page.get_by_role("heading", name="Quality: where gpt and the people differ")).to_be_visible()
    page.get_by_label("Compared with").select_option("ann")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="Quality: where gpt and ann differ")).to_be_visible()
    page.get_by_role("table").get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="The chosen cell")).to_be_visible()
    page.get_by_role("link", name="d0, turn 1").click()
    expect(page.locator("#turn-1.here")).to_contain_text("words 0")


def test_the_turns_behind_a_figure_fit_a_phone(page_of, rea, rated: World) -> None:
    page = page_of(rea, viewport=PHONE, color_scheme="dark")
    page.goto(f"/corpora/{rated.corpus.pk}/report/")
    unfold(page, "People")
    page.get_by_role("link", name="2 people").click()
    expect(page.get_by_role("heading", name="Quality: where the people differ")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_another_statistic_of_the_pairs_is_chosen_without_leaving_the_place(
    page_of, rea, rated: World
) -> None:
    page = page_of(rea)
    page.goto(f"/corpora/{rated.corpus.pk}/report/")
    unfold(page, "Raters")
    table = page.get_by_role("region", name="Pairs on Quality")
    before = table.inner_text()
    page.get_by_label("Statistic").focus()
    page.get_by_label("Statistic").select_option("spearman")
    expect(table).not_to_have_text(before)
    expect(page.get_by_label("Statistic")).to_be_focused()
    expect(page.get_by_label("Statistic")).to_have_value("spearman")
    assert page.evaluate("scrollY") > 0
    page.get_by_role("link", name="items on which ann and ben differ").click()
    expect(page.get_by_role("heading", name="Quality: where ann and ben differ")).to_be_visible()


def test_two_judges_are_compared_and_held_against_a_key_question_by_question(
    page_of, rea, rated: World
) -> None:
    values = [float(1 + (n * 7) % 5) for n in range(24)]
    rated.say("llama", "quality", [max(1.0, v - n % 2) for n, v in enumerate(values)], kind="judge")
    rated.say("answers", "quality", values, kind="key")
    rated.ask("right", "binary", [0, 1], wording="Right", positive=1)
    for place, (name, kind) in enumerate(
        [("ann", "human"), ("ben", "human"), ("gpt", "judge"), ("llama", "judge"), ("answers", "key")]
    ):
        rated.say(name, "right", [float((n + (n % (4 + place) == 0)) % 2) for n in range(24)], kind=kind)
    page = page_of(rea)
    page.goto(f"/corpora/{rated.corpus.pk}/report/")
    unfold(page, "Judges compared")
    compared = page.locator("#compared")
    compared.get_by_role("link", name="Right").click()
    expect(page.get_by_role("heading", name="Judges compared: Right")).to_be_visible()
    expect(compared.get_by_role("cell", name="gpt less llama").first).to_be_visible()
    unfold(page, "Agreement")
    against = page.locator("#key")
    against.get_by_role("link", name="Right").click()
    expect(page.get_by_role("heading", name="Against the key: Right (answers)")).to_be_visible()
    expect(against.get_by_role("rowheader", name="majority")).to_be_visible()
    against.get_by_text("Right: answers (rows) and ben (columns)", exact=True).click()
    expect(page.get_by_role("region", name="Right: answers (rows) and ben (columns)")).to_be_visible()
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_report_is_walked_by_keyboard_with_the_focus_in_sight(page_of, rea, rated: World) -> None:
    page = page_of(rea)
    page.goto(f"/corpora/{rated.corpus.pk}/report/")
    expect(page.get_by_role("heading", name="How well do people agree?")).to_be_visible()
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        found = page.evaluate(
            """() => { const e = document.activeElement, s = getComputedStyle(e);
                return [e.tagName, e.textContent.trim(), s.outlineStyle, parseFloat(s.outlineWidth)]; }"""
        )
        if found[0] == "BODY":
            break
        reached.append(found)
    assert [text for _, text, style, width in reached if style == "none" or width < 1] == []
    texts = {row[1] for row in reached}
    assert {"Skip to the content", "Download", "Recompute", "Failures"} <= texts
    assert any(text.startswith("How well do people agree?") for text in texts)


def test_where_a_judge_fails_is_read_with_its_answers_beside_peoples(page_of, rea, rated: World) -> None:
    page = page_of(rea)
    page.goto(f"/corpora/{rated.corpus.pk}/report/")
    unfold(page, "Failures")
    table = page.get_by_role("region", name="Largest disagreements")
    expect(table.get_by_role("columnheader", name="gpt")).to_be_visible()
    expect(table.get_by_role("row")).to_have_count(6)
    current = page.get_by_role("navigation", name="Contents").locator("[aria-current]")
    expect(current).to_have_text("Failures")
    table.get_by_role("link").first.click()
    expect(page.locator(".turn.here")).to_be_visible()


def test_test_is_opened_on_purpose_and_the_look_printed(page_of, rea, rated: World) -> None:
    splits.draw(corpus=rated.corpus, by=rea)
    page = page_of(rea)
    page.goto(f"/corpora/{rated.corpus.pk}/report/")
    expect(page.get_by_text("dev part of split main")).to_be_visible()
    page.get_by_role("link", name="Open test…").click()
    page.get_by_label("What is this look for?").fill("the final table")
    page.get_by_role("button", name="Open test and log this look").click()
    expect(page.get_by_text("test part of split main")).to_be_visible()
    expect(page.get_by_text("“the final table”")).to_be_visible()


def test_gold_labels_are_made_and_exported(page_of, rea, rated: World) -> None:
    page = page_of(rea)
    page.goto("/corpora/talks/gold/")
    page.get_by_role("link", name="Make gold labels").first.click()
    page.get_by_label("Quality", exact=True).select_option("mean")
    expect(page.get_by_text("The mean of the answers.")).to_be_visible()
    page.get_by_role("button", name="Make gold labels").click()
    expect(page.get_by_role("heading", name="(Mean")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV", exact=True).click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert len(rows) == 24
    assert float(rows[0]["value"]) == 1.0
    assert Gold.objects.get().rule == "mean"


def test_gold_by_a_rule_with_an_option_is_compared_with_the_majority(page_of, rea, rated: World) -> None:
    for name in ("cem", "dee"):
        rated.say(name, "quality", [float(1 + n % 5) for n in range(24)])
    page = page_of(rea)
    page.goto(f"/gold/new/?corpus={rated.corpus.pk}")
    expect(page.get_by_text("0 of 24 items would stay without a value.")).to_be_visible()
    page.get_by_label("Rule", exact=True).select_option("majority")
    expect(page.get_by_text("of them because answers tie")).to_be_visible()
    page.get_by_text("More settings").click()
    page.get_by_label("Ties").select_option("lowest")
    expect(page.get_by_text("0 of 24 items would stay without a value.")).to_be_visible()
    page.get_by_label("Ties").select_option("none")
    expect(page.get_by_text("of them because answers tie")).to_be_visible()
    page.get_by_role("button", name="Make gold labels").click()
    expect(page.get_by_role("heading", name="(Majority)")).to_be_visible()
    page.goto(f"/gold/new/?corpus={rated.corpus.pk}")
    page.get_by_label("Rule", exact=True).select_option("trimmed_mean")
    page.get_by_text("More settings").click()
    page.get_by_label("Share").fill("0.3")
    expect(page.get_by_label("Ties")).to_have_count(0)
    page.get_by_role("button", name="Make gold labels").click()
    expect(page.get_by_role("heading", name="(Trimmed mean)")).to_be_visible()
    expect(page.get_by_text("0.3", exact=True)).to_be_visible()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="Trimmed mean and Majority")).to_be_visible()
    page.locator("main td a").first.click()
    expect(page.get_by_role("heading", name="Items: different values (quality)")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV", exact=True).click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert len(rows) == 24
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_report_fits_a_phone(page_of, rea, rated: World) -> None:
    for name in ("a person with quite a long name", "another person with a longer name"):
        rated.say(name, "quality", [float(1 + n % 5) for n in range(24)])
    page = page_of(rea, viewport=PHONE, color_scheme="dark")
    page.goto(f"/corpora/{rated.corpus.pk}/report/")
    expect(page.get_by_role("heading", name="How well do people agree?")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_labels_are_taken_to_other_tools_and_transcripts_with_tags(page_of, rea, rated: World) -> None:
    rated.ask("repetition", "binary", [0, 1], group="Inconsistent", positive=1, wording="Repetition")
    rated.say("ann", "repetition", [float(n % 2) for n in range(24)])
    rated.say("gpt", "repetition", [0.0] * 24, kind="judge")
    page = page_of(rea)
    page.goto(f"/exports/?corpus={rated.corpus.pk}")
    for name in ("Label Studio", "Hugging Face dataset", "Alternative annotator test"):
        with page.expect_download() as download:
            page.get_by_role("link", name=f"{name}, zip").click()
        with zipfile.ZipFile(download.value.path()) as archive:
            assert archive.testzip() is None
            assert "manifest.json" in archive.namelist()
    page.goto(f"/corpora/{rated.corpus.name}/dialogues/")
    page.get_by_role("link", name="d0").first.click()
    page.get_by_role("link", name="Export transcript").click()
    expect(page.get_by_role("heading", name="Transcripts with tags")).to_be_visible()
    expect(page.get_by_label("ann")).to_be_checked()
    page.get_by_label("gpt").check()
    for form in ("CSV", "Markdown", "LaTeX", "HTML"):
        with page.expect_download() as download:
            page.get_by_role("button", name=form, exact=True).click()
        assert "Repetition (ann)" in Path(download.value.path()).read_text()
    page.goto(f"/exports/?corpus={rated.corpus.pk}")
    expect(page.get_by_role("row", name="transcripts")).to_have_count(4)
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
