"""The tables of background work, one file per subject."""

from jobs.models.job import Job
from jobs.models.worker import Worker

__all__ = ["Job", "Worker"]
