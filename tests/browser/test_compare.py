"""A researcher compares continuations side by side, with long, hostile and Chinese texts."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation.models import Dialogue
from tests import factories
from tests.browser.barriers import Sound
from tests.browser.conftest import PHONE
from tests.calibration.compared_world import rater, rollout, score, static

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]
HOSTILE = "<script>window.taken = 1</script><img src=x onerror='window.taken = 1'>" + "w" * 400


@pytest.fixture
def rea():
    return factories.user("rea", researcher=True)


@pytest.fixture
def dialogue() -> Dialogue:
    made = factories.dialogue(factories.corpus(), "d", turns=20)
    by = rater("m_sns_min")
    score(by, static(made, "x", (2, 18)), 0.3, turn=1, nearest=1)
    score(by, static(made, HOSTILE[:290], (18,), system="=" + HOSTILE[:190]), 0.5, nearest=17)
    score(by, static(made, "\u8bf4" * 120, (18,), system="human"), None)
    return made


def test_two_are_compared_by_another_and_downloaded(page_of, rea, dialogue: Dialogue) -> None:
    page = page_of(rea)
    page.goto(f"/corpora/dialogue/{dialogue.pk}/")
    page.get_by_role("link", name="Compare").click()
    page.get_by_label("After").select_option("18")
    page.get_by_role("button", name="Show").click()
    page.get_by_label("self", exact=True).check()
    page.get_by_label("Difference from").select_option("x")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_text("+0.200")).to_be_visible()
    expect(page.get_by_text("there is no context")).to_be_visible()
    page.get_by_role("link", name="go to turn 2", exact=True).click()
    expect(page.locator("#turn-2")).to_be_visible()
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert [row["value"] for row in rows if row["continuation"] == "x"] == ["0.3"]
    assert all(not row["system"].startswith("=") for row in rows)
    page.get_by_role("link", name="0.300").click()
    expect(page.get_by_role("link", name="Compare with others here").first).to_be_visible()


def test_hostile_and_long_texts_fit_a_phone_and_run_nothing(page_of, rea, dialogue: Dialogue) -> None:
    page = page_of(rea, viewport=PHONE)
    page.goto(f"/corpora/dialogue/{dialogue.pk}/compare/")
    expect(page.get_by_role("heading", name="The continuations")).to_be_visible()
    assert page.evaluate("window.taken") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    tops = [box.bounding_box()["y"] for box in page.locator(".sides > section").all()]
    assert tops == sorted(set(tops))


def test_the_page_has_no_barriers(page_of, rea, dialogue: Dialogue) -> None:
    empty = factories.dialogue(dialogue.corpus, "e", turns=2)
    rollout(empty, "a")
    rollout(empty, "b")
    page, sound = page_of(rea), Sound()
    for name, path in (("values", dialogue.pk), ("no values", empty.pk)):
        page.goto(f"/corpora/dialogue/{path}/compare/")
        sound.look(name, page)
    page.goto(f"/corpora/dialogue/{dialogue.pk}/compare/?at=7")
    sound.look("refused", page)
    assert sound.wrong == []
