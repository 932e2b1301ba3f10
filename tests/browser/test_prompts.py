"""A researcher works on prompts by keyboard alone: copying, editing with an error, saving, comparing."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from judges.models import PromptVersion
from judges.prompts import prompt_actions, versions
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


def test_a_prompt_is_edited_with_a_mistake_saved_and_compared_by_keyboard(page_of) -> None:
    source = versions.find("cpdscore_simple_without_reference")
    prompt_actions.copy(by=None, version=source, name="kinder")
    page = page_of(factories.user("rea", researcher=True))
    page.goto("/prompts/kinder/")
    page.get_by_role("link", name="Edit").press("Enter")
    text = page.get_by_role("textbox", name="User part")
    text.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("\nMind the ")
    page.get_by_role("button", name="$facts").press("Enter")
    page.keyboard.type(" and $contxt.")
    page.get_by_role("button", name="Save as next version").press("Enter")
    expect(page.get_by_text("there is no variable $contxt")).to_be_visible()
    expect(text).to_have_value(f"{source.wording.user}\nMind the $facts and $contxt.")
    text.focus()
    page.keyboard.press("Control+End")
    for _ in "$contxt.":
        page.keyboard.press("Backspace")
    page.get_by_role("button", name="$context").press("Enter")
    page.get_by_role("button", name="Save as next version").press("Enter")
    expect(page.get_by_role("heading", name="kinder@2")).to_be_visible()
    assert PromptVersion.objects.get(number=2).text.user.endswith("\nMind the $facts and $context")
    page.get_by_role("link", name="kinder", exact=True).press("Enter")
    page.get_by_role("link", name="Difference of kinder@1 and kinder@2").press("Enter")
    expect(page.locator(".difference ins")).to_have_text("Mind the $facts and $context")
