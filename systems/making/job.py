"""Going on with a benchmark in the background: a short job whenever its runs have come to their end."""

from __future__ import annotations

from typing import Any

from jobs import actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job
from jobs.runs import OPEN
from systems.making.actions import KIND, advance
from systems.models import Benchmark, BenchmarkRun


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Start the runs that a benchmark needs next, or write its corpus."""
    pk = job.params["benchmark"]
    if not Benchmark.objects.filter(pk=pk).exists():
        raise JobRefused("the benchmark was deleted")
    found = advance(pk)
    if found.state == Benchmark.State.STUCK:
        raise JobRefused(found.error)
    return {"benchmark": found.name, "state": found.state, "step": found.step}


def sweep() -> int:
    """Have every benchmark gone on with whose runs have ended; return how many.

    One whose last job failed is stuck until a person looks at it.
    """
    under_way = BenchmarkRun.objects.filter(run__state__in=OPEN).values("benchmark")
    ready = Benchmark.objects.filter(state=Benchmark.State.MAKING).exclude(pk__in=under_way)
    for found in ready.select_related("created_by"):
        subject = f"benchmark {found.name}"
        last = Job.objects.filter(kind=KIND, subject=subject).order_by("-id").first()
        if last is not None and last.state in (Job.State.FAILED, Job.State.CANCELLED):
            error = f"Job {last.pk} was to go on with it and {last.state}: {last.error or last.note}"
            ready.filter(pk=found.pk).update(state=Benchmark.State.STUCK, error=error)
        else:
            actions.start(kind=KIND, subject=subject, by=found.created_by, params={"benchmark": found.pk})
    return len(ready)


JOB = JobKind(KIND, "Making of a benchmark", run)
