"""Simulations: systems answer the questions of a set while they hear a corpus's scripts."""

from __future__ import annotations

from django.db import models

from suites.continuation.models import Pipeline


class Simulation(Pipeline):
    """A condition of a system over the scripts of a corpus: its settings, and its progress.

    `endpoint` is null for a baseline. `order` contains all other settings: memory, retriever, names, trials
    and so on; `digest` is the SHA-256 of all of them, so that the same simulation is resumed and never
    started twice.
    """

    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="simulations")
    question_set = models.ForeignKey(
        "annotation.QuestionSet", on_delete=models.CASCADE, related_name="simulations"
    )
    digest = models.CharField(max_length=64)

    class Meta(Pipeline.Meta):
        constraints = [
            *Pipeline.Meta.constraints,
            models.UniqueConstraint(fields=["corpus", "digest"], name="simulation_once"),
        ]

    def __str__(self) -> str:
        return self.subject

    @property
    def logged_as(self) -> str:
        """Subject of entries in the audit log."""
        return f"{self.subject} of {self.corpus.name}"


class SimulationRun(models.Model):
    """A run that carries out a step of a simulation."""

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
