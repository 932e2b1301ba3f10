"""Runs: cancelled, tried again, settled when nothing is left. Who starts one knows its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, QuerySet, Sum, Value
from django.db.models.functions import Coalesce, NullIf
from django.utils import timezone

from config.models import Event, Tally
from jobs import actions
from jobs.endpoints.parameters import Parameter
from jobs.errors import ERROR_KINDS, JobError, commonest
from jobs.kinds import JobKind, Progress, run_kind
from jobs.models import Batch, Job
from jobs.models.run import Call, CallCount, Run
from jobs.queue.waking import wake
from jobs.webhook_events import tell_of_run

# What the calls of runs come to, read from what triggers keep (`CallCount`) and never by counting calls.

SUMS = (
    *("n", "flagged", "troubled", "tokens_in", "tokens_out", "costed", "cost", "timed", "latency_ms"),
    *("asked", "cached", "saved", "sent", "lost"),
)
TALLY = Tally(table="jobs_callcount", keys=("run_id", "state", "error_kind"), sums=SUMS)
compact_call_counts = TALLY.compact


def by_state(runs: Iterable[Run]) -> dict[int, dict[str, int]]:
    """Return per run id how many calls are in each state."""
    counts: dict[int, dict[str, int]] = {}
    rows = CallCount.objects.filter(run__in=list(runs)).values_list("run", "state")
    for run, state, n in rows.annotate(Sum("n")):
        counts.setdefault(run, {})[state] = n
    return counts


def failures(run: Run) -> dict[str, int]:
    """Return how many calls of a run failed, by their error kind, in the order of the table of kinds.

    Calls that failed before kinds were kept are under ''.
    """
    rows = CallCount.objects.filter(run=run, state=Call.State.FAILED).values_list("error_kind")
    failure_counts: dict[str, int] = dict(rows.annotate(Sum("n")))
    return {kind: failure_counts[kind] for kind in (*ERROR_KINDS, "") if failure_counts.get(kind)}


def of_run(run: Run) -> dict[str, Any]:
    """Return the sums over all calls of a run, and per state their number (`states`)."""
    counts = CallCount.objects.filter(run=run).values("state").annotate(**{name: Sum(name) for name in SUMS})
    rows: list[dict[str, Any]] = [dict(row) for row in counts]
    total: dict[str, Any] = {name: sum(row[name] for row in rows) for name in SUMS}
    return total | {"states": {row["state"]: row["n"] for row in rows}}


# What judges and what writes have cost: by judge, by campaign, by run, from what triggers count and never by
# counting calls.

RUN_NAME = Coalesce(NullIf("run__title", Value("")), "run__rater__name")
"""What a run is called: one that writes has a title, one that rates the name of its rater."""
SPENT_BY: dict[str, tuple[str, Any]] = {
    "judge": ("run__rater", RUN_NAME),
    "campaign": ("run__campaign", F("run__campaign__name")),
    "run": ("run", RUN_NAME),
}
"""Per way of adding up: the column of its id, and that of its name."""
SPENT_SUMS = ("asked", "cached", "tokens_in", "tokens_out", "cost", "saved", "timed", "costed")


def spent(way: str) -> Any:
    """Tokens and costs of runs, a row per judge, campaign or run and currency; most expensive first.

    A query of rows for `as_row`. KeyError for another `way`.
    """
    key, name = SPENT_BY[way]
    rows: Any = CallCount.objects.filter(run__endpoint__isnull=False)
    grouped = rows.values(key=F(key), name=name, currency=F("run__endpoint__currency"))
    sums = {f"total_{column}": Sum(column) for column in SPENT_SUMS}
    summed = grouped.annotate(runs=Count("run", distinct=True), **sums)
    return summed.order_by("-total_cost", "-total_asked", "key")


def spending_row(group: dict[str, Any]) -> dict[str, Any]:
    """Return a row as pages and programs read it.

    It has `key` (None: runs of no campaign), `name`, `currency`, `runs`, and sums: `asked` completions that
    were paid for, `cached` calls that were answered without asking, tokens, `cost`, and what the cache
    `saved`. `cost` is None where nothing of it is known, as the endpoint had no prices; `at_least` says that
    it is more, because of some calls nothing is known.
    """
    row = {name: group[name] for name in ("key", "name", "currency", "runs")}
    row |= {column: group[f"total_{column}"] for column in SPENT_SUMS}
    timed, costed = row.pop("timed"), row.pop("costed")
    is_known = costed or not row["asked"]
    return row | {"cost": row["cost"] if is_known else None, "at_least": 0 < costed < timed}


# The calls of a run changed by the ten thousand: a job, so that nobody waits in a request for them.

KIND = "calls"
AT_ONCE = 20_000
"""So many calls are changed while the page waits, in a few seconds."""
CANCEL, RETRY = "cancel", "retry"


@transaction.atomic
def cancel_calls(*, by: User | None, run: Run) -> Run:
    """Stop a run at once; what waits is cancelled at once, too, or by a job where it is much."""
    waiting = by_state([run]).get(run.pk, {}).get(Call.State.PENDING, 0)
    if waiting <= AT_ONCE:
        return cancel(by=by, run=run)
    run = stop(by=by, run=run)
    if run.state == Run.State.CANCELLED:
        _job(CANCEL, run, by)
    return run


@transaction.atomic
def retry(*, by: User | None, run: Run) -> Run | Job:
    """Ask again for what failed or was cancelled; return the run, or the job where it is much."""
    states = by_state([run]).get(run.pk, {})
    if states.get(Call.State.FAILED, 0) + states.get(Call.State.CANCELLED, 0) <= AT_ONCE:
        return retry_failed(by=by, run=run)
    return _job(RETRY, run, by)


def _job(change: str, run: Run, by: User | None) -> Job:
    return actions.start(
        kind=KIND, subject=f"{change} run {run.pk}", by=by, params={"run": run.pk, "what": change}
    )


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Do what a job names, in one transaction: one whose worker was lost has changed nothing.

    A run that somebody resumed while its cancelling waited keeps its calls. Its result is {run: id}.
    """
    target = Run.objects.filter(pk=job.params["run"]).first()
    if target is None:  # deleted with its corpus: nothing is left to change
        return {}
    if job.params["what"] == RETRY:
        retry_failed(by=job.created_by, run=target, progress=progress)
    else:
        cancel_waiting(run=target, progress=progress)
    return {"run": target.pk}


