"""Jobs: one piece of background work each, of a kind that `jobs.kinds` lists."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

# Workers and when they were last seen.


class Worker(models.Model):
    """A worker process and its last heartbeat.

    `machine`, `pid` and `birth` identify its process (`jobs.queue.worker`), so that another worker on the
    same machine can tell when it is gone; empty if the system does not provide them. `lacks` are the ids of
    endpoints whose key its environment lacks: it leaves their calls to others.
    """

    name = models.CharField(max_length=200, unique=True)
    queue = models.CharField(max_length=10)
    machine = models.CharField(max_length=200, blank=True)
    pid = models.PositiveIntegerField(null=True)
    birth = models.CharField(max_length=40, blank=True)
    lacks = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))
    started_at = models.DateTimeField(auto_now_add=True)
    last_seen = models.DateTimeField()

    class Meta:
        ordering = ["queue", "name"]

    def __str__(self) -> str:
        return self.name


class JobLane(models.TextChoices):
    """Lanes of the queue of jobs: a worker serves them side by side, so that no short job waits for a long
    one. `jobs.kinds.SHORT` lists the kinds of short jobs."""

    SHORT = "short"
    LONG = "long"


class Job(models.Model):
    """A background job: its kind and parameters, requester, progress, and result.

    `kind` is a key of `jobs.kinds.KINDS`, `params` the parameters of that kind (plain JSON, mostly ids),
    `subject` describes its object: a kind and subject have at most one active job. `lane` follows from the
    kind. Claimed with a lease
    (`lease_expires`, renewed by the heartbeat); a job whose worker was lost is retried, up to `max_attempts`
    times in all. `done` of `total` is its progress in units of its kind, with a short `note`. `result` is its
    result, `error` one line with the reason of a failure. `cancel_asked` ends a running job at its next step.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    kind = models.CharField(max_length=30)
    lane = models.CharField(max_length=5, choices=JobLane, default=JobLane.LONG, db_default=JobLane.LONG)
    subject = models.CharField(max_length=300)
    params = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0)
    note = models.CharField(max_length=200, blank=True)
    result = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    cancel_asked = models.BooleanField(default=False)
    attempts = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveIntegerField(default=3)
    worker = models.CharField(max_length=200, blank=True)
    lease_expires = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="jobs"
    )
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject"],
                condition=Q(state__in=["queued", "running"]),
                name="job_active_once",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "done", "failed", "cancelled"]),
                name="job_state_known",
            ),
            models.CheckConstraint(condition=Q(lane__in=["short", "long"]), name="job_lane_known"),
            models.CheckConstraint(
                condition=~Q(state="running") | Q(lease_expires__isnull=False), name="job_lease_has_end"
            ),
        ]
        indexes = [
            models.Index(fields=["lane", "id"], condition=Q(state="queued"), name="job_queued"),
            models.Index(fields=["lease_expires"], condition=Q(state="running"), name="job_leases"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} job {self.pk}: {self.state}"

    @property
    def active(self) -> bool:
        """Whether the job is queued or running."""
        return self.state in {Job.State.QUEUED, Job.State.RUNNING}
