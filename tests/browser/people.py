"""People who join by an invitation, or by a link into one campaign."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.factories import PASSWORD


def enter(page: Page, address: str, name: str) -> None:
    """Create an account through a one-time link."""
    page.goto(address)
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_text("Welcome. You are signed in.")).to_be_visible()


def invited(page: Page, role: str) -> str:
    """Invite a person and return the address to send."""
    page.get_by_role("banner").get_by_role("link", name="People").click()
    form = page.locator("section", has_text="Invite people")
    form.get_by_label("Role").select_option(label=role)
    form.get_by_role("button", name="Invite").click()
    return str(page.get_by_role("table").locator("code").inner_text()).strip()


class OverHttp:
    """Annotator without a browser, working over the requests that the annotator's page sends.

    `request` is Playwright's client: it keeps cookies, follows redirects, and runs no script.
    """

    def __init__(self, page: Page) -> None:
        self.request = page.context.request
        self.base = self.token = ""
        self.state: dict[str, Any] = {}

    def come(self, address: str) -> None:
        """Open a join link's address, press its button, and read the page that it leads to."""
        form = self.request.get(address)
        assert form.ok
        named = dict(re.findall(r'name="([a-z]+)"\s+value="([^"]*)"', form.text()))
        named["csrfmiddlewaretoken"] = self._token(form.text())
        entered = self.request.post(address, form=named, headers={"Referer": form.url})
        assert entered.ok
        assert "/work/" in entered.url, entered.url
        self.base, self.token = entered.url, self._token(entered.text())
        told = re.search(r'<script id="state" type="application/json">(.*?)</script>', entered.text(), re.S)
        assert told
        self.state = json.loads(told[1])

    def send(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a request of the page and keep the task in the response."""
        answer = self.request.post(f"{self.base}{path}", data=body, headers={"X-CSRFToken": self.token})
        assert answer.ok, answer.text()
        self.state = answer.json()
        return self.state

    def press(self, what: str) -> None:
        """Press the button that accepts a text or continues from a notice."""
        pressed = re.search(rf'data-what="{what}"\s+data-version="(\d+)"', self.state["html"])
        assert pressed, self.state["html"]
        self.send("accept/", {"what": what, "version": int(pressed[1])})

    def submit(self, **answers: Any) -> None:
        """Answer the only item of the current task."""
        task = self.state["task"]
        (item,) = task["items"]
        self.send(f"{task['assignment']}/submit/", {"answers": {str(item): answers}})

    @property
    def shown(self) -> str:
        """Text of the current item; '' without a task."""
        if not self.state["task"]:
            return ""
        (item,) = self.state["task"]["items"]
        said = re.search(rf'data-item="{item}".*?<span data-said>(.*?)</span>', self.state["html"], re.S)
        assert said
        return said[1]

    @staticmethod
    def _token(page: str) -> str:
        found = re.search(r'csrf-?token[^a-zA-Z0-9]+(?:value=")?([A-Za-z0-9]{64})', page, re.I)
        assert found
        return found[1]
