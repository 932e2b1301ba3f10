"""Small helpers on text that several metric families share."""

from __future__ import annotations

import unicodedata
from functools import lru_cache


@lru_cache(maxsize=65536)
def is_punctuation(character: str) -> bool:
    """Whether a character is in one of Unicode's punctuation categories (P*)."""
    return unicodedata.category(character).startswith("P")


def without_punctuation(text: str) -> str:
    """Return a text without Unicode punctuation and with single spaces; symbols such as + stay."""
    return " ".join("".join(c for c in text if not is_punctuation(c)).split())
