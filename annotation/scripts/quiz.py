"""What the main character can know of a quiz question's answer in a session: answerable, not, or unclear."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, permutations
from typing import Literal

from annotation.scripts.graph import Graph, Stated
from annotation.scripts.records import LETTERS
from annotation.scripts.wording import occurs
from annotation.text.draws import u

# The choices of questions about facts: three wrong ones beside the answer, and their order where asked.

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


Kind = Literal["answerable", "unanswerable", "excluded"]
Policy = Literal["body", "appendix"]

POLICIES: tuple[Policy, ...] = ("body", "appendix")
"""Whether a question asked before its evidence cannot be answered (the paper's body) or is left out."""
KNOWN, KNOWN_DATED = "ans_wo_time", "ans_w_time"
BEFORE = "before_event_unans"
ABSENT, ABSENT_DATED = "dont_know_unans", "dont_know_unans_time"
_DATED = {KNOWN: KNOWN_DATED, ABSENT: ABSENT_DATED}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a question asked in a session is, its type ('' where excluded), and why.

    `sessions` are the numbers of the sessions that decide, `rule` names the rule.
    """

    kind: Kind
    type: str
    sessions: tuple[int, ...]
    rule: str


def quiz_use(
    heard: Collection[int], evidence: Collection[int], evidence_all: bool, t: int, policy: Policy = "body"
) -> Verdict:
    """Say whether a question can be answered in session `t`.

    Sessions are numbers from 1, and `heard` are those with the main character. `evidence` are the sessions
    that give the answer, of which one suffices, or all are needed. Where the asking session itself would
    decide, the use is excluded: the evidence may lie on either side of the asking point.
    """
    if policy not in POLICIES:
        raise ValueError(f"{policy!r} is no policy; those are {', '.join(POLICIES)}")
    there = sorted(number for number in set(evidence) if number in heard)
    if not there:
        return Verdict("unanswerable", ABSENT, tuple(sorted(evidence)), "not there")
    if not evidence_all:
        return _one_suffices(there, t, policy)
    if len(there) < len(set(evidence)):
        return Verdict("excluded", "", tuple(there), "partly there")
    return _all_needed(there, t, policy)


def dated(verdict: Verdict) -> Verdict:
    """Return what a question's variant with a date in its text is: there is none before the evidence."""
    if verdict.kind == "excluded":
        return verdict
    if verdict.type == BEFORE:
        return Verdict("excluded", "", verdict.sessions, "the date would tell")
    return replace(verdict, type=_DATED[verdict.type])


def _one_suffices(there: list[int], t: int, policy: Policy) -> Verdict:
    if there[0] < t:
        return Verdict("answerable", KNOWN, (there[0],), "heard")
    if t in there:
        return Verdict("excluded", "", (t,), "same session")
    return _before(tuple(there), policy)


def _all_needed(there: list[int], t: int, policy: Policy) -> Verdict:
    if there[-1] < t:
        return Verdict("answerable", KNOWN, tuple(there), "all heard")
    if there[-1] == t:
        return Verdict("excluded", "", (t,), "same session")
    return _before(tuple(there), policy)


def _before(there: tuple[int, ...], policy: Policy) -> Verdict:
    if policy == "appendix":
        return Verdict("excluded", "", there, "before the evidence")
    return Verdict("unanswerable", BEFORE, there, "before the evidence")
