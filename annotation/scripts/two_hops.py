"""Questions over two facts: which pairs they are about, and how they stand in a session."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from annotation.scripts.graph import Graph, Stated, Topic
from annotation.scripts.knowing import ANSWERED, STANDINGS, Standing, excluded, standing
from annotation.scripts.relations import RelationTable

Pair = tuple[Stated, Stated]

NEITHER = excluded("neither fact is known")


def _together(first: Standing, second: Standing) -> Standing:
    for hop in (first, second):
        if not hop.forms:
            return hop
    if not first.answerable and not second.answerable:
        return NEITHER
    unknown = next((hop for hop in (first, second) if not hop.answerable), None)
    return Standing(
        (*first.forms, *second.forms),
        f"{first.type}_{second.type}",
        unknown is None,
        "both heard" if unknown is None else unknown.rule,
    )


TOGETHER = {(first, second): _together(first, second) for first in STANDINGS for second in STANDINGS}
"""How two hops stand together: known both, or one of them unknown (key E); else they are not asked."""


def pairs(graph: Graph) -> Iterator[Pair]:
    """Yield the pairs of facts that make two hops: never a fact with itself or with its inverse."""
    for first in graph.stated:
        if first.relation.first:
            for second in graph.by_head.get(first.tail, ()):
                if second.relation.second and not _same(graph.table, first, second):
                    yield first, second


def _same(table: RelationTable, first: Stated, second: Stated) -> bool:
    """Whether two facts, of which the second goes on where the first ends, say one thing."""
    if first.head != second.tail:
        return False
    one, other = first.relation.key, second.relation.key
    return (one == other and first.head == first.tail) or table.inverse(one, other)


def middles(graph: Graph, first: Stated) -> dict[str, str]:
    """Return who may be meant between the hops, folded: several where several tails are right."""
    return {first.tail: first.fact.tail} | graph.right(first.topic, first.number)


def together(graph: Graph, pair: Pair, first: list[Standing], second: list[Standing]) -> list[Standing]:
    """Return how a pair stands in each session asked, from how each of its facts does."""
    others = _others(graph, pair)
    if not others:
        return [TOGETHER[hops] for hops in zip(first, second, strict=True)]
    return [
        _beside(graph, one, other, others, t)
        for one, other, t in zip(first, second, graph.asked, strict=True)
    ]


def together_at(graph: Graph, pair: Pair, t: int) -> Standing:
    """Return how a pair stands in session `t`."""
    first, second = (standing(graph, hop, t) for hop in pair)
    return _beside(graph, first, second, _others(graph, pair), t)


def _beside(graph: Graph, first: Standing, second: Standing, others: Collection[Topic], t: int) -> Standing:
    """Return how two hops stand: not as unknown where another is known of whom the first may mean."""
    stand = TOGETHER[first, second]
    if stand.forms and not second.answerable and any(graph.may_know(topic, t) for topic in others):
        return ANSWERED
    return stand


def _others(graph: Graph, pair: Pair) -> list[Topic]:
    """Return what facts there are about others whom the first hop may mean: several tails may be right."""
    first, second = pair
    if not first.relation.multi_valued:
        return []
    tails = {each.tail for each in graph.readings[first.topic]} - {first.tail}
    topics = ((tail, second.relation.key) for tail in sorted(tails))
    return [topic for topic in topics if topic in graph.readings]
