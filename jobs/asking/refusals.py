"""Runs that are refused from the start: a wrong model that a server answers with 400 stops the run, it does
not
fail each of its calls.

Before a run's first answer no more of its requests are under way than it may be refused. What concerns one
request alone (too long a context, a content filter) is a failure of its own kind and does not count here.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection
from typing import Any

from django.db.models import Sum

from jobs import errors, runs
from jobs.models import Call, CallCount, Run

MOST_EQUAL = 10
"""Equal refusals before any answer after which a run stops."""


class Probation:
    """One worker's requests of a run that has had no answer yet; used within one event loop."""

    def __init__(self, *, passed: bool) -> None:
        self.passed = passed
        self._refused: Counter[str] = Counter()
        self._under_way = 0
        self._changed = asyncio.Event()

    async def enter(self) -> bool:
        """Wait until a request may begin; False where the run was refused too often."""
        while not self.passed:
            left = MOST_EQUAL - max(self._refused.values(), default=0)
            if left <= 0:
                return False
            if self._under_way < left:
                break
            await self._changed.wait()
        self._under_way += 1
        return True

    def leave(self, outcome: Any | None) -> None:
        """Note what came of a request; None where it was broken off."""
        self._under_way -= 1
        if outcome is not None:
            self.passed = self.passed or outcome.asked > 0
            if is_refusal(outcome):
                self._refused[errors.same_cause(outcome.error)] += 1
        self._changed.set()
        self._changed = asyncio.Event()


def is_refusal(outcome: Any) -> bool:
    """Whether an outcome is a refusal that other requests of the run may meet, too."""
    return outcome.kind == "failed" and outcome.error_kind == errors.REQUEST


def answered(run_ids: Collection[int]) -> set[int]:
    """Return the runs that have had an answer."""
    sums = CallCount.objects.filter(run__in=run_ids).values("run").annotate(asked=Sum("asked"))
    return set(sums.filter(asked__gt=0).values_list("run", flat=True))


def stop_refused(call_ids: Collection[int]) -> None:
    """Stop the runs of calls that were refused, where that makes ten equal refusals before any answer."""
    if not call_ids:
        return
    ids = set(Call.objects.filter(pk__in=call_ids).values_list("run", flat=True))
    for run in Run.objects.filter(pk__in=ids - answered(ids), state__in=runs.ACTIVE):
        refused = run.calls.filter(state=Call.State.FAILED, error_kind=errors.REQUEST).order_by("pk")
        cause, many = errors.commonest(refused.values_list("error", flat=True)[: 10 * MOST_EQUAL])
        if many >= MOST_EQUAL:
            runs.stop_with_error(
                run.pk, f"Stopped after {many} equal refusals before any answer: {cause[:600]}"
            )
