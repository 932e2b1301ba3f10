"""Runs: cancel, retry, pause, and settle when no call is left. Code that starts a run knows its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, QuerySet, Sum, Value
from django.db.models.functions import Coalesce, NullIf
from django.utils import timezone

from config.models import Event, Tally
from jobs import job_actions
from jobs.calls.causes import calls_of_cause
from jobs.endpoints.ownership import require_use
from jobs.endpoints.parameters import Parameter
from jobs.errors import ERROR_KINDS, JobError, commonest
from jobs.kinds import JobKind, Progress, run_kind
from jobs.models import Batch, Job
from jobs.models.run import Call, CallCount, Run
from jobs.queue.waking import wake
from jobs.webhook_events import notify_of_run

# Totals of runs' calls, read from trigger-kept counts (`CallCount`), never by counting calls.

SUMS = (
    *("n", "flagged", "troubled", "tokens_in", "tokens_out", "costed", "cost", "timed", "latency_ms"),
    *("asked", "cached", "saved", "sent", "lost"),
)
TALLY = Tally(table="jobs_callcount", keys=("run_id", "state", "error_kind"), sums=SUMS)
compact_call_counts = TALLY.compact


def by_state(runs: Iterable[Run]) -> dict[int, dict[str, int]]:
    """Return the number of calls in each state, per run id."""
    counts: dict[int, dict[str, int]] = {}
    rows = CallCount.objects.filter(run__in=list(runs)).values_list("run", "state")
    for run, state, n in rows.annotate(Sum("n")):
        counts.setdefault(run, {})[state] = n
    return counts


def failures(run: Run) -> dict[str, int]:
    """Return the number of failed calls of a run by error kind, in the order of the table of kinds.

    Calls that failed before kinds were recorded are under ''.
    """
    rows = CallCount.objects.filter(run=run, state=Call.State.FAILED).values_list("error_kind")
    failure_counts: dict[str, int] = dict(rows.annotate(Sum("n")))
    return {kind: failure_counts[kind] for kind in (*ERROR_KINDS, "") if failure_counts.get(kind)}


def of_run(run: Run) -> dict[str, Any]:
    """Return the sums over all calls of a run, and their number per state (`states`)."""
    counts = CallCount.objects.filter(run=run).values("state").annotate(**{name: Sum(name) for name in SUMS})
    rows: list[dict[str, Any]] = [dict(row) for row in counts]
    total: dict[str, Any] = {name: sum(row[name] for row in rows) for name in SUMS}
    return total | {"states": {row["state"]: row["n"] for row in rows}}


# Spending of judges and writers by judge, campaign or run, from trigger-kept counts, never by counting calls.

RUN_NAME = Coalesce(NullIf("run__title", Value("")), "run__rater__name")
"""Name of a run: a writer's run has a title, others the name of their rater."""
SPENT_BY: dict[str, tuple[str, Any]] = {
    "judge": ("run__rater", RUN_NAME),
    "campaign": ("run__campaign", F("run__campaign__name")),
    "run": ("run", RUN_NAME),
}
"""Column of the id and of the name for each grouping."""
SPENT_SUMS = ("asked", "cached", "tokens_in", "tokens_out", "cost", "saved", "timed", "costed")


def spent(way: str) -> Any:
    """Return tokens and costs of runs, a row per judge, campaign or run and currency; most expensive first.

    A query of rows for `spending_row`. KeyError for another `way`.
    """
    key, name = SPENT_BY[way]
    rows: Any = CallCount.objects.filter(run__endpoint__isnull=False)
    grouped = rows.values(key=F(key), name=name, currency=F("run__endpoint__currency"))
    sums = {f"total_{column}": Sum(column) for column in SPENT_SUMS}
    summed = grouped.annotate(runs=Count("run", distinct=True), **sums)
    return summed.order_by("-total_cost", "-total_asked", "key")


def spending_row(group: dict[str, Any]) -> dict[str, Any]:
    """Return a row for pages and API clients.

    It has `key` (None: runs of no campaign), `name`, `currency`, `runs`, and sums: `asked` completions paid
    for, `cached` calls answered from the cache, tokens, `cost`, and the cache's savings (`saved`). `cost` is
    None if entirely unknown because the endpoint had no prices; `at_least`: the cost of some calls is
    unknown.
    """
    row = {name: group[name] for name in ("key", "name", "currency", "runs")}
    row |= {column: group[f"total_{column}"] for column in SPENT_SUMS}
    timed, costed = row.pop("timed"), row.pop("costed")
    is_known = costed or not row["asked"]
    return row | {"cost": row["cost"] if is_known else None, "at_least": 0 < costed < timed}


