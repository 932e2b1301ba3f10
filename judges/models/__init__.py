"""The tables of judges and metrics, one file per subject."""

from judges.models.embeddings import Embedding
from judges.models.labels import CallLabel
from judges.models.prompts import Prompt, PromptText, PromptVersion

__all__ = ["CallLabel", "Embedding", "Prompt", "PromptText", "PromptVersion"]
