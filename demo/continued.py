"""The corpus "Demo continuations": conversations that a model goes on with, and people's own next thirty
turns.

What is shown by a turn stands in braces in its text, so that the fake model's judges can find it and what is
reported can be checked against the truth. Everything is put together by rule from the phrases below.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from demo.fake_model import truth
from demo.fake_model.draws import u
from demo.raters import RATERS, behaviours
from demo.simulate import SimulatedAnswer
from demo.truth import BEHAVIOURS

NAME = "Demo continuations"
DIALOGUES, HISTORY, LENGTH = 24, 12, 30
RATED = 12
"""Dialogues that simulated people rate: enough for a judge's counts to be corrected by theirs."""
PEOPLE = RATERS[:2]
SEED = 29
RATES: Mapping[str, float] = {
    "repetition": 2.0,
    "redundant_information": 1.5,
    "off_topic": 1.2,
    "under_answering": 1.5,
    "interruption": 1.0,
    "misunderstanding": 0.8,
    "persistent_disagreement": 0.8,
    "unclear_intent": 0.8,
    "factual_inaccuracy": 0.5,
    "logical_contradiction": 0.4,
}
"""Expected turns, of the thirty, in which people show a behaviour."""
OVERALL = {"consistency": 6, "collaborativeness": 6}
SPEAKERS = (
    ("A", "Amara", "chair"),
    ("B", "Bela", "treasurer"),
    ("C", "Chen", "keeps the rooms"),
    ("D", "Dolores", "new"),
)
MATTERS = (
    "the summer fair",
    "the broken heating",
    "the new opening hours",
    "the shared van",
    "the garden at the back",
    "the evening courses",
    "the price of the hall",
    "the noise after ten",
)
OPENINGS = (
    "About {matter}:",
    "As for {matter},",
    "When it comes to {matter},",
    "Before we leave {matter},",
    "On {matter} again:",
    "Speaking of {matter},",
)
POINTS = (
    "we have until the end of the month.",
    "somebody has to ring the landlord.",
    "I can do Tuesdays, and nobody else can.",
    "last year it cost us more than we had.",
    "the neighbours were promised an answer.",
    "I have written down what is missing.",
    "two of the keys are still with Dolores.",
    "let us vote, or we will be here till nine.",
    "I would rather try it for a month first.",
    "the list on the door is out of date.",
)


def dialogues() -> Iterator[dict[str, Any]]:
    """Yield the dialogues in the native format: twelve turns, and people's own thirty after them."""
    for number in range(DIALOGUES):
        key = f"meeting-{number + 1:02}"
        matter = MATTERS[number % len(MATTERS)]
        said = [_turn(key, matter, place) for place in range(HISTORY + LENGTH)]
        said[-1]["text"] += "".join(f" {{{name} {_overall(key, name)}}}" for name in OVERALL)
        yield {
            "id": key,
            "language": "en",
            "summary": f"Four people who look after a community hall have begun to talk about {matter}.",
            "metadata": {"task_goal": f"agree what is to be done about {matter}"},
            "participants": [{"id": one, "name": name, "role": role} for one, name, role in SPEAKERS],
            "turns": said[:HISTORY],
            "continuations": [{"id": "human", "system": "human", "turns": said[HISTORY:]}],
        }


def lines() -> str:
    """Return the corpus in the native format."""
    return "".join(json.dumps(dialogue, ensure_ascii=False) + "\n" for dialogue in dialogues())


def behaviour_answers(texts: Mapping[str, list[str]]) -> Iterator[SimulatedAnswer]:
    """Yield what simulated people tag in the turns of continuations, whose texts say the truth; by key."""
    for key, said in texts.items():
        for place, text in enumerate(said):
            shown = [name for name in BEHAVIOURS if truth.shows(text, name)]
            for rater in PEOPLE:
                for question, present in behaviours(rater, f"{key}/{place}", shown).items():
                    yield SimulatedAnswer(rater.name, key, place, question, int(present))


def overall_answers(texts: Mapping[str, list[str]]) -> Iterator[SimulatedAnswer]:
    """Yield the overall scores that simulated people give continuations, whose texts say the truth; by
    key."""
    for key, said in texts.items():
        for name in OVERALL:
            quality = truth.number("\n".join(said), name)
            for rater in PEOPLE if quality is not None else ():
                yield SimulatedAnswer(rater.name, key, None, name, rater.rates(key, name, quality or 5, 10))


def _turn(key: str, matter: str, place: int) -> dict[str, Any]:
    speaker = SPEAKERS[int(u(SEED, "speaker", key, place) * len(SPEAKERS))][0]
    opening = OPENINGS[int(u(SEED, "opening", key, place) * len(OPENINGS))].format(matter=matter)
    point = POINTS[int(u(SEED, "point", key, place) * len(POINTS))]
    shown = [name for name in BEHAVIOURS if u(SEED, name, key, place) < RATES[name] / LENGTH]
    marker = f" {{{' '.join(shown)}}}" if shown and place >= HISTORY else ""
    return {"speaker": speaker, "text": f"{opening} {point}{marker}"}


def _overall(key: str, name: str) -> int:
    return OVERALL[name] + int(u(SEED, name, key) * 3) - 1
