"""Endpoints: a preset and a key are enough, and a try shows the reply; with and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from jobs.endpoints import client as probing
from jobs.endpoints.endpoint_actions import key_of, save
from jobs.models import Endpoint
from tests import factories
from tests.browser.barriers import Sound
from tests.browser.working import aside
from tests.fake_llm import FakeLLM

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("scripts", [True, False])
def test_a_researcher_adds_a_provider_with_a_model_and_a_key(page_of, scripts: bool) -> None:
    page = page_of(factories.user("rea", researcher=True), java_script_enabled=scripts)
    page.goto("/endpoints/")
    page.get_by_label("Fill in for").select_option(label="Mistral")
    if not scripts:
        page.get_by_role("button", name="Fill in").click()
    expect(page.get_by_label("Base URL")).to_have_value("https://api.mistral.ai/v1")
    page.get_by_label("Model", exact=True).fill("mistral-small-latest")
    page.get_by_label("Key", exact=True).fill("sk-of-rea")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("row", name="Mistral")).to_contain_text("yours, not shared")
    row = Endpoint.objects.get()
    assert (row.name, row.requests_per_minute, key_of(row)) == ("Mistral", 60, "sk-of-rea")


def test_a_try_shows_the_reply(page_of) -> None:
    root = factories.user("root", administrator=True)
    with FakeLLM() as fake:
        fields = {"name": "fake", "base_url": fake.url, "model": "fake-1", "allow_private": True}
        save(by=root, fields=fields)
        page = page_of(root)
        page.goto("/endpoints/")
        page.get_by_role("button", name="Try it: fake").click()
        expect(page.get_by_text("asking", exact=True)).to_be_visible()
        aside(lambda: probing.test(*probing.waiting())).join()
        expect(page.get_by_text("answered")).to_be_visible()


def test_the_page_has_no_barriers(page_of) -> None:
    rea = factories.user("rea", researcher=True)
    fields = {"name": "e", "base_url": "https://api.example.com/v1", "model": "m", "key": "k"}
    endpoint = save(by=rea, fields=fields)
    page, sound = page_of(rea), Sound()
    for name, path in (("list", "/endpoints/?preset=azure"), ("change", f"/endpoints/{endpoint.pk}/")):
        page.goto(path)
        sound.look(name, page)
    assert sound.wrong == []
