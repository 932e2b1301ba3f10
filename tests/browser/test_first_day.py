"""The first day: from an empty Concord to a small campaign's gold, by people invited by links."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from annotation.people import links
from tests.browser.conftest import PHONE, ready, unfold
from tests.browser.people import enter, invited
from tests.browser.working import work_off

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RATINGS = {"ann": "5142", "ben": "4152"}


def dialogues() -> bytes:
    """Return two dialogues, each with a response by two systems."""
    lines = [
        {
            "id": f"d{number}",
            "turns": [{"speaker": "A", "text": "Hello!"}, {"speaker": "B", "text": "Good morning."}],
            "continuations": [
                {"id": system, "system": system, "turns": [{"speaker": "A", "text": f"{system} {number}"}]}
                for system in ("model-x", "model-y")
            ],
        }
        for number in range(2)
    ]
    return "\n".join(json.dumps(line) for line in lines).encode()


def rate(page, ratings: str) -> None:
    page.goto("/my/")
    page.get_by_role("link", name="Start").click()
    for number, value in enumerate(ratings):
        expect(page.locator("#progress-text")).to_have_text(f"{number} of {len(ratings)}")
        page.keyboard.press(value)
        ready(page)
        page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()


def test_from_nothing_to_gold(page_of, tmp_path) -> None:
    page = page_of()
    page.goto("/")
    expect(page.get_by_text("Nobody manages this Concord yet")).to_be_visible()
    made = links.first_administrator()
    assert made is not None
    enter(page, f"/link/{made.token}/", "ada")

    page.get_by_role("banner").get_by_role("link", name="Corpora").click()
    steps = page.get_by_role("region", name="First steps")
    expect(steps.get_by_role("listitem")).to_have_count(4)
    steps.get_by_role("link", name="Add an endpoint").click()
    page.get_by_label("Base URL").fill("http://127.0.0.1:1/v1")
    page.get_by_label("Model", exact=True).fill("a-model")
    page.get_by_label("Name", exact=True).fill("ours")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("ours is saved.")).to_be_visible()

    pages = {"rei": page_of(), "ann": page_of(), "ben": page_of(viewport=PHONE, color_scheme="dark")}
    for name, role in (("rei", "Researcher"), ("ann", "Annotator"), ("ben", "Annotator")):
        enter(pages[name], invited(page, role), name)
    page.get_by_role("banner").get_by_role("link", name="Corpora").click()
    expect(steps.get_by_text("done:")).to_have_count(2)

    page = pages["rei"]
    dialogues_file = {"name": "d.jsonl", "mimeType": "", "buffer": dialogues()}
    page.locator("input[type=file]").set_input_files(dialogues_file)
    page.wait_for_url(re.compile(r"/corpora/import/\d+/$"))
    page.get_by_label("Name of the new corpus").fill("Small talk")
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("You may leave this page")).to_be_visible()
    work_off("jobs")
    page.get_by_role("link", name="Ask people to rate").click()
    page.get_by_label("Annotation scheme").select_option(label="Response quality, 1 to 5")
    page.get_by_label("Name", exact=True).fill("First round")
    expect(page.get_by_label("ann", exact=True)).to_be_checked()
    expect(page.get_by_label("ben", exact=True)).to_be_checked()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("First round is open.")).to_be_visible()
    campaign = page.url

    for name, ratings in RATINGS.items():
        rate(pages[name], ratings)
    page.reload()
    expect(page.get_by_text("All ratings are in")).to_be_visible()

    page.get_by_role("link", name="run judges").click()
    page.locator("summary", has_text="Metrics").click()
    page.locator("input[value=lnr]").check()
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_text("of 4")).to_be_visible()
    work_off("metrics")
    expect(page.get_by_text("4 of 4")).to_be_visible()

    page.goto(campaign)
    page.get_by_role("link", name="report", exact=True).click()
    expect(page.get_by_text("How well do people agree?")).to_be_visible()
    unfold(page, "Agreement")
    expect(page.get_by_role("rowheader", name="lnr@words").first).to_be_visible()

    page.get_by_role("link", name="Make gold labels").click()
    page.get_by_label("Rule", exact=True).select_option("mean")
    page.get_by_role("button", name="Make gold labels").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV", exact=True).click()
    download.value.save_as(tmp_path / "gold.csv")
    assert len((tmp_path / "gold.csv").read_text().splitlines()) == 5
