"""Acts on all selected jobs, or on all selected runs. Researchers only: they may change every one."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from config.bulk import BulkAct, BulkActs
from jobs import job_actions, runs
from jobs.errors import JobError
from jobs.models import Job, Run


def _cancel(*, by: User, run: Run) -> Run:
    """Cancel a run; refuse one that has ended, which has nothing to cancel."""
    if run.state not in runs.OPEN:
        raise JobError(f"Run {run.pk} is {run.state}: only one that has not ended can be cancelled.")
    return runs.cancel_calls(by=by, run=run)


def _retry(*, by: User, run: Run) -> Any:
    """Retry a run that failed or was cancelled; refuse any other."""
    if run.state not in (Run.State.FAILED, Run.State.CANCELLED):
        raise JobError(f"Run {run.pk} is {run.state}: only one that failed or was cancelled can be retried.")
    return runs.retry(by=by, run=run)


JOB_ACTS = BulkActs(
    noun="job",
    rows=lambda by: Job.objects.all(),
    name=lambda job: f"Job {job.pk} ({job.kind})",
    argument="job",
    refusal=JobError,
    acts={
        "retry": BulkAct("Run again", "queued again", job_actions.retry),
        "cancel": BulkAct("Cancel", "cancelled", job_actions.cancel),
    },
)
RUN_ACTS = BulkActs(
    noun="run",
    rows=lambda by: Run.objects.select_related("rater"),
    name=lambda run: f"{run.heading} (run {run.pk})",
    argument="run",
    refusal=JobError,
    acts={
        "pause": BulkAct("Pause", "paused", runs.pause),
        "resume": BulkAct("Resume", "resumed", runs.resume),
        "cancel": BulkAct("Cancel", "cancelled", _cancel),
        "retry": BulkAct("Retry failed calls", "started again", _retry),
    },
)
