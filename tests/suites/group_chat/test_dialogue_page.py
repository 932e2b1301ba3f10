"""A scenario's page shows the agent and private messages, and links to its decisions."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus, Item
from suites.group_chat import answer_keys
from tests import factories
from tests.suites.group_chat.test_answer_keys import STATIC, stored

pytestmark = pytest.mark.django_db


def page(client: Client, corpus: Corpus, continuation: str) -> str:
    address = reverse("dialogue", args=[corpus.dialogues.get().pk])
    return client.get(address, {"continuation": continuation}).content.decode()


def test_a_scenario_is_shown_with_its_agent_private_turns_and_decisions(tmp_path, client: Client) -> None:
    corpus = stored(tmp_path, continuations=[STATIC])
    client.force_login(factories.user(researcher=True))
    shown = page(client, corpus, "kit-1")
    for item in Item.objects.filter(kind="decision"):
        assert f'href="{reverse("decision", args=[item.pk])}"' in shown
    assert "Between us: I am leaving in May." in shown
    assert "private" in shown
    assert 'bg-primary-lt">agent</span>' in " ".join(shown.split())
    assert reverse("scenario", args=[corpus.pk, corpus.dialogues.get().pk]) in shown
    assert "/decisions/" not in page(client, corpus, "self")


def test_places_where_people_decide_are_no_decisions_of_an_agent(tmp_path, client: Client) -> None:
    corpus = stored(tmp_path)
    answer_keys.ensure(corpus)
    client.force_login(factories.user(researcher=True))
    assert "/decisions/" not in page(client, corpus, "points")
