"""Benchmarks: corpora that were made of others, and the runs by which they were made."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Benchmark(models.Model):
    """A corpus made of source conversations: what was asked for, how far it is, and what came of it.

    `name` is that of the corpus, which is there, whole, once the state is done. `sources` lists {"corpus",
    "name"}: the source corpora's ids, and what their conversations' source is called where the conversations
    do not say it themselves; `made_from` has the corpora's names as they were called then.
    `order` is everything else that was asked for (seed, numbers, steps, settings): plain JSON. One that is
    stuck waits for a person, and `error` says why and what to do. `leave_out_failed` goes on without
    conversations that a step failed on. `figures` is what the benchmark's page tells of it, `sha256` that of
    its dialogues as JSON lines. `checked_by` read it for offensive content.
    """

    class State(models.TextChoices):
        MAKING = "making"
        STUCK = "stuck"
        DONE = "done"
        CANCELLED = "cancelled"

    name = models.CharField(max_length=100, unique=True)
    corpus = models.OneToOneField(
        "annotation.Corpus", null=True, on_delete=models.CASCADE, related_name="benchmark"
    )
    endpoint = models.ForeignKey("jobs.Endpoint", null=True, on_delete=models.PROTECT, related_name="+")
    sources = models.JSONField()
    made_from = models.JSONField(default=list)
    order = models.JSONField()
    leave_out_failed = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=State, default=State.MAKING)
    step = models.CharField(max_length=20, blank=True)
    error = models.TextField(blank=True)
    figures = models.JSONField(default=dict)
    sha256 = models.CharField(max_length=64, blank=True)
    checked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    checked_by_name = models.CharField(max_length=150, blank=True)
    checked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["making", "stuck", "done", "cancelled"]), name="benchmark_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state="done", corpus__isnull=False) | (~Q(state="done") & Q(corpus__isnull=True)),
                name="benchmark_done_has_its_corpus",
            ),
            models.CheckConstraint(
                condition=~Q(state="stuck") | ~Q(error=""), name="benchmark_stuck_says_why"
            ),
        ]

    def __str__(self) -> str:
        return self.name

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
