"""The calls of a run changed by the ten thousand: a job, so that nobody waits in a request for them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from jobs import actions, call_counts, runs
from jobs.kinds import JobKind
from jobs.models import Call, Job, Run
from jobs.queue.progress import Progress

KIND = "calls"
AT_ONCE = 20_000
"""So many calls are changed while the page waits, in a few seconds."""
CANCEL, RETRY = "cancel", "retry"


@transaction.atomic
def cancel(*, by: User | None, run: Run) -> Run:
    """Stop a run at once; what waits is cancelled at once, too, or by a job where it is much."""
    waiting = call_counts.by_state([run]).get(run.pk, {}).get(Call.State.PENDING, 0)
    if waiting <= AT_ONCE:
        return runs.cancel(by=by, run=run)
    run = runs.stop(by=by, run=run)
    if run.state == Run.State.CANCELLED:
        _job(CANCEL, run, by)
    return run


@transaction.atomic
def retry(*, by: User | None, run: Run) -> Run | Job:
    """Ask again for what failed or was cancelled; return the run, or the job where it is much."""
    states = call_counts.by_state([run]).get(run.pk, {})
    if states.get(Call.State.FAILED, 0) + states.get(Call.State.CANCELLED, 0) <= AT_ONCE:
        return runs.retry_failed(by=by, run=run)
    return _job(RETRY, run, by)


def _job(what: str, run: Run, by: User | None) -> Job:
    return actions.start(
        kind=KIND, subject=f"{what} run {run.pk}", by=by, params={"run": run.pk, "what": what}
    )


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Do what a job names, in one transaction: one whose worker was lost has changed nothing.

    A run that somebody resumed while its cancelling waited keeps its calls. Its result is {run: id}.
    """
    found = Run.objects.filter(pk=job.params["run"]).first()
    if found is None:  # deleted with its corpus: nothing is left to change
        return {}
    if job.params["what"] == RETRY:
        runs.retry_failed(by=job.created_by, run=found, progress=progress)
    else:
        runs.cancel_waiting(run=found, progress=progress)
    return {"run": found.pk}


JOB = JobKind(KIND, "Change of a run's calls", run)
