"""What a report keeps of each rater of a question: how it rates, agrees, and answers again."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.statistics import Result
from calibration.statistics.rater_repeats import How


@dataclass(frozen=True, slots=True)
class RaterLine:
    """A rater: its figures by name, its group of raters whom items join (0: none), its use of each value."""

    name: str
    kind: str
    simulated: bool
    group: int
    figures: tuple[Result, ...]
    shares: dict[str, float]

    def figure(self, name: str) -> Result | None:
        """Return a figure by its name, None where it does not apply."""
        return next((figure for figure in self.figures if figure.name == name), None)


@dataclass(frozen=True, slots=True)
class RepeatLine:
    """A rater's repeated answers: `n_answers` samples of each item, or two occasions; and its figures."""

    name: str
    kind: str
    how: How
    n_answers: int
    figures: tuple[Result, ...]

    def figure(self, name: str) -> Result | None:
        """Return a figure by its name, None where it does not apply."""
        return next((figure for figure in self.figures if figure.name == name), None)


@dataclass(frozen=True, slots=True)
class QuestionRaters:
    """The raters of a question, known by its reference; `reason` says why none is described.

    `statistic` is that of the agreement with the rest. `groups` names the raters whom items join, where they
    fall apart; `through_judges`: people are joined by judges alone. `over` is the mean agreement of pairs of
    people with an interval over people.
    """

    ref: str
    statistic: str
    rows: tuple[RaterLine, ...]
    repeats: tuple[RepeatLine, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    through_judges: bool = False
    over: Result | None = None
    unidentified: int = 0
    reason: str = ""
