"""Going on with a simulation in the background: a short job whenever its runs have come to their end."""

from __future__ import annotations

from typing import Any

from jobs import actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job
from jobs.runs import OPEN
from systems.models import Simulation, SimulationRun
from systems.simulating.actions import KIND, advance, subject


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Start the runs that a simulation needs next, or see that it is done."""
    pk = job.params["simulation"]
    if not Simulation.objects.filter(pk=pk).exists():
        raise JobRefused("the simulation was deleted")
    held = advance(pk)
    if held.state == Simulation.State.STUCK:
        raise JobRefused(held.error)
    return {"simulation": held.pk, "state": held.state, "step": held.step}


def sweep() -> int:
    """Have every simulation gone on with whose runs have ended; return how many.

    One whose last job failed is stuck until a person looks at it.
    """
    under_way = SimulationRun.objects.filter(run__state__in=OPEN).values("simulation")
    ready = Simulation.objects.filter(state=Simulation.State.MAKING).exclude(pk__in=under_way)
    for held in ready.select_related("created_by"):
        last = Job.objects.filter(kind=KIND, subject=subject(held)).order_by("-id").first()
        if last is not None and last.state in (Job.State.FAILED, Job.State.CANCELLED):
            error = f"Job {last.pk} was to go on with it and {last.state}: {last.error or last.note}"
            ready.filter(pk=held.pk).update(state=Simulation.State.STUCK, error=error)
        else:
            actions.start(
                kind=KIND, subject=subject(held), by=held.created_by, params={"simulation": held.pk}
            )
    return len(ready)


JOB = JobKind(KIND, "Simulation", run)
