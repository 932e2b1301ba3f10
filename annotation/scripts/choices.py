"""The choices of questions about facts: three wrong ones beside the answer, and their order where asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from itertools import islice, permutations

from annotation.scripts.graph import Graph, Stated
from annotation.scripts.records import LETTERS
from annotation.scripts.wording import occurs
from annotation.text.draws import u

CHOICES = 4
ORDERS = tuple("".join(order) for order in permutations("0123"))
"""The 24 orders of four choices."""
KEYS = {(order, place): LETTERS[order.index(str(place))] for order in ORDERS for place in range(CHOICES)}
"""The letter at which an order shows the choice at a place."""


def drawn_order(seed: int, question: str, session: str) -> str:
    """Return the order of the choices of a question where it is asked: each of the 24 as likely."""
    return ORDERS[int(u(seed, "order", question, session) * len(ORDERS))]


class Tails:
    """What facts can be wrong answers: their tails by relation and by type, as first written."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def _by_relation(self) -> dict[str, dict[str, str]]:
        return self._by(lambda each: each.relation.key)

    @cached_property
    def _by_type(self) -> dict[str, dict[str, str]]:
        return self._by(lambda each: each.relation.tail)

    def _by(self, group: Callable[[Stated], str]) -> dict[str, dict[str, str]]:
        tails: dict[str, dict[str, str]] = {}
        for each in self._graph.stated:
            tails.setdefault(group(each), {}).setdefault(each.tail, each.fact.tail)
        return tails

    def wrong(
        self, last: Stated, barred: Collection[str], people: Collection[str], seed: int, key: str
    ) -> tuple[str, ...]:
        """Return three wrong answers about the last fact of a question, fewer where there are not so many.

        First those of the same head at other dates, then of the same relation, then of the same type, each
        group in an order that seed and key determine. None is, after folding, one of `barred` or another, and
        none names one of the `people` who are asked about.
        """
        same_head = {each.tail: each.text for each in self._graph.readings[last.topic] if each.direct}
        groups = (same_head, self._by_relation[last.relation.key], self._by_type[last.relation.tail])
        chosen: dict[str, str] = {}
        for tails in groups:
            if len(chosen) == CHOICES - 1:
                break
            left = (tail for tail in tails if tail not in barred and tail not in chosen)
            fit = (tail for tail in _drawn(left, seed, key) if not any(occurs(one, tail) for one in people))
            for tail in islice(fit, CHOICES - 1 - len(chosen)):
                chosen[tail] = tails[tail]
        return tuple(chosen.values())


def _drawn(tails: Iterable[str], seed: int, key: str) -> list[str]:
    return sorted(tails, key=lambda tail: (u(seed, "wrong", key, tail), tail))


def placed(answer: str, wrong: Iterable[str], seed: int, key: str) -> tuple[str, ...]:
    """Return the answer among the wrong ones, in an order that does not tell which it is."""
    return tuple(sorted((answer, *wrong), key=lambda text: (u(seed, "placed", key, text), text)))
