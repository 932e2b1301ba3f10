"""What a report keeps of the behaviours that raters found outside a scheme's list."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.reading.coverage import Marked
from calibration.statistics import Result


@dataclass(frozen=True, slots=True)
class CoverageLine:
    """A rater: the turns that it marked, and their share of those it answered, with Wilson's interval."""

    name: str
    kind: str
    identified: bool
    simulated: bool
    marked: int
    share: Result


@dataclass(frozen=True, slots=True)
class CoverageTable:
    """A question `another_behaviour`: how many turns people marked, who marked them, and every note.

    `share` is that of the turns that one person or more marked among those that a person answered; None where
    no person was asked.
    """

    ref: str
    title: str
    scheme_title: str
    marked: int
    share: Result | None
    rows: tuple[CoverageLine, ...]
    notes: tuple[Marked, ...]
