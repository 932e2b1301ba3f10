"""Studies and their reports."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Study(models.Model):
    """A saved question put to the labels of a corpus or campaign.

    `definition` holds what differs from the defaults (see `calibration.reading.definitions`); an empty one
    means the automatic study: every question with two raters or more. A corpus and a campaign have one
    automatic study each, behind their report pages, without the people who are left out of gold; and, once
    somebody asked for it, a second one in which everyone counts.
    """

    name = models.CharField(max_length=160, unique=True)
    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="studies")
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.CASCADE, related_name="studies"
    )
    definition = models.JSONField(default=dict)
    automatic = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "studies"
        constraints = [
            models.UniqueConstraint(
                fields=["corpus", "campaign", "definition"],
                condition=Q(automatic=True),
                nulls_distinct=False,
                name="study_automatic_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Report(models.Model):
    """A snapshot of a study's results with the hash of everything it was computed from.

    `part` says which clusters it shows: all (no split), dev or test. `stamp` is what tells cheaply whether
    labels were added since.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="reports")
    part = models.CharField(max_length=4, default="all")
    inputs_hash = models.CharField(max_length=64)
    stamp = models.CharField(max_length=80, blank=True)
    result = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "part", "inputs_hash"], name="report_inputs_once"),
            models.CheckConstraint(condition=Q(part__in=["all", "dev", "test"]), name="report_part_known"),
        ]

    def __str__(self) -> str:
        return f"report of {self.study_id}"
