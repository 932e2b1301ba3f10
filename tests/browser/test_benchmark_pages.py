"""A researcher creates a benchmark in the browser, and views its page wide, narrow and in dark mode."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection
from playwright.sync_api import Page, expect

from suites.continuation.models import Benchmark
from tests import factories
from tests.browser.conftest import PHONE, WIDE
from tests.suites.continuation.making import brought_on, served, source, talks

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


def picture(page: Page, name: str) -> None:
    """Keep a picture where the environment names a folder for them."""
    if folder := os.environ.get("CONCORD_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def in_a_thread(work: Callable[[], object]) -> None:
    """Do what needs an event loop of its own, as workers have: this thread's belongs to the browser."""

    def done() -> None:
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(done).result()


def fits(page: Page) -> None:
    """The page itself is not wider than its window."""
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_benchmark_is_asked_for_followed_and_read(page_of, tmp_path: Path) -> None:
    source(tmp_path, "Meetings of the product team", talks("p", 3))
    source(tmp_path, "committee", talks("k", 3))
    rea = factories.user("rea", researcher=True)
    with served() as model:
        endpoint = model.endpoint(name="fake model")
        page = page_of(rea)
        page.goto("/corpora/")
        page.get_by_role("link", name="Benchmarks").click()
        page.get_by_role("link", name="Make a benchmark").click()
        page.get_by_label("Name", exact=True).fill("Bench")
        page.get_by_label("Meetings of the product team").check()
        page.get_by_label("committee").check()
        page.get_by_label("Instances per source").fill("2")
        page.get_by_label("Endpoint").select_option(str(endpoint.pk))
        page.get_by_label("Clean the utterances first").check()
        picture(page, "new-wide")
        page.get_by_role("button", name="Review the cost").click()
        expect(page.get_by_text("4 instances of 4 conversations")).to_be_visible()
        picture(page, "confirm-wide")
        page.get_by_role("button", name="Send and start").click()
        expect(page.get_by_role("heading", name="Bench")).to_be_visible()
        picture(page, "making-wide")
        address = page.url
        in_a_thread(lambda: brought_on(Benchmark.objects.get(name="Bench")))
        assert Benchmark.objects.get(name="Bench").is_done
        expect(page.get_by_role("link", name="Its dialogues")).to_have_count(0)
        page.goto(address)
        expect(page.get_by_role("region", name="Statistics")).to_be_visible()
        page.once("dialog", lambda asked: asked.accept())
        page.get_by_role("button", name="Mark as checked").click()
        expect(page.get_by_text("Checked for offensive content by rea")).to_be_visible()
        picture(page, "made-wide")
    for name, how in {
        "phone": {"viewport": PHONE},
        "dark": {"viewport": WIDE, "color_scheme": "dark"},
        "phone-dark": {"viewport": PHONE, "color_scheme": "dark"},
    }.items():
        page = page_of(rea, **how)
        for part, place in {"made": address, "new": "/benchmarks/new/", "list": "/benchmarks/"}.items():
            page.goto(place)
            fits(page)
            picture(page, f"{part}-{name}")
