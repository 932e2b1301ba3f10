"""Exports that were made, with the hash of what was downloaded."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Export(models.Model):
    """One completed download: of what, in which format, how many rows, and the SHA-256 of its bytes.

    `what` is labels, notes, gold, transcripts, sft (examples for fine-tuning), or a package for another tool.
    """

    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="exports")
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.CASCADE, related_name="exports"
    )
    gold = models.ForeignKey("calibration.Gold", null=True, on_delete=models.CASCADE, related_name="exports")
    what = models.CharField(max_length=20, default="labels")
    part = models.CharField(max_length=20, blank=True)
    format = models.CharField(max_length=10)
    rows = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(format__in=["csv", "jsonl", "parquet", "zip", "md", "tex", "html"]),
                name="export_format_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.format} of {self.rows} rows"
