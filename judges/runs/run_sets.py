"""Run sets: several judges and metrics over one corpus or campaign, started and followed together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from annotation.models import Corpus
from config.bulk import BulkOutcome
from config.models import Event
from jobs import job_actions, runs
from jobs.bulk_acts import RUN_ACTS
from jobs.errors import JobError
from jobs.models import Call, CallCount, Job, Run
from jobs.progress import WINDOW
from judges.errors import JudgeError
from judges.models import RunSet, RunSetMember
from judges.runs.estimates import costs_in_words
from judges.runs.run_actions import start_judge, start_metrics
from judges.runs.selection import PlannedJudge, RunSettings, Selection, title_of

NAME_LIMIT = 120
MOST_RUNS = 100
"""Maximum number of runs of a set."""


def suggested_name(planned: Sequence[PlannedJudge], metrics: Sequence[str]) -> str:
    """Return a name for a set: its judges and metrics, and the endpoints; at most `NAME_LIMIT` characters."""
    raters = dict.fromkeys([*(title_of(row.judge) for row in planned), *metrics])
    endpoints = dict.fromkeys(row.judge.endpoint.name for row in planned if row.judge.endpoint)
    text = ", ".join(raters) + (f" at {', '.join(endpoints)}" if endpoints else "")
    if len(text) > NAME_LIMIT:
        at = f" at {len(endpoints)} endpoint{'' if len(endpoints) == 1 else 's'}" if endpoints else ""
        text = f"{next(iter(raters))[: NAME_LIMIT - 40]} and {len(raters) - 1} more{at}"
    return text


# Starting a set.


@transaction.atomic
def start_run_set(
    *,
    by: User | None,
    planned: Sequence[PlannedJudge] = (),
    metrics: Sequence[str] = (),
    selection: Selection,
    name: str = "",
    settings: RunSettings | None = None,
    open_test: str = "",
    in_jobs: bool = True,
) -> RunSet:
    """Start the runs of a set, all of them or none, and return the set; the same set again resumes.

    `selection` is that of the metrics, whatever its samples, and its corpus and campaign those of the set.
    `settings` (caps, cache, mode) apply to each run that asks an endpoint, `open_test` to each judge. Over a
    large corpus each run is started by a job, unless `in_jobs` is off. Raises JobError for invalid settings
    of any member, or a name that another set of the corpus has. A run that fails later leaves the others
    alone.
    """
    corpus = Corpus.objects.select_for_update(no_key=True).get(pk=selection.corpus.pk)
    selection = replace(selection, samples=1)
    keys = list(dict.fromkeys(metrics))
    identities = [_identity(row) for row in planned]
    distinct = list(dict(zip(identities, planned, strict=True)).values())
    if not distinct and not keys:
        raise JudgeError("Choose at least one judge or metric.")
    if len(distinct) + len(keys) > MOST_RUNS:
        raise JudgeError(f"A run set has at most {MOST_RUNS} runs, not {len(distinct) + len(keys)}.")
    digest = _digest(identities, keys, selection)
    run_set = RunSet.objects.filter(digest=digest).first()
    verb = "resume run set" if run_set else "start run set"
    if run_set is None:
        run_set = RunSet.objects.create(
            name=_free_name(corpus, name.strip(), suggested_name(distinct, keys)),
            digest=digest,
            corpus=corpus,
            campaign=selection.campaign,
            created_by=by,
        )
    started: list[tuple[str, Run | Job]] = [
        (
            row.label,
            start_judge(
                by=by,
                judge=row.judge,
                selection=row.selection,
                settings=settings if row.judge.endpoint else None,
                open_test=open_test,
                in_jobs=in_jobs,
            ),
        )
        for row in distinct
    ]
    if keys:
        of_metrics = start_metrics(by=by, keys=keys, selection=selection, settings=settings, in_jobs=in_jobs)
        started += zip(keys, of_metrics, strict=True)
    run_set.members.all().delete()
    RunSetMember.objects.bulk_create(_member(run_set, place, *pair) for place, pair in enumerate(started))
    detail = {"name": run_set.name, "runs": [label for label, _ in started]}
    Event.objects.create(by=by, verb=verb, subject=f"run set {run_set.pk}", detail=detail)
    return run_set


def _identity(row: PlannedJudge) -> str:
    """Return the content of a judge's run: equal texts mean the same run."""
    endpoint = row.judge.endpoint.pk if row.judge.endpoint else None
    fingerprint = row.judge.plan(row.selection.campaign).rater.fingerprint
    return json.dumps([fingerprint, endpoint, row.selection.digest()])


