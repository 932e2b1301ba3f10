"""Productions: a writer's work on one dialogue, and the calls behind it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

# Pipelines: multi-step work done by runs.


class Pipeline(models.Model):
    """A multi-step request: its order, progress and author. Runs do the work of each step.

    `order` is the request as plain JSON. `endpoint` is null where no model is called. `step` is the current
    step. A stuck pipeline waits for a person; `error` says why and what to do.
    """

    class State(models.TextChoices):
        MAKING = "making"
        STUCK = "stuck"
        DONE = "done"
        CANCELLED = "cancelled"

    endpoint = models.ForeignKey("jobs.Endpoint", null=True, on_delete=models.PROTECT, related_name="+")
    order = models.JSONField()
    state = models.CharField(max_length=10, choices=State, default=State.MAKING)
    step = models.CharField(max_length=20, blank=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["making", "stuck", "done", "cancelled"]), name="%(class)s_state_known"
            ),
            models.CheckConstraint(
                condition=~Q(state="stuck") | ~Q(error=""), name="%(class)s_stuck_says_why"
            ),
        ]

    @classmethod
    def kind_of(cls) -> str:
        """Return the kind of its jobs, also its name in sentences."""
        return str(cls._meta.model_name)

    @property
    def kind(self) -> str:
        """The kind of this pipeline's jobs."""
        return self.kind_of()

    @property
    def subject(self) -> str:
        """Subject of its jobs."""
        return f"{self.kind} {self.pk}"

    @property
    def logged_as(self) -> str:
        """Subject of its entries in the audit log."""
        return self.subject


# Benchmarks: corpora made from other corpora, and the runs that make them.


class Benchmark(Pipeline):
    """A corpus made from source conversations: the request, its progress and its result.

    `name` is the name of the corpus, which exists, complete, once the state is done. `sources` lists
    {"corpus", "name"}: the source corpora's ids, and the source names for conversations that do not name
    their source themselves; `made_from` has the corpora's names at that time. `order` is the rest of the
    request: seed, numbers, steps, settings. `leave_out_failed` continues without conversations on which a
    step failed. `figures` are shown on the benchmark's page, `sha256` is the hash of its dialogues as JSON
    lines. `checked_by` read it for offensive content.
    """

    name = models.CharField(max_length=100, unique=True)
    corpus = models.OneToOneField(
        "annotation.Corpus", null=True, on_delete=models.CASCADE, related_name="benchmark"
    )
    sources = models.JSONField()
    made_from = models.JSONField(default=list)
    leave_out_failed = models.BooleanField(default=False)
    figures = models.JSONField(default=dict)
    sha256 = models.CharField(max_length=64, blank=True)
    checked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    checked_by_name = models.CharField(max_length=150, blank=True)
    checked_at = models.DateTimeField(null=True)

    class Meta(Pipeline.Meta):
        constraints = [
            *Pipeline.Meta.constraints,
            models.CheckConstraint(
                condition=Q(state="done", corpus__isnull=False) | (~Q(state="done") & Q(corpus__isnull=True)),
                name="benchmark_done_has_its_corpus",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def subject(self) -> str:
        """Subject of its jobs."""
        return f"benchmark {self.name}"

    @property
    def is_done(self) -> bool:
        """Whether its corpus is complete."""
        return self.state == Benchmark.State.DONE


class BenchmarkRun(models.Model):
    """A run that performs a benchmark's step on the conversations of one source corpus."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="links")
    step = models.CharField(max_length=20)
    run = models.ForeignKey("jobs.Run", on_delete=models.CASCADE, related_name="benchmarks")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "step", "run"], name="benchmark_run_once")
        ]

    def __str__(self) -> str:
        return f"{self.step} of {self.benchmark_id} by run {self.run_id}"


# Writers: a generator with its settings, and a model with its parameters.


class Writer(models.Model):
    """A named writer of a corpus; `spec` identifies it, `fingerprint` is the SHA-256 of `spec`.

    `spec` has the generator's key and version, the fixed settings, the model and the sampling parameters.
    `system` is the corpus's system of that name where the writer produces continuations, null where it
    produces texts. Neither the name nor the spec ever changes: the same name with another spec is refused.
    """

    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="writers")
    name = models.CharField(max_length=200)
    spec = models.JSONField()
    fingerprint = models.CharField(max_length=64)
    system = models.OneToOneField(
        "annotation.System", null=True, on_delete=models.CASCADE, related_name="writer"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "name"], name="writer_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="writer_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Production(models.Model):
    """A writer's work on one dialogue, under a condition, as one of several trials (from 0).

    `generator` is the key of the generator. `memory` is the generator's state after `step` answered steps,
    plain JSON. It is kept until the production is done, also for a failed production, so that a retry
    continues at the failed step. A production that is done has its continuation, or its `result` where it
    produces text. `condition` holds the varying settings and the model; `condition_hash` is the SHA-256 of
    the condition as canonical JSON.
    """

    class Status(models.TextChoices):
        WRITING = "writing"
        DONE = "done"
        FAILED = "failed"

    run = models.ForeignKey("jobs.Run", on_delete=models.CASCADE, related_name="productions")
    writer = models.ForeignKey("continuation.Writer", on_delete=models.CASCADE, related_name="productions")
    dialogue = models.ForeignKey("annotation.Dialogue", on_delete=models.CASCADE, related_name="productions")
    generator = models.CharField(max_length=60)
    condition = models.JSONField()
    condition_hash = models.CharField(max_length=64)
    trial = models.PositiveIntegerField(default=0)
    memory = models.JSONField(default=dict)
    step = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status, default=Status.WRITING)
    error = models.TextField(blank=True)
    flags = models.JSONField(default=list)
    continuation = models.OneToOneField(
        "annotation.Continuation", null=True, on_delete=models.CASCADE, related_name="production"
    )
    result = models.JSONField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["dialogue", "writer", "condition_hash", "trial"], name="production_once"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["writing", "done", "failed"]), name="production_status_known"
            ),
            models.CheckConstraint(
                condition=Q(status="done", continuation__isnull=False, result__isnull=True)
                | Q(status="done", continuation__isnull=True, result__isnull=False)
                | Q(~Q(status="done"), continuation__isnull=True, result__isnull=True),
                name="production_done_has_what_it_wrote",
            ),
            models.CheckConstraint(
                condition=~Q(status="failed") | ~Q(error=""), name="production_failed_says_why"
            ),
        ]
        indexes = [models.Index(fields=["run", "status"], name="production_by_status")]

    def __str__(self) -> str:
        return f"production {self.pk}: {self.status}"


class ProductionCall(models.Model):
    """Link from a prompt of a production to the call that answers it: `part` numbers the prompts of a step.

    A call shared by several productions is linked to each of them; a follow-up call for one production alone
    has the next part.
    """

    production = models.ForeignKey(Production, on_delete=models.CASCADE, related_name="links")
    step = models.PositiveIntegerField()
    part = models.PositiveIntegerField()
    call = models.ForeignKey("jobs.Call", on_delete=models.CASCADE, related_name="productions")

    class Meta:
        ordering = ["production", "step", "part"]
        constraints = [
            models.UniqueConstraint(fields=["production", "step", "part"], name="production_call_once")
        ]

    def __str__(self) -> str:
        return f"step {self.step}, part {self.part} of production {self.production_id}"
