"""First paint: milliseconds until the first content of a page of the demo is painted in Chromium.

Each page is opened in a new context, so that nothing comes from the browser's cache.
"""

from __future__ import annotations

import os
import shutil
import statistics
from typing import Any

from benchmarks import _home

GOAL_MS = 1_000.0
REPEATS = 5
PAGES = ("corpora", "my-campaigns", "schemes", "prompts")
OF_A_CORPUS = (
    "corpus",
    "corpus-dialogues",
    "corpus-annotation",
    "corpus-results",
    "corpus-settings",
    "corpus-report",
)
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
BYTES = "performance.getEntries().reduce((sum, part) => sum + (part.encodedBodySize || 0), 0)"


def run(argv: list[str]) -> dict[str, Any]:
    """Load the demo and open its pages; the headline is the slowest median in milliseconds."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with _home.home():
        from django.core.management import call_command

        call_command("load_demo")
        addresses, session = _addresses(), _session()
        with _home.web() as port:
            pages = {
                name: _painted(f"http://127.0.0.1:{port}{path}", session) for name, path in addresses.items()
            }
    slowest = max(page["ms"] for page in pages.values())
    headline = {
        "name": "first paint, slowest median in ms",
        "value": slowest,
        "goal": GOAL_MS,
        "better": "lower",
    }
    return {"headline": headline, "pages": pages}


def _addresses() -> dict[str, str]:
    from django.urls import reverse

    from annotation.models import Corpus

    corpus = Corpus.objects.exclude(campaigns=None).order_by("pk")[0]
    report = {"corpus-report": corpus.pk}
    return {name: reverse(name) for name in PAGES} | {
        name: reverse(name, args=[report.get(name, corpus.name)]) for name in OF_A_CORPUS
    }


def _session() -> str:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    client.force_login(User.objects.get(username="researcher"))
    return str(client.cookies["concord_session"].value)


def _painted(address: str, session: str) -> dict[str, float]:
    from playwright.sync_api import sync_playwright

    times, size = list[float](), 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for _ in range(REPEATS):
            context = browser.new_context()
            context.add_cookies([{"name": "concord_session", "value": session, "url": address}])
            page = context.new_page()
            page.goto(address)
            page.wait_for_timeout(200)
            times.append(float(page.evaluate(PAINTED)))
            size = int(page.evaluate(BYTES))
            context.close()
        browser.close()
    return {"ms": round(statistics.median(times), 1), "bytes": size}
