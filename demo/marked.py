"""The corpus "Trying out judges": single replies that say in braces how good they are, for the fake model.

A visitor without a key can run a judge over it, see where it and the simulated people disagree, and compare
two prompts. Everything is put together by rule from the phrases below.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from demo.fake_model.draws import u
from demo.fake_model.truth import QUALITY, planted_number
from demo.raters import RATERS, SimulatedAnswer, Truth

PATH = Path(__file__).parent / "corpora" / "judges.jsonl"
DIALOGUES = 100
SEED = 11
SYSTEMS = ("toy-short", "toy-chatty")
PLACES = (
    "library",
    "town hall",
    "swimming pool",
    "night market",
    "botanical garden",
    "old harbour",
    "museum",
    "post office",
)
REPLIES: dict[str, tuple[str, ...]] = {
    "How do I get to the {place} from here?": (
        "Green the two bananas.",
        "I never walk.",
        "It is not far, I believe.",
        "Take the green line for two stops and ask again there.",
        "Take the green line for two stops; the {place} is the brick house on your left as you come out.",
    ),
    "When does the {place} open on Sundays?": (
        "Sunday is open when.",
        "There are many {place}s in the world.",
        "In the morning, as most places do.",
        "At ten, if nothing has changed since last year.",
        "At ten, and until one there is hardly anybody in the {place}; the sign at the door says the same.",
    ),
    "Is the {place} worth a visit with small children?": (
        "Children visit small.",
        "I do not like questions.",
        "It depends on the children.",
        "Yes, mine liked the {place}; bring something to eat.",
        "Yes: there is a corner for them on the ground floor, and mine asked for the {place} again next day.",
    ),
    "Could we meet at the {place} at six?": (
        "Six could we.",
        "My cousin has a boat.",
        "Maybe, we will see.",
        "Six is fine, though I may be a little late.",
        "Six is perfect; let us meet at the side door of the {place}: the main one closes at half past five.",
    ),
    "What did you like best about the {place}?": (
        "Best the like.",
        "I had soup.",
        "It was nice enough.",
        "The old part of the {place}, where it is quiet.",
        "The room with the maps: somebody who has been at the {place} for forty years explained them all.",
    ),
}
"""Question to its replies, from the worst to the best."""
CHAT = (
    "By the way, the weather has been lovely all week, and I hear that it is going to stay like this.",
    "I always say that one should take one's time with such things, because hurry has never helped anybody.",
    "That reminds me of a story which my neighbour told me the other day, but it would lead us too far now.",
)
"""What the chatty one adds to every second reply, which makes it longer and no better."""


def dialogues() -> Iterator[dict[str, Any]]:
    """Yield the dialogues in the native format: a question, a person's reply, and each system's."""
    for number in range(DIALOGUES):
        key = f"q{number + 1:03}"
        place = _one_of(PLACES, "place", key)
        question = _one_of(tuple(REPLIES), "question", key)
        asked, best = question.format(place=place), REPLIES[question][-1].format(place=place)
        people = [
            {"id": "A", "name": "Ada", "role": "visitor"},
            {"id": "B", "name": "Bo", "role": "at the desk"},
        ]
        yield {
            "id": key,
            "language": "en",
            "metadata": {"goal": f"an answer about the {place}"},
            "participants": people,
            "turns": [
                {"speaker": "A", "text": asked},
                {"speaker": "B", "text": best},
            ],
            "continuations": [_continuation(system, key, question, place) for system in SYSTEMS],
        }


def lines() -> str:
    """Return the corpus file's content."""
    return "".join(json.dumps(dialogue, ensure_ascii=False) + "\n" for dialogue in dialogues())


def answers(_planted: Truth) -> Iterator[SimulatedAnswer]:
    """Yield the simulated people's ratings from 1 to 5 of each reply; the truth stands in its text."""
    for dialogue in dialogues():
        for continuation in dialogue["continuations"]:
            key = f"{dialogue['id']}/{continuation['id']}"
            quality = planted_number(continuation["turns"][0]["text"], QUALITY)
            assert quality is not None
            for rater in RATERS:
                yield SimulatedAnswer(
                    rater.name, key, 0, "overall", rater.rates(f"{key}/0", "overall", quality)
                )


def _continuation(system: str, key: str, question: str, place: str) -> dict[str, Any]:
    quality = 1 + int(u(SEED, "quality", system, key) * 5)
    said = REPLIES[question][quality - 1].format(place=place)
    if system == SYSTEMS[1] and u(SEED, "chat", key) < 0.5:
        said = f"{said} {_one_of(CHAT, 'which chat', key)}"
    turn = {"at": 1, "speaker": "B", "text": f"{said} {{quality {quality}}}"}
    return {"id": system, "system": system, "mode": "static", "turns": [turn]}


def _one_of(phrases: tuple[str, ...], *what: str) -> str:
    return phrases[int(u(SEED, *what) * len(phrases))]
