"""How a question is put: with options (A) to (E), with the options inside its sentence, or without any."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.scripts.answers import NATURAL, OPEN, TEMPLATE
from annotation.scripts.records import LETTERS, Question, Use
from annotation.scripts.replies import UNKNOWN_TEXT


def choices_of(question: Question, use: Use) -> tuple[str, ...]:
    """Return the texts of A to D as they are shown in a use."""
    return tuple(question.choices[int(place)] for place in use.order)


def shown(text: str, choices: Sequence[str], form: str) -> str:
    """Return a question as it is asked in a format; ValueError for a format that there is not."""
    if form == OPEN:
        return text
    if form == TEMPLATE:
        options = zip(LETTERS, (*choices, UNKNOWN_TEXT), strict=True)
        return "\n".join([text, *(f"({letter}) {option}" for letter, option in options)])
    if form == NATURAL:
        return _inside(text, choices)
    raise ValueError(f"there is no format {form!r}")


def _inside(text: str, choices: Sequence[str]) -> str:
    """Return a question that names its options before its question mark."""
    offered = f"{', '.join(choices)}, or don't you know"
    asked, mark, rest = text.rpartition("?")
    return f"{asked}: {offered}?{rest}" if mark else f"{text}: {offered}?"
