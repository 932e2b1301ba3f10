"""NSE and SC-Gini: evenness of the speakers' turns, and concentration of their semantic contributions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judges.metrics.agendas import STATIC, Distances, cosine_distances, prim
from judges.metrics.kit.metric import (
    DESCRIPTIVE,
    PAPER,
    REFERENCE,
    SPEAKER,
    Cause,
    Metric,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.models import torch_on_one_thread
from judges.metrics.kit.tools import Matrix, Scene, Tools

# SC-Gini as in MPCEval's published code, which combines local novelty and global spread.

Similarities = NDArray[np.float32]
Members = NDArray[np.intp]


BATCH = 64
"""Batch size of the published code. It determines which repeated messages get a distance of exactly 0."""


def combined(speakers: list[str], texts: list[str], settings: Settings, tools: Tools) -> Score:
    """Return the Gini of weight * local share + (1 - weight) * global share of each speaker.

    `speakers` and `texts` have an entry per turn. Shares are relative to the sum over speakers; if one sum is
    0, only the other counts; if both are 0, the score is 0.
    """
    people = sorted(set(speakers))
    if len(people) < 2:
        return scored(0.0)
    names = np.array(speakers)
    similar = similarities(texts, tools)
    novelty = _novelty(similar, settings)
    local = np.array([novelty[names == person].sum() for person in people])
    total_spread = spread(similar)
    change = np.array(
        [max(0.0, total_spread - spread(similar, np.flatnonzero(names != person))) for person in people]
    )
    shares = _mixed(local, change, settings.number("weight"))
    details = {"spread": total_spread, "local": reference_gini(local), "global": reference_gini(change)}
    return scored(
        reference_gini(shares), **details, contributions=dict(zip(people, shares.tolist(), strict=True))
    )


def similarities(texts: list[str], tools: Tools) -> Similarities:
    """Return cosines as in the published code: float32 products of vectors from padded batches of 64.

    A message and its repetition then have a cosine of exactly 1, or of 1 give or take some 6e-8 by rounding.
    """
    import torch

    with torch_on_one_thread():
        rows = torch.from_numpy(tools.embed.encode([text.strip() for text in texts], BATCH))
        return np.asarray((rows @ rows.T).numpy())


def spread(similar: Similarities, members: Members | None = None) -> float:
    """Return the mean edge of the spanning tree of 1 - similarity, ignoring edges of length 0.

    A repeated message needs an edge to a different message, unless rounding made its distance some 6e-8. Of
    the two cosines of a pair, which may differ by rounding, the one with an edge counts, or the shorter. If
    some messages are unreachable there are several trees (Prim's algorithm, a row at a time).
    """
    indexes = np.arange(len(similar)) if members is None else members
    nearest = np.full(len(indexes), np.inf, similar.dtype)
    outside = np.ones(len(indexes), bool)
    edges: list[float] = []
    at = 0
    for _ in range(len(indexes) - 1):
        outside[at] = False
        np.minimum(nearest, _edges(similar, indexes, at), out=nearest)
        reach = np.where(outside, nearest, np.inf)
        at = int(reach.argmin())
        if np.isfinite(reach[at]):
            edges.append(float(reach[at]))
        else:  # no edge left: start the next tree anywhere
            at = int(outside.argmax())
    return float(np.mean(edges)) if edges else 0.0


def _edges(similar: Similarities, indexes: Members, at: int) -> Similarities:
    """Return the distances of one message to all messages, infinite instead of 0."""
    apart = np.maximum(1.0 - np.stack([similar[indexes[at], indexes], similar[indexes, indexes[at]]]), 0.0)
    return np.asarray(np.where(apart > 0, apart, np.inf).min(axis=0))


def _novelty(similar: Similarities, settings: Settings) -> Matrix:
    """Return each turn's local novelty: 1 - the mean similarity of its near turns, or of its nearest turn.

    Near turns are those among its `neighbours` nearest turns whose similarity reaches the percentile of all
    turns' nearest similarities.
    """
    count = min(settings.integer("neighbours"), len(similar) - 1)
    nearest = np.stack([_greatest(row, at, count) for at, row in enumerate(similar)])
    radius = np.percentile(nearest[:, 0], settings.number("percentile"))
    near = nearest >= radius
    sums = np.where(near, nearest, 0.0).sum(axis=1)
    means = np.where(near.any(axis=1), sums / np.maximum(near.sum(axis=1), 1), nearest[:, 0])
    return 1.0 - means


def _greatest(row: Similarities, own: int, count: int) -> Matrix:
    """Return a turn's `count` greatest similarities to other turns, in descending order."""
    others = np.delete(row, own).astype(np.float64)
    return -np.sort(np.partition(-others, count - 1)[:count])


def _mixed(local: Matrix, change: Matrix, weight: float) -> Matrix:
    if local.sum() <= 0:
        return change / change.sum() if change.sum() > 0 else change
    if change.sum() <= 0:
        return local / local.sum()
    return weight * local / local.sum() + (1 - weight) * change / change.sum()


def reference_gini(values: Matrix) -> float:
    """Return the Gini coefficient, 0 if all values are 0."""
    total = values.sum()
    if total <= 0:
        return 0.0
    return float(np.abs(values[:, None] - values[None, :]).sum() / (2 * len(values) * total))


NOBODY = "no turn has both text and a speaker"


def nse(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Normalised speaker entropy: -sum p log2 p / log2 S, p a speaker's share of turns, S those who speak.

    MPCEval eq. 24. Range 0 (one speaker has nearly all turns) to 1 (all have equally many). Evenness is not
    better in itself: a talk with questions is no worse than a round-table. Undefined with one speaker (0/0);
    `reference` gives 0 there.
    """
    if not scene.is_conversation():
        return unscored(STATIC)
    turns = Counter(scene.turns[p].speaker for p in spoken(scene, settings))
    if len(turns) < 2 and settings.is_reference:
        return scored(0.0)
    if len(turns) < 2:
        return unscored("only one speaker takes part" if turns else NOBODY)
    return scored(entropy(turns) / math.log2(len(turns)), turns=dict(turns))


def spoken(scene: Scene, settings: Settings) -> list[int]:
    """Return the positions of a conversation's turns that have text and a speaker."""
    positions = scene.conversation(history=settings.flag("history"))
    return [p for p in positions if scene.turns[p].speaker.strip()]


def entropy(turns: Counter[str]) -> float:
    """Return the entropy, in bits, of a distribution given as counts."""
    total = turns.total()
    return math.fsum(-count / total * math.log2(count / total) for count in sorted(turns.values()))


CAUSES = {"turns": Cause("turns", "speaker")}

FAMILY = (
    Metric(
        key="nse",
        title="Speaker entropy",
        kind="dialogue",
        aspect=SPEAKER,
        causes=CAUSES,
        compute=nse,
        low=0.0,
        high=1.0,
        direction=DESCRIPTIVE,
        needs=frozenset({"speakers"}),
        variants={PAPER: {}, REFERENCE: {}},
    ),
)


# SC-Gini: whether few speakers or all contribute to a conversation's semantic spread.

NOISE = 1e-12
"""Smaller changes of spread are rounding errors, not contributions."""


def sc_gini(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Semantic concentration: the Gini coefficient of the speakers' contributions to the spread.

    R is the mean edge of the minimum spanning tree of the messages under 1 - cosine, Gamma_s = max(0, R(all)
    - R(all without s)): MPCEval C.1.1. Range 0 (all contribute equally) to 1 - 1/S (one speaker does).
    Messages with the same text have edges of length zero; a single message has R = 0. Undefined with one
    speaker, or if no speaker widens the spread. `reference` is the published code's combined score, which
    mixes Gamma with a sum of local novelties, embeds in the same way as that code, ignores edges of length
    zero, and gives 0 where the value is undefined.
    """
    if not scene.is_conversation():
        return unscored(STATIC)
    positions = spoken(scene, settings)
    speakers = list(dict.fromkeys(scene.turns[p].speaker for p in positions))
    if settings.is_reference:
        texts = [scene.turns[p].text for p in positions]
        return combined([scene.turns[p].speaker for p in positions], texts, settings, tools)
    if len(speakers) < 2:
        return unscored("only one speaker takes part" if speakers else NOBODY)
    messages = _messages(scene, positions, tools)
    total_spread, longest = messages.spread(range(len(positions)))
    gains = {speaker: _gain(total_spread, messages, scene, positions, speaker) for speaker in speakers}
    if not any(gains.values()):
        return unscored("no speaker's turns widen the spread")
    return scored(gini(list(gains.values())), spread=total_spread, longest_edge=longest, contributions=gains)


@dataclass(frozen=True)
class Messages:
    """Positions of the messages, the distinct text of each, and the distances between distinct texts."""

    positions: list[int]
    texts: NDArray[np.intp]
    first: list[int]
    distances: Distances
    unit: Matrix

    def spread(self, members: Iterable[int]) -> tuple[float, tuple[int, int]]:
        """Return the mean edge of some messages' spanning tree (0 below two) and its longest edge."""
        texts = self.texts[list(members)]
        if len(texts) < 2:
            return 0.0, (-1, -1)
        tree = prim(self.distances, np.unique(texts), self.unit)
        ends = (self.first[tree.longest[0]], self.first[tree.longest[1]])
        return tree.length / (len(texts) - 1), ends


def _messages(scene: Scene, positions: list[int], tools: Tools) -> Messages:
    order: dict[str, int] = {}
    first: list[int] = []
    for position in positions:
        if scene.turns[position].text not in order:
            order[scene.turns[position].text] = len(order)
            first.append(position)
    texts = np.array([order[scene.turns[p].text] for p in positions], dtype=np.intp)
    unit = tools.unit(scene)[first]
    return Messages(positions, texts, first, cosine_distances(unit), unit)


def _gain(total_spread: float, messages: Messages, scene: Scene, positions: list[int], speaker: str) -> float:
    """Return the increase of the spread due to a speaker's turns, at least 0."""
    others = [index for index, p in enumerate(positions) if scene.turns[p].speaker != speaker]
    gain = total_spread - messages.spread(others)[0]
    return gain if gain > NOISE else 0.0


def gini(values: list[float]) -> float:
    """Return the Gini coefficient of non-negative values, not all zero: 0 to 1 - 1/n."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    count = len(ordered)
    weights = 2 * np.arange(1, count + 1) - count - 1
    return float(np.sum(weights * ordered) / (count * np.sum(ordered)))


def _texts(scene: Scene, settings: Settings) -> Iterable[str]:
    """Yield the texts to embed in advance: none for `reference`, whose vectors depend on their batch."""
    return () if settings.is_reference else (turn.text for turn in scene.turns if turn.text.strip())


CONCENTRATION_CAUSES = {
    "longest_edge": Cause("longest edge between", "turn"),
    "contributions": Cause("contributions", "speaker"),
    "spread": Cause("spread"),
    "local": Cause("local"),
    "global": Cause("global"),
}

CONCENTRATION = (
    Metric(
        key="sc_gini",
        title="Semantic concentration",
        kind="dialogue",
        aspect=SPEAKER,
        causes=CONCENTRATION_CAUSES,
        compute=sc_gini,
        low=0.0,
        high=1.0,
        direction=DESCRIPTIVE,
        needs=frozenset({"speakers", "embeddings"}),
        parameters={
            "weight": Parameter(0.3, "reference: weight of the local part", low=0.0, high=1.0),
            "percentile": Parameter(85.0, "reference: radius, as a percentile", low=0.0, high=100.0),
            "neighbours": Parameter(20, "reference: nearest turns that count", low=1),
        },
        variants={PAPER: {}, REFERENCE: {}},
        texts=_texts,
    ),
)
