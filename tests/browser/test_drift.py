"""A recheck's page on a desk and on a telephone, light and dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from calibration.drift import anchor_actions
from calibration.models import Recheck
from tests import factories
from tests.browser.conftest import PHONE, too_wide
from tests.browser.working import aside
from tests.calibration.test_drift import CARELESS, ORDINARY, asked_again, judged_corpus
from tests.fake_llm import FakeLLM

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]
SIDEWAYS = "table => table.parentElement.scrollWidth - table.parentElement.clientWidth"


def moved_judge() -> None:
    """Ask a judge again whose server has another model behind the same name by then."""
    with FakeLLM(ORDINARY) as fake:
        fake.served = {"model": "fake-1-june", "system_fingerprint": "fp_1"}
        corpus, rater = judged_corpus(fake, 40, samples=2)
        anchors = anchor_actions.create(by=None, name="anchors", corpus=corpus)
        fake.model, fake.served = CARELESS, {"model": "fake-1-july", "system_fingerprint": "fp_2"}
        asked_again(anchors, rater)


def test_the_comparison_of_a_recheck_is_read_on_a_telephone_without_scrolling_sideways(page_of) -> None:
    aside(moved_judge).join()
    page = page_of(factories.user("rea", researcher=True))
    page.goto(f"/rechecks/{Recheck.objects.get().pk}/")
    table = page.get_by_role("region", name="Comparison by question").locator("table")
    expect(table.get_by_role("columnheader")).to_have_count(9)
    for width in (1280, 1024):
        page.set_viewport_size({"width": width, "height": 800})
        assert table.evaluate(SIDEWAYS) == 0
    page.set_viewport_size(PHONE)
    expect(page.get_by_text("Served as fake-1-june (build fp_1) before")).to_be_visible()
    assert too_wide(page) == []
    assert table.evaluate(SIDEWAYS) == 0
    labels = table.locator("tr").last.locator("td[data-label]")
    assert labels.first.evaluate("cell => getComputedStyle(cell, '::before').content") == '"Changed"'
