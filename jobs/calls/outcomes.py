"""Outcomes of calls: stored once, with labels and link; a run that is refused from the start stops."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal, TypeVar

from django.db import DataError, IntegrityError, OperationalError, connection, transaction
from django.db.models import Q, Sum
from django.utils import timezone
from psycopg.errors import DeadlockDetected

from jobs import errors, runs
from jobs.kinds import run_kind
from jobs.models import CallCount
from jobs.models.run import Call, Run

# Runs that are refused from the start: a wrong model name that a server answers with 400 stops the run
# instead of failing each of its calls.
#
# Before a run's first answer, requests in flight are limited to the refusals that it has left. Errors of a
# single request (context too long, content filter) have their own error kind and do not count here.

MOST_EQUAL = 10
"""Equal refusals before any answer after which a run stops."""


class Probation:
    """One worker's requests of a run without an answer so far; used within one event loop."""

    def __init__(self, *, passed: bool) -> None:
        self.passed = passed
        self._refused: Counter[str] = Counter()
        self._unwritten: set[int] = set()
        self._under_way = 0
        self._changed = asyncio.Event()

    @property
    def is_settled(self) -> bool:
        """Whether the run was refused too often and the database has it: calls claimed later start afresh."""
        return not self.passed and self._free <= 0 and not self._unwritten

    @property
    def _free(self) -> int:
        return MOST_EQUAL - max(self._refused.values(), default=0)

    async def enter(self) -> bool:
        """Wait until a request may begin; False if the run was refused too often."""
        while not self.passed:
            if self._free <= 0:
                return False
            if self._under_way < self._free:
                break
            await self._changed.wait()
        self._under_way += 1
        return True

    def leave(self, outcome: Outcome | None) -> None:
        """Record the outcome of a request; None if it was interrupted."""
        self._under_way -= 1
        if outcome is not None:
            self.passed = self.passed or outcome.asked > 0
            if is_refusal(outcome):
                self._refused[errors.same_cause(outcome.error)] += 1
                self._unwritten.add(outcome.call)
        self._changed.set()
        self._changed = asyncio.Event()

    def note_written(self, calls: Collection[int]) -> None:
        """Record that the outcomes of calls are in the database."""
        self._unwritten.difference_update(calls)


def is_refusal(outcome: Outcome) -> bool:
    """Whether an outcome is a refusal that other requests of the run may also get."""
    return outcome.kind == "failed" and outcome.error_kind == errors.REQUEST


def answered(run_ids: Collection[int]) -> set[int]:
    """Return the runs that have had an answer."""
    sums = CallCount.objects.filter(run__in=run_ids).values("run").annotate(asked=Sum("asked"))
    return set(sums.filter(asked__gt=0).values_list("run", flat=True))


def stop_refused(call_ids: Collection[int]) -> None:
    """Stop the runs of refused calls that reach ten equal refusals before any answer."""
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


# Transactions that the database aborts because of a deadlock are retried.

T = TypeVar("T")
TRIES = 5


def again_after_deadlock(work: Callable[[], T]) -> T:
    """Run a transaction, again after a deadlock, up to TRIES times in all; return its result.

    The work must be a single transaction of its own, so that an aborted try leaves nothing behind. Raises the
    last try's error.
    """
    for _ in range(TRIES - 1):
        try:
            return work()
        except OperationalError as error:
            if not isinstance(error.__cause__, DeadlockDetected):
                raise
    return work()


# Storing the outcomes of calls: labels, the call and its link in one transaction, once.
#
# A result is written only while its call is leased or pending. If it was already written or the call was
# cancelled, nothing happens: results may arrive twice, late, or from a worker that lost its lease.

# Bulk writes: calls and labels of a whole batch in one statement each.
#
# A judge with 64 connections finishes hundreds of calls a second, with ten or more labels each; row by row
# that would cost more than the requests. All constraints and triggers still apply.

_COLUMNS = {
    "state": "text",
    "reply": "text",
    "error": "text",
    "prompt_hash": "text",
    "tokens_in": "int",
    "tokens_out": "int",
    "cost": "numeric",
    "latency_ms": "int",
    "not_before": "timestamptz",
    "reasked": "int",
    "attempts": "int",
    "finished_at": "timestamptz",
    "error_kind": "text",
    "request_hash": "text",
    "cached": "bool",
    "saved": "numeric",
    "asked": "int",
    "sent": "int",
    "reply_form": "text",
    "reasoning": "text",
    "served_model": "text",
    "system_fingerprint": "text",
}
_SAVE = f"""
WITH heard AS (DELETE FROM jobs_openrequest WHERE call_id = ANY(%s))
UPDATE jobs_call c
   SET lease_expires = NULL, worker = '', reserved_tokens = NULL, reserved_cost = NULL,
       flags = g.flags::jsonb, logprobs = g.logprobs::jsonb,
       {", ".join(f"{name} = g.{name}" for name in _COLUMNS)}
  FROM unnest(%s::bigint[], %s::text[], %s::text[], {
    ", ".join(f"%s::{kind}[]" for kind in _COLUMNS.values())
})
       AS g(id, flags, logprobs, {", ".join(_COLUMNS)})
 WHERE c.id = g.id
"""  # noqa: S608  (column names of ours)


