"""Questions over two facts: which pairs they are about, and how they stand in a session."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.scripts.graph import Graph, Stated
from annotation.scripts.knowing import ANSWERED, STANDINGS, Standing, excluded
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
    """Return how a pair stands in each session asked, from how each of its facts does.

    Where the second fact is unknown, it is excluded as soon as the same is heard of anybody else who may be
    meant by the first hop.
    """
    stands = [TOGETHER[hops] for hops in zip(first, second, strict=True)]
    key = pair[1].relation.key
    others = {tail for tail in _tails(graph, pair[0]) if tail != pair[0].tail}
    if not any((other, key) in graph.readings for other in others):
        return stands
    return [
        ANSWERED
        if each.forms and not hop.answerable and any(graph.may_know((other, key), t) for other in others)
        else each
        for each, hop, t in zip(stands, second, graph.asked, strict=True)
    ]


def _tails(graph: Graph, first: Stated) -> set[str]:
    """All tails that the first hop may ever have; one alone where it is ambiguous otherwise."""
    if not first.relation.multi_valued:
        return {first.tail}
    return {each.tail for each in graph.readings[first.topic]}
