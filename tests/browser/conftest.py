"""Live server and headless Chromium for journeys through the pages.

`page_of(user)` opens a page that is signed in; `live_server` is pytest-django's. Every page collects script
errors and console messages, and the journey fails if there were any.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from playwright.sync_api import Browser, Page

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
PATIENCE = 30_000
"""Timeout for expected changes, in milliseconds; long, because a busy machine is no fault of the page's."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start headless Chromium once for the whole run; skip the tests if it is missing."""
    from playwright.sync_api import expect, sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("Chromium is not installed")
    # Playwright runs an event loop in this thread, where Django would otherwise refuse the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, headless=True, args=ARGUMENTS)
        yield started
        started.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def answered(live_server: Any) -> Iterator[Callable[[], None]]:
    """Yield a wait until the live server handles no request, which would lock against emptying the tables."""
    from django.core.signals import request_finished, request_started

    under_way, changed = set[int](), threading.Condition()

    def begun(**_: Any) -> None:
        with changed:
            under_way.add(threading.get_ident())

    def ended(**_: Any) -> None:
        with changed:
            under_way.discard(threading.get_ident())
            changed.notify_all()

    def wait() -> None:
        with changed:
            assert changed.wait_for(lambda: not under_way, timeout=30), "a request never ended"

    request_started.connect(begun)
    request_finished.connect(ended)
    yield wait
    request_started.disconnect(begun)
    request_finished.disconnect(ended)


# Console messages of a browser and htmx for requests that failed, or that the reader's next step aborted.
FAILED_REQUESTS = ("Failed to load resource", "htmx:afterRequest", "htmx:sendAbort")


@pytest.fixture
def page_of(
    browser: Browser, live_server: Any, answered: Callable[[], None]
) -> Iterator[Callable[..., Page]]:
    """Open pages: `page_of(user, viewport=PHONE, color_scheme="dark")`, signed in if a user is given.

    Addresses are relative to the live server. Script errors and console errors fail the test at its end,
    except requests that failed or were aborted, which a journey may provoke on purpose.
    """
    contexts, problems = [], []

    def console(message: Any) -> None:
        if message.type == "error" and not message.text.startswith(FAILED_REQUESTS):
            problems.append(message.text)

    def open_page(user: User | None = None, **options: Any) -> Page:
        options.setdefault("viewport", WIDE)
        context = browser.new_context(base_url=live_server.url, **options)
        contexts.append(context)
        if user is not None:
            context.add_cookies(
                [{"name": "concord_session", "value": session_of(user), "url": live_server.url}]
            )
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.set_default_navigation_timeout(60_000)  # the first request of a process loads its pages
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", console)
        return page

    yield open_page
    for context in contexts:
        context.close()
    answered()
    assert not problems


def ready(page: Page) -> None:
    """Wait until an annotator's task was shown long enough to be submitted without a confirmation."""
    page.locator("#submit:not([data-early])").wait_for()


def too_wide(page: Page) -> list[str]:
    """Return the colour schemes in which the current page has to be scrolled sideways."""
    wider = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    schemes = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        if page.evaluate(wider):
            schemes.append(scheme)
    return schemes


def session_of(user: User) -> str:
    """Sign a user in and return the session's key."""
    from django.test import Client

    client = Client()
    client.force_login(user)
    return str(client.cookies["concord_session"].value)


def unfold(page: Page, name: str) -> None:
    """Open a section of a report by its link in the list of contents."""
    page.get_by_role("navigation", name="Contents").get_by_role("link", name=name, exact=True).click()
