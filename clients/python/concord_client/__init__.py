"""A client for Concord's HTTP API: `Concord(address, token)`, one method per route."""

from __future__ import annotations

import time

from concord_client import models
from concord_client.api import Api
from concord_client.transport import ConcordError, File, Unreachable

__all__ = ["Concord", "ConcordError", "File", "JobFailed", "Unreachable", "models"]
ENDED = ("done", "failed", "cancelled")


class JobFailed(Exception):
    """A job failed or was cancelled; `job` has the reason."""

    def __init__(self, job: models.Job) -> None:
        self.job = job
        super().__init__(f"job {job.get('id')} is {job.get('state')}: {job.get('error')}")


class Concord(Api):
    """Every route as a method, and waiting for jobs."""

    def wait_for_job(self, job: int, *, seconds: float = 600, every: float = 1.0) -> models.Job:
        """Return a job once it is done; raise JobFailed, or TimeoutError after `seconds`."""
        until = time.monotonic() + seconds
        while True:
            told = self.jobs_retrieve(job)
            if told.get("state") == "done":
                return told
            if told.get("state") in ENDED:
                raise JobFailed(told)
            if time.monotonic() > until:
                raise TimeoutError(f"job {job} is {told.get('state')} after {seconds:.0f} s")
            time.sleep(every)
