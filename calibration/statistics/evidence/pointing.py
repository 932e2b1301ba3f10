"""What answers point at, and how alike two such sets are.

Sources: Dice (1945), the F1 by which rationales are compared (DeYoung et al. 2020, ERASER); Jaccard (1912);
MASI (Passonneau 2006); overlap of stretches as in SQuAD (Rajpurkar et al. 2016), by characters, so that
languages without spaces between words are read like others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass

SUBSET, OVERLAP = 2 / 3, 1 / 3
"""By what MASI multiplies Jaccard: where one set holds the other, and where they only overlap."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The characters of a turn from `start` to `end` (excluded). A whole turn is all of its characters.

    `turn` counts back from the turn that is rated (0 is that turn, 1 the one before), or from the beginning
    where a whole dialogue is rated: so the same number means the same thing over items.
    """

    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pointing:
    """One answer that may point at turns, and where it points: nowhere, where there are no stretches.

    `item`, `rater` and `cluster` are names; `kind` is that of the rater.
    """

    item: str
    rater: str
    answer: float | str
    stretches: tuple[Stretch, ...]
    cluster: str
    kind: str = "human"

    @property
    def turns(self) -> frozenset[int]:
        """The turns it points at."""
        return frozenset(one.turn for one in self.stretches)


def dice(one: Set[int], other: Set[int]) -> float:
    """2 |A and B| / (|A| + |B|): the F1 of either set against the other. ValueError where both are empty."""
    _some(one, other)
    return 2 * len(one & other) / (len(one) + len(other))


def jaccard(one: Set[int], other: Set[int]) -> float:
    """|A and B| / |A or B|. ValueError where both are empty."""
    _some(one, other)
    return len(one & other) / len(one | other)


def span_f1(one: Iterable[Stretch], other: Iterable[Stretch]) -> float:
    """2 |A and B| / (|A| + |B|) of the characters pointed at, each counted once.

    ValueError where both are empty.
    """
    ours, theirs = _merged(one), _merged(other)
    total = _length(ours) + _length(theirs)
    if not total:
        raise ValueError("neither points at anything")
    shared = sum(_shared(ours[turn], theirs[turn]) for turn in ours.keys() & theirs.keys())
    return 2 * shared / total


Pieces = list[tuple[int, int]]


def _some(one: Collection[int], other: Collection[int]) -> None:
    if not one and not other:
        raise ValueError("neither points at anything")


def _merged(stretches: Iterable[Stretch]) -> dict[int, Pieces]:
    """Return the characters of each turn as pieces that do not overlap, in order."""
    found: dict[int, Pieces] = defaultdict(list)
    for one in sorted(stretches, key=lambda s: (s.turn, s.start, s.end)):
        pieces = found[one.turn]
        if pieces and one.start <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], max(pieces[-1][1], one.end))
        else:
            pieces.append((one.start, one.end))
    return found


def _length(pieces: dict[int, Pieces]) -> int:
    return sum(end - start for some in pieces.values() for start, end in some)


def _shared(ours: Pieces, theirs: Pieces) -> int:
    return sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in ours for b in theirs)
