"""Background work in the process of a test."""

from __future__ import annotations

from jobs.models.job import Job
from jobs.queue import jobs as queue
from jobs.queue.worker import Heartbeat


def work_off() -> Job:
    """Do all waiting jobs; return the newest one."""
    with Heartbeat("jobs") as heartbeat:
        queue.work("jobs", seconds=20, heartbeat=heartbeat)
    return Job.objects.latest("pk")
