"""A researcher reviews the cost of a simulation, starts it, follows it, and continues to the answers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from suites.long_dialogue.models import Simulation
from tests import factories
from tests.browser.barriers import Sound
from tests.browser.conftest import PHONE, WIDE
from tests.browser.working import aside
from tests.suites.continuation.making import served
from tests.suites.long_dialogue.long_talk import world
from tests.suites.long_dialogue.simulating import brought, brought_on, simulate

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]
LOOKS = os.environ.get("CONCORD_LOOKS", "")


def look(page: Page, name: str) -> None:
    """Keep pictures of a page, wide and on a phone in the dark, for whoever looks at them."""
    if not LOOKS:
        return
    for viewport, scheme in ((WIDE, "light"), (PHONE, "dark")):
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=f"{LOOKS}/{name}-{scheme}.png", full_page=True)
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light")


def test_a_simulation_is_started_once_it_is_seen_what_it_takes(page_of, tmp_path: Path) -> None:
    asked = brought(world(sessions=10, questions=16, turns=6), tmp_path)
    with served() as model:
        endpoint = model.endpoint()
        simulate(asked, None, baseline="always_e", trials=2)
        simulate(asked, endpoint, memory="base", trials=2, names="anonymised", rounds=0)
        page = page_of(factories.user("rosa", researcher=True))
        page.set_viewport_size(WIDE)
        page.goto("/corpora/world/")
        page.get_by_role("link", name="Simulation").click()
        expect(page.get_by_role("heading", name="Start a simulation")).to_be_visible()
        look(page, "simulate")
        page.get_by_label("Endpoint", exact=True).select_option("fake")
        page.get_by_label("Memory", exact=True).select_option("summary")
        page.get_by_text("Points, order, context, time").click()
        look(page, "form")
        page.get_by_role("button", name="Review the cost").click()
        expect(page.get_by_role("heading", name="Review the cost")).to_be_visible()
        expect(page.get_by_role("row", name="Summing up sessions")).to_be_visible()
        look(page, "before")
        page.get_by_role("button", name="Send and start").click()
        expect(page.get_by_role("heading", name="fake-1")).to_be_visible()
        look(page, "making")
        aside(lambda: brought_on(Simulation.objects.order_by("-pk").first())).join()
        page.reload()
        look(page, "done")
        page.get_by_role("link", name="Answers report").click()
        expect(page.get_by_role("heading", name="Answers", exact=True)).to_be_visible()


def test_pages_of_simulations_have_no_barriers(page_of, tmp_path: Path) -> None:
    asked = brought(world(sessions=6, questions=10, turns=6), tmp_path)
    sound = Sound()
    with served() as model:
        held = simulate(asked, model.endpoint(), trials=1, rounds=0)
        aside(lambda: brought_on(held)).join()
        page = page_of(factories.user("rosa", researcher=True))
        for name, address in (
            ("list", f"/corpora/{asked.corpus_id}/simulate/"),
            ("one", f"/simulations/{held.pk}/"),
        ):
            page.goto(address)
            sound.look(name, page)
    assert sound.wrong == []
