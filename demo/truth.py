"""What is really in the demo's turns, because it was planted: the truth behind the simulated ratings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from annotation.schemes import cocoeval_behaviours, comperdial_turn

PATH = Path(__file__).parent / "corpora" / "truth.json"

BEHAVIOURS = tuple(key for key, *_ in cocoeval_behaviours.BEHAVIOURS)
ASPECTS = tuple(comperdial_turn.ASPECTS)


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
    """All of it, by `dialogue/continuation`."""

    meetings: Mapping[str, MeetingTruth]
    personas: Mapping[str, PersonaTruth]


def load(path: Path = PATH) -> Truth:
    """Return the planted truth of both corpora."""
    planted = json.loads(path.read_text(encoding="utf-8"))
    return Truth(
        meetings={
            key: MeetingTruth(tuple(frozenset(tags) for tags in found["turns"]), found["overall"])
            for key, found in planted["meetings"].items()
        },
        personas={
            key: PersonaTruth(tuple(found["turns"]), found["quality"], frozenset(found["aspects"]))
            for key, found in planted["personas"].items()
        },
    )
