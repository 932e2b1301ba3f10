"""Acts on all selected jobs, or on all selected runs. Researchers only: they may change every one."""

from __future__ import annotations

from config.bulk import BulkAct, BulkActs
from jobs import job_actions, runs
from jobs.errors import JobError
from jobs.models import Job, Run

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
    },
)
