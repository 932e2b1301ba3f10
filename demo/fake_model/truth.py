"""What a text says about itself: the truth stands in braces in the text that the model sees.

`{repetition off_topic}` names behaviours, `{quality 4}` or `{consistency 7}` a value for a question. Where a
text says a thing twice, the last one counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_MARKER = re.compile(r"\{([^{}\n]{1,200})\}")
QUALITY = "quality"


def markers(text: str) -> Iterator[list[str]]:
    """Yield the words of every marker of a text."""
    for found in _MARKER.finditer(text):
        if words := found[1].split():
            yield words


def shows_planted(text: str, behaviour: str) -> bool:
    """Whether a text is planted with a behaviour: it is a word of a marker, and no `0` follows it."""
    planted = False
    for words in markers(text):
        if behaviour in words:
            after = words[words.index(behaviour) + 1 :][:1]
            planted = after != ["0"]
    return planted


def planted_value(text: str, question: str) -> str | None:
    """Return what a text says about a question, as in `{question value}`; None where it says nothing."""
    found = None
    for words in markers(text):
        if words[0] == question and len(words) > 1:
            found = " ".join(words[1:])
    return found


def planted_number(text: str, question: str) -> float | None:
    """Return the number that a text says about a question; None where it says none."""
    told = planted_value(text, question)
    try:
        return None if told is None else float(told)
    except ValueError:
        return None