def _digest(identities: Iterable[str], metrics: Iterable[str], selection: Selection) -> str:
    content = {"judges": sorted(set(identities)), "metrics": sorted(metrics), "over": selection.digest()}
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _free_name(corpus: Corpus, name: str, suggestion: str) -> str:
    """Return the given name, or the suggestion with a number if that is in use."""
    if len(name) > NAME_LIMIT:
        raise JudgeError(f"The name of a run set has at most {NAME_LIMIT} characters.")
    names = set(corpus.run_sets.values_list("name", flat=True))
    if name in names:
        raise JudgeError(f"{corpus.name} has another run set called {name}: choose another name.")
    if name:
        return name
    candidates = (f"{suggestion[: NAME_LIMIT - 6]} ({number})" for number in range(2, len(names) + 3))
    return next(text for text in (suggestion, *candidates) if text not in names)


def _member(run_set: RunSet, place: int, label: str, started: Run | Job) -> RunSetMember:
    field = "job" if isinstance(started, Job) else "run"
    return RunSetMember(run_set=run_set, position=place, label=label[:300], **{field: started})


# Progress of sets.

STARTING = "starting"
"""State of a member whose job has not started its run yet."""


@dataclass(frozen=True, slots=True)
class SetRow:
    """A run of a set, or the job that starts it, with its counts of calls, tokens and money.

    `reused` calls were done by other runs of the same judge. `cost` is None if it is not known, and for a
    rater that asks no model. `rate` is the calls finished per second in the last minute.
    """

    label: str
    run: Run | None
    job: Job | None
    state: str
    error: str
    total: int = 0
    done: int = 0
    failed: int = 0
    cancelled: int = 0
    remaining: int = 0
    reused: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: Decimal | None = None
    currency: str = ""
    rate: float = 0.0

    @property
    def is_active(self) -> bool:
        """Whether it goes on by itself."""
        return self.state in (STARTING, *runs.ACTIVE)

    @property
    def can_retry(self) -> bool:
        """Whether something of it failed or was cancelled."""
        return self.state in (Run.State.FAILED, Run.State.CANCELLED)


