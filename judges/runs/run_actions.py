"""Start or resume runs, in a job if the corpus is large; later actions are in `jobs.runs`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet

from annotation.corpora import queries, splits
from annotation.models import Campaign, Corpus, Split
from config.planner import WORTH_TELLING, analyse_tables
from jobs import job_actions, runs
from jobs.endpoints.ownership import require_use
from jobs.errors import JobError, JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Call, Endpoint, Job
from jobs.models.run import MOST_SAMPLES, Run
from judges.errors import JudgeError
from judges.protocols.protocol import UNMET, WAITING
from judges.runs.metric_calls import endpoint_of_key, metric_plan, metric_plans
from judges.runs.plans import CONTINUATION, Judge, RaterPlan
from judges.runs.selection import RunSettings, Selection, continuations, items, open_or_refuse, settings_from

# Start or resume a run of a judge or a metric; later actions are in `jobs.runs`.

_BATCH = 5000
ReportProgress = Callable[[int, int], None]


@transaction.atomic
def start(
    *,
    by: User | None,
    plan: RaterPlan,
    selection: Selection,
    settings: RunSettings | None = None,
    progress: ReportProgress | None = None,
    open_test: str = "",
) -> Run:
    """Start a run, or resume the run of the same rater, selection and endpoint; return it.

    A resumed run keeps its own values of settings that `settings` leaves out.

    Creates the calls that do not exist yet, and takes over unfinished calls of the rater's other runs. Done
    calls are never repeated; failed calls of this run stay failed until `retry_failed`. `progress` is called
    with (calls created, calls in all) along the way and may raise to stop. `open_test` is the reason for
    opening test for a judge whose run covers it. Raises JudgeError.
    """
    if not 1 <= selection.samples <= MOST_SAMPLES:
        raise JudgeError(f"The number of samples must be between 1 and {MOST_SAMPLES}.")
    require_use(by, plan.endpoint)
    open_or_refuse(rater=plan.rater, selection=selection, by=by, reason=open_test)
    if selection.split is not None:
        splits.fix(split=selection.split, by=by)
    left_out = selection.left_out()
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
            "scope": selection.as_json() | ({"excluded": left_out.as_json()} if left_out else {}),
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


def _create_calls(run: Run, plan: RaterPlan, selection: Selection, progress: ReportProgress | None) -> None:
    batch: list[Call] = []
    each = len(plan.parts) * selection.samples
    created, total = 0, _target_count(plan, selection) * each if progress else 0
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
            created, batch = created + len(batch), []
            if progress:
                progress(created, total)
    Call.objects.bulk_create(batch, ignore_conflicts=True)
    if created + len(batch) >= WORTH_TELLING:
        analyse_tables("jobs_call")


def targets(plan: RaterPlan, selection: Selection) -> Iterator[tuple[int, int | None]]:
    """Yield (continuation id, item id or None) of every call, the turns of a continuation together."""
    if plan.covers != CONTINUATION:
        rows = items(selection, plan.covers).order_by("continuation_id", F("turn__position"))
        yield from rows.values_list("continuation_id", "pk").iterator(_BATCH)
        return
    selected = continuations(selection).filter(items__kind__in=plan.item_kinds).distinct().order_by("pk")
    for pk in selected.values_list("pk", flat=True).iterator(_BATCH):
        yield pk, None


def _target_count(plan: RaterPlan, selection: Selection) -> int:
    if plan.covers != CONTINUATION:
        return items(selection, plan.covers).count()
    return continuations(selection).filter(items__kind__in=plan.item_kinds).distinct().count()


def calls_of(plan: RaterPlan, selection: Selection) -> QuerySet[Call]:
    """Return the calls of a plan's rater over a selection, in any of its runs."""
    calls = Call.objects.filter(rater=plan.rater, sample__lt=selection.samples)
    if plan.covers != CONTINUATION:
        return calls.filter(item__in=items(selection, plan.covers))
    return calls.filter(item=None, continuation__in=continuations(selection))


def _take_over(run: Run, calls: QuerySet[Call]) -> None:
    """Requeue unfinished calls in this run: its own cancelled ones, and unfinished ones of other runs.

    Calls left unanswered because a need was not met, or answered without another rater's pending answers, are
    retried, since the need may be met by now.
    """
    other = ~Q(run=run) & Q(state__in=[Call.State.PENDING, Call.State.CANCELLED, Call.State.FAILED])
    own = Q(run=run, state=Call.State.CANCELLED)
    unmet = Q(state=Call.State.DONE) & (Q(flags__contains=[UNMET]) | Q(flags__contains=[WAITING]))
    other_runs = set(calls.filter(other).values_list("run_id", flat=True))
    calls.filter(own | other | unmet).update(run=run, **runs.AFRESH)
    for run_id in other_runs:
        runs.settle(run_id)


# Starting runs over a large corpus: in a job, so that no request waits while the calls are created.

KIND = "starting"
AT_ONCE = 20_000
"""Maximum number of a corpus's items for starting runs within the request, in a few seconds."""


