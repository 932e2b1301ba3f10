"""Baselines at many scenarios: a job, so that nobody waits in a request while they decide."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User

from jobs import actions as jobs
from jobs.errors import JobError, JobRefused
from jobs.kinds import JobKind
from jobs.kinds import Progress as JobProgress
from jobs.models import Job
from systems.producing import baselines
from systems.producing.baselines import Baseline, Played
from systems.producing.dialogues import Dialogues
from systems.producing.job import dialogues_from
from systems.producing.plans import digest

KIND = "baseline"
AT_ONCE = 100
"""So many continuations at most are made while the page waits: in two or three seconds."""


def start(*, by: User | None, baseline: Baseline, dialogues: Dialogues) -> Played | Job:
    """Let a baseline decide as `baselines.play` does; start a job for many scenarios and trials.

    Raises SystemsError for what cannot be asked for, and where no job is needed for what `play` refuses.
    """
    baseline.checked()
    if dialogues.rows().count() * baseline.trials <= AT_ONCE:
        return baselines.play(by=by, baseline=baseline, dialogues=dialogues)
    params = {"baseline": asdict(baseline), "dialogues": dialogues.as_json()}
    subject = f"{baseline.agent} in {dialogues.corpus.name[:180]}, {digest(params)[:8]}"
    return jobs.start(kind=KIND, subject=subject, params=params, by=by)


def run(job: Job, progress: JobProgress) -> dict[str, Any]:
    """Let the baseline that a job names decide, in one transaction; its result is what it came to."""
    told = job.params
    try:
        played = baselines.play(
            by=job.created_by,
            baseline=Baseline(**told["baseline"]),
            dialogues=dialogues_from(told["dialogues"]),
            progress=progress,
        )
    except JobRefused:
        raise
    except JobError as error:
        raise JobRefused(str(error)) from error
    return played.as_json()


JOB = JobKind(KIND, "Baseline agent", run)
