"""A printed report: tables fit the paper, folded parts are open, and no controls are printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.test import Client
from django.urls import reverse

from calibration.studies import study_actions as studies
from config.styles import standalone_styles
from tests.calibration.world import world
from tests.factories import user

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.django_db, pytest.mark.browser, pytest.mark.exhaustive]
PAPER = {"width": 688, "height": 1017}
"""A4 less its margins of 14 mm, in CSS pixels."""


def _shown() -> str:
    """Return the page of a report with many raters, its style sheet inside."""
    built = world(dialogues=30, turns=2)
    built.ask("tag", "binary", [0, 1], wording="Tag")
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality of the reply as a whole")
    for place in range(9):
        name, kind = (
            (f"judge-model-{place}-instruct", "judge") if place > 6 else (f"annotator {place}", "human")
        )
        built.say(name, "tag", [float((n + (n % (5 + place) == 0)) % 2) for n in range(60)], kind=kind)
        scores = [float(1 + (n * 7 + (n % (4 + place) == 0)) % 5) for n in range(60)]
        built.say(name, "quality", scores, kind=kind)
    client = Client()
    client.force_login(user(researcher=True))
    study = studies.automatic(corpus=built.corpus)
    studies.compute(study=study, part="all", by=None)
    page = client.get(reverse("report", args=[study.pk])).content.decode()
    return page.replace("</head>", f"<style>{standalone_styles()}</style></head>")


@pytest.fixture
def printed(browser: Browser) -> Page:
    """The report as it is laid out for paper."""
    page = browser.new_page(viewport=PAPER)
    page.emulate_media(media="print")
    page.set_content(_shown())
    return page


def test_a_printed_report_is_whole(printed: Page) -> None:
    tables = printed.locator("table")
    assert tables.count() >= 5
    widths = tables.evaluate_all("all => all.map(one => Math.ceil(one.getBoundingClientRect().right))")
    assert max(widths) <= PAPER["width"]
    folded = printed.locator("details.card:not([open]) table")
    assert folded.count() >= 1
    assert all(folded.nth(n).is_visible() for n in range(folded.count()))
    clickable = printed.locator("button, .btn, summary.btn, .cardhead a")
    assert [n for n in range(clickable.count()) if clickable.nth(n).is_visible()] == []
    assert printed.locator(".alert li").count() >= 2
    assert re.search(
        r"computed \d+ \w+ \d{4}, \d\d:\d\d", printed.locator(".pagehead").first.text_content() or ""
    )
    inside = "all => all.map(one => getComputedStyle(one).breakInside)"
    assert set(printed.locator("figure").evaluate_all(inside)) == {"avoid"}
    printed.context.close()
