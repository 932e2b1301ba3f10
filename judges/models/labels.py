"""Which label came from which call."""

from __future__ import annotations

from django.db import models

# Embeddings of texts, computed once.


class Embedding(models.Model):
    """The vector of one distinct text under one model: float32, little-endian, as bytes."""

    model = models.CharField(max_length=200)
    text_hash = models.CharField(max_length=64)
    vector = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["model", "text_hash"], name="embedding_once")]

    def __str__(self) -> str:
        return f"{self.model} {self.text_hash[:12]}"


class CallLabel(models.Model):
    """Which call a label came from; a label comes from one call at most."""

    call = models.ForeignKey("jobs.Call", on_delete=models.CASCADE, related_name="made")
    label = models.OneToOneField("annotation.Label", on_delete=models.CASCADE, related_name="made_by")

    def __str__(self) -> str:
        return f"label {self.label_id} from call {self.call_id}"
