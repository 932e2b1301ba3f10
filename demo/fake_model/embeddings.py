"""Embeddings of texts: a hashed bag of words, 64 numbers of length 1."""

from __future__ import annotations

import hashlib
import math
import re
from typing import Any

from demo.fake_model.errors import fold
from demo.fake_model.reading import BadRequest

SIZE = 64
_WORD = re.compile(r"\w+")


def embed(text: str) -> list[float]:
    """Return the unit vector of a text: every word adds 1 or -1 to the place that its hash names.

    A text without words, or whose words cancel out, is the first unit vector.
    """
    vector = [0.0] * SIZE
    for word in _WORD.findall(fold(text)):
        digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
        vector[digest[0] % SIZE] += 1.0 if digest[1] % 2 else -1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else [1.0, *[0.0] * (SIZE - 1)]


def inputs(body: Any) -> list[str]:
    """Return the texts of a request for embeddings; raise BadRequest where there are none."""
    given = body.get("input") if isinstance(body, dict) else None
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise BadRequest("input: a text or a list of texts is needed")
    return texts
