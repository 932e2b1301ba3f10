"""A researcher plans a study from its report, and reads a score in people's terms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from calibration.studies import study_actions as studies
from tests import factories
from tests.browser.conftest import PHONE, unfold
from tests.calibration.test_plans import DIALOGUES, rated_world

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rea():
    return factories.user("rea", researcher=True)


@pytest.fixture
def study():
    built = rated_world()
    definition = {
        "questions": [
            {"question": "polite@1/polite", "answered_by": [{"question": "length@1/length", "map": "rank"}]}
        ],
        "resamples": 200,
    }
    return studies.create(name="polite", corpus=built.corpus, definition=definition, by=None)


def test_a_study_is_planned_from_its_report(page_of, rea, study) -> None:
    page = page_of(rea)
    page.goto(f"/studies/{study.pk}/report/")
    page.get_by_role("link", name="Plan more ratings", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("more double-rated dialogues")
    expect(page.get_by_label("Whose")).to_have_value("judge")
    expect(page.get_by_role("img", name="Expected width by number of dialogues")).to_be_visible()
    page.get_by_label("Whose").select_option("people")
    page.get_by_label("Statistic").select_option("krippendorff_alpha")
    page.get_by_label("Half width wanted").fill("0.4")
    page.get_by_role("button", name="Plan").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Enough dialogues already")
    page.get_by_label("Plan for").select_option("power")
    page.get_by_label("Whose").select_option("judge")
    page.get_by_role("button", name="Plan").click()
    expect(page.get_by_text("alternative annotator test on Polite").first).to_be_visible()
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    found = json.loads(Path(download.value.path()).read_text())
    assert (found["goal"], found["rater"], found["n_pilot"]) == ("power", "judge", DIALOGUES)


def test_a_width_that_means_nothing_is_told(page_of, rea, study) -> None:
    page = page_of(rea, viewport=PHONE)
    page.goto(f"/studies/{study.pk}/plan/")
    page.get_by_label("Half width wanted").fill("narrow")
    page.get_by_role("button", name="Plan").click()
    expect(
        page.get_by_role("status").filter(has_text="The half width must be a number above 0")
    ).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_other_rule_of_a_threshold_is_a_click_away(page_of, rea, study) -> None:
    page = page_of(rea)
    page.goto(f"/studies/{study.pk}/report/")
    unfold(page, "Calibration")
    expect(page.get_by_role("heading", name="Thresholds by best balanced accuracy")).to_be_visible()
    expect(page.get_by_role("img", name="Reliability of gauge on Polite")).to_be_visible()
    page.get_by_role("link", name="best MCC").click()
    expect(page.get_by_role("heading", name="Thresholds by best MCC")).to_be_visible()
