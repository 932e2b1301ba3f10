"""Progress of a run: counts, rate, time left, tokens and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max, Sum
from django.utils import timezone

from jobs import runs
from jobs.calls.batch_actions import batch_note
from jobs.endpoints.costs import cost as cost_of_tokens
from jobs.endpoints.costs import share_of
from jobs.endpoints.endpoint_actions import key_note
from jobs.errors import OLDER, describe_kind
from jobs.fake_models import is_fake
from jobs.models import Call, Run

WINDOW = timedelta(seconds=60)
STILL_GROWING = (Run.State.QUEUED, Run.State.RUNNING, Run.State.PAUSED)
"""States of a run that may still get calls which follow from replies to others."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run at one moment. `failures` counts failed calls by kind of `jobs.errors`.

    `rate` is recently finished calls per second, `seconds_left` None if unknown, as with batches. `batched`
    calls are in a batch. `lost` replies were paid for and lost with their worker: their tokens and cost are
    estimates. `fake_model`: all its calls use a fake model. `key_note` is about workers that lack its key,
    `batch_note` about a problem with its latest batch and the next step. For the money see `Projection`.
    """

    state: str
    total: int
    done: int
    failed: int
    pending: int
    leased: int
    batched: int
    cancelled: int
    reused: int
    flagged: int
    fake_model: bool
    rate: float
    seconds_left: int | None
    seconds: int | None
    tokens_in: int
    tokens_out: int
    cost: Decimal | None
    currency: str
    latency_ms: float | None
    error: str
    values: int | None
    missing: int | None
    missing_reason: str
    asked: int
    sent: int
    lost: int
    cached: int
    saved: Decimal | None
    failures: dict[str, int]
    pause_reason: str
    key_note: str
    batch_note: str
    use_cache: bool
    mode: str
    cap_calls: int | None
    cap_tokens: int | None
    cap_cost: Decimal | None
    projected_cost: Decimal | None
    projected_low: Decimal | None
    projected_high: Decimal | None
    cap_left: Decimal | None
    unpriced: int
    priced_afterwards: Decimal | None

    @property
    def finished(self) -> int:
        """Calls that are done or failed."""
        return self.done + self.failed

    @property
    def active(self) -> bool:
        """Whether workers may still start calls."""
        return self.state in {Run.State.QUEUED, Run.State.RUNNING}

    @property
    def moving(self) -> bool:
        """Whether the run may still change by itself: it is active, or calls in flight will finish."""
        return self.active or bool(self.leased or self.batched)

    @property
    def failed_by_kind(self) -> list[tuple[str, str, int]]:
        """Failed calls as (kind, description, count); `older` for those from before kinds were recorded."""
        return [(kind or OLDER, describe_kind(kind), n) for kind, n in self.failures.items()]

    @property
    def paused(self) -> bool:
        """Whether the run waits for a user to resume it."""
        return self.state == Run.State.PAUSED

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        values = {name: getattr(self, name) for name in self.__slots__}
        money = (
            *("cost", "saved", "cap_cost", "projected_cost", "projected_low", "projected_high", "cap_left"),
            "priced_afterwards",
        )
        return values | {name: None if values[name] is None else float(values[name]) for name in money}


def progress(run: Run) -> Progress:
    """Return the progress of a run at constant cost: from its counts, and its calls of the last minute."""
    now = timezone.now()
    sums = runs.of_run(run)
    row = {state: sums["states"].get(state, 0) for state in Call.State.values}
    row |= run.calls.filter(finished_at__gte=now - WINDOW).aggregate(
        recent=Count("pk"), last=Max("finished_at")
    )
    rate = _rate(run, row, now)
    n_calls = sums["n"]
    total = max(n_calls, run.expected or 0) if run.state in STILL_GROWING else n_calls
    remaining = row["pending"] + row["leased"] + row["batched"] + total - n_calls
    end = run.finished_at or now
    spent = _cost(run, sums)
    unpriced = sums["timed"] - sums["costed"] if run.endpoint else 0
    is_projected = run.state in STILL_GROWING and not unpriced
    projected = project(run, spent, remaining) if is_projected and spent is not None else None
    return Progress(
        state=run.state,
        total=total,
        done=row["done"],
        failed=row["failed"],
        pending=row["pending"],
        leased=row["leased"],
        batched=row["batched"],
        cancelled=row["cancelled"],
        reused=run.reused,
        flagged=sums["flagged"],
        fake_model=is_fake(run.identity.get("model", "")),
        rate=rate,
        seconds_left=round(remaining / rate) if rate and remaining and run.mode == Run.Mode.AT_ONCE else None,
        seconds=round((end - run.started_at).total_seconds()) if run.started_at else None,
        tokens_in=sums["tokens_in"],
        tokens_out=sums["tokens_out"],
        cost=spent,
        currency=run.endpoint.currency if run.endpoint else "",
        latency_ms=float(sums["latency_ms"] / sums["timed"]) if sums["timed"] else None,
        error=run.error,
        values=run.values,
        missing=run.missing,
        missing_reason=run.missing_reason,
        asked=sums["asked"],
        sent=sums["sent"],
        lost=sums["lost"],
        cached=sums["cached"],
        saved=sums["saved"] if sums["cached"] and sums["costed"] else None,
        failures=runs.failures(run),
        pause_reason=run.pause_reason,
        key_note=key_note(run),
        batch_note=batch_note(run),
        use_cache=run.use_cache,
        mode=run.mode,
        cap_calls=run.cap_calls,
        cap_tokens=run.cap_tokens,
        cap_cost=run.cap_cost,
        projected_cost=projected.cost if projected else None,
        projected_low=projected.low if projected else None,
        projected_high=projected.high if projected else None,
        cap_left=None if run.cap_cost is None else run.cap_cost - (spent or Decimal(0)),
        unpriced=unpriced,
        priced_afterwards=_priced_afterwards(run, unpriced),
    )


# Money while a run is under way.

RECENT = 1_000
"""Latest finished calls from which the cost of the next is projected."""
FEWEST = 10
"""Finished calls from which a projection is shown."""
Z = 1.959964
"""Normal quantile of a two-sided level of 95%."""


def _quantile(freedom: int) -> Decimal:
    """Return Student's t at 95%, two-sided, by its expansion in 1 / freedom (Abramowitz, Stegun 26.7.5)."""
    first, second = (Z**3 + Z) / 4, (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96
    return Decimal(Z + first / freedom + second / freedom**2)


@dataclass(frozen=True, slots=True)
class Projection:
    """Projected total cost of a run, with a 95% prediction interval."""

    cost: Decimal
    low: Decimal
    high: Decimal


def project(run: Run, spent: Decimal, remaining: int) -> Projection | None:
    """Project the total cost of a run from its latest finished calls; None while there are too few."""
    ended = run.calls.filter(finished_at__isnull=False).exclude(cost__isnull=True, cached=False)
    costs = ended.order_by("-finished_at").values_list("cost", flat=True)[:RECENT]
    return projection([cost or Decimal(0) for cost in costs], spent, remaining)


def projection(costs: Sequence[Decimal], spent: Decimal, remaining: int) -> Projection | None:
    """Return `spent` plus the cost of `remaining` further calls, from the costs of n earlier ones.

    With mean m and standard deviation s of these, r further calls cost r m, with a prediction interval of
    half-width t s sqrt(r + r^2 / n): that of the sum of r further calls. It assumes that they cost what
    the earlier ones did, independently. None below `FEWEST` calls, or where none remains.
    """
    n, r = len(costs), Decimal(remaining)
    if not remaining or n < FEWEST:
        return None
    mean = sum(costs, Decimal(0)) / n
    variance = sum(((cost - mean) ** 2 for cost in costs), Decimal(0)) / (n - 1)
    half = _quantile(n - 1) * (variance * (r + r * r / n)).sqrt()
    total = spent + r * mean
    return Projection(total, max(spent, total - half), total + half)


def _priced_afterwards(run: Run, unpriced: int) -> Decimal | None:
    """Return what the calls answered before the endpoint had prices would cost at its present prices.

    None without such calls or present prices, and above `RECENT * 20` of them: it is read with each poll.
    """
    if run.endpoint is None or not 0 < unpriced <= 20 * RECENT:
        return None
    calls = run.calls.filter(cost__isnull=True, cached=False, latency_ms__isnull=False)
    tokens = calls.aggregate(read=Sum("tokens_in"), written=Sum("tokens_out"))
    return cost_of_tokens(run.endpoint, tokens["read"], tokens["written"], share_of(run))


def _cost(run: Run, sums: dict[str, Any]) -> Decimal | None:
    """Return the cost of the completions received: 0 if there are none; None without prices, and for a
    metric.
    """
    all_reused = run.endpoint is not None and not sums["asked"]
    return Decimal(sums["cost"]) if sums["costed"] or all_reused else None


def _rate(run: Run, row: dict[str, Any], now: Any) -> float:
    """Return calls finished per second in the last minute, or since the start if that is shorter."""
    if not row["recent"] or run.started_at is None:
        return 0.0
    begun = max(now - WINDOW, run.started_at)
    until = now if row["pending"] + row["leased"] + row["batched"] else row["last"]
    return float(row["recent"] / max((until - begun).total_seconds(), 0.05))
