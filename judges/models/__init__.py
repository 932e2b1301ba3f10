"""The tables of judges and metrics, one file per subject."""

from judges.models.embeddings import Embedding
from judges.models.endpoints import Endpoint
from judges.models.runs import Call, CallLabel, Run

__all__ = ["Call", "CallLabel", "Embedding", "Endpoint", "Run"]
