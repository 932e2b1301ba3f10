"""The bounds of a search: no call is begun that would pass them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.db.models import Sum

from calibration.models import Search, SearchText
from jobs.endpoints.costs import cost
from jobs.models import Call, CallCount, Endpoint, Run
from jobs.prompt import Prompt, about_tokens
from judges.material.loading import load
from judges.models import BenchTarget
from judges.prompt_search.evolution import OutOfBudget
from judges.protocols import Asking
from judges.rating import needs
from judges.rating.askers import asker_of
from judges.rating.cases import case_of

LOOKED_AT = 5
"""Prompts that are made to tell what others will cost."""
REPLY_TOKENS = 1500
"""About how long a proposal is."""


class Bounds:
    """What a search has taken so far, and whether it may take more.

    `reserved` calls are kept back while it searches: those that tell what its texts are worth.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self.reserved = 0
        rows = CallCount.objects.filter(run__in=Run.objects.filter(scope__search=search.pk))
        sums = rows.aggregate(
            n=Sum("n"), cost=Sum("cost"), tokens_in=Sum("tokens_in"), tokens_out=Sum("tokens_out")
        )
        self.calls: int = sums["n"] or 0
        self.cost: Decimal = sums["cost"] or Decimal(0)
        self.tokens_in: int = sums["tokens_in"] or 0
        self.tokens_out: int = sums["tokens_out"] or 0
        self.waiting = sum(
            row["n"] or 0
            for row in rows.filter(state__in=[Call.State.PENDING, Call.State.LEASED])
            .values("state")
            .annotate(n=Sum("n"))
        )

    def allow(self, text: SearchText, some: Sequence[BenchTarget], count: int) -> None:
        """Raise OutOfBudget where `count` more calls of the judge, like those about `some`, are too many."""
        each = None
        if self.search.most_cost is not None:
            each = self._cost_of_judging(text, some[:LOOKED_AT])
        self._allow(count, each)

    def allow_request(self, prompt: Prompt) -> None:
        """Raise OutOfBudget where one more request to the improving model is too much."""
        self._allow(1, self._price(self.search.improver, prompt, REPLY_TOKENS))

    def _allow(self, count: int, each: Decimal | None) -> None:
        search = self.search
        if self.calls + count + self.reserved > search.most_calls:
            raise OutOfBudget(f"{count} more calls would pass the bound of {search.most_calls:,}")
        if search.most_cost is not None and each is not None:
            coming = self.cost + each * (count + self.waiting + self.reserved)
            if coming > search.most_cost:
                raise OutOfBudget(f"{count} more calls would pass the bound of {search.most_cost:,.2f}")
        self.calls += count
        self.waiting += count

    def _cost_of_judging(self, text: SearchText, some: Sequence[BenchTarget]) -> Decimal | None:
        spec = text.draft.rater.spec
        asker = asker_of(spec)
        assert isinstance(asker.protocol, Asking)
        loaded = load({row.continuation_id for row in some})
        given = needs.given(asker.protocol, spec["needs"], loaded) if "needs" in spec else {}
        prices = []
        for row in some:
            part = asker.parts()[0]
            case = case_of(
                loaded[row.continuation_id], row.item_id, spec, given.get(row.continuation_id), part
            )
            if not asker.protocol.why_not(case, asker.variant) and not asker.protocol.unmet(case):
                price = self._price(
                    self.search.endpoint, asker.whole_prompt(case), asker.protocol.reply_tokens
                )
                prices.append(price or Decimal(0))
        return sum(prices, Decimal(0)) / len(prices) if prices else None

    @staticmethod
    def _price(endpoint: Endpoint, prompt: Prompt, reply: int) -> Decimal | None:
        return cost(endpoint, about_tokens(prompt.system) + about_tokens(prompt.user), reply)
