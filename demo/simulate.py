"""The simulated raters' answers to the built-in schemes' questions about the demo corpora."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotation.schemes.comperdial_dialogue import LOW
from demo.raters import RATERS, SimulatedRater, behaviours
from demo.truth import ASPECTS, Truth


@dataclass(frozen=True, slots=True)
class SimulatedAnswer:
    """One answer. `continuation` is `dialogue/continuation`; `turn` is None for the whole continuation."""

    rater: str
    continuation: str
    turn: int | None
    question: str
    value: int

    @property
    def item(self) -> str:
        """The key of the item that the answer is about."""
        return self.continuation if self.turn is None else f"{self.continuation}/{self.turn}"


def behaviour_answers(truth: Truth, raters: Sequence[SimulatedRater] = RATERS) -> Iterator[SimulatedAnswer]:
    """Yield the ten yes-or-no answers of each rater about each turn of the meetings."""
    for key, meeting in truth.meetings.items():
        for turn, planted in enumerate(meeting.turns):
            for rater in raters:
                for question, present in behaviours(rater, f"{key}/{turn}", planted).items():
                    yield SimulatedAnswer(rater.name, key, turn, question, int(present))


def overall_answers(truth: Truth, raters: Sequence[SimulatedRater] = RATERS) -> Iterator[SimulatedAnswer]:
    """Yield the overall scores from 1 to 10 of each rater for each continuation of the meetings."""
    for key, meeting in truth.meetings.items():
        for rater in raters:
            for question, quality in meeting.overall.items():
                yield SimulatedAnswer(
                    rater.name, key, None, question, rater.rates(key, question, quality, 10)
                )


def reply_answers(truth: Truth, raters: Sequence[SimulatedRater] = RATERS) -> Iterator[SimulatedAnswer]:
    """Yield the overall ratings from 1 to 5 of each rater for each reply of the persona dialogues."""
    for key, persona in truth.personas.items():
        for turn, quality in enumerate(persona.turns):
            for rater in raters:
                value = rater.rates(f"{key}/{turn}", "overall", quality)
                yield SimulatedAnswer(rater.name, key, turn, "overall", value)


def dialogue_answers(truth: Truth, raters: Sequence[SimulatedRater] = RATERS) -> Iterator[SimulatedAnswer]:
    """Yield the overall rating of each persona continuation and, after a low one, the aspects behind it."""
    for key, persona in truth.personas.items():
        for rater in raters:
            value = rater.rates(key, "overall", persona.quality)
            yield SimulatedAnswer(rater.name, key, None, "overall", value)
            for aspect in ASPECTS if value <= LOW else ():
                marked = rater.marks(key, aspect, aspect in persona.aspects)
                yield SimulatedAnswer(rater.name, key, None, f"low_{aspect}", int(marked))
