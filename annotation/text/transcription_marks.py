"""Marks that a transcription leaves in the text of a turn, like {vocalsound}: kept, and hidden on request.

Pure: knows no framework. Pages wrap the marks in an element that a toggle hides.
"""

from __future__ import annotations

import re

MARK = re.compile(r"\{[a-z][a-z_ -]{0,30}\}")


def parts(text: str) -> list[tuple[str, bool]]:
    """Split a text into (part, is it a mark) pairs that joined again are the text."""
    found: list[tuple[str, bool]] = []
    end = 0
    for match in MARK.finditer(text):
        if match.start() > end:
            found.append((text[end : match.start()], False))
        found.append((match.group(), True))
        end = match.end()
    if end < len(text):
        found.append((text[end:], False))
    return found


def has_marks(text: str) -> bool:
    """Whether a text holds a mark."""
    return MARK.search(text) is not None
