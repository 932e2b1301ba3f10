"""Who writes: a generator with its settings, asking a model with its parameters."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


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
