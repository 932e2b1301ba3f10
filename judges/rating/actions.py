"""Starting or resuming a run of a judge or a metric; `jobs.runs` has what comes after."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet

from annotation.corpora import splits
from config.planner import WORTH_TELLING, tell_planner
from jobs import runs
from jobs.models import Call, Run
from judges.errors import JudgeError
from judges.protocols.needs import UNMET, WAITING
from judges.rating.plans import MOST_SAMPLES, WHOLE, RaterPlan
from judges.rating.selection import Selection, continuations, items, open_or_refuse
from judges.rating.settings import RunSettings

_BATCH = 5000
Progress = Callable[[int, int], None]


@transaction.atomic
def start(
    *,
    by: User | None,
    plan: RaterPlan,
    selection: Selection,
    settings: RunSettings | None = None,
    progress: Progress | None = None,
    open_test: str = "",
) -> Run:
    """Start a run, or resume the one of the same rater, selection and endpoint; return it.

    `settings` say how it is done; where they say nothing, a run that is resumed keeps its own.

    Creates the calls that do not exist yet, and takes over unfinished ones of the rater's other runs. What is
    done is never done again; failed calls of this run stay failed until `retry_failed`. `progress` is told
    (calls made, calls in all) as it goes and may raise to stop. `open_test` is the reason for opening test
    for a judge whose run covers it. Raises JudgeError.
    """
    if not 1 <= selection.samples <= MOST_SAMPLES:
        raise JudgeError(f"The number of samples must be between 1 and {MOST_SAMPLES}.")
    open_or_refuse(rater=plan.rater, selection=selection, by=by, reason=open_test)
    if selection.split is not None:
        splits.fix(split=selection.split, by=by)
    run, created = Run.objects.get_or_create(
        rater=plan.rater,
        scope_hash=selection.digest(),
        endpoint=plan.endpoint,
        defaults={
            "corpus": selection.corpus,
            "campaign": selection.campaign,
            "scheme_version": plan.scheme_version,
            "kind": plan.kind,
            "queue": plan.queue,
            "scope": selection.as_json(),
            "questions": dict(plan.questions),
            "samples": selection.samples,
            "reasks": plan.reasks,
            "created_by": by,
        },
    )
    run = Run.objects.select_for_update().get(pk=run.pk)
    _create_calls(run, plan, selection, progress)
    (settings or RunSettings()).put(run)
    calls = calls_of(plan, selection)
    if not calls.exists():
        raise JudgeError("There is nothing to judge in this selection.")
    _take_over(run, calls)
    run.reused = calls.exclude(run=run).count()
    runs.log(by, "start run" if created else "resume run", run)
    runs.reopen(run)
    return run


def _create_calls(run: Run, plan: RaterPlan, selection: Selection, progress: Progress | None) -> None:
    batch: list[Call] = []
    each = len(plan.parts) * selection.samples
    made, total = 0, _target_count(plan, selection) * each if progress else 0
    for continuation, item in targets(plan, selection):
        batch += [
            Call(
                run=run, rater=run.rater, continuation_id=continuation, item_id=item, part=part, sample=sample
            )
            for part in plan.parts
            for sample in range(selection.samples)
        ]
        if len(batch) >= _BATCH:
            Call.objects.bulk_create(batch, ignore_conflicts=True)
            made, batch = made + len(batch), []
            if progress:
                progress(made, total)
    Call.objects.bulk_create(batch, ignore_conflicts=True)
    if made + len(batch) >= WORTH_TELLING:
        tell_planner("jobs_call")


def targets(plan: RaterPlan, selection: Selection) -> Iterator[tuple[int, int | None]]:
    """Yield (continuation id, item id or None) of every call, the turns of a continuation together."""
    if plan.covers != WHOLE:
        rows = items(selection, plan.covers).order_by("continuation_id", F("turn__position"))
        yield from rows.values_list("continuation_id", "pk").iterator(_BATCH)
        return
    wanted = continuations(selection).filter(items__kind__in=plan.item_kinds).distinct().order_by("pk")
    for pk in wanted.values_list("pk", flat=True).iterator(_BATCH):
        yield pk, None


def _target_count(plan: RaterPlan, selection: Selection) -> int:
    if plan.covers != WHOLE:
        return items(selection, plan.covers).count()
    return continuations(selection).filter(items__kind__in=plan.item_kinds).distinct().count()


def calls_of(plan: RaterPlan, selection: Selection) -> QuerySet[Call]:
    """Return the calls of a plan's rater over a selection, whichever run holds them."""
    calls = Call.objects.filter(rater=plan.rater, sample__lt=selection.samples)
    if plan.covers != WHOLE:
        return calls.filter(item__in=items(selection, plan.covers))
    return calls.filter(item=None, continuation__in=continuations(selection))


def _take_over(run: Run, calls: QuerySet[Call]) -> None:
    """Bring unfinished calls here: cancelled ones of this run, and whatever other runs have not finished.

    What went without an answer because a need was not met, or without what another rater will still say, is
    tried again: the need may be met by now.
    """
    other = ~Q(run=run) & Q(state__in=[Call.State.PENDING, Call.State.CANCELLED, Call.State.FAILED])
    own = Q(run=run, state=Call.State.CANCELLED)
    unmet = Q(state=Call.State.DONE) & (Q(flags__contains=[UNMET]) | Q(flags__contains=[WAITING]))
    left = set(calls.filter(other).values_list("run_id", flat=True))
    calls.filter(own | other | unmet).update(run=run, **runs.AFRESH)
    for run_id in left:
        runs.settle(run_id)
