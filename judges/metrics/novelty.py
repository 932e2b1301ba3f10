"""M-SNS: how far a predicted message is, in meaning, from the turns before it."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable

from judges.metrics.base import PAPER, REFERENCE, Metric, Score, Settings, scored, unscored
from judges.metrics.scene import Scene
from judges.metrics.tools import Matrix, Tools, cosine, normalised

import numpy as np

PUNCTUATION = dict.fromkeys(
    code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)).startswith("P")
)


def without_punctuation(text: str) -> str:
    """Return a text without Unicode punctuation and with single spaces, as the published code has it."""
    return " ".join(text.translate(PUNCTUATION).split())
