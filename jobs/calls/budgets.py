"""Caps of runs: usage of calls in flight is reserved, and a run pauses before it passes a cap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Q, Sum
from django.utils import timezone

from jobs import runs
from jobs.calls import claims
from jobs.calls.prepared import PreparedCall
from jobs.endpoints import costs
from jobs.endpoints.parameters import most_written
from jobs.models import Call, Run

# Caps of runs: the expected usage of calls in flight is reserved, and a run pauses before it could pass a
# cap.
#
# The expected input of a call is at least the mean of this run's calls so far; its expected output is the
# maximum that its parameters allow, or the run's mean if there is no limit.

LATER = 0.5
"""Seconds after which a call is retried that waits for the actual usage of calls in flight."""
_RESERVE = """
UPDATE jobs_call c SET reserved_tokens = g.tokens, reserved_cost = g.cost
  FROM unnest(%s::bigint[], %s::bigint[], %s::numeric[]) AS g(id, tokens, cost) WHERE c.id = g.id
"""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Calls, tokens and money: used, needed or remaining (None: no limit)."""

    calls: int | None
    tokens: int | None
    cost: Decimal | None

    def holds(self, need: Amounts) -> bool:
        """Whether a need fits into the remaining amounts."""
        pairs: Iterable[tuple[Any, Any]] = zip(self.parts(), need.parts(), strict=True)
        return all(room is None or (want or 0) <= room for room, want in pairs)

    def without(self, need: Amounts) -> Amounts:
        """Return the amounts that remain after a need."""
        pairs: Iterable[tuple[Any, Any]] = zip(self.parts(), need.parts(), strict=True)
        return Amounts(*(None if room is None else room - (want or 0) for room, want in pairs))

    def parts(self) -> tuple[int | None, int | None, Decimal | None]:
        """Return the three amounts as a tuple."""
        return self.calls, self.tokens, self.cost


def within_caps(prepared_calls: Sequence[PreparedCall], worker: str) -> tuple[list[PreparedCall], list[int]]:
    """Return the calls that may be sent, and the ids of the calls that were given back because of a cap."""
    by_run: dict[int, list[PreparedCall]] = defaultdict(list)
    for job in prepared_calls:
        if job.prompt is not None and job.call.run.is_capped:
            by_run[job.call.run_id].append(job)
    refused = {pk for run, jobs in by_run.items() for pk in _reserve(run, jobs, worker)}
    return [job for job in prepared_calls if job.call.pk not in refused], sorted(refused)


def expected(job: PreparedCall, mean_in: float, mean_out: float) -> tuple[int, int]:
    """Return the expected input and output tokens of a call, given the means of its run so far (0: none)."""
    assert job.prompt is not None
    length = job.prompt.about_tokens()
    limit = most_written(job.parameters)
    return max(length, round(mean_in)), limit or max(round(mean_out), job.reply_tokens)


def likely(job: PreparedCall, mean_in: float, mean_out: float) -> tuple[int, int]:
    """Return the likely input and output tokens of a call whose reply may be lost; arguments as for
    `expected`.
    """
    most_read, most = expected(job, mean_in, mean_out)
    return most_read, round(mean_out) or min(most, job.reply_tokens)


@transaction.atomic
def _reserve(run_id: int, jobs: Sequence[PreparedCall], worker: str) -> list[int]:
    """Reserve the expected usage of calls; give back and return the calls that do not fit the caps."""
    run = Run.objects.select_for_update(of=("self",)).select_related("endpoint").get(pk=run_id)
    spent = runs.of_run(run)
    under_way = (Call.State.LEASED, Call.State.BATCHED)
    reserved = run.calls.filter(state__in=under_way, reserved_tokens__isnull=False).aggregate(
        calls=Count("pk"), tokens=Sum("reserved_tokens"), cost=Sum("reserved_cost")
    )
    if blind := _blind(run, spent):
        _give_back(run, [job.call.pk for job in jobs], worker, alone=True, why=blind)
        return [job.call.pk for job in jobs]
    remaining = _remaining(run, spent).without(
        Amounts(reserved["calls"], reserved["tokens"] or 0, reserved["cost"] or Decimal(0))
    )
    needs = {job.call.pk: _need(job, spent) for job in jobs}
    granted: list[int] = []
    for pk, need in needs.items():
        if not remaining.holds(need):
            break  # in order: a later, smaller call is not preferred
        granted, remaining = [*granted, pk], remaining.without(need)
    _note({pk: needs[pk] for pk in granted})
    refused = [pk for pk in needs if pk not in granted]
    if refused:
        _give_back(run, refused, worker, alone=not granted and not reserved["calls"], why=_why(run, spent))
    return refused


