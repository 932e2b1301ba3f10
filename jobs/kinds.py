"""The kinds of jobs, and the queues: every piece of background work is in one of these tables; suites add to
them.

A kind of job is one module that has a `JOB`, and one line here. Modules are named by their address, because
this room is the lowest and imports none of them; the worker that needs one loads it.
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
from jobs.tables import Table, added

# How far a job is: written beside its transaction, so that others see it, and asked whether to go on.

EVERY = 0.5
"""Seconds between two writes, at least."""
_WRITE = """
UPDATE jobs_job SET done = %s, total = %s, note = %s
 WHERE id = %s AND worker = %s AND state = 'running' RETURNING cancel_asked
"""


def never() -> bool:
    """Do not stop early."""
    return False


class Progress:
    """Call it as the work goes: `progress(done, total)`. Use as a context, because it has its own connection.

    Raises JobCancelled, JobInterrupted or JobLost where the work must end; the caller lets that pass, and
    its transaction rolls back with it.
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
        """Say that `done` of `total` units are done, at most twice a second; raise where to stop."""
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
        "report": "calibration.studies.actions",
        "plan": "calibration.studies.plans",
        "profile": "calibration.comparisons.profiles",
        "counts": "calibration.comparisons.counts",
        "deletion": "annotation.corpora.deletion",
        "import": "annotation.corpora.uploads",
        "opening": "annotation.campaigns.actions",
        "gold": "calibration.gold.derivation",
        "starting": "judges.runs.actions",
        "export": "calibration.exports.downloads",
        "calls": "jobs.runs",
        "search": "calibration.workbench.search_job",
        "invitations": "annotation.people.links",
        "nearest": "judges.prompts.requests",
    },
)
"""Per kind of job: the module whose `JOB` does it."""

QUEUES: dict[str, str] = {
    CALLS: "jobs.calls.queue",
    METRICS: "jobs.calls.queue",
    JOBS: "jobs.queue.jobs",
}
"""Per queue (a worker process has one): the module that offers what `Queue` below asks for."""

RUN_KINDS: Table[str] = Table(
    "run_kinds",
    {
        "judge": "judges.runs.judge_calls",
        "draft": "judges.drafts.actions",
        "improve": "calibration.workbench.search_job",
        "metric": "judges.runs.metric_calls",
    },
)
"""Per kind of run: the module whose `RUN` makes its calls ready and records what they answered."""

SWEEPS: tuple[str, ...] = (
    "annotation.work.leases:return_expired",
    "annotation.corpora.uploads:clear",
    "annotation.work.labels:compact",
    "jobs.runs:compact_call_counts",
    "jobs.endpoints.actions:sweep_keys",
    "jobs.webhooks:clear",
    "config.idempotency:clear",
    "calibration.exports.downloads:clear",
)
"""What else workers put in order every few seconds: `module:function` without arguments."""


@dataclass(frozen=True)
class JobKind:
    """A kind of job. `run` does one and returns its result as plain JSON.

    It raises JobRefused for what its input does not allow, calls `progress` as it goes, and may be run again
    after its worker was lost: what it does must count once. `title` is what a page calls it.
    """

    key: str
    title: str
    run: Callable[[Job, Progress], Mapping[str, Any]]


class RunKind(Protocol):
    """What a kind of run offers: a run asks a model (`preparer`) or computes (`outcomes`), and records."""

    def preparer(self) -> Preparer:
        """Create the preparer of its calls, for one slice of work."""

    def outcomes(self, calls: Sequence[Call]) -> Iterator[list[Outcome]]:
        """Compute its calls, a few at a time."""

    def record(self, given: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Record the answers of calls in the current transaction; return how many are new."""

    def reopened(self, run: Run) -> None:
        """Note that a run goes on: what failed is asked again."""

    def settled(self, run: Run) -> None:
        """Count what came of a run that has ended, into its own columns; it is saved afterwards."""


class Queue(Protocol):
    """What a queue's module offers."""

    def ready(self, queue: str) -> bool:
        """Whether something can be claimed now."""

    def waiting(self, queue: str) -> str:
        """Return `ready` where something can be claimed now, `later` where it waits for its time, else ''."""

    def work(self, queue: str, *, seconds: float, heartbeat: Any, stopping: Callable[[], bool]) -> int:
        """Claim and do until nothing is ready or the time is over; return how many pieces were touched."""

    def renew(self, *, worker: str, ids: Sequence[int]) -> None:
        """Extend the leases that a worker holds."""

    def beat(self, queue: str) -> None:
        """Whatever small thing comes with every heartbeat of a worker."""

    def release(self, *, worker: str) -> int:
        """Take back at once what a worker held whose process is gone; return how many."""

    def sweep(self) -> int:
        """Take back what expired; return how many."""


def kind_of(key: str) -> JobKind:
    """Return a kind of job. KeyError for one that is not in the table."""
    kind: JobKind = import_module(KINDS[key]).JOB
    return kind


def run_kind(key: str) -> RunKind:
    """Return a kind of run. KeyError for one that is not in the table."""
    kind: RunKind = import_module(RUN_KINDS[key]).RUN
    return kind


def queue_of(key: str) -> Queue:
    """Return the module of a queue. KeyError for one that is not in the table."""
    module: Any = import_module(QUEUES[key])
    queue_module: Queue = module
    return queue_module


def all_queues() -> list[Queue]:
    """Return every queue's module, each once."""
    return [queue_of(key) for key in {module: key for key, module in QUEUES.items()}.values()]


def sweeps() -> list[Callable[[], object]]:
    """The sweeps of this installation: Concord's own and those of plugins."""
    own = (address.split(":") for address in SWEEPS)
    return [*(getattr(import_module(module), name) for module, name in own), *added("sweeps")]
