"""Values that a text of a table may hold: JSON, and lists as Python and numpy write them."""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any

LONGEST = 131_072
"""Maximum number of characters of a text that is parsed."""
ARRAY_TEXT = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*,?""", re.DOTALL)
"""A text in numpy's way of writing an array, which has no commas."""
NUMBERS = re.compile(r"\[(?:\s*-?\d+(?:\.\d*)?(?=[\s\]]))+\s*\]")
"""Numbers in numpy's way of writing an array."""


def parse_nested(text: str) -> Any:
    """Parse a cell as JSON, else as Python or numpy write lists; None for any other text."""
    if len(text) > LONGEST:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if NUMBERS.fullmatch(text):
        return text[1:-1].split()
    if texts := _array(text):
        return texts
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _array(text: str) -> list[str]:
    """Return the texts of a list or array of texts, [] for any other."""
    if not text.startswith(("['", '["')) or not text.endswith("]"):
        return []
    texts: list[str] = []
    place, end = 1, len(text) - 1
    while place < end:
        match = ARRAY_TEXT.match(text, place, end)
        if match is None:
            return [] if text[place:end].strip() else texts
        texts.append(re.sub(r"\\(.)", r"\1", match[1] if match[1] is not None else match[2], flags=re.DOTALL))
        place = match.end()
    return texts
