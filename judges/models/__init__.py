"""The tables of judges and metrics, one file per subject."""

from judges.models.drafts import Bench, BenchTarget, Draft, DraftAnswer, Trial
from judges.models.labels import CallLabel, Embedding
from judges.models.prompts import Prompt, PromptText, PromptVersion

__all__ = [
    "Bench",
    "BenchTarget",
    "CallLabel",
    "Draft",
    "DraftAnswer",
    "Embedding",
    "Prompt",
    "PromptText",
    "PromptVersion",
    "Trial",
]