def start_judge(
    *,
    by: User | None,
    judge: Judge,
    selection: Selection,
    settings: RunSettings | None = None,
    open_test: str = "",
    in_jobs: bool = True,
) -> Run | Job:
    """Start a judge over a small corpus and return its run; for a larger corpus start a job.

    `open_test` is the reason for opening test for this judge if the run covers it. Without `in_jobs` the run
    starts here, however large the corpus is. Raises JobError for inconsistent settings, before any job is
    started.
    """
    require_use(by, judge.endpoint)
    plan = judge.plan(selection.campaign)
    if not in_jobs or _is_small(selection.corpus):
        return start(by=by, plan=plan, selection=selection, settings=settings, open_test=open_test)
    open_or_refuse(rater=plan.rater, selection=selection, by=by, reason=open_test)
    if not 1 <= selection.samples <= MOST_SAMPLES:
        raise JudgeError(f"The number of samples must be between 1 and {MOST_SAMPLES}.")
    judge_fields = asdict(judge) | {"endpoint": judge.endpoint.pk if judge.endpoint else None}
    about = f"rater {plan.rater.pk}, {plan.rater.name}"
    how = (settings or RunSettings()).as_json()
    return _job(by, about, selection, {"judge": judge_fields | {"shows": list(judge.shows)}, "settings": how})


def start_metrics(
    *,
    by: User | None,
    keys: Sequence[str],
    selection: Selection,
    settings: RunSettings | None = None,
    in_jobs: bool = True,
) -> list[Run] | list[Job]:
    """Start metrics over a small corpus and return their runs; for a larger corpus start a job each.

    `settings` apply to metrics that ask an endpoint, `in_jobs` as for `start_judge`. Raises JudgeError for an
    unknown key or endpoint, before any job is started.
    """
    if not in_jobs or _is_small(selection.corpus):
        plans = metric_plans(keys, selection.corpus, by)
        return [
            start(by=by, plan=plan, selection=selection, settings=settings if plan.endpoint else None)
            for plan in plans
        ]
    own = {key: (settings or RunSettings()).as_json() for key in keys if endpoint_of_key(key, by)}
    return [_job(by, key, selection, {"metric": key, "settings": own.get(key, {})}) for key in keys]


def _is_small(corpus: Corpus) -> bool:
    return queries.counts([corpus])[corpus.pk]["items"] <= AT_ONCE


def _job(by: User | None, about: str, selection: Selection, params: Mapping[str, Any]) -> Job:
    subject = f"{about[:180]} over {selection.corpus.name}, selection {selection.digest()[:8]}"
    return job_actions.start(
        kind=KIND, subject=subject, params={**params, "scope": selection.as_json()}, by=by
    )


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Start the run described by a job, or resume it if an earlier attempt has started it.

    All calls are created in one transaction, so an attempt whose worker was lost leaves none. The result is
    {run: id}.
    """
    selection = _selection(job.params["scope"])
    try:
        started = start(
            by=job.created_by,
            plan=_plan(job.params, selection, job.created_by),
            selection=selection,
            settings=settings_from(job.params.get("settings", {})),
            progress=progress,
        )
    except JobRefused:
        raise
    except JobError as error:
        raise JobRefused(str(error)) from error
    return {"run": started.pk}


def _selection(payload: Mapping[str, Any]) -> Selection:
    """Restore a selection from `Selection.as_json`."""
    corpus = Corpus.objects.filter(pk=payload["corpus"]).first()
    campaigns = Campaign.objects.select_related("corpus", "scheme_version__scheme")
    campaign = campaigns.filter(pk=payload["campaign"]).first()
    split = Split.objects.filter(pk=payload.get("split") or 0).first()
    if (
        corpus is None
        or (payload["campaign"] and campaign is None)
        or (payload.get("split") and split is None)
    ):
        raise JobRefused("what it was to go over was deleted")
    return Selection(
        corpus,
        campaign,
        tuple(payload["systems"]),
        payload["include_self"],
        payload["samples"],
        split,
        payload.get("part", ""),
        payload.get("exclude", ""),
    )


def _plan(params: Mapping[str, Any], selection: Selection, by: User | None) -> RaterPlan:
    if "metric" in params:
        return metric_plan(params["metric"], selection.corpus, by)
    payload = _with_parameters(params["judge"])
    endpoint = Endpoint.objects.filter(pk=payload["endpoint"], active=True).first()
    if payload["endpoint"] and endpoint is None:
        raise JobRefused("its endpoint was taken away")
    return Judge(**payload | {"endpoint": endpoint, "shows": tuple(payload["shows"])}).plan(
        selection.campaign
    )


def _with_parameters(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the judge of a job's payload; jobs queued by an earlier version have two separate parameters."""
    older = {name: payload[name] for name in ("temperature", "max_tokens") if name in payload}
    rest = {name: value for name, value in payload.items() if name not in older}
    return {"parameters": older, **rest}


JOB = JobKind(KIND, "Start of a run", run)
