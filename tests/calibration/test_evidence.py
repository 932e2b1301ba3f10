"""What raters point at, beside their answers: where they disagree, and on the page of the dialogue."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from annotation.labels.recording import Answer, record
from annotation.records import Passage
from calibration.studies import actions as studies
from tests import factories
from tests.calibration.world import World, world


@pytest.fixture
def rated(db: None) -> World:
    """Ann sees a contradiction of turn 1 in turn 2, Ben none."""
    built = world(dialogues=1, turns=2)
    asked = built.ask("contradicts", "binary", [0, 1], scheme="own", positive=1, evidence="spans")
    pointed = (Passage("self", 0, 0, 5), Passage("self", 1))
    for name, value, evidence in (("ann", 1.0, pointed), ("ben", 0.0, ())):
        answer = Answer(built.turns[1], asked, value, evidence=evidence)
        record(rater=built.rater(name), answers=[answer], occasion="main")
    return built


def test_evidence_stands_beside_the_answers_that_differ_and_in_the_api(client: Client, rated: World) -> None:
    client.force_login(factories.user("rosa", researcher=True))
    study = studies.automatic(corpus=rated.corpus)
    query = urlencode({"question": "own@1/contradicts", "a": "ann", "b": "ben"})
    page = client.get(f"{reverse('report-items', args=[study.pk])}?{query}")
    text = " ".join(page.content.decode().split())
    assert "ann points at turn 1: “<bdi>words</bdi>”; turn 2: “<bdi>words 1</bdi>” (all of it)" in text
    listed = client.get(f"{reverse('api-report-items', args=[study.pk])}?{query}").json()
    (row,) = listed["results"]
    assert row["evidence"] == {
        "ann": [
            {"continuation": "self", "turn": 0, "start": 0, "end": 5, "turn_number": 1, "quote": "words"},
            {
                "continuation": "self",
                "turn": 1,
                "start": None,
                "end": None,
                "turn_number": 2,
                "quote": "words 1",
            },
        ]
    }
    own = rated.turns[1].continuation.dialogue
    assert "1 → 1 “words”, 2" in client.get(reverse("dialogue", args=[own.pk])).content.decode()
