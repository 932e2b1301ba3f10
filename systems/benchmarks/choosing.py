"""Which instances a benchmark has: those for evaluation by source, and those for training, of other
conversations.

Instances of one cluster (one source conversation, or several that share material) are never in both parts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from annotation.text.draws import in_drawn_order, u
from systems.benchmarks.cutting import LEAST, starts

Part = Literal["evaluation", "train"]


class Shortage(ValueError):
    """Fewer instances than asked for; the message names the source and says what to do."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A source conversation that may be cut: its source, id, cluster and number of turns with text."""

    source: str
    conversation: str
    cluster: str
    turns: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many instances: `per_source` for evaluation, `train` in all, from `train_sources` (() for all), up
    to `per_conversation` of each conversation."""

    per_source: int
    train: int = 0
    train_sources: tuple[str, ...] = ()
    per_conversation: int = 1
    allow_fewer: bool = False


@dataclass(frozen=True, slots=True, order=True)
class Instance:
    """A cut of a conversation; `number` is the how-manieth of its conversation, from 0."""

    part: Part
    source: str
    conversation: str
    start: int
    number: int = 0

    @property
    def key(self) -> str:
        """The id of its dialogue."""
        return f"{self.source}-{self.conversation}-{self.start}"


Unit = tuple[str, str]
"""Source and cluster: what is in one part alone."""
Cuts = dict[Unit, list[Instance]]


def choose(offers: Sequence[Offer], wanted: Wanted, seed: int, sources: Collection[str]) -> list[Instance]:
    """Return the instances, ordered by part, source, conversation and start. Order of offers does not matter.

    Evaluation takes the first instance of as many conversations as it can, then second ones, and so on.
    Where too little is then left for training, it takes all instances of as few conversations as possible, in
    the sources that training draws from. Raises Shortage, unless fewer are allowed (always for none at all).
    """
    training = set(wanted.train_sources or sources)
    cuts = {source: _cuts(offers, source, wanted.per_conversation, seed) for source in sorted(sources)}
    evaluation = {source: spread(found)[: wanted.per_source] for source, found in cuts.items()}
    train = _train(cuts, evaluation, training, wanted.train, seed)
    if len(train) < wanted.train:
        compact = {source: dense(cuts[source])[: wanted.per_source] for source in cuts if source in training}
        evaluation |= compact
        train = _train(cuts, evaluation, training, wanted.train, seed)
    if not wanted.allow_fewer:
        _refuse_fewer(cuts, evaluation, train, wanted, training)
    found = sorted([*(one for part in evaluation.values() for one in part), *train])
    if not found:
        raise Shortage(f"no conversation has {LEAST} turns with text: nothing can be cut.")
    return found


def _cuts(offers: Sequence[Offer], source: str, most: int, seed: int) -> Cuts:
    """Return the possible instances of a source by cluster, clusters in drawn order."""
    own = {offer.conversation: offer for offer in offers if offer.source == source}
    found: Cuts = {}
    for key in in_drawn_order({offer.cluster for offer in own.values()}, seed, f"order {source}"):
        found[source, key] = sorted(
            (
                Instance("evaluation", source, offer.conversation, start, number)
                for offer in own.values()
                if offer.cluster == key
                for number, start in enumerate(starts(seed, offer.conversation, offer.turns, most))
            ),
            key=lambda one: (one.number, one.conversation),
        )
    return {unit: cut for unit, cut in found.items() if cut}


def spread(cuts: Cuts) -> list[Instance]:
    """Return the first of every cluster, then the second of every one that has it, and so on."""
    longest = max(map(len, cuts.values()), default=0)
    return [cut[place] for place in range(longest) for cut in cuts.values() if place < len(cut)]


def dense(cuts: Cuts) -> list[Instance]:
    """Return all of the first cluster, then all of the second, and so on."""
    return [one for cut in cuts.values() for one in cut]


def _train(
    cuts: Mapping[str, Cuts],
    evaluation: Mapping[str, Sequence[Instance]],
    sources: Collection[str],
    number: int,
    seed: int,
) -> list[Instance]:
    taken = {(one.source, one.conversation) for part in evaluation.values() for one in part}
    free = [
        one
        for source in sorted(cuts)
        if source in sources
        for cut in cuts[source].values()
        if not any((one.source, one.conversation) in taken for one in cut)
        for one in cut
    ]
    free.sort(key=lambda one: (one.number, u(seed, "train", one.source, one.conversation, one.number), one))
    return [Instance("train", one.source, one.conversation, one.start, one.number) for one in free[:number]]


def _refuse_fewer(
    cuts: Mapping[str, Cuts],
    evaluation: Mapping[str, Sequence[Instance]],
    train: Sequence[Instance],
    wanted: Wanted,
    training: Collection[str],
) -> None:
    more = "Raise --per-conversation, ask for fewer, or give --allow-fewer."
    for source, found in evaluation.items():
        if len(found) < wanted.per_source:
            raise Shortage(
                f"the source {source!r} has {len(found)} instances of the {wanted.per_source} asked for: "
                f"{len(cuts[source])} conversations of at least {LEAST} turns with text, up to "
                f"{wanted.per_conversation} of each. {more}"
            )
    if len(train) < wanted.train:
        listed = ", ".join(repr(source) for source in sorted(training))
        raise Shortage(
            f"training: {len(train)} instances of the {wanted.train} asked for are left in {listed}, in "
            f"conversations that evaluation does not use. {more}"
        )
