"""Every page of the demo passes accessibility checks, in every role, in light and dark mode."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import Resolver404, resolve
from playwright.sync_api import Page

from demo.fake_model import running
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import FakeModel
from tests.browser.barriers import Sound
from tests.browser.working import aside
from tests.security.addresses import addresses

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]

LINKS = "[...document.querySelectorAll('a[href]')].map((link) => link.href)"
OUTSIDE = ("/api/", "/static/")
"""What has no pages of Concord."""


@pytest.fixture
def demo(transactional_db: None) -> None:
    """The demo's corpora, campaigns, runs and reports."""
    model = FakeModel(running.load("ordinary"))
    with LocalServer(lambda method, path, body, _: model.respond(method, path, body)) as server:
        aside(lambda: call_command("load_demo", stdout=StringIO(), fake_model=server.url)).join()
    assert User.objects.filter(username="researcher").exists()


def reachable(page: Page, seen: set[str]) -> Iterator[str]:
    """Open one page of each route that links lead to, from those without arguments on; `seen` grows."""
    waiting = deque(route.path for route in addresses() if resolve(route.path).kwargs == {})
    tried = set[str]()
    while waiting:
        address = waiting.popleft()
        if address in tried:
            continue
        tried.add(address)
        try:
            match = resolve(urlsplit(address).path)
        except Resolver404:
            continue
        name = match.view_name or match.route
        if name in seen or address.startswith(OUTSIDE):
            continue
        answer = page.request.get(address)
        is_page = answer.headers.get("content-type", "").startswith("text/html")
        if not answer.ok or not is_page or "content-disposition" in answer.headers:
            continue
        page.goto(address)
        if resolve(urlsplit(page.url).path).view_name != name:
            continue  # it leads on, to a page that has its own turn
        seen.add(name)
        yield name
        base = urlsplit(page.url).netloc
        for link in map(urlsplit, page.evaluate(LINKS)):
            if link.netloc == base:
                waiting.append(f"{link.path}?{link.query}" if link.query else link.path)


def test_no_page_of_any_role_has_barriers(demo: None, page_of: Callable[..., Page]) -> None:
    sound = Sound()
    administrators, annotators, others = set[str](), set[str](), set[str]()
    # An administrator has all that a researcher sees, on the same pages.
    for role, seen in (("administrator", administrators), ("annotator", annotators), (None, others)):
        person: Any = User.objects.get(username=role) if role else None
        page = page_of(person)
        for name in reachable(page, seen):
            sound.look(f"{role or 'nobody'}: {name}", page)
    assert sound.wrong == []
    assert len(administrators) > 80
    assert {"work", "my-campaigns"} <= annotators
    assert "login" in others
