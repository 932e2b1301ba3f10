"""Runs: start or resume, cancel, retry what failed, and settle what is finished."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from annotation import splits
from annotation.models import Event, Label
from judges import selection
from judges.errors import JudgeError
from judges.models import Call, Run
from judges.plans import MOST_SAMPLES, Plan
from judges.selection import Scope
from judges.waking import wake

ACTIVE = (Run.State.QUEUED, Run.State.RUNNING)
UNFINISHED = (Call.State.PENDING, Call.State.LEASED)
_BATCH = 5000


@transaction.atomic
def start(*, by: User | None, plan: Plan, scope: Scope) -> Run:
    """Start a run, or resume the one of the same rater and scope; return it.

    Creates the calls that do not exist yet, and takes over unfinished ones of the rater's other runs. What is
    done is never done again; failed calls of this run stay failed until `retry_failed`.
    """
    if not 1 <= scope.samples <= MOST_SAMPLES:
        raise JudgeError(f"The number of samples must be between 1 and {MOST_SAMPLES}.")
    if scope.split is not None:
        splits.fix(split=scope.split, by=by)
    run, created = Run.objects.get_or_create(
        rater=plan.rater,
        scope_hash=scope.digest(),
        defaults={
            "corpus": scope.corpus,
            "campaign": scope.campaign,
            "endpoint": plan.endpoint,
            "scheme_version": plan.scheme_version,
            "queue": plan.queue,
            "scope": scope.as_json(),
            "questions": dict(plan.questions),
            "samples": scope.samples,
            "created_by": by,
        },
    )
    run = Run.objects.select_for_update().get(pk=run.pk)
    _create_calls(run, plan, scope)
    calls = calls_of_scope(plan, scope)
    if not calls.exists():
        raise JudgeError("There is nothing to judge in this selection.")
    _take_over(run, calls)
    run.reused = calls.exclude(run=run).count()
    run.endpoint = plan.endpoint
    _log(by, "start run" if created else "resume run", run)
    _reopen(run)
    return run


@transaction.atomic
def cancel(*, by: User | None, run: Run) -> Run:
    """Stop a run: what waits is cancelled; requests already under way are finished and kept."""
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.state in ACTIVE:
        run.calls.filter(state=Call.State.PENDING).update(state=Call.State.CANCELLED)
        run.state, run.finished_at = Run.State.CANCELLED, timezone.now()
        run.save(update_fields=["state", "finished_at"])
        _log(by, "cancel run", run)
    return run


@transaction.atomic
def retry_failed(*, by: User | None, run: Run) -> Run:
    """Ask again for what failed or was cancelled; what is done stays."""
    run = Run.objects.select_for_update().get(pk=run.pk)
    again = run.calls.filter(state__in=[Call.State.FAILED, Call.State.CANCELLED])
    again.update(state=Call.State.PENDING, attempts=0, reasked=0, not_before=None, error="")
    _log(by, "retry run", run)
    _reopen(run)
    return run


@transaction.atomic
def settle(run_id: int) -> str:
    """Close a run without unfinished calls: done, or failed where a call failed. Return its state."""
    run = Run.objects.select_for_update().get(pk=run_id)
    if run.state in ACTIVE and not run.calls.filter(state__in=UNFINISHED).exists():
        failed = run.calls.filter(state=Call.State.FAILED).count()
        run.state = Run.State.FAILED if failed else Run.State.DONE
        run.error = f"{failed} of {run.calls.count()} calls failed." if failed else ""
        run.finished_at = timezone.now()
        _count_values(run)
        run.save(update_fields=["state", "error", "finished_at", "values", "missing", "missing_reason"])
    return run.state


@transaction.atomic
def stop_with_error(run_id: int, error: str) -> None:
    """Fail a run as a whole, such as for a refused key: its waiting calls stay, and resume with it."""
    run = Run.objects.select_for_update().get(pk=run_id)
    if run.state in ACTIVE:
        run.state, run.error, run.finished_at = Run.State.FAILED, error, timezone.now()
        run.save(update_fields=["state", "error", "finished_at"])


def _count_values(run: Run) -> None:
    """Say what came of a run's calls: so many values, so many missing, mostly for this reason."""
    answers = Label.objects.filter(made_by__call__run=run)
    counted = answers.aggregate(values=Count("number"), missing=Count("pk", filter=~Q(missing="")))
    run.values, run.missing = counted["values"], counted["missing"]
    reasons = answers.exclude(missing="").values("missing").annotate(n=Count("pk"))
    commonest = reasons.order_by("-n", "missing").first()
    run.missing_reason = commonest["missing"] if commonest else ""


def _reopen(run: Run) -> None:
    waiting = run.calls.filter(state__in=UNFINISHED).count()
    if waiting:
        run.state, run.error, run.finished_at = Run.State.QUEUED, "", None
    elif run.state in ACTIVE:
        failed = run.calls.filter(state=Call.State.FAILED).exists()
        run.state, run.finished_at = (Run.State.FAILED if failed else Run.State.DONE), timezone.now()
    run.save(update_fields=["state", "error", "finished_at", "reused", "endpoint"])
    if waiting:
        wake(run.queue, workers=min(8, 1 + waiting // 32))


def _create_calls(run: Run, plan: Plan, scope: Scope) -> None:
    batch: list[Call] = []
    for continuation, item in targets(plan, scope):
        batch += [
            Call(run=run, rater=run.rater, continuation_id=continuation, item_id=item, sample=sample)
            for sample in range(scope.samples)
        ]
        if len(batch) >= _BATCH:
            Call.objects.bulk_create(batch, ignore_conflicts=True)
            batch = []
    Call.objects.bulk_create(batch, ignore_conflicts=True)


def targets(plan: Plan, scope: Scope) -> Iterator[tuple[int, int | None]]:
    """Yield (continuation id, item id or None) of every call, the turns of a continuation together."""
    if plan.covers == "turn":
        rows = selection.items(scope, "turn").order_by("continuation_id", F("turn__position"))
        yield from rows.values_list("continuation_id", "pk").iterator(_BATCH)
        return
    wanted = selection.continuations(scope).filter(items__kind=plan.item_kind).distinct().order_by("pk")
    for pk in wanted.values_list("pk", flat=True).iterator(_BATCH):
        yield pk, None


def calls_of_scope(plan: Plan, scope: Scope) -> QuerySet[Call]:
    """Return the calls of a plan's rater over a scope, whichever run holds them."""
    calls = Call.objects.filter(rater=plan.rater, sample__lt=scope.samples)
    if plan.covers == "turn":
        return calls.filter(item__in=selection.items(scope, "turn"))
    return calls.filter(item=None, continuation__in=selection.continuations(scope))


def _take_over(run: Run, calls: QuerySet[Call]) -> None:
    """Bring unfinished calls here: cancelled ones of this run, and whatever other runs have not finished."""
    other = ~Q(run=run) & Q(state__in=[Call.State.PENDING, Call.State.CANCELLED, Call.State.FAILED])
    own = Q(run=run, state=Call.State.CANCELLED)
    left = set(calls.filter(other).values_list("run_id", flat=True))
    calls.filter(own | other).update(
        run=run, state=Call.State.PENDING, attempts=0, reasked=0, not_before=None, error=""
    )
    for run_id in left:
        settle(run_id)


def _log(by: User | None, verb: str, run: Run) -> None:
    detail = {"rater": run.rater.name, "scope": run.scope}
    Event.objects.create(by=by, verb=verb, subject=f"run {run.pk}", detail=detail)
