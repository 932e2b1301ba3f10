"""Progress of a run: counts, rate, time left, tokens and cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max
from django.utils import timezone

from jobs import runs
from jobs.calls.batch_actions import batch_note
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
    `batch_note` about a problem with its latest batch and the next step.
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
        money = ("cost", "saved", "cap_cost")
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
        cost=_cost(run, sums),
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
    )


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