# Bulk changes of a run's calls: a job, so that no request waits for tens of thousands of calls.

KIND = "calls"
AT_ONCE = 20_000
"""Maximum calls changed within the request, in a few seconds."""
CANCEL, RETRY = "cancel", "retry"


@transaction.atomic
def cancel_calls(*, by: User | None, run: Run) -> Run:
    """Stop a run at once; its pending calls are cancelled at once, or by a job if there are many."""
    waiting = by_state([run]).get(run.pk, {}).get(Call.State.PENDING, 0)
    if waiting <= AT_ONCE:
        return cancel(by=by, run=run)
    run = stop(by=by, run=run)
    if run.state == Run.State.CANCELLED:
        _job(CANCEL, run, by)
    return run


@transaction.atomic
def retry(*, by: User | None, run: Run, cause: str = "") -> Run | Job:
    """Retry failed or cancelled calls, or only the failed ones of a cause (`jobs.calls.causes`).

    Returns the run, or the job if there are many. Raises JobError for a cause that no failed call has.
    """
    require_use(by, run.endpoint)
    states = by_state([run]).get(run.pk, {})
    if states.get(Call.State.FAILED, 0) + states.get(Call.State.CANCELLED, 0) <= AT_ONCE:
        return retry_failed(by=by, run=run, cause=cause)
    if cause:
        calls_of_cause(run, cause)
    return _job(RETRY, run, by, cause)


