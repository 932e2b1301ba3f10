"""When an answer is right by a key, and what a score is. Knows no database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

Value = float | str
Place = tuple[int, int]
"""(item id, question id)."""


class Key(NamedTuple):
    """What is right in one place: one of `values`, or a number within `tolerance` of one of them."""

    values: tuple[Value, ...]
    tolerance: float = 0.0


class Score(NamedTuple):
    """`right` of `asked` answers are right, of which `chance` would be by guessing, on average."""

    right: int
    asked: int
    chance: float

    @property
    def share(self) -> float | None:
        """The share that is right, 0 to 1; None where nothing was asked."""
        return self.right / self.asked if self.asked else None

    @property
    def corrected(self) -> float | None:
        """(right - chance) / (asked - chance): 1 where all is right, 0 where guessing would do as well.

        None where nothing was asked, or every answer would be right.
        """
        left = self.asked - self.chance
        return (self.right - self.chance) / left if self.asked and left > 1e-9 else None

    def by(self, measure: str) -> float | None:
        """Return the score by a measure: `share` or `corrected`."""
        return self.corrected if measure == "corrected" else self.share


def is_right(value: Value | None, key: Key) -> bool:
    """Whether an answer is right; no answer never is."""
    if value is None:
        return False
    if isinstance(value, str):
        return value in key.values
    near = (abs(value - right) <= key.tolerance + 1e-9 for right in key.values if not isinstance(right, str))
    return any(near)


def chance(key: Key, scale: Sequence[Value]) -> float:
    """Return the share of a scale's values that are right; 0 where it lists none, so nobody guesses."""
    return sum(is_right(value, key) for value in scale) / len(scale) if scale else 0.0


def score(
    keys: Mapping[Place, Key], answers: Mapping[Place, Value], scales: Mapping[int, Sequence[Value]]
) -> Score:
    """Compare answers with a key. `scales` are the values of the questions, by id."""
    right = sum(is_right(answers.get(place), key) for place, key in keys.items())
    guessed = sum(chance(key, scales.get(question, ())) for (_, question), key in keys.items())
    return Score(right, len(keys), guessed)


def total(scores: Iterable[Score]) -> Score:
    """Return several scores as one."""
    rows = list(scores)
    return Score(sum(s.right for s in rows), sum(s.asked for s in rows), sum(s.chance for s in rows))
