"""The Cascade and Answers reports of ten rows: short as they open, complete on demand, narrow on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from django.test import Client

from suites.group_chat.scenarios.agents import AGENTS, decide
from tests.factories import user
from tests.suites.group_chat.scripts import launch
from tests.suites.group_chat.test_cascade_report import always, families, played
from tests.suites.long_dialogue.answers_world import asked, bring, walked

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.django_db, pytest.mark.browser, pytest.mark.exhaustive]
ROWS = 10
TALLEST = 3_000
"""Pixels of a page that is 1,440 wide, as it opens."""


def _html(address: str) -> str:
    """Return a page as a researcher gets it, its style sheet and script inside."""
    client = Client()
    client.force_login(user(researcher=True))
    page = client.get(address).content.decode()
    *sheets, script = (
        (settings.BASE_DIR / "static" / name).read_text(encoding="utf-8")
        for name in ("vendor/tabler.min.css", "css/tokens.css", "css/concord.css", "js/page.js")
    )
    styles = "\n".join(sheets)
    page = page.replace("</head>", f"<style>{styles}</style></head>")
    return page.replace("</body>", f"<script>{script}</script></body>")


def _cascade(folder: Path) -> str:
    corpus = families(folder, "abcdefghijkl")
    right, loud = decide(AGENTS["oracle"], launch()), always("speak")
    for number in range(ROWS):
        played(corpus, f"model-{number}-instruct", (*right[:number], *loud[number:]))
    return _html(f"/corpora/{corpus.pk}/cascade/?resamples=100")


def _answers(folder: Path) -> str:
    walks = [
        walked(
            f"model-{number}", 0, *(asked(n, outcome="AB"[number % 2]) for n in (1, 2, 4, 5)), memory=memory
        )
        for number in range(ROWS // 2)
        for memory in ("base", "oracle")
    ]
    return _html(f"/corpora/{bring(folder, *walks).pk}/answers/?resamples=100")


def _opened(browser: Browser, html: str, width: int) -> Page:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.route("**/*", lambda route: route.abort())
    page.route("http://report/", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto("http://report/")
    return page


@pytest.mark.parametrize("make", [_cascade, _answers])
def test_a_report_of_ten_rows_is_short_until_a_section_is_opened(make, browser: Browser, tmp_path) -> None:
    html = make(tmp_path)
    page = _opened(browser, html, 1440)
    assert page.locator(".verdicts tbody tr").count() == ROWS
    height = "document.documentElement.scrollHeight"
    assert page.evaluate(height) < TALLEST
    assert page.locator("figure svg").first.is_visible()
    assert not page.locator("#method p").first.is_visible()
    page.get_by_role("navigation", name="Contents").get_by_text("Method").click()
    assert page.locator("#method p").first.is_visible()
    phone = _opened(browser, html, 360)
    assert phone.evaluate("document.documentElement.scrollWidth") == 360
