"""Fixtures of the benchmark `scale`: a large corpus, its labels, an endpoint and an account."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TURNS = 20
PEOPLE = 12
EACH = 3
LABELLED = 2
SENTENCE = "Turn {turn} of talk {number}: who keeps the {word}, and until when may the neighbours borrow it?"
WORDS = ("ladder", "drill", "saw", "lawnmower", "trailer", "tent", "projector", "sewing machine")


def write(path: Path, *, turns: int, labels: int) -> None:
    """Write a corpus as JSON lines: talks of 20 turns, two of them rated by three of twelve people each.

    The 300,000 labels on 1,000,000 turns are thus spread over all 50,000 talks; with fewer labels, the first
    talks have them.
    """
    rng = random.Random(1)
    with path.open("w") as file:
        for number in range(max(1, turns // TURNS)):
            left = min(labels, LABELLED * EACH)
            labels -= left
            file.write(json.dumps(_talk(rng, number, left)) + "\n")


def _talk(rng: random.Random, number: int, labels: int) -> dict[str, Any]:
    lines = [
        {"speaker": "AB"[turn % 2], "text": SENTENCE.format(turn=turn, number=number, word=WORDS[turn % 8])}
        for turn in range(TURNS)
    ]
    given = [{"id": "A", "name": "Ana"}, {"id": "B", "name": "Ben"}]
    rated = list(_labels(rng, number, labels))
    return {"id": f"talk-{number}", "participants": given, "turns": lines, "labels": rated}


def _labels(rng: random.Random, number: int, count: int) -> Iterator[dict[str, Any]]:
    talk = rng.gauss(3.2, 0.7)
    for place in range(count):
        turn = TURNS // 2 - place // EACH
        quality = talk + 0.3 * (turn % 3) + rng.gauss(0, 0.8)
        yield {
            "rater": f"person {(number + 5 * (place % EACH)) % PEOPLE}",
            "kind": "human",
            "turn": turn,
            "question": "overall",
            "scheme": "comperdial_turn",
            "value": min(5, max(1, round(quality))),
        }


def account() -> Any:
    """Return an administrator, who has every permission."""
    from django.contrib.auth.models import User

    return User.objects.create_superuser("administrator", password="benchmark")


def endpoint() -> int:
    """Create an endpoint that is never called, because no call worker is running; return its id."""
    from jobs.models import Endpoint

    return Endpoint.objects.create(name="nobody", base_url="http://127.0.0.1:9/v1", model="model-x").pk
