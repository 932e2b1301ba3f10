"""Uploads: files that were sent to be imported, and what came of them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from jobs.models import Job


class Upload(models.Model):
    """One file that was sent through a page or the API, and what came of its import.

    `format` was `guessed` where nobody named it; `columns` are a table's own names for columns, by Concord's,
    and `file_settings` what the file itself does not say.
    `corpus_name` is the new corpus, or the existing one where `into`. `job` does the import and says how far
    it is. `result` is the counts of a finished import, written in the import's own transaction; `problems`
    are the {file, line, field, reason} of a refused file.
    """

    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="uploads")
    job = models.OneToOneField(Job, null=True, on_delete=models.SET_NULL, related_name="upload")
    file_name = models.CharField(max_length=300)
    format = models.CharField(max_length=40)
    guessed = models.BooleanField(default=False)
    columns = models.JSONField(default=dict, blank=True)
    file_settings = models.JSONField(default=dict, blank=True, db_default={})
    corpus_name = models.CharField(max_length=100)
    into = models.BooleanField(default=False)
    scheme = models.CharField(max_length=400, blank=True)
    source = models.TextField(blank=True)
    licence = models.CharField(max_length=200, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    total_bytes = models.BigIntegerField(default=0)
    result = models.JSONField(null=True)
    problems = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(result__isnull=True) | Q(problems__isnull=True), name="upload_ends_one_way"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_name}: {self.state}"

    @property
    def state(self) -> str:
        """Return `done`, `refused`, or the state of its job (`lost` where it never got one)."""
        if self.result is not None:
            return "done"
        if self.problems is not None:
            return "refused"
        return self.job.state if self.job else "lost"
