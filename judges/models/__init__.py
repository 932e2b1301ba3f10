"""The tables of judges and metrics, one file per subject."""

from judges.models.embeddings import Embedding
from judges.models.labels import CallLabel

__all__ = ["CallLabel", "Embedding"]