def _job(change: str, run: Run, by: User | None, cause: str = "") -> Job:
    params = {"run": run.pk, "what": change, "cause": cause}
    about = f", cause {cause}" if cause else ""
    return job_actions.start(kind=KIND, subject=f"{change} run {run.pk}{about}", by=by, params=params)


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Do a job's change in one transaction: a job whose worker was lost has changed nothing.

    A run that was resumed while its cancellation waited keeps its calls. The result is {run: id}.
    """
    target = Run.objects.filter(pk=job.params["run"]).first()
    if target is None:  # deleted with its corpus: nothing left to change
        return {}
    if job.params["what"] == RETRY:
        cause = job.params.get("cause", "")
        retry_failed(by=job.created_by, run=target, cause=cause, progress=progress)
    else:
        cancel_waiting(run=target, progress=progress)
    return {"run": target.pk}


JOB = JobKind(KIND, "Change of a run's calls", run)


ACTIVE = (Run.State.QUEUED, Run.State.RUNNING)
OPEN = (*ACTIVE, Run.State.PAUSED)
"""States of runs that continue by themselves, or once resumed."""
AGAIN = (Call.State.FAILED, Call.State.CANCELLED)
"""States of calls that `retry_failed` asks again."""
CAPS = {
    cap.name: cap
    for cap in (
        Parameter("cap_calls", "whole", "Most calls", "", 0, 2**53),
        Parameter("cap_tokens", "whole", "Most tokens, read and written", "", 0, 2**53),
        Parameter(
            "cap_cost", "money", "Most money", "In the endpoint's currency; the endpoint needs prices.", 0
        ),
    )
}
"""What a run may take."""
PAUSES = "the run pauses before the first call that could pass it"
AT_CAP = "run paused at a cap"
"""Event of a run that pauses at a cap."""
UNFINISHED = (Call.State.PENDING, Call.State.LEASED, Call.State.BATCHED)
AFRESH: Mapping[str, Any] = {
    "state": Call.State.PENDING,
    "attempts": 0,
    "reasked": 0,
    "not_before": None,
    "error": "",
    "error_kind": "",
    "finished_at": None,
    "batch": None,
}
"""Fields of a call that is pending as if never tried."""
STEP = 10_000
ReportProgress = Callable[[int, int], None]


def ignore_progress(done: int, total: int) -> None:
    """Report progress to nobody."""


@transaction.atomic
def stop(*, by: User | None, run: Run) -> Run:
    """Stop a run: none of its calls is claimed any more. Its pending calls are left to `cancel_waiting`."""
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.state in OPEN:
        run.state, run.finished_at = Run.State.CANCELLED, timezone.now()
        run.save(update_fields=["state", "finished_at"])
        run.batches.filter(state=Batch.State.UNDER_WAY).update(next_look=run.finished_at)
        wake(run.queue)
        log(by, "cancel run", run)
    return run


@transaction.atomic
def cancel(*, by: User | None, run: Run) -> Run:
    """Stop a run: its pending calls are cancelled; requests in flight finish and are kept."""
    run = stop(by=by, run=run)
    cancel_waiting(run=run)
    return run


@transaction.atomic
def cancel_waiting(*, run: Run, progress: ReportProgress = ignore_progress) -> None:
    """Cancel the pending calls of a stopped run; no effect on a resumed run. `progress`: (done, all)."""
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.state == Run.State.CANCELLED:
        _change(run.calls.filter(state=Call.State.PENDING), progress, state=Call.State.CANCELLED)


@transaction.atomic
def retry_failed(
    *, by: User | None, run: Run, cause: str = "", progress: ReportProgress = ignore_progress
) -> Run:
    """Retry failed or cancelled calls, or only the failed ones of a cause; finished calls stay.

    `progress`: (done, all). Raises JobError for a cause that no failed call has.
    """
    require_use(by, run.endpoint)
    run = Run.objects.select_for_update().get(pk=run.pk)
    again = calls_of_cause(run, cause) if cause else run.calls.filter(state__in=AGAIN)
    _change(again, progress, **AFRESH)
    log(by, "retry run", run)
    reopen(run)
    return run


def _change(calls: QuerySet[Call], progress: ReportProgress, **to: Any) -> None:
    """Change calls in steps until none is left."""
    done, total = 0, calls.count()
    while ids := list(calls.order_by("pk").values_list("pk", flat=True)[:STEP]):
        done += calls.filter(pk__in=ids).update(**to)  # a worker may have claimed a call since it was listed
        progress(done, max(done, total))


@transaction.atomic
def pause(*, by: User | None, run: Run) -> Run:
    """Pause a run: no new calls until it is resumed. Calls in flight finish."""
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.state not in ACTIVE:
        raise JobError(f"Run {run.pk} is {run.state}: only one that waits or runs can be paused.")
    run.state, run.paused_by, run.at_cap = Run.State.PAUSED, by, False
    run.pause_reason = f"Paused by {by.get_username()}." if by else "Paused by a command."
    run.save(update_fields=["state", "paused_by", "at_cap", "pause_reason"])
    log(by, "pause run", run)
    return run


def pause_for(run: Run, reason: str, event: str = AT_CAP) -> None:
    """Pause a run, locked by the caller, with a `reason` in one sentence.

    A run paused at a cap continues when the cap is raised; others wait for what the reason says.
    """
    if run.state in ACTIVE:
        run.state, run.paused_by, run.pause_reason = Run.State.PAUSED, None, reason
        run.at_cap = event == AT_CAP
        run.save(update_fields=["state", "paused_by", "at_cap", "pause_reason"])
        Event.objects.create(verb=event, subject=f"run {run.pk}", detail={"reason": reason})


@transaction.atomic
def resume(*, by: User | None, run: Run) -> Run:
    """Resume a paused run. At a reached cap it pauses again at once: raise the cap first."""
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.state != Run.State.PAUSED:
        raise JobError(f"Run {run.pk} is {run.state}: only a paused one can be resumed.")
    require_use(by, run.endpoint)
    log(by, "resume run", run)
    reopen(run)
    return run


@transaction.atomic
def set_caps(*, by: User | None, run: Run, caps: Mapping[str, Any]) -> Run:
    """Change the caps of a run (`cap_calls`, `cap_tokens`, `cap_cost`; None for no limit).

    A run paused at a cap continues, and pauses again if it has reached the new cap. A run paused for another
    reason, by a user or a command, waits until it is resumed.
    """
    run = Run.objects.select_related("endpoint").select_for_update(of=("self",)).get(pk=run.pk)
    require_use(by, run.endpoint)
    put_caps(run, caps)
    run.save(update_fields=list(CAPS))
    new_caps = {name: None if value is None else str(value) for name, value in caps.items()}
    Event.objects.create(by=by, verb="cap run", subject=f"run {run.pk}", detail=new_caps)
    if run.state == Run.State.PAUSED and run.at_cap:
        reopen(run)
    return run


def put_mode(run: Run, mode: str) -> None:
    """Set the mode of a run, which the caller saves; raise JobError if its endpoint does not support it."""
    if mode not in Run.Mode:
        raise JobError(f"There is no mode {mode!r}; there are {', '.join(Run.Mode.values)}.")
    if mode == Run.Mode.BATCH and run.endpoint is None:
        raise JobError("This run asks nobody: there is nothing to be asked in batches.")
    if mode == Run.Mode.BATCH and run.kind == "metric":
        raise JobError("A metric's requests are sent at once, not in batches: choose at once.")
    if mode == Run.Mode.BATCH and run.endpoint and not run.endpoint.takes_batches:
        raise JobError(
            f"The endpoint {run.endpoint.name} takes no batches: ask at once, or let an administrator enter "
            "what share of its prices a batched call costs."
        )
    run.mode = mode


def put_caps(run: Run, caps: Mapping[str, Any]) -> None:
    """Set caps of a run, which the caller saves; raise JobError for a cap that cannot be enforced."""
    for name, value in caps.items():
        if name not in CAPS:
            raise JobError(f"There is no cap {name!r}; there are {', '.join(CAPS)}.")
        if value is not None and value < 0:
            raise JobError(f"{name}: a cap cannot be below 0.")
        setattr(run, name, value)
    if run.is_capped and run.endpoint is None:
        raise JobError("This run asks nobody: it takes no calls, tokens or money that a cap could limit.")
    if run.cap_cost is not None and run.endpoint and run.endpoint.prices is None:
        raise JobError(
            f"The endpoint {run.endpoint.name} has no prices, so its cost cannot be capped: "
            "cap calls or tokens, or enter the prices."
        )


@transaction.atomic
def settle(run_id: int) -> str:
    """Close a run without unfinished calls: done, or failed if a call failed. Return its state.

    One that awaits calls from elsewhere stays as it is.
    """
    run = Run.objects.select_for_update().get(pk=run_id)
    is_ended = run.state in OPEN and not run.calls.filter(state__in=UNFINISHED).exists()
    if is_ended and not run_kind(run.kind).awaits_calls(run):
        failed = run.calls.filter(state=Call.State.FAILED).count()
        run.state = Run.State.FAILED if failed else Run.State.DONE
        run.error = _failure(run, failed) if failed else ""
        run.finished_at = timezone.now()
        run_kind(run.kind).settled(run)
        run.save(update_fields=["state", "error", "finished_at", "values", "missing", "missing_reason"])
        notify_of_run(run)
    return run.state


def _failure(run: Run, failed: int) -> str:
    """Return how many calls failed, and the commonest cause."""
    errors = run.calls.filter(state=Call.State.FAILED).exclude(error="").order_by("pk")
    cause, _ = commonest(errors.values_list("error", flat=True)[:STEP])
    summary = f"{failed} of {run.calls.count()} calls failed."
    return f"{summary} The commonest cause: {cause[:600]}" if cause else summary


@transaction.atomic
def stop_with_error(run_id: int, error: str) -> None:
    """Fail a run as a whole, such as for a refused key: its pending calls stay, and continue when it
    resumes.
    """
    run = Run.objects.select_for_update().get(pk=run_id)
    if run.state in ACTIVE:
        run.state, run.error, run.finished_at = Run.State.FAILED, error, timezone.now()
        run.save(update_fields=["state", "error", "finished_at"])
        notify_of_run(run)


def reopen(run: Run) -> None:
    """Queue a run that has unfinished calls or awaits some, close one that does not; also saves the fields
    that `start` changed.
    """
    run.pause_reason, run.paused_by, run.at_cap, run.unserved_since = "", None, False, None
    run_kind(run.kind).reopened(run)
    waiting = run.calls.filter(state__in=UNFINISHED).count()
    is_open = waiting > 0 or run_kind(run.kind).awaits_calls(run)
    ended = not is_open and run.state in OPEN
    if is_open:
        run.state, run.error, run.finished_at = Run.State.QUEUED, "", None
    elif ended:
        failed = run.calls.filter(state=Call.State.FAILED).exists()
        run.state, run.finished_at = (Run.State.FAILED if failed else Run.State.DONE), timezone.now()
    run.save(
        update_fields=[
            *("state", "error", "finished_at", "reused", "pause_reason", "paused_by"),
            *("at_cap", "unserved_since", "use_cache", "mode", *CAPS),
        ]
    )
    if waiting:
        wake(run.queue, workers=min(8, 1 + waiting // 32))
    elif ended:
        notify_of_run(run)


def log(by: User | None, verb: str, run: Run) -> None:
    """Log who did what to a run."""
    detail = {"rater" if run.rater_id else "writer": run.name, "scope": run.scope}
    Event.objects.create(by=by, verb=verb, subject=f"run {run.pk}", detail=detail)
