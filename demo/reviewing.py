"""The loop of the demo: a judge rates every reply, simulated people a part drawn by what it said.

Both systems write replies of the same planted quality; one of them talks on afterwards. The fake model likes
length and is a little kind, so that it sees a difference between the systems that is not there. People's
ratings of the drawn replies correct it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from annotation.corpora.import_file import import_path
from annotation.models import Corpus
from demo.build import CHAT, PLACES, REPLIES
from demo.fake_model.errors import u
from demo.fake_model.role import QUALITY, planted_number

NAME = "Judged replies (demo)"
SOURCE = "Put together by rule for Concord's demo; everybody who rates it is simulated"
LICENCE = "GPL-3.0-or-later"
DIALOGUES = 150
SEED = 23
BRIEF, TALKATIVE = "toy-brief", "toy-talkative"
"""The systems. What the talkative one adds is longer, and no better."""


def dialogues() -> Iterator[dict[str, Any]]:
    """Yield the dialogues in the native format: a visitor's question, and a reply by each system."""
    questions = tuple(REPLIES)
    for number in range(DIALOGUES):
        key = f"visit-{number + 1:03}"
        place = PLACES[int(u(SEED, "place", key) * len(PLACES))]
        question = questions[int(u(SEED, "question", key) * len(questions))]
        yield {
            "id": key,
            "language": "en",
            "participants": [
                {"id": "A", "name": "Ada", "role": "visitor"},
                {"id": "B", "name": "Bo", "role": "at the desk"},
            ],
            "turns": [{"speaker": "A", "text": question.format(place=place)}],
            "continuations": [_continuation(system, key, question, place) for system in (BRIEF, TALKATIVE)],
        }


def lines() -> str:
    """Return the corpus in the native format."""
    return "".join(json.dumps(dialogue, ensure_ascii=False) + "\n" for dialogue in dialogues())


def planted_means() -> dict[str, float]:
    """Return the mean planted quality of each system's replies, from 1 to 5."""
    qualities: dict[str, list[float]] = {BRIEF: [], TALKATIVE: []}
    for dialogue in dialogues():
        for continuation in dialogue["continuations"]:
            quality = planted_number(continuation["turns"][0]["text"], QUALITY)
            assert quality is not None
            qualities[continuation["system"]].append(quality)
    return {system: sum(values) / len(values) for system, values in qualities.items()}


def _continuation(system: str, key: str, question: str, place: str) -> dict[str, Any]:
    quality = 1 + int(u(SEED, "quality", system, key) * 5)
    text = REPLIES[question][quality - 1].format(place=place)
    if system == TALKATIVE:
        text = " ".join([text, *CHAT])
    turn = {"at": 1, "speaker": "B", "text": f"{text} {{quality {quality}}}"}
    return {"id": system, "system": system, "mode": "static", "turns": [turn]}


def _corpus(by: User) -> Corpus:
    """Return the corpus, imported if missing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "judged-replies.jsonl"
        path.write_text(lines(), encoding="utf-8")
        import_path(
            path=path, format="jsonl", corpus=NAME, into=False, by=by, source=SOURCE, licence=LICENCE
        )
    return Corpus.objects.get(name=NAME)
