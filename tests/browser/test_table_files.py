"""A table or chart of a report is copied as Markdown with a click; without scripts the click downloads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import factories
from tests.calibration.world import World, world

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rated() -> World:
    """A scale rated by two people and a judge."""
    built = world("talks", dialogues=8, turns=3)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    values = [float(1 + (n * 7) % 5) for n in range(24)]
    built.say("ann", "quality", values)
    built.say("ben", "quality", [min(5.0, v + n % 2) for n, v in enumerate(values)])
    built.say("gpt", "quality", [max(1.0, v - n % 3) for n, v in enumerate(values)], kind="judge")
    return built


def _report(page_of: Any, rated: World, **options: Any) -> tuple[Page, Locator]:
    """Open the report with the table on scales in sight, and return the page with the table's card."""
    page = page_of(factories.user("rea", researcher=True), **options)
    page.goto(f"/corpora/{rated.corpus.pk}/report/")
    page.goto(f"{page.url}#table-agreement-scales")
    card = page.locator("#table-agreement-scales")
    return page, card


def test_a_table_is_copied_as_markdown(page_of: Any, rated: World) -> None:
    page, card = _report(page_of, rated, permissions=["clipboard-read", "clipboard-write"])
    card.locator("summary", has_text="Download").click()
    card.get_by_role("link", name="Copy as Markdown").click()
    expect(card.get_by_role("status")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("**Agreement on scales**")
    assert "| gpt with people |" in copied


def test_a_browser_that_cannot_copy_downloads_the_file(page_of: Any, rated: World) -> None:
    page, card = _report(page_of, rated)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('shut')); }")
    card.locator("summary", has_text="Download").click()
    with page.expect_download() as download:
        card.get_by_role("link", name="Copy as Markdown").click()
    assert "| gpt with people |" in Path(download.value.path()).read_text()


def test_the_menu_of_a_table_is_a_plain_one_without_scripts(page_of: Any, rated: World) -> None:
    page, card = _report(page_of, rated, java_script_enabled=False)
    card.locator("summary", has_text="Download").click()
    with page.expect_download() as download:
        card.get_by_role("link", name="LaTeX").click()
    assert r"\label{tab:agreement-scales}" in Path(download.value.path()).read_text()