JOB = JobKind(KIND, "Change of a run's calls", run)


ACTIVE = (Run.State.QUEUED, Run.State.RUNNING)
OPEN = (*ACTIVE, Run.State.PAUSED)
"""Runs that go on by themselves, or once they are resumed."""
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
"""What is logged of a run that pauses at a cap."""
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
"""What makes a call wait as if it had never been asked."""
STEP = 10_000
ReportProgress = Callable[[int, int], None]


def ignore_progress(done: int, total: int) -> None:
    """Tell nobody how far it is."""


@transaction.atomic
def stop(*, by: User | None, run: Run) -> Run:
    """Stop a run: nothing of it is claimed any more. Its waiting calls stay for `cancel_waiting`."""
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
    """Stop a run: what waits is cancelled; requests already under way are finished and kept."""
    run = stop(by=by, run=run)
    cancel_waiting(run=run)
    return run


@transaction.atomic
def cancel_waiting(*, run: Run, progress: ReportProgress = ignore_progress) -> None:
    """Cancel what waits of a stopped run, and nothing of one that goes on. `progress`: (done, all)."""
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.state == Run.State.CANCELLED:
        _change(run.calls.filter(state=Call.State.PENDING), progress, state=Call.State.CANCELLED)


@transaction.atomic
def retry_failed(*, by: User | None, run: Run, progress: ReportProgress = ignore_progress) -> Run:
    """Ask again for what failed or was cancelled; what is done stays. `progress`: (done, all)."""
    run = Run.objects.select_for_update().get(pk=run.pk)
    again = run.calls.filter(state__in=AGAIN)
    _change(again, progress, **AFRESH)
    log(by, "retry run", run)
    reopen(run)
    return run


def _change(calls: QuerySet[Call], progress: ReportProgress, **to: Any) -> None:
    """Change calls in steps until none is left to change."""
    done, total = 0, calls.count()
    while ids := list(calls.order_by("pk").values_list("pk", flat=True)[:STEP]):
        done += calls.filter(pk__in=ids).update(**to)  # a worker may have claimed one since it was listed
        progress(done, max(done, total))


@transaction.atomic
def pause(*, by: User | None, run: Run) -> Run:
    """Pause a run: nothing more of it is asked until somebody resumes it. What is under way is finished."""
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.state not in ACTIVE:
        raise JobError(f"Run {run.pk} is {run.state}: only one that waits or runs can be paused.")
    run.state, run.paused_by, run.at_cap = Run.State.PAUSED, by, False
    run.pause_reason = f"Paused by {by.get_username()}." if by else "Paused by a command."
    run.save(update_fields=["state", "paused_by", "at_cap", "pause_reason"])
    log(by, "pause run", run)
    return run


def pause_for(run: Run, reason: str, event: str = AT_CAP) -> None:
    """Pause a run, locked by the caller, for a reason of its own: `reason` in one sentence.

    One that pauses at a cap goes on when that is raised; others wait for what they say.
    """
    if run.state in ACTIVE:
        run.state, run.paused_by, run.pause_reason = Run.State.PAUSED, None, reason
        run.at_cap = event == AT_CAP
        run.save(update_fields=["state", "paused_by", "at_cap", "pause_reason"])
        Event.objects.create(verb=event, subject=f"run {run.pk}", detail={"reason": reason})