def save(calls: Sequence[Call]) -> None:
    """Write the calls' results, end their leases and close their open requests."""
    columns = [[getattr(call, name) for call in calls] for name in _COLUMNS]
    flags = [json.dumps(call.flags) for call in calls]
    logprobs = [None if call.logprobs is None else json.dumps(call.logprobs) for call in calls]
    with connection.cursor() as cursor:
        ids = [call.pk for call in calls]
        cursor.execute(_SAVE, [ids, ids, flags, logprobs, *columns])


Kind = Literal["done", "failed", "again"]
MOST_REPLY = 200_000
"""Maximum characters of a stored reply; see also `jobs.endpoints.responses`."""
DEFECTS = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""Exceptions that a bug in a protocol or metric may raise on some input: they fail that call, by name."""
_UNWRITABLE = (DataError, IntegrityError, *DEFECTS)
"""Exceptions of one outcome that cannot be stored. If the database is down, the batch waits instead."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one claimed call.

    `again` makes it pending after `delay` seconds (`reasked` after an unparseable reply); `failed` is final.
    Only `done` has answers. `unbegun` does not count as an attempt. `stop` fails the whole run, and this call
    stays pending. `pause` delays all pending calls of the endpoint by that many seconds.

    `error_kind` is from `jobs.errors`; `asked` counts completions received, `sent` requests sent. For the
    other fields see `Call`.
    """

    call: int
    kind: Kind
    answers: tuple[Any, ...] = ()
    flags: tuple[str, ...] = ()
    reply: str = ""
    error: str = ""
    error_kind: str = ""
    delay: float = 0.0
    pause: float = 0.0
    reasked: bool = False
    unbegun: bool = False
    stop: bool = False
    prompt_hash: str = ""
    request_hash: str = ""
    cached: bool = False
    saved: Decimal | None = None
    asked: int = 0
    sent: int = 0
    reply_form: str = ""
    reasoning: str = ""
    served_model: str = ""
    system_fingerprint: str = ""
    logprobs: list[list[Any]] | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    latency_ms: int | None = None


@dataclass(slots=True)
class Counts:
    """Totals of a slice of work."""

    done: int = 0
    failed: int = 0
    again: int = 0
    labels: int = 0
    runs: set[int] = field(default_factory=set)
    stopped: dict[int, str] = field(default_factory=dict)
    pauses: dict[int, float] = field(default_factory=dict)

    def add(self, other: Counts) -> None:
        """Add other totals to these."""
        self.done += other.done
        self.failed += other.failed
        self.again += other.again
        self.labels += other.labels
        self.runs |= other.runs
        self.stopped |= other.stopped
        self.pauses |= other.pauses


def write(outcomes: Sequence[Outcome], batch: int | None = None) -> Counts:
    """Write results and settle the runs that they finish; a result that cannot be stored fails only its own
    call.

    Results of a `batch` are written for calls in that batch, all others for calls in no batch.
    """
    try:
        counts = again_after_deadlock(lambda: _write(outcomes, batch))  # replies are paid for: none is lost
    except _UNWRITABLE as trouble:
        if len(outcomes) > 1:
            counts = Counts()
            for outcome in outcomes:
                counts.add(write([outcome], batch))
            return counts
        counts = _write_failure(outcomes[0], f"The answer was refused: {_first_line(trouble)}", batch)
    for run in counts.runs:
        runs.settle(run)
    stop_refused({outcome.call for outcome in outcomes if is_refusal(outcome)})
    for run, error in counts.stopped.items():
        runs.stop_with_error(run, error)
    for endpoint, seconds in counts.pauses.items():
        _hold_back(endpoint, seconds)
    return counts


def _write_failure(outcome: Outcome, error: str, batch: int | None) -> Counts:
    """Fail a call whose result cannot be stored; keep its reply and cost unless they are the cause."""
    try:
        bare = replace(outcome, kind="failed", answers=(), flags=(), error=error)
        return _write([replace(bare, error_kind=errors.DEFECT)], batch)
    except _UNWRITABLE:
        return _write([Outcome(outcome.call, "failed", error=error, error_kind=errors.DEFECT)], batch)


def _hold_back(endpoint: int, seconds: float) -> None:
    """Delay an endpoint's pending calls: its requested pause applies to every worker."""
    until = timezone.now() + timedelta(seconds=seconds)
    waiting = Call.objects.filter(state=Call.State.PENDING, run__endpoint=endpoint)
    waiting.filter(Q(not_before=None) | Q(not_before__lt=until - timedelta(seconds=1))).update(
        not_before=until
    )


