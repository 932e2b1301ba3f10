"""Productions: one writer at work on one dialogue, and the calls by which it was written."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

# What is made step by step, by runs.


class Pipeline(models.Model):
    """What was asked for, how far it is, and by whom; each step of it is made by runs.

    `order` is what was asked for, plain JSON. `endpoint` is null where no model is asked. `step` is what is
    being made now. One that is stuck waits for a person, and `error` says why and what to do.
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
        """Return the kind of its jobs, and what it is called in sentences."""
        return str(cls._meta.model_name)

    @property
    def kind(self) -> str:
        """The same of one."""
        return self.kind_of()

    @property
    def subject(self) -> str:
        """What its jobs are about."""
        return f"{self.kind} {self.pk}"

    @property
    def logged_as(self) -> str:
        """What entries in the audit log are about."""
        return self.subject


# Benchmarks: corpora that were made of others, and the runs by which they were made.


class Benchmark(Pipeline):
    """A corpus made of source conversations: what was asked for, how far it is, and what came of it.

    `name` is that of the corpus, which is there, whole, once the state is done. `sources` lists {"corpus",
    "name"}: the source corpora's ids, and what their conversations' source is called where the conversations
    do not say it themselves; `made_from` has the corpora's names as they were called then.
    `order` is everything else that was asked for: seed, numbers, steps, settings. `leave_out_failed` goes on
    without conversations that a step failed on. `figures` is what the benchmark's page tells of it, `sha256`
    that of its dialogues as JSON lines. `checked_by` read it for offensive content.
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
        """What its jobs are about."""
        return f"benchmark {self.name}"

    @property
    def is_done(self) -> bool:
        """Whether its corpus is there."""
        return self.state == Benchmark.State.DONE


class BenchmarkRun(models.Model):
    """A run by which a benchmark's step is made, over the conversations of one source corpus."""

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


# Who writes: a generator with its settings, asking a model with its parameters.


class Writer(models.Model):
    """One who writes for a corpus, known by name; `spec` is who that is, `fingerprint` its SHA-256.

    `spec` has the generator's key and version, the settings that are fixed, the model and the sampling
    parameters. `system` is the corpus's system of that name where it writes continuations, null where it
    writes texts. Neither the name nor the spec ever changes: the same name with another spec is refused.
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
    """One writer at work on one dialogue, under a condition, as one of several trials (from 0).

    `generator` is the key of the one that writes. `memory` is the generator's state after `step` answered
    steps, plain JSON. It is kept until the production is done, also of one that failed, so that trying again
    goes on at the failed step. A production that is done has what it wrote: its continuation, or its `result`
    where it writes text. `condition` is what varies, with the model; `condition_hash` the SHA-256 of it as
    canonical JSON.
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
    """Which call answers which prompt of a production: `part` numbers the prompts of a step.

    A call that several productions share is linked to each of them; one that is then asked alone for a
    production has the part after it.
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