@dataclass(frozen=True, slots=True)
class SetProgress:
    """Progress of all runs of a set together. `state` is `running` while a run goes on, else `paused`,
    `failed` or `cancelled` if any run is, else `done`."""

    rows: tuple[SetRow, ...]

    @property
    def state(self) -> str:
        """State of the set."""
        if any(row.is_active for row in self.rows):
            return str(Run.State.RUNNING)
        states = {row.state for row in self.rows}
        order = (Run.State.PAUSED, Run.State.FAILED, Run.State.CANCELLED)
        return str(next((state for state in order if state in states), Run.State.DONE))

    @property
    def is_active(self) -> bool:
        """Whether a run of the set goes on by itself."""
        return self.state == Run.State.RUNNING

    @property
    def acts(self) -> dict[str, str]:
        """The verbs of `change_run_set` that apply to some run, with the texts of their buttons."""
        acts = RUN_ACTS.acts.items()
        return {verb: act.text for verb, act in acts if any(_applies(verb, row) for row in self.rows)}

    @property
    def price(self) -> str:
        """Cost so far in words; '' if no run asks a model."""
        asking = [row for row in self.rows if row.run and row.run.endpoint_id]
        unpriced = sum(row.cost is None for row in asking)
        return costs_in_words(self.costs, unpriced) if asking else ""

    @property
    def costs(self) -> dict[str, Decimal]:
        """Known costs so far, by currency."""
        sums: dict[str, Decimal] = {}
        for row in self.rows:
            if row.cost is not None:
                sums[row.currency] = sums.get(row.currency, Decimal(0)) + row.cost
        return sums

    @property
    def seconds_left(self) -> int | None:
        """Seconds until the last active run has finished, at the rates of the last minute; None: unknown."""
        active = [row for row in self.rows if row.is_active]
        if not active or any(not row.rate or row.state == STARTING for row in active):
            return None
        return round(max(row.remaining / row.rate for row in active))

    def sum(self, name: str) -> int:
        """Return the sum of a count of the rows."""
        return sum(getattr(row, name) for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """Return the totals as plain data."""
        counts = ("total", "done", "failed", "cancelled", "reused", "tokens_in", "tokens_out")
        costs = [{"currency": currency, "cost": float(cost)} for currency, cost in self.costs.items()]
        totals = {name: self.sum(name) for name in counts}
        return {"state": self.state, **totals, "costs": costs, "seconds_left": self.seconds_left}


def progress_of(run_sets: Iterable[RunSet]) -> dict[int, SetProgress]:
    """Return the progress of sets by id, in a constant number of queries."""
    ids = [run_set.pk for run_set in run_sets]
    members = list(RunSetMember.objects.filter(run_set__in=ids).select_related("job").order_by("position"))
    started = {member.pk: member.started_id for member in members}
    related = ("rater", "endpoint", "corpus", "campaign")
    by_id = Run.objects.select_related(*related).in_bulk([pk for pk in started.values() if pk])
    sums = _sums(by_id)
    rates = _rates(by_id.values())
    rows: dict[int, list[SetRow]] = {pk: [] for pk in ids}
    for member in members:
        run = by_id.get(started[member.pk] or 0)
        row = _job_row(member) if run is None else _run_row(member, run, sums[run.pk], rates.get(run.pk, 0.0))
        rows[member.run_set_id].append(row)
    return {pk: SetProgress(tuple(of_set)) for pk, of_set in rows.items()}


def sets_of(run: Run) -> QuerySet[RunSet]:
    """Return the sets that a run belongs to, latest first."""
    members = RunSetMember.objects.filter(Q(run=run) | Q(job__result__run=run.pk))
    return RunSet.objects.filter(pk__in=members.values("run_set")).order_by("-pk")


_COLUMNS = ("n", "tokens_in", "tokens_out", "asked", "costed", "cost")


def _sums(run_ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return the sums over the calls of each run, and the number of its calls by state (`states`)."""
    empty = dict.fromkeys(_COLUMNS, 0)
    sums: dict[int, dict[str, Any]] = {pk: {**empty, "states": {}} for pk in run_ids}
    rows: Any = CallCount.objects.filter(run__in=list(sums)).values("run", "state")
    for row in rows.annotate(**{f"sum_{name}": Sum(name) for name in _COLUMNS}):
        of_run = sums[row["run"]]
        of_run["states"][row["state"]] = row["sum_n"]
        for name in _COLUMNS:
            of_run[name] += row[f"sum_{name}"]
    return sums


def _rates(all_runs: Iterable[Run]) -> dict[int, float]:
    """Return the calls per second that each active run finished in the last minute, or since its start."""
    now = timezone.now()
    active = {run.pk: run for run in all_runs if run.state in runs.ACTIVE and run.started_at}
    recent = Call.objects.filter(run__in=list(active), finished_at__gte=now - WINDOW).order_by()
    rates = {}
    for pk, n in recent.values_list("run").annotate(n=Count("pk")):
        begun = max(now - WINDOW, active[pk].started_at or now)
        rates[pk] = n / max((now - begun).total_seconds(), 0.05)
    return rates


def _run_row(member: RunSetMember, run: Run, sums: Mapping[str, Any], rate: float) -> SetRow:
    states: Mapping[str, int] = sums["states"]
    is_priced = sums["costed"] or (run.endpoint_id is not None and not sums["asked"])
    return SetRow(
        label=member.label,
        run=run,
        job=None,
        state=run.state,
        error=run.error or run.pause_reason,
        total=sums["n"],
        done=states.get(Call.State.DONE, 0),
        failed=states.get(Call.State.FAILED, 0),
        cancelled=states.get(Call.State.CANCELLED, 0),
        remaining=sum(states.get(state, 0) for state in runs.UNFINISHED),
        reused=run.reused,
        tokens_in=sums["tokens_in"],
        tokens_out=sums["tokens_out"],
        cost=Decimal(sums["cost"]) if is_priced else None,
        currency=run.endpoint.currency if run.endpoint else "",
        rate=rate,
    )


def _job_row(member: RunSetMember) -> SetRow:
    """Return the row of a member without a run: its job waits, works, failed or was cancelled."""
    job = member.job
    assert job is not None
    ended = {Job.State.FAILED, Job.State.CANCELLED}
    state = str(job.state) if job.state in ended else STARTING
    return SetRow(label=member.label, run=None, job=job, state=state, error=job.error)


# Changes of all runs of a set.

VERBS = tuple(RUN_ACTS.acts)
"""Verbs of `change_run_set`."""
_STATES: Mapping[str, tuple[str, ...]] = {
    "pause": runs.ACTIVE,
    "resume": (Run.State.PAUSED,),
    "cancel": (STARTING, *runs.OPEN),
    "retry": (Run.State.FAILED, Run.State.CANCELLED),
}
"""States of the members that a verb applies to."""


def _applies(verb: str, row: SetRow) -> bool:
    return row.state in _STATES[verb] and (row.run is not None or verb in ("cancel", "retry"))


@transaction.atomic
def change_run_set(*, by: User, run_set: RunSet, verb: str) -> BulkOutcome:
    """Pause, resume, cancel or retry the runs of a set that this applies to; each is changed or refused by
    itself. `verb` is one of `VERBS`. Raises JobError if it applies to none."""
    if verb not in VERBS:
        raise JobError(f"There is no change {verb!r}; there are {', '.join(VERBS)}.")
    rows = [row for row in progress_of([run_set])[run_set.pk].rows if _applies(verb, row)]
    if not rows:
        raise JobError(f"The run set {run_set.name} has no run to {verb}.")
    for row in rows:
        if row.run is None and row.job is not None:
            change = job_actions.cancel if verb == "cancel" else job_actions.retry
            change(by=by, job=row.job)
    outcome = RUN_ACTS.change(by=by, verb=verb, ids=[row.run.pk for row in rows if row.run])
    detail = {"name": run_set.name, "changed": outcome.done, "refused": [r.id for r in outcome.refused]}
    Event.objects.create(by=by, verb=f"{verb} run set", subject=f"run set {run_set.pk}", detail=detail)
    return outcome


def as_json(run_set: RunSet, state: SetProgress) -> dict[str, Any]:
    """Return a set with its progress and its runs as plain data."""
    fields = (
        *("state", "error", "total", "done", "failed", "cancelled", "reused"),
        *("tokens_in", "tokens_out", "currency"),
    )
    rows = [
        {
            **{name: getattr(row, name) for name in fields},
            "title": row.label,
            "run": row.run.pk if row.run else None,
            "job": row.job.pk if row.job else None,
            "rater": row.run.name if row.run else None,
            "endpoint": row.run.endpoint.name if row.run and row.run.endpoint else None,
            "samples": row.run.samples if row.run else None,
            "cost": None if row.cost is None else float(row.cost),
        }
        for row in state.rows
    ]
    return {
        "id": run_set.pk,
        "name": run_set.name,
        "corpus": run_set.corpus.name,
        "campaign": run_set.campaign.name if run_set.campaign else None,
        "created_at": run_set.created_at,
        **state.as_json(),
        "runs": rows,
    }
