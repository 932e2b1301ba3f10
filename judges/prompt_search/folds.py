"""Dev clusters in three parts: to learn from, to choose by, and held back until the end."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

LEAST = 6
"""Clusters that a search needs, two for each part."""
SHARES = (0.4, 0.3, 0.3)


class TooFew(ValueError):
    """Fewer clusters than a search needs."""


@dataclass(frozen=True, slots=True)
class Folds:
    """The clusters of each part; no cluster is in two.

    `learn`: their disagreements are shown to the improving model. `choose`: which text the search goes on
    with is decided on them. `held_back`: nothing of the search sees them; what a proposal is worth is
    measured on them.
    """

    learn: frozenset[str]
    choose: frozenset[str]
    held_back: frozenset[str]

    def part_of(self, cluster: str) -> str:
        """Return the name of a cluster's part."""
        return next(name for name in self.__slots__ if cluster in getattr(self, name))


def folds(clusters: Iterable[str], seed: int) -> Folds:
    """Return the parts: 40, 30 and 30% of the clusters, shuffled with a seed; each has at least two.

    The same clusters and seed give the same parts, in whatever order the clusters come. Raises TooFew.
    """
    found = sorted(set(clusters))
    if len(found) < LEAST:
        raise TooFew(
            f"a search needs people's answers in at least {LEAST} clusters of dialogues, two for each part; "
            f"there are {len(found)}"
        )
    random.Random(f"folds {seed}").shuffle(found)
    held_back = max(2, round(SHARES[2] * len(found)))
    choose = max(2, round(SHARES[1] * len(found)))
    return Folds(
        frozenset(found[held_back + choose :]),
        frozenset(found[held_back : held_back + choose]),
        frozenset(found[:held_back]),
    )
