"""Answers to pairs and rankings, and what one rater says of one item.

A pair is answered `first`, `tie`, `second` or `both_bad`, always of its members in the order they are
numbered in, whichever was shown first. A ranking is text such as `2>0=1`: member numbers, best first.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

FIRST, TIE, SECOND, BOTH_BAD = "first", "tie", "second", "both_bad"
LABELS = (FIRST, TIE, SECOND, BOTH_BAD)
BothBad = Literal["tie", "drop"]
BOTH_BAD_POLICIES: dict[str, str] = {
    "tie": "both bad counts as a tie",
    "drop": "both bad is left out",
}
RANKING = re.compile(r"\d+([>=]\d+)*")


@dataclass(frozen=True, slots=True)
class Vote:
    """One answer. ``systems`` are those of the members in the order they are numbered in.

    ``label`` is None where the answer is missing. ``swapped`` says of a pair whether its second member was
    shown first; None where the order is not known. An empty cluster: the item is its own cluster.
    """

    item: str
    rater: str
    label: str | None
    systems: tuple[str, ...]
    cluster: str = ""
    kind: str = ""
    swapped: bool | None = None
    sample: int = 0

    @property
    def place(self) -> str:
        """What is resampled with it."""
        return self.cluster or self.item


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one rater says of one item, its repeated answers taken together.

    ``label`` answers a pair, ``ranks`` (1 is best, ties share their mean rank) a ranking; the other is empty.
    """

    item: str
    rater: str
    systems: tuple[str, ...]
    place: str
    label: str = ""
    ranks: tuple[float, ...] = ()


def ranks_of(text: str, n: int) -> tuple[float, ...]:
    """Return the rank of each of n members in a text such as `2>0=1`; ties share their mean rank.

    ValueError where the text does not name every member from 0 to n - 1 once.
    """
    squeezed = "".join(text.split())
    if not RANKING.fullmatch(squeezed):
        raise ValueError(f"{text!r} is not a ranking such as 2>0=1")
    groups = [[int(number) for number in group.split("=")] for group in squeezed.split(">")]
    named = [number for group in groups for number in group]
    if sorted(named) != list(range(n)):
        raise ValueError(f"{text!r} does not name each of the {n} members 0 to {n - 1} once")
    ranks, above = [0.0] * n, 0
    for group in groups:
        for number in group:
            ranks[number] = above + (len(group) + 1) / 2
        above += len(group)
    return tuple(ranks)


def checked(vote: Vote) -> Vote:
    """Return the vote. ValueError where its label does not answer its systems."""
    if vote.label is None:
        return vote
    if len(vote.systems) == 2 and vote.label in LABELS:
        return vote
    if len(vote.systems) == 2 and not vote.label[:1].isdigit():
        raise ValueError(f"{vote.label!r} does not answer a pair: use one of {', '.join(LABELS)}")
    ranks_of(vote.label, len(vote.systems))
    return vote


def verdicts(votes: Iterable[Vote]) -> list[Verdict]:
    """Return one verdict per item and rater, in the order they first appear; missing answers give none.

    Of repeated answers to a pair that decides which more than half of them give; without one it is a tie, so
    that a judge who turns round when the order is swapped has not decided (as in MT-Bench). Of repeated
    rankings the mean ranks are ranked again.
    """
    given: dict[tuple[str, str], list[Vote]] = defaultdict(list)
    for vote in votes:
        if vote.label is not None:
            given[vote.item, vote.rater].append(vote)
    return [_verdict(answers) for answers in given.values()]


def _verdict(answers: Sequence[Vote]) -> Verdict:
    one = answers[0]
    labels = [vote.label or "" for vote in answers]
    if all(label in LABELS for label in labels):
        label, times = Counter(labels).most_common(1)[0]
        settled = label if times * 2 > len(labels) else TIE
        return Verdict(one.item, one.rater, one.systems, one.place, settled)
    listed = [ranks_of(label, len(one.systems)) for label in labels]
    means = [sum(column) / len(listed) for column in zip(*listed, strict=True)]
    return Verdict(one.item, one.rater, one.systems, one.place, ranks=_ranked(means))


def _ranked(values: Sequence[float]) -> tuple[float, ...]:
    """Return the ranks of values, the lowest first; ties share their mean rank."""
    return tuple(
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    )
