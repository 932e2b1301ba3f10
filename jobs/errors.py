"""Errors of background work.

JobError                 the request cannot be fulfilled; one clear line
|-- WebhookRefused       invalid settings of a webhook (`field` is the field at fault)
|-- JobRefused           invalid input of a job: fails the job with that line (and `detail`)

JobStopped               the work must end now; raised by `Progress`, never caught by a kind
|-- JobCancelled         a user cancelled the job
|-- JobInterrupted       the worker is stopping: the job is given back
|-- JobLost              another worker has the lease: work done here does not count
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

# Kinds of failures of calls, set where they arise: one table for pages, API and reports.

TRANSPORT = "transport"
SERVER = "server"
RATE_LIMIT = "rate_limit"
ACCESS = "access"
PARAMETER = "parameter"
REQUEST = "request"
CONTEXT_TOO_LONG = "context_too_long"
OVER_BUDGET = "over_budget"
TEST_EXAMPLES = "test_examples"
REFUSAL = "refusal"
CONTENT_FILTER = "content_filter"
TRUNCATED = "truncated"
UNPARSEABLE = "unparseable"
OUT_OF_SCALE = "out_of_scale"
CHANGED = "changed"
LOST_WORKER = "lost_worker"
DEFECT = "defect"

ERROR_KINDS: dict[str, str] = {
    TRANSPORT: "no connection, no reply in time, or none that is one",
    SERVER: "the endpoint failed (5xx)",
    RATE_LIMIT: "too many requests for the endpoint (429)",
    ACCESS: "the endpoint refuses the key, the model or the address",
    PARAMETER: "the endpoint refuses a parameter",
    REQUEST: "the endpoint refuses the request",
    CONTEXT_TOO_LONG: "longer than the model's context",
    OVER_BUDGET: "longer than the judge's budget of characters",
    TEST_EXAMPLES: "a worked example of the prompt is in the test part by now",
    REFUSAL: "the model refuses to answer",
    CONTENT_FILTER: "held back by the endpoint's content filter",
    TRUNCATED: "the reply was cut off at its most tokens",
    UNPARSEABLE: "the reply does not answer in the asked form",
    OUT_OF_SCALE: "an answer is not on the question's scale",
    CHANGED: "what it is asked changed while its batch was under way",
    LOST_WORKER: "its worker was lost each time",
    DEFECT: "a defect in Concord",
}
"""Description of each error kind, in listing order."""


NUMBERS_PATTERN = r"\b[0-9a-f-]*\d[0-9a-f-]{7,}\b|\d+"
"""Numbers and ids in an error, by which equal errors differ."""
TRIES_PATTERN = r" \(tried \d+ times\)$"
_NUMBERS = re.compile(NUMBERS_PATTERN, re.I)
_TRIES = re.compile(TRIES_PATTERN)


def same_cause(error: str) -> str:
    """Group key of an error: its text without numbers and ids."""
    return _NUMBERS.sub("#", without_tries(error))


def without_tries(error: str) -> str:
    """Return an error without the number of its tries."""
    return _TRIES.sub("", error)


def commonest(errors: Iterable[str]) -> tuple[str, int]:
    """Return the commonest cause of errors, in the wording of its first error, and its count."""
    by_cause: dict[str, list[str]] = {}
    for error in errors:
        by_cause.setdefault(same_cause(error), []).append(error)
    most = max(by_cause.values(), key=len, default=[])
    return (without_tries(most[0]), len(most)) if most else ("", 0)


OLDER = "older"
"""URL key of failures from before kinds were recorded."""


def describe_kind(kind: str) -> str:
    """Describe an error kind; calls that failed before kinds were recorded have none."""
    return ERROR_KINDS.get(kind, "not kept apart: it failed under an earlier version")


class JobError(ValueError):
    """A request about a job cannot be fulfilled; the message is one clear line."""


class WebhookRefused(JobError):
    """A webhook has invalid settings; `field` names the field at fault, '' if there is none."""

    status = 422
    code = "webhook_refused"

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field

    def details(self) -> dict[str, Any]:
        """Return the field at fault, for API clients."""
        return {"fields": {self.field: [str(self)]}} if self.field else {}


class JobRefused(JobError):
    """A job failed because of its input: one line, and `detail` as plain JSON for its result."""

    def __init__(self, message: str, detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.detail = dict(detail or {})


class JobStopped(BaseException):
    """The work on a job must end. No handler of ordinary errors may swallow this."""


class JobCancelled(JobStopped):
    """The job was cancelled."""


class JobInterrupted(JobStopped):
    """The worker is stopping; the job waits for another."""


class JobLost(JobStopped):
    """Another worker has the lease now."""
