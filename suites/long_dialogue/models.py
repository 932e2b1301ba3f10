"""Simulations: systems that are asked the questions of a set while they hear a corpus's scripts."""

from __future__ import annotations

from django.db import models

from suites.continuation.models import Pipeline


class Simulation(Pipeline):
    """A condition of a system over the scripts of a corpus: what was asked for, and how far it is.

    `endpoint` is null where a baseline answers. `order` is everything else that was asked for: memory,
    retriever, names, trials ...; `digest` is the SHA-256 of all of it, so that the same simulation is gone on
    with and never begun twice.
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
        """What entries in the audit log are about."""
        return f"{self.subject} of {self.corpus.name}"


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
