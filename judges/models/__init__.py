"""The tables of judges and metrics, one file per subject."""

from judges.models.embeddings import Embedding
from judges.models.endpoints import Endpoint
from judges.models.runs import Call, CallLabel, Run
from judges.models.workers import Worker

__all__ = ["Call", "CallLabel", "Embedding", "Endpoint", "Run", "Worker"]
