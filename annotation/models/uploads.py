"""Uploads: files that wait to be imported, and how far their imports are."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Upload(models.Model):
    """One file that was sent through a page, and its import: a job is a row.

    `corpus_name` is the new corpus, or the existing one where `into`. `problem` is {file, line, field,
    reason} of a refused file; `result` the counts of a finished import. `beat` tells that the import is
    alive.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        REFUSED = "refused"

    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="uploads")
    file_name = models.CharField(max_length=300)
    format = models.CharField(max_length=40)
    corpus_name = models.CharField(max_length=100)
    into = models.BooleanField(default=False)
    scheme = models.CharField(max_length=400, blank=True)
    source = models.TextField(blank=True)
    licence = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    done_bytes = models.BigIntegerField(default=0)
    total_bytes = models.BigIntegerField(default=0)
    dialogues = models.PositiveIntegerField(default=0)
    result = models.JSONField(null=True)
    problem = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    beat = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "refused"]), name="upload_state_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_name}: {self.state}"
