"""Which part of a benchmark a dialogue is in: whatever does not name training leaves it out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, Q

from annotation.models import Corpus, Dialogue

TRAINING, EVALUATION = Dialogue.Part.TRAINING.value, Dialogue.Part.EVALUATION.value
TRAINING_CHOICES = [(TRAINING, TRAINING)]
"""The part that a selection may name, as the API's document has it."""
METADATA_KEY = "part"
"""The entry of a dialogue's metadata that names its part."""
WORDS = {"train": TRAINING, "training": TRAINING, "evaluation": EVALUATION}
"""What the metadata say, in any case, and the part that is meant; other words mean none."""


def part_in(metadata: Mapping[str, Any]) -> str:
    """Return the part that a dialogue's metadata name; empty where they name none."""
    word = metadata.get(METADATA_KEY)
    return WORDS.get(word.strip().casefold(), "") if isinstance(word, str) else ""


def of_dialogues(part: str = "", prefix: str = "") -> Q:
    """Return the condition that a dialogue is selected: in training where that is the part, else outside it.

    `prefix` leads from the rows to the dialogue, such as `dialogue__`.
    """
    is_training = Q(**{f"{prefix}part": TRAINING})
    return is_training if part == TRAINING else ~is_training


def sizes(corpus: Corpus) -> dict[str, int]:
    """Return the number of dialogues in each part that a corpus has; empty where its dialogues name none."""
    rows = corpus.dialogues.exclude(part="").order_by().values_list("part").annotate(n=Count("pk"))
    found = dict(rows)
    return {part: found[part] for part in (TRAINING, EVALUATION) if part in found}
