"""Answers to comparisons: which of two is better, and in which order several are.

They are kept in the members' own order, which never changes, whatever order a rater saw them in. A ranking is
written best first: `2>0=1>3` means that member 2 is best, 0 and 1 are equal, and 3 is last. Members are
numbered from 0, equal ones stand in rising order, so a ranking is written in one way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

FIRST, TIE, SECOND, BOTH_BAD = "first", "tie", "second", "both_bad"
COMPARISON = (FIRST, TIE, SECOND, BOTH_BAD)
"""What the answer about a pair may be, in the order in which it is offered; a question may leave out `tie`,
`both_bad` or both."""
RANKING = "ranking"
"""The level of a question whose answer is an order."""
WORDED = {FIRST: "{0} is better", TIE: "Both alike", SECOND: "{1} is better", BOTH_BAD: "Both are bad"}
LETTERS = "ABCDEFGHIJ"
"""What members are called on a screen, in the order in which they are shown."""
_FORM = re.compile(r"[0-9](?:[>=][0-9])*")


def is_comparison(level: str, values: Iterable[Any]) -> bool:
    """Whether a question asks which of two is better: `first` and `second` are among its values."""
    given = list(values)
    return level == "nominal" and {FIRST, SECOND} <= set(given) <= set(COMPARISON)


def groups(ranking: str) -> list[list[int]]:
    """Return the members of a ranking, best first, equal ones together. Raises ValueError."""
    if not _FORM.fullmatch(ranking):
        raise ValueError(f"{ranking[:40]!r} is not a ranking: write it like 2>0=1, best first")
    return [[int(number) for number in group.split("=")] for group in ranking.split(">")]


def written(members: Iterable[Iterable[int]]) -> str:
    """Return a ranking as it is kept, from its groups of equal members, best first."""
    return ">".join("=".join(map(str, sorted(group))) for group in members)


def is_ranking(text: str, members: int | None = None) -> bool:
    """Whether a text is a ranking as it is kept; with `members`, of exactly so many."""
    try:
        found = groups(text)
    except ValueError:
        return False
    numbers = sorted(number for group in found for number in group)
    size = len(numbers) if members is None else members
    return written(found) == text and numbers == list(range(size))


def in_own_order(value: Any, shown: Sequence[int] | None, level: str, values: Iterable[Any]) -> Any:
    """Return an answer about members as they were shown in terms of their own order.

    `shown` are their numbers in the order shown; None: their own. What is not about members stays as it is.
    Raises ValueError for a ranking that cannot be read.
    """
    if shown is None or not isinstance(value, str):
        return value
    if level == RANKING:
        found = groups(value)
        if max(number for group in found for number in group) >= len(shown):
            raise ValueError(f"{value!r} ranks more than the {len(shown)} that were shown")
        return written([[shown[number] for number in group] for group in found])
    if is_comparison(level, values) and value in (FIRST, SECOND):
        return (FIRST, SECOND)[shown[value == SECOND]]
    return value


def as_shown(value: Any, shown: Sequence[int] | None, level: str, values: Iterable[Any]) -> Any:
    """Return an answer in terms of the members' own order as somebody says it who sees them as `shown`."""
    back = None if shown is None else [list(shown).index(number) for number in range(len(shown))]
    return in_own_order(value, back, level, values)
