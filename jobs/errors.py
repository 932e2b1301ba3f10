"""What can go wrong with background work.

JobError                 a person asked for what cannot be done; one clear line
|-- WebhookRefused       a webhook cannot be like this (`field` is what is at fault)
|-- JobRefused           what a kind says of its own input: fails the job with that line (and `detail`)
JobStopped               the work must end now; raised by `Progress`, never caught by a kind
|-- JobCancelled         somebody cancelled the job
|-- JobInterrupted       the worker is told to stop: the job is given back
|-- JobLost              the lease went to another worker: what was done here does not count
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class JobError(ValueError):
    """What a person asked of a job cannot be done; the message is one clear line."""


class WebhookRefused(JobError):
    """Why a webhook cannot be like this; `field` names what is at fault, '' where it is none."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class JobRefused(JobError):
    """Why a job came to nothing: one line, and `detail` as plain JSON for its result."""

    def __init__(self, message: str, detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.detail = dict(detail or {})


class JobStopped(BaseException):
    """The work on a job must end. No handler of ordinary errors may swallow it."""


class JobCancelled(JobStopped):
    """The job was cancelled."""


class JobInterrupted(JobStopped):
    """The worker ends; the job waits for another."""


class JobLost(JobStopped):
    """The lease is another worker's now."""
