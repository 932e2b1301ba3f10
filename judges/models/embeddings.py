"""Embeddings of texts, computed once."""

from django.db import models


class Embedding(models.Model):
    """The vector of one distinct text under one model: float32, little-endian, as bytes."""

    model = models.CharField(max_length=200)
    text_hash = models.CharField(max_length=64)
    vector = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["model", "text_hash"], name="embedding_once")]

    def __str__(self) -> str:
        return f"{self.model} {self.text_hash[:12]}"
