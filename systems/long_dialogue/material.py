"""What an agent of a long dialogue is given to read: more than a state could hold, and the same at each step.

It is read once by a worker and shared by all that it is asked about the script.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotation.records import Dialogue
from annotation.scripts.graph import DEFAULT, RelationTable
from annotation.scripts.records import Question, Use
from jobs.prompt import about_tokens

Vectors = NDArray[np.float32]
Embeds = Callable[[Sequence[str]], Vectors]
"""Texts to one row each, in their order."""
Counts = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Material:
    """A script with its questions and the uses of one question set.

    `summaries` are those of sessions, by the `text_digest` of what the main character heard in them
    (`heard.Heard.text`). `vectors` embeds texts, None where nothing does. `context` is how many tokens the
    model's context has, 0 where that is not known; `count_tokens` counts as the model does.
    `relations` is the corpus's table, or the one that comes with Concord.
    """

    dialogue: Dialogue
    questions: tuple[Question, ...]
    uses: tuple[Use, ...]
    summaries: Mapping[str, str] = field(default_factory=dict)
    vectors: Embeds | None = None
    context: int = 0
    count_tokens: Counts = about_tokens
    relations: RelationTable = field(default_factory=lambda: DEFAULT)


def text_digest(text: str) -> str:
    """Return the SHA-256 of a session's heard text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
