"""A scenario is written in the editor, previewed for each participant, marked, saved and corrected."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models import Dialogue
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


def test_a_scenario_is_written_seen_marked_and_saved(page_of):
    corpus = factories.corpus("chats")
    page = page_of(factories.user("rosa", researcher=True))
    page.goto(f"/corpora/{corpus.pk}/scenarios/")
    page.get_by_role("link", name="New scenario").click()
    page.wait_for_load_state()
    text = page.get_by_label("The scenario")
    told = page.locator("#problem")
    expect(told).to_contain_text("The oracle scores everything right.")

    # what is wrong is told as one types, with its line, and the cursor stays
    script = text.input_value()
    text.fill(script.replace("Sam (to Kit): Kit, is", "Sim (to Kit): Kit, is"))
    expect(told).to_contain_text("line 14: 'Sim' is none of the participants")
    expect(text).to_be_focused()
    private = (
        "(private: Mia to Kit) Mia (to Kit): Between us: not a word.\n    key: {free: true}\n---\nprobes"
    )
    text.fill(script.replace("---\nprobes", private))
    expect(told).to_contain_text("1 free")
    expect(page.locator("#checked")).to_contain_text("seen by Mia, Kit; not by Ole, Sam")
    page.get_by_label("As seen by").select_option("ole")
    expect(page.locator("#checked .turn")).to_have_count(3)
    page.get_by_label("As seen by").select_option("")

    page.get_by_label("Kind").select_option("overheard")
    page.get_by_label("Points").fill("2")
    page.get_by_label("A control").check()
    page.get_by_role("button", name="Mark").click()
    expect(page.locator("#checked")).to_contain_text("p2: overheard (control)")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").first).to_contain_text("The scenario is saved.")
    stored = Dialogue.objects.get(key="scenario-1").scenario
    assert [(probe["id"], probe.get("control")) for probe in stored["probes"]] == [("p1", None), ("p2", True)]
