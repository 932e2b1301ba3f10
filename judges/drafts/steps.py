"""Waking a search for better texts: whenever a run of it has ended, a job takes it further."""

from __future__ import annotations

from jobs import actions
from jobs.models import Call, Job, Run

SEARCH = "search"
"""The kind of the jobs that take searches further (`calibration.searches.job`)."""


def go_on(search: int, *, after: str = "its start") -> Job:
    """Queue the job that takes a search further.

    The subject says after what it goes on, so that a job which is just ending does not swallow its successor.
    """
    subject = f"search {search}, after {after}"
    return actions.start(kind=SEARCH, subject=subject, by=None, params={"search": search})


def settled(run: Run) -> None:
    """Take the search of a run further, where it is of one."""
    if SEARCH in run.scope:
        done = run.calls.exclude(state=Call.State.CANCELLED).count()
        go_on(run.scope[SEARCH], after=f"{done} calls of run {run.pk}")
