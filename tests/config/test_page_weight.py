"""A page with its style sheets and scripts stays light, as it travels: compressed."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests import factories

pytestmark = pytest.mark.django_db

BUDGET = 250_000
"""Bytes of HTML, CSS and JavaScript of a page, compressed."""
LINKED = re.compile(r'<(?:link rel="stylesheet" href|script[^>]* src)="([^"]+)"')


def weight(client: Client, address: str) -> int:
    """Return the compressed bytes of a page and of the sheets and scripts that it links."""
    page = client.get(address)
    assert page.status_code == 200
    links = LINKED.findall(page.content.decode())
    assert len(links) >= 4
    return sum(size(client, part) for part in (address, *links))


def size(client: Client, address: str) -> int:
    answer = client.get(address, headers={"accept-encoding": "gzip"})
    assert answer.status_code == 200
    if "private" not in answer.get("Cache-Control", ""):
        assert answer.get("Content-Encoding") == "gzip", address
    return len(b"".join(answer.streaming_content) if answer.streaming else answer.content)


PAGES = ("corpora", "schemes", "new-scheme", "new-campaign", "new-run", "import-corpus", "account")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_weighs_less_than_its_budget(name: str) -> None:
    client = Client()
    client.force_login(factories.user(researcher=True))
    corpus = factories.corpus()
    factories.dialogue(corpus)
    assert weight(client, f"{reverse(name)}?corpus={corpus.pk}") < BUDGET


def test_the_annotation_screen_weighs_less_than_its_budget() -> None:
    annotator = factories.user("ana")
    corpus = factories.corpus()
    factories.dialogue(corpus)
    campaign = factories.campaign(corpus, annotators=[annotator])
    client = Client()
    client.force_login(annotator)
    assert weight(client, reverse("work", args=[campaign.pk])) < BUDGET
