"""Tables of job kinds, run kinds, queues and sweeps: all background work is listed here; suites add to them.

A job kind is a module with a `JOB`, and one line here. Modules are listed by import path, because this
package is the lowest layer and imports none of them; workers load them when they have work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from jobs.errors import JobCancelled, JobInterrupted, JobLost
from jobs.models import Call, Job, Run
from jobs.models.job import JobLane
from jobs.tables import Table, added

# Progress of a job: written outside its transaction, so that others see it, with a check whether to continue.

EVERY = 0.5
"""Minimum seconds between two writes."""
_WRITE = """
UPDATE jobs_job SET done = %s, total = %s, note = %s
 WHERE id = %s AND worker = %s AND state = 'running' RETURNING cancel_asked
"""


def never() -> bool:
    """Do not stop early."""
    return False


class Progress:
    """Progress reporter: call `progress(done, total)` during the work, inside its context (its own
    connection).

    Raises JobCancelled, JobInterrupted or JobLost when the work must end; the caller lets the exception pass,
    so that its transaction rolls back.
    """

    def __init__(self, job: int, worker: str, stopping: Callable[[], bool] = never) -> None:
        self.job, self.worker, self.stopping = job, worker, stopping
        self._outside: BaseDatabaseWrapper | None = None
        self._last = 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._outside is not None:
            self._outside.close()

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Report `done` of `total` units, at most twice a second; raise if the work must stop."""
        if self.stopping():
            raise JobInterrupted
        if monotonic() - self._last < EVERY and done < total:
            return
        self._last = monotonic()
        if self._outside is None:
            self._outside = connection.copy()
        with self._outside.cursor() as cursor:
            cursor.execute(_WRITE, [done, total, note[:200], self.job, self.worker])
            row = cursor.fetchone()
        if row is None:
            raise JobLost
        if row[0]:
            raise JobCancelled


if TYPE_CHECKING:
    from jobs.calls.outcomes import Outcome
    from jobs.calls.prepared import Preparer

JOBS, CALLS, METRICS = "jobs", "calls", "metrics"

KINDS: Table[str] = Table(
    "job_kinds",
    {
        "report": "calibration.studies.study_actions",
        "plan": "calibration.studies.plans",
        "profile": "calibration.comparisons.profiles",
        "counts": "calibration.comparisons.counts",
        "deletion": "annotation.corpora.deletion",
        "import": "annotation.corpora.uploads",
        "opening": "annotation.campaigns.campaign_actions",
        "gold": "calibration.gold.derivation",
        "starting": "judges.runs.run_actions",
        "export": "calibration.exports.downloads",
        "calls": "jobs.runs",
        "search": "calibration.workbench.search_job",
        "invitations": "annotation.people.links",
        "nearest": "judges.prompts.requests",
        "drift": "calibration.drift.comparing",
    },
)
"""Module with the `JOB` of each job kind."""

SHORT = frozenset({"report", "plan", "profile", "counts", "gold", "export", "nearest", "invitations"})
"""Kinds of short jobs, for which a person waits. All others, of suites too, are long: they take as long as a
corpus or a model needs."""

QUEUES: dict[str, str] = {
    CALLS: "jobs.calls.queue",
    METRICS: "jobs.calls.queue",
    JOBS: "jobs.queue.jobs",
}
"""Module with the `Queue` interface below, for each queue (a worker process serves one queue)."""

RUN_KINDS: Table[str] = Table(
    "run_kinds",
    {
        "judge": "judges.runs.judge_calls",
        "draft": "judges.drafts.draft_actions",
        "improve": "calibration.workbench.search_job",
        "metric": "judges.runs.metric_calls",
        "recheck": "calibration.drift.anchor_actions",
    },
)
"""Module with the `RUN` of each run kind, which prepares its calls and records their answers."""

SWEEPS: tuple[str, ...] = (
    "annotation.work.leases:return_expired",
    "annotation.corpora.uploads:clear",
    "annotation.work.labels:compact",
    "jobs.runs:compact_call_counts",
    "jobs.endpoints.endpoint_actions:sweep_keys",
    "jobs.webhooks:clear",
    "config.idempotency:clear",
    "calibration.exports.downloads:clear",
    "calibration.drift.anchor_actions:start_due",
)
"""Other cleanup that workers do every few seconds: `module:function` without arguments."""


@dataclass(frozen=True)
class JobKind:
    """A kind of job. `run` does one job and returns its result as plain JSON.

    It raises JobRefused for invalid input, calls `progress` during the work, and may run again after its
    worker was lost: its effects must count once. `title` is its name on pages.
    """

    key: str
    title: str
    run: Callable[[Job, Progress], Mapping[str, Any]]


class RunKind(Protocol):
    """Interface of a run kind: a run sends requests (`preparer`) or computes (`outcomes`), and records
    answers.
    """

    def preparer(self) -> Preparer:
        """Create the preparer of its calls, for one slice of work."""

    def outcomes(self, calls: Sequence[Call]) -> Iterator[list[Outcome]]:
        """Compute its calls, a few at a time."""

    def record(self, results: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Record the answers of calls in the current transaction; return the number of new labels."""

    def reopened(self, run: Run) -> None:
        """Handle a run that resumes: its failed calls are retried."""

    def awaits_calls(self, run: Run) -> bool:
        """Whether calls come from elsewhere later: then it stays open also while none is unfinished."""

    def settled(self, run: Run) -> None:
        """Count the results of a finished run into its columns; the caller saves it afterwards."""


class Queue(Protocol):
    """Interface of a queue's module."""

    def ready(self, queue: str) -> bool:
        """Whether any work can be claimed now."""

    def waiting(self, queue: str) -> str:
        """Return `ready` if work can be claimed now, `later` if it waits for its time, else ''."""

    def work(self, queue: str, *, seconds: float, heartbeat: Any, stopping: Callable[[], bool]) -> int:
        """Claim and do work until none is ready or time is up; return the number of pieces touched."""

    def renew(self, *, worker: str, ids: Sequence[int]) -> None:
        """Extend the leases that a worker holds."""

    def beat(self, queue: str) -> None:
        """Do small periodic work at every heartbeat of a worker."""

    def release(self, *, worker: str) -> int:
        """Take back at once the work of a worker whose process is gone; return the number of pieces."""

    def sweep(self) -> int:
        """Take back work with expired leases; return the number of pieces."""


def lane_of(key: str) -> JobLane:
    """Return the lane of a job kind."""
    return JobLane.SHORT if key in SHORT else JobLane.LONG


def kind_of(key: str) -> JobKind:
    """Return a job kind. KeyError for a kind that is not in the table."""
    kind: JobKind = import_module(KINDS[key]).JOB
    return kind


def load_kinds() -> None:
    """Load the modules of all job kinds."""
    for key in KINDS:
        kind_of(key)


def run_kind(key: str) -> RunKind:
    """Return a run kind. KeyError for a kind that is not in the table."""
    kind: RunKind = import_module(RUN_KINDS[key]).RUN
    return kind


def queue_of(key: str) -> Queue:
    """Return the module of a queue. KeyError for a queue that is not in the table."""
    module: Any = import_module(QUEUES[key])
    queue_module: Queue = module
    return queue_module


def all_queues() -> list[Queue]:
    """Return the modules of all queues, each once."""
    return [queue_of(key) for key in {module: key for key, module in QUEUES.items()}.values()]


def sweeps() -> list[Callable[[], object]]:
    """Return all sweeps: Concord's own and those of plugins."""
    own = (address.split(":") for address in SWEEPS)
    return [*(getattr(import_module(module), name) for module, name in own), *added("sweeps")]
