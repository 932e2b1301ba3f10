"""Words of utterances, so that a cleaned one can be held against the one that it was made from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from annotation.text import tokens

_JOINTS = re.compile(r"['’\-_]+")


def words(text: str) -> list[str]:
    """Return the words of a text in order, folded: without case, punctuation and compatibility forms.

    An apostrophe or a hyphen ends a word, so that `uh-huh` and `uh huh` have the same ones.
    """
    return [part for token in tokens.words(text) for part in _JOINTS.split(token) if part]


def added(old: str, new: str) -> list[str]:
    """Return the words that a new text has more often than the old one, in order; none for a reduction."""
    left = Counter(words(old))
    found: list[str] = []
    for word in words(new):
        if left[word]:
            left[word] -= 1
        else:
            found.append(word)
    return found


def counted(texts: Iterable[str]) -> int:
    """Return how many words some texts have together."""
    return sum(len(words(text)) for text in texts)
