"""What making a benchmark would take, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from annotation import records
from jobs.endpoints.costs import cost
from jobs.endpoints.wire import literal
from jobs.models import Endpoint
from judges.runs import estimates
from systems.benchmarks.choosing import Shortage, choose
from systems.benchmarks.cutting import HISTORY, LEAST
from systems.errors import SystemsError
from systems.generators import GENERATORS
from systems.making import material
from systems.making.actions import Source
from systems.making.orders import CLEANING, GENERATOR, METADATA, SUMMARY, Order
from systems.producing.estimates import taken_by

SAMPLED = 5
"""Productions of a step that are gone through; the others take what these do for each token they read."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a step takes: productions, calls, tokens read and written; about so."""

    step: str
    productions: int
    calls: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class Making:
    """What a benchmark takes: its steps, and their cost (None where the endpoint has no prices).

    Nothing is taken off for replies that are there already.
    """

    instances: int
    conversations: int
    steps: tuple[Step, ...]
    cost: Decimal | None
    endpoint: Endpoint | None

    @property
    def calls(self) -> int:
        """All calls."""
        return sum(one.calls for one in self.steps)

    @property
    def tokens_in(self) -> int:
        """All tokens that are read."""
        return sum(one.tokens_in for one in self.steps)

    @property
    def tokens_out(self) -> int:
        """All tokens that are written."""
        return sum(one.tokens_out for one in self.steps)

    @property
    def price(self) -> str:
        """The cost in words."""
        currency = self.endpoint.currency if self.endpoint else ""
        return estimates.cost_in_words(self.cost, currency, calls=self.calls)

    @property
    def host(self) -> str:
        """Where the text goes."""
        return (urlsplit(self.endpoint.base_url).hostname or "") if self.endpoint else ""

    @property
    def is_here(self) -> bool:
        """Whether that is this machine."""
        return literal(self.host) in {"127.0.0.1", "::1"}

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "instances": self.instances,
            "conversations": self.conversations,
            "calls": self.calls,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost": None if self.cost is None else float(self.cost),
            "steps": [{name: getattr(one, name) for name in one.__slots__} for one in self.steps],
        }

    def sentence(self) -> str:
        """Return it as one line for people."""
        made = f"{self.instances:,} instances of {self.conversations:,} conversations"
        if self.endpoint is None:
            return f"{made}; no model is asked."
        where = f"{self.host}, on this machine" if self.is_here else self.host
        return (
            f"{made}: about {self.calls:,} calls, {self.tokens_in:,} tokens to read and {self.tokens_out:,} "
            f"to write (four characters to a token), cost {self.price}; the conversations go to {where}."
        )


def estimate(sources: Sequence[Source], order: Order, endpoint: Endpoint | None) -> Making:
    """Return what a benchmark would take; raise SystemsError for what cannot be made."""
    order = order.checked()
    found = material.conversations({corpus.pk: (corpus, name) for corpus, name in sources}, {})
    try:
        instances = choose(
            [one.offer for one in found], order.wanted, order.seed, {one.source for one in found}
        )
    except Shortage as error:
        raise SystemsError(str(error)) from None
    by_key = {(one.source, one.key): one.dialogue for one in found}
    chosen = sorted({by_key[one.source, one.conversation] for one in instances})
    cleaned = [one.dialogue for one in found if order.cleans(one.source) and one.raw >= LEAST]
    cuts = [(by_key[one.source, one.conversation], one.start - HISTORY) for one in instances]
    wanted = {
        CLEANING: [(pk, 0) for pk in cleaned],
        METADATA: [(pk, 0) for pk in chosen] if METADATA in order.steps else [],
        SUMMARY: [cut for cut in cuts if cut[1]] if SUMMARY in order.steps else [],
    }
    steps = tuple(_step(step, places, order) for step, places in wanted.items() if places)
    read, written = sum(one.tokens_in for one in steps), sum(one.tokens_out for one in steps)
    asked = endpoint if order.asks else None
    return Making(len(instances), len(chosen), steps, cost(asked, read, written) if asked else None, asked)


def _step(step: str, places: Sequence[tuple[int, int]], order: Order) -> Step:
    """Return what a step takes: that of a few of its productions, as often as there are productions."""
    generator = GENERATORS[GENERATOR[step]]
    sample = list(places[:: max(1, len(places) // SAMPLED)])[:SAMPLED]
    taken = []
    for until, record in _read(sample):
        given = order.settings(step) | ({"until": until} if step == SUMMARY else {})
        taken.append(taken_by(generator, generator.begin(record, generator.resolved(given))))
    each = len(places) / len(taken)
    return Step(
        step,
        len(places),
        round(sum(one.calls for one in taken) * each),
        round(sum(one.tokens_in for one in taken) * each),
        round(sum(one.tokens_out for one in taken) * each),
    )


def _read(sample: Sequence[tuple[int, int]]) -> Iterator[tuple[int, records.Dialogue]]:
    known = {row.pk: record for row, record in material.read({pk for pk, _ in sample})}
    for pk, until in sample:
        yield until, replace(known[pk])
