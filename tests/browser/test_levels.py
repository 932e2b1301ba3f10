"""A researcher reads correlations by level, and disagreements between turn and dialogue ratings."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests import factories
from tests.browser.conftest import PHONE
from tests.calibration.levels_world import Static, asked, static

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]
SYSTEMS = tuple("abcdefghijkl")
MODELS = {"judge one": "m-1", "judge two": "m-2"}


@pytest.fixture
def rea():
    return factories.user("rea", researcher=True)


@pytest.fixture
def built() -> Static:
    """Four dialogues, twelve systems: two people on turns and wholes, two judges on turns."""
    made = static("comper", systems=SYSTEMS)
    turn, whole = asked(made, "comperdial_turn"), asked(made, "comperdial_dialogue")

    def near(dialogue: str, system: str, turn: int, noise: int = 1) -> float:
        wave = (int(dialogue[-1]) * 5 + turn * 3 + ord(system)) * noise % 4
        return float(min(5, max(1, SYSTEMS.index(system) // 3 + wave)))

    for number, person in enumerate(("ann", "ben"), 1):
        made.say(person, turn, lambda d, s, t, n=number: near(d, s, t, n))
        made.say(person, whole, lambda d, s, t, n=number: near(d, s, 3, n + 4))
    for number, (judge, model) in enumerate(MODELS.items(), 3):
        spec = {"model": model, "protocol": "detail"}
        made.say(judge, turn, lambda d, s, t, n=number: near(d, s, t, n), kind="judge", spec=spec)
    return made


def test_a_study_at_levels_is_made_read_and_downloaded(page_of, rea, built: Static) -> None:
    page = page_of(rea)
    page.goto(f"/studies/new/?corpus={built.corpus.pk}")
    page.get_by_label("Name").fill("table 5")
    page.get_by_text("A question asked differently").click()
    page.get_by_label("This question of other raters").select_option("comperdial_turn@1/overall")
    page.get_by_label("answers this one").select_option("comperdial_dialogue@1/overall")
    page.get_by_label("and their scales meet by").select_option("identity")
    page.get_by_text("Levels: turns, dialogues, systems").click()
    page.get_by_label("turns", exact=True).check()
    page.get_by_label("Underline the best for each").select_option("model")
    page.get_by_role("button", name="Save and compute").click()
    expect(page.get_by_text("which have no turn level")).to_be_visible()
    page.get_by_label("turns", exact=True).uncheck()
    page.get_by_label("dialogues: the mean").check()
    page.get_by_label("systems: the mean").check()
    page.get_by_role("button", name="Save and compute").click()
    table = page.get_by_role("region", name="Correlation with people’s dialogue labels")
    expect(table.get_by_role("rowheader", name="People (turn labels)")).to_be_visible()
    expect(table.get_by_role("columnheader", name="System level")).to_be_visible()
    expect(table.get_by_text("the highest of its column").first).to_be_attached()
    page.get_by_role("link", name="judge two").click()
    expect(page.get_by_role("img", name="Systems by judge two")).to_be_visible()
    files = page.locator("#levels ~ section .menu").filter(has_text="Systems by judge two").last
    files.locator("summary").click()
    with page.expect_download() as download:
        files.get_by_role("link", name="Data", exact=True).click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert {row["system"] for row in rows} == set(SYSTEMS)
    page.locator(".pagehead").get_by_text("Download", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="LaTeX").first.click()
    assert r"\multicolumn{3}{c}{System level}" in Path(download.value.path()).read_text()


def test_turns_and_whole_lead_to_the_transcript(page_of, rea, built: Static) -> None:
    page = page_of(rea)
    page.goto(f"/corpora/{built.corpus.name}/results/")
    page.get_by_role("link", name="Turn vs. dialogue ratings").click()
    expect(page.get_by_role("heading", name="Turn vs. dialogue ratings")).to_be_visible()
    expect(page.get_by_text("48 continuations in 4 dialogues that 2 people labelled")).to_be_visible()
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV, dialogues").click()
    assert "inversions" in Path(download.value.path()).read_text()
    page.get_by_role("rowheader").first.get_by_role("link").click()
    expect(page.get_by_text("says 0").first).to_be_visible()


def test_both_fit_a_phone_in_the_dark(page_of, rea, built: Static) -> None:
    page = page_of(rea, viewport=PHONE, color_scheme="dark")
    page.goto(f"/corpora/{built.corpus.pk}/turns-and-whole/")
    expect(page.get_by_text("Inversions by dialogue")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.goto(f"/studies/new/?corpus={built.corpus.pk}")
    page.get_by_text("Levels: turns, dialogues, systems").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