def _blind(run: Run, spent: dict[str, Any]) -> str:
    """Return why usage against a token or cost cap is unknown; '' if it is known."""
    assert run.endpoint is not None
    name = run.endpoint.name
    if run.cap_cost is not None and run.endpoint.prices is None:
        return f"The endpoint {name} has no prices any more, so the cap on its cost cannot be kept: lift it."
    capped = run.cap_tokens is not None or run.cap_cost is not None
    if capped and spent["asked"] > spent["lost"] and not _counts_tokens(run, spent):
        return (
            f"The endpoint {name} does not say how many tokens its replies take, so a cap on tokens or money "
            "cannot be kept: lift it, or cap calls."
        )
    return ""


def _counts_tokens(run: Run, spent: dict[str, Any]) -> bool:
    """Whether the endpoint reports token usage; after lost replies, their estimates prove nothing."""
    if not spent["lost"]:
        return bool(spent["tokens_in"] + spent["tokens_out"])
    return run.calls.filter(lost=0).filter(Q(tokens_in__gt=0) | Q(tokens_out__gt=0)).exists()


def _remaining(run: Run, spent: dict[str, Any]) -> Amounts:
    caps = (run.cap_calls, run.cap_tokens, run.cap_cost)
    took = (spent["sent"], spent["tokens_in"] + spent["tokens_out"], spent["cost"])
    pairs: Iterable[tuple[Any, Any]] = zip(caps, took, strict=True)
    return Amounts(*(None if cap is None else cap - used for cap, used in pairs))


def _need(job: PreparedCall, spent: dict[str, Any]) -> Amounts:
    assert job.endpoint is not None
    n = spent["asked"] or 1
    tokens_in, tokens_out = expected(job, spent["tokens_in"] / n, spent["tokens_out"] / n)
    return Amounts(
        1,
        tokens_in + tokens_out,
        costs.cost(job.endpoint, tokens_in, tokens_out, costs.share_of(job.call.run)),
    )


def _note(needs: dict[int, Amounts]) -> None:
    if needs:
        columns: list[Any] = [
            list(needs),
            [need.tokens for need in needs.values()],
            [need.cost for need in needs.values()],
        ]
        with connection.cursor() as cursor:
            cursor.execute(_RESERVE, columns)


def _give_back(run: Run, refused: list[int], worker: str, *, alone: bool, why: str) -> None:
    """Give calls back: delayed while other calls are in flight, otherwise pause the whole run."""
    claims.give_back(worker=worker, calls=refused)
    if alone:
        runs.pause_for(run, why)
    else:
        later = timezone.now() + timedelta(seconds=LATER)
        Call.objects.filter(pk__in=refused, state=Call.State.PENDING).update(not_before=later)


def _why(run: Run, spent: dict[str, Any]) -> str:
    caps = []
    if run.cap_calls is not None:
        caps.append(f"{run.cap_calls:,} calls ({spent['sent']:,} made)")
    if run.cap_tokens is not None:
        caps.append(f"{run.cap_tokens:,} tokens ({spent['tokens_in'] + spent['tokens_out']:,} used)")
    if run.cap_cost is not None:
        currency = run.endpoint.currency if run.endpoint else ""
        caps.append(f"{run.cap_cost.normalize():f} {currency} ({spent['cost']:.4f} spent)")
    return f"The next call could pass its cap of {' or '.join(caps)}. Raise the cap to go on."