@transaction.atomic
def resume(*, by: User | None, run: Run) -> Run:
    """Go on with a paused run. One whose cap is reached pauses again at once: raise the cap."""
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.state != Run.State.PAUSED:
        raise JobError(f"Run {run.pk} is {run.state}: only a paused one can be resumed.")
    log(by, "resume run", run)
    reopen(run)
    return run


@transaction.atomic
def set_caps(*, by: User | None, run: Run, caps: Mapping[str, Any]) -> Run:
    """Change what a run may take (`cap_calls`, `cap_tokens`, `cap_cost`; None for no limit).

    One that was paused at a cap goes on, and pauses again where the new one is reached, too. One that was
    paused for another reason, by hand or by a command, waits until it is resumed.
    """
    run = Run.objects.select_related("endpoint").select_for_update(of=("self",)).get(pk=run.pk)
    put_caps(run, caps)
    run.save(update_fields=list(CAPS))
    new_caps = {name: None if value is None else str(value) for name, value in caps.items()}
    Event.objects.create(by=by, verb="cap run", subject=f"run {run.pk}", detail=new_caps)
    if run.state == Run.State.PAUSED and run.at_cap:
        reopen(run)
    return run


def put_mode(run: Run, mode: str) -> None:
    """Set how a run is asked, which the caller saves; raise JobError for what its endpoint does not offer."""
    if mode not in Run.Mode:
        raise JobError(f"There is no mode {mode!r}; there are {', '.join(Run.Mode.values)}.")
    if mode == Run.Mode.BATCH and run.endpoint is None:
        raise JobError("This run asks nobody: there is nothing to be asked in batches.")
    if mode == Run.Mode.BATCH and run.endpoint and not run.endpoint.takes_batches:
        raise JobError(
            f"The endpoint {run.endpoint.name} takes no batches: ask at once, or let an administrator enter "
            "what share of its prices a batched call costs."
        )
    run.mode = mode


def put_caps(run: Run, caps: Mapping[str, Any]) -> None:
    """Set caps of a run that the caller saves; raise JobError for one that cannot be kept to."""
    for name, value in caps.items():
        if name not in CAPS:
            raise JobError(f"There is no cap {name!r}; there are {', '.join(CAPS)}.")
        if value is not None and value < 0:
            raise JobError(f"{name}: a cap cannot be below 0.")
        setattr(run, name, value)
    if run.is_capped and run.endpoint is None:
        raise JobError("This run asks nobody: it takes no calls, tokens or money that a cap could limit.")
    if run.cap_cost is not None and run.endpoint and None in (run.endpoint.price_in, run.endpoint.price_out):
        raise JobError(
            f"The endpoint {run.endpoint.name} has no prices, so its cost cannot be capped: "
            "cap calls or tokens, or enter the prices."
        )


@transaction.atomic
def settle(run_id: int) -> str:
    """Close a run without unfinished calls: done, or failed where a call failed. Return its state."""
    run = Run.objects.select_for_update().get(pk=run_id)
    if run.state in OPEN and not run.calls.filter(state__in=UNFINISHED).exists():
        failed = run.calls.filter(state=Call.State.FAILED).count()
        run.state = Run.State.FAILED if failed else Run.State.DONE
        run.error = _failure(run, failed) if failed else ""
        run.finished_at = timezone.now()
        run_kind(run.kind).settled(run)
        run.save(update_fields=["state", "error", "finished_at", "values", "missing", "missing_reason"])
        tell_of_run(run)
    return run.state


def _failure(run: Run, failed: int) -> str:
    """Say how many calls failed, and why most of them did."""
    errors = run.calls.filter(state=Call.State.FAILED).exclude(error="").order_by("pk")
    cause, _ = commonest(errors.values_list("error", flat=True)[:STEP])
    summary = f"{failed} of {run.calls.count()} calls failed."
    return f"{summary} The commonest cause: {cause[:600]}" if cause else summary


@transaction.atomic
def stop_with_error(run_id: int, error: str) -> None:
    """Fail a run as a whole, such as for a refused key: its waiting calls stay, and resume with it."""
    run = Run.objects.select_for_update().get(pk=run_id)
    if run.state in ACTIVE:
        run.state, run.error, run.finished_at = Run.State.FAILED, error, timezone.now()
        run.save(update_fields=["state", "error", "finished_at"])
        tell_of_run(run)


def reopen(run: Run) -> None:
    """Queue a run that has calls waiting, close one that has none; saves what `start` changed, too."""
    run.pause_reason, run.paused_by, run.at_cap, run.unserved_since = "", None, False, None
    run_kind(run.kind).reopened(run)
    waiting = run.calls.filter(state__in=UNFINISHED).count()
    ended = not waiting and run.state in OPEN
    if waiting:
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
        tell_of_run(run)


def log(by: User | None, verb: str, run: Run) -> None:
    """Note who did what to a run."""
    detail = {"rater" if run.rater_id else "writer": run.name, "scope": run.scope}
    Event.objects.create(by=by, verb=verb, subject=f"run {run.pk}", detail=detail)
