"""The bounds of a search: no call is begun that would pass them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.db.models import Sum

from calibration.models import Search, SearchText
from jobs.endpoints.costs import cost
from jobs.models import Call, CallCount, Endpoint, Run
from jobs.prompt import Prompt as SentPrompt
from jobs.prompt import about_tokens
from judges.models import BenchTarget
from judges.prompts.search import OutOfBudget
from judges.protocols import Asking
from judges.runs.material import answers_for_needs, case_of, load
from judges.runs.plans import asker_of

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

    def allow(self, wanted: Sequence[tuple[SearchText, Sequence[BenchTarget]]], calls_each: int) -> None:
        """Raise OutOfBudget where asking the judge about these targets under these texts is too much."""
        count = sum(len(some) for _, some in wanted) * calls_each
        if self.search.most_cost is None:
            return self._allow(count, Decimal(0), Decimal(0))
        prices = [(self._cost_of_judging(text, some), len(some) * calls_each) for text, some in wanted]
        coming = sum((each * n for each, n in prices), Decimal(0))
        return self._allow(count, coming, max(each for each, _ in prices))

    def allow_request(self, prompt: SentPrompt, text: SearchText, held_back: Sequence[BenchTarget]) -> None:
        """Raise OutOfBudget where one more request to the improving model is too much.

        What is kept back is priced as calls of the judge under `text` about `held_back`.
        """
        if self.search.most_cost is None:
            return self._allow(1, Decimal(0), Decimal(0))
        coming = self._price(self.search.improver, prompt, REPLY_TOKENS)
        return self._allow(1, coming, self._cost_of_judging(text, held_back))

    def _allow(self, count: int, coming: Decimal, each: Decimal) -> None:
        """Allow `count` calls that cost `coming`, where what waits and is kept back costs `each` a call."""
        search = self.search
        if self.calls + count + self.reserved > search.most_calls:
            raise OutOfBudget(f"{count} more calls would pass the bound of {search.most_calls:,}")
        if search.most_cost is not None:
            whole = self.cost + coming + each * (self.waiting + self.reserved)
            if whole > search.most_cost:
                raise OutOfBudget(f"{count} more calls would pass the bound of {search.most_cost:,.2f}")
        self.calls += count
        self.waiting += count

    def _cost_of_judging(self, text: SearchText, about: Sequence[BenchTarget]) -> Decimal:
        """Return what a call of the judge costs: the mean over all parts of some targets that it is asked."""
        for start in range(0, len(about), LOOKED_AT):
            if prices := self._prices(text, about[start : start + LOOKED_AT]):
                return sum(prices, Decimal(0)) / len(prices)
        return Decimal(0)  # nothing is sent about any of them

    def _prices(self, text: SearchText, some: Sequence[BenchTarget]) -> list[Decimal]:
        spec = text.draft.rater.spec
        asker = asker_of(spec)
        protocol = asker.protocol
        assert isinstance(protocol, Asking)
        loaded = load({row.continuation_id for row in some})
        given = answers_for_needs(protocol, spec["needs"], loaded) if "needs" in spec else {}
        cases = [
            case_of(loaded[row.continuation_id], row.item_id, spec, given.get(row.continuation_id), part)
            for row in some
            for part in asker.parts()
        ]
        return [
            self._price(self.search.endpoint, asker.whole_prompt(case), protocol.reply_tokens)
            for case in cases
            if not protocol.why_not(case, asker.variant) and not protocol.unmet(case)
        ]

    @staticmethod
    def _price(endpoint: Endpoint, prompt: SentPrompt, reply: int) -> Decimal:
        found = cost(endpoint, about_tokens(prompt.system) + about_tokens(prompt.user), reply)
        if found is None:
            raise OutOfBudget(f"the endpoint {endpoint.name} has no prices any more")
        return found
