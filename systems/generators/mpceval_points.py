"""Where a next turn is predicted: after how many turns of a dialogue."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.records import Turn
from annotation.text.views import clean
from systems.generators.base import WrongSettings

LAST, EVERY = "last", "every:"
MOST = 1_000
FORM = f"the point is {LAST}, {EVERY}N (such as {EVERY}5), or numbers of turns (such as 3,7,12)"


def is_single(point: str) -> bool:
    """Return whether a setting names one point of a dialogue."""
    return point.strip() == LAST or len(_listed(point) or ()) == 1


def check(point: str) -> None:
    """Raise WrongSettings for a setting that names no points."""
    if point.strip() != LAST and not _step(point) and not _listed(point):
        raise WrongSettings(f"point: {point[:60]!r} is not understood; {FORM}.")


def points(point: str, turns: Sequence[Turn]) -> tuple[tuple[int, ...], int]:
    """Return the numbers of turns that are seen, ascending, and how many points were left out.

    At each of them something was said, and something before it: elsewhere there is nothing to predict, or
    nobody's turn beside which the prediction could stand. `last` is the last such place.
    """
    if point.strip() == LAST:
        found = [at for at in range(1, len(turns)) if says(turns[at])][-1:]
        return tuple(found), 0
    step = _step(point)
    wanted = range(step, len(turns), step) if step else _listed(point)
    there = [at for at in wanted if 0 < at < len(turns) and says(turns[at])]
    return tuple(there), len(wanted) - len(there)


def says(turn: Turn) -> bool:
    """Return whether a turn is a message that says something."""
    return turn.act == "message" and bool(clean(turn.text).strip())


def _step(point: str) -> int:
    """Return n of `every:n`, 0 for anything else."""
    told = point.strip()
    return _number(told.removeprefix(EVERY)) if told.startswith(EVERY) else 0


def _listed(point: str) -> tuple[int, ...]:
    """Return the numbers of a list, ascending and each once; () for anything else."""
    numbers = [_number(part) for part in point.split(",")]
    return tuple(sorted(set(numbers))) if all(numbers) and len(numbers) <= MOST else ()


def _number(text: str) -> int:
    """Return a number from 1, 0 for anything else."""
    told = text.strip()
    return int(told) if told.isascii() and told.isdigit() and len(told) <= 6 else 0
