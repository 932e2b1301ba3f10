"""Waking a search: whenever a run of it has ended, a job takes it further."""

from __future__ import annotations

from calibration.models import Search
from calibration.searches import KIND
from jobs import actions, call_counts
from jobs.models import Job, Run


def go_on(search: int, run: Run | None = None) -> Job | None:
    """Queue the job that takes a search further; None where it has ended.

    The subject says after what it goes on, so that a job which is just ending does not swallow its successor.
    """
    found = Search.objects.filter(pk=search).first()
    if found is None or not found.active:
        return None
    after = "its start" if run is None else f"{call_counts.of_run(run)['n']} calls of run {run.pk}"
    return actions.start(
        kind=KIND,
        subject=f"search {search}, after {after}",
        by=found.created_by,
        params={"search": search},
    )
