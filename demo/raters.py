"""Simulated raters: a planted truth seen through an explicit error model. None of them is a real person.

The rater's sensitivity for a behaviour is the chance to mark it if present, the specificity the chance not to
mark it if absent. A rating is the true quality plus the rater's severity plus normal noise, rounded and kept
on the scale. Every draw depends only on the rater's seed, the item and the question, so the same seed gives
the same answers in any order.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

from annotation.schemes import cocoeval, ratings
from annotation.schemes.ratings import LOW

# Planted truth of the demo's turns, behind the simulated ratings.

PATH = Path(__file__).parent / "corpora" / "truth.json"

BEHAVIOURS = tuple(behaviour.key for behaviour in cocoeval.BEHAVIOURS)
ASPECTS = tuple(ratings.ASPECTS)


@dataclass(frozen=True, slots=True)
class MeetingTruth:
    """The behaviours of each turn of a continuation, and its overall scores from 1 to 10."""

    turns: tuple[frozenset[str], ...]
    overall: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PersonaTruth:
    """The quality of each reply and of the whole from 1 to 5, and the aspects that make it low."""

    turns: tuple[int, ...]
    quality: int
    aspects: frozenset[str]


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth of all continuations, by `dialogue/continuation`."""

    meetings: Mapping[str, MeetingTruth]
    personas: Mapping[str, PersonaTruth]


def load(path: Path = PATH) -> Truth:
    """Return the planted truth of both corpora."""
    planted = json.loads(path.read_text(encoding="utf-8"))
    return Truth(
        meetings={
            key: MeetingTruth(tuple(frozenset(tags) for tags in meeting["turns"]), meeting["overall"])
            for key, meeting in planted["meetings"].items()
        },
        personas={
            key: PersonaTruth(tuple(persona["turns"]), persona["quality"], frozenset(persona["aspects"]))
            for key, persona in planted["personas"].items()
        },
    )


BASE: dict[str, tuple[float, float]] = {
    "logical_contradiction": (0.80, 0.985),
    "factual_inaccuracy": (0.85, 0.990),
    "misunderstanding": (0.75, 0.980),
    "redundant_information": (0.80, 0.975),
    "repetition": (0.85, 0.970),
    "persistent_disagreement": (0.75, 0.980),
    "interruption": (0.90, 0.990),
    "off_topic": (0.90, 0.980),
    "under_answering": (0.80, 0.970),
    "unclear_intent": (0.65, 0.975),
}
"""Sensitivity and specificity of an average rater for each behaviour: an interruption is easy to see, an
unclear intent is not.
"""

ASPECT_ERRORS = (0.80, 0.85)
"""Sensitivity and specificity for naming an aspect after a low score."""


@dataclass(frozen=True, slots=True)
class SimulatedRater:
    """One simulated rater and its errors.

    `sensitivity` and `specificity` map a behaviour or aspect to a probability; `severity` is in points of a
    five-point scale (negative is strict); `noise` is a standard deviation in such points.
    """

    name: str
    seed: int
    sensitivity: Mapping[str, float]
    specificity: Mapping[str, float]
    severity: float
    noise: float

    def marks(self, item: str, question: str, present: bool) -> bool:
        """Whether the rater marks a behaviour or aspect, given whether it is present in an item."""
        chance = uniform(self.seed, item, question)
        if present:
            return chance < self.sensitivity[question]
        return chance >= self.specificity[question]

    def rates(self, item: str, question: str, quality: float, highest: int = 5) -> int:
        """Return the rating on 1..highest of an item with a true quality on that scale."""
        step = (highest - 1) / 4
        error = self.severity + self.noise * NormalDist().inv_cdf(uniform(self.seed, item, question))
        return min(max(round(quality + step * error), 1), highest)


def uniform(seed: int, *words: str) -> float:
    """Return a number strictly between 0 and 1 determined by a seed and some words."""
    digest = hashlib.sha256("\0".join([str(seed), *words]).encode()).digest()
    return (int.from_bytes(digest[:6], "big") + 0.5) / 2**48


def rater(
    number: int, *, attention: float, suspicion: float, severity: float, noise: float
) -> SimulatedRater:
    """Return a simulated annotator that differs from the average one.

    `attention` is added to each sensitivity; `suspicion` multiplies each rate of false alarms.
    """
    base = {**BASE, **dict.fromkeys(ASPECTS, ASPECT_ERRORS)}
    return SimulatedRater(
        name=f"simulated annotator {number}",
        seed=number,
        sensitivity={key: min(max(sens + attention, 0.05), 0.98) for key, (sens, _) in base.items()},
        specificity={key: 1 - suspicion * (1 - spec) for key, (_, spec) in base.items()},
        severity=severity,
        noise=noise,
    )


RATERS = (
    rater(1, attention=0.08, suspicion=0.6, severity=0.0, noise=0.45),
    rater(2, attention=-0.10, suspicion=0.8, severity=0.25, noise=0.6),
    rater(3, attention=0.02, suspicion=1.6, severity=-0.3, noise=0.55),
)
"""A careful rater, a lenient one who overlooks behaviours, and a strict one who sees too many."""


def behaviours(by: SimulatedRater, item: str, present: Iterable[str]) -> dict[str, bool]:
    """Return a rater's answer about each of the ten behaviours in a turn."""
    planted = set(present)
    return {key: by.marks(item, key, key in planted) for key in BEHAVIOURS}


# The simulated raters' answers to the built-in schemes' questions about the demo corpora.


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
                is_marked = rater.marks(key, aspect, aspect in persona.aspects)
                yield SimulatedAnswer(rater.name, key, None, f"low_{aspect}", int(is_marked))
