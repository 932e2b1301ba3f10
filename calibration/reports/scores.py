"""Judges' and metrics' scores in people's terms, as a report keeps them."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.reports.figure import Figure


@dataclass(frozen=True, slots=True)
class ScoreMarks:
    """Marks that a threshold makes of a score, against people's majority; `reason` where there are none.

    An item is marked from `threshold` up, or where `rising` is False from it down. `least` and `most` are the
    lowest and highest threshold over the folds, None where it was learned on dev. `n_ties` items were left
    out because people tie on them.
    """

    ref: str
    title: str
    rater: str
    kind: str
    rule: str
    threshold: float | None
    rising: bool
    least: float | None
    most: float | None
    n_learned: int
    n_ties: int
    figures: tuple[Figure, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class ScoreBin:
    """A bin of a reliability diagram: its edges, items, mean probability, and share that people affirm."""

    low: float
    high: float
    n: int
    predicted: float
    observed: Figure


@dataclass(frozen=True, slots=True)
class ScoreProbabilities:
    """A score as probabilities by one method: figures, and the bins of its diagram; else a `reason`."""

    ref: str
    title: str
    rater: str
    kind: str
    method: str
    n_learned: int
    figures: tuple[Figure, ...]
    bins: tuple[ScoreBin, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class ScoreMap:
    """A score on people's scale by one map: its errors; `n_learned` is 0 where nothing was learned."""

    ref: str
    title: str
    rater: str
    kind: str
    map: str
    n_learned: int
    figures: tuple[Figure, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Scores:
    """Judges' and metrics' scores in people's terms.

    `held_out`: it was learned on dev and is shown on test; else it is cross-fitted over `folds`.
    """

    held_out: bool
    folds: int
    marks: tuple[ScoreMarks, ...]
    probabilities: tuple[ScoreProbabilities, ...]
    maps: tuple[ScoreMap, ...]