def _writable(batch: int | None) -> dict[str, Any]:
    """Return the filter for calls that a result may be written for."""
    if batch is None:
        return {"state__in": (Call.State.PENDING, Call.State.LEASED)}
    return {"state": Call.State.BATCHED, "batch": batch}


@transaction.atomic
def _write(outcomes: Sequence[Outcome], batch: int | None) -> Counts:
    by_call = {outcome.call: outcome for outcome in outcomes}
    rows = (
        Call.objects.select_for_update(of=("self",)).filter(pk__in=by_call, **_writable(batch)).order_by("pk")
    )
    counts = Counts()
    calls = list(rows)
    run_by_id = Run.objects.select_related("rater").in_bulk({call.run_id for call in calls})
    for call in calls:
        call.run = run_by_id[call.run_id]  # one object for all its calls: there are hundreds a second
        _apply(call, by_call[call.pk], counts)
    save(calls)
    counts.labels = _record(calls, by_call)
    counts.runs = {call.run_id for call in calls}
    for call in calls:
        if (pause := by_call[call.pk].pause) and call.run.endpoint_id is not None:
            counts.pauses[call.run.endpoint_id] = pause
    counts.stopped = {call.run_id: by_call[call.pk].error for call in calls if by_call[call.pk].stop}
    return counts


def _apply(call: Call, outcome: Outcome, counts: Counts) -> None:
    call.lease_expires, call.worker = None, ""
    call.error, call.flags = _storable(outcome.error), [_storable(flag) for flag in outcome.flags]
    call.error_kind = outcome.error_kind
    _apply_reply(call, outcome)
    call.prompt_hash = outcome.prompt_hash or call.prompt_hash
    call.request_hash = outcome.request_hash or call.request_hash
    call.latency_ms = outcome.latency_ms if outcome.latency_ms is not None else call.latency_ms
    # An unparseable reply was paid for too.
    if outcome.tokens_in is not None:
        call.tokens_in = (call.tokens_in or 0) + outcome.tokens_in
    if outcome.tokens_out is not None:
        call.tokens_out = (call.tokens_out or 0) + outcome.tokens_out
    if outcome.cost is not None:
        call.cost = (call.cost or Decimal(0)) + outcome.cost
    if outcome.kind == "again":
        counts.again += 1
        cancelled = call.run.state == Run.State.CANCELLED
        call.state = Call.State.CANCELLED if cancelled else Call.State.PENDING
        call.not_before = timezone.now() + timedelta(seconds=outcome.delay) if outcome.delay else None
        call.reasked += outcome.reasked
        call.attempts -= outcome.unbegun
        return
    done = outcome.kind == "done"
    counts.done, counts.failed = counts.done + done, counts.failed + (not done)
    call.state = Call.State.DONE if done else Call.State.FAILED
    call.finished_at = timezone.now()


def _apply_reply(call: Call, outcome: Outcome) -> None:
    """Keep the latest reply and its metadata."""
    call.asked += outcome.asked
    call.sent += outcome.sent
    call.cached, call.saved = outcome.cached, outcome.saved
    if outcome.reply or outcome.reasoning:
        call.reply, call.reasoning = _storable(outcome.reply), _storable(outcome.reasoning)
        call.reply_form, call.logprobs = outcome.reply_form, outcome.logprobs
    if outcome.asked or outcome.cached:
        call.served_model = _storable(outcome.served_model)
        call.system_fingerprint = _storable(outcome.system_fingerprint)


def _record(calls: Sequence[Call], by_call: dict[int, Outcome]) -> int:
    """Record the answers of finished calls, by their kind of run; return the number of new labels."""
    by_kind: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        by_kind[call.run.kind].append(call)
    return sum(
        run_kind(kind).record([(call, by_call[call.pk].answers) for call in kind_calls])
        for kind, kind_calls in by_kind.items()
    )


def _storable(text: str) -> str:
    """Return text that PostgreSQL can hold: no NUL, no lone surrogates, limited length."""
    return text[:MOST_REPLY].replace("\x00", "�").encode("utf-8", "replace").decode()


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:300]
