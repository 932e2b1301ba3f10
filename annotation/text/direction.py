"""Which way a text runs, by most of its letters: a greeting in another script does not turn a whole turn."""

from __future__ import annotations

import unicodedata

RIGHT_TO_LEFT = frozenset({"R", "AL"})


def direction(text: str) -> str:
    """Return `ltr` or `rtl`, whichever has more letters; `auto` (the browser's rule) where neither has."""
    if text.isascii():
        return "ltr"
    kinds = [unicodedata.bidirectional(character) for character in text]
    right, left = sum(kind in RIGHT_TO_LEFT for kind in kinds), kinds.count("L")
    if right == left:
        return "auto"
    return "rtl" if right > left else "ltr"
