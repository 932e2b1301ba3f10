"""Simulations: systems that are asked the questions of a set while they hear a corpus's scripts."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Simulation(models.Model):
    """A condition of a system over the scripts of a corpus: what was asked for, and how far it is.

    `endpoint` is null where a baseline answers. `order` is everything else that was asked for (memory,
    retriever, names, trials ...): plain JSON; `digest` is the SHA-256 of all of it, so that the same
    simulation is gone on with and never begun twice. `step` is what is being made now. One that is stuck
    waits for a person, and `error` says why and what to do.
    """

    class State(models.TextChoices):
        MAKING = "making"
        STUCK = "stuck"
        DONE = "done"
        CANCELLED = "cancelled"

    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="simulations")
    question_set = models.ForeignKey(
        "annotation.QuestionSet", on_delete=models.CASCADE, related_name="simulations"
    )
    endpoint = models.ForeignKey("jobs.Endpoint", null=True, on_delete=models.PROTECT, related_name="+")
    order = models.JSONField()
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State, default=State.MAKING)
    step = models.CharField(max_length=20, blank=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "digest"], name="simulation_once"),
            models.CheckConstraint(
                condition=Q(state__in=["making", "stuck", "done", "cancelled"]), name="simulation_state_known"
            ),
            models.CheckConstraint(
                condition=~Q(state="stuck") | ~Q(error=""), name="simulation_stuck_says_why"
            ),
        ]

    def __str__(self) -> str:
        return f"simulation {self.pk}"


class SimulationRun(models.Model):
    """A run by which a step of a simulation is made."""

    simulation = models.ForeignKey(Simulation, on_delete=models.CASCADE, related_name="links")
    step = models.CharField(max_length=20)
    run = models.ForeignKey("jobs.Run", on_delete=models.CASCADE, related_name="simulations")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["simulation", "step", "run"], name="simulation_run_once")
        ]

    def __str__(self) -> str:
        return f"{self.step} of {self.simulation_id} by run {self.run_id}"
