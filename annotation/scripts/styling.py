"""What must hold of a question in a speaker's own words: nothing is lost, and no answer is given away."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable

from annotation.scripts.wording import occurs

MARKS = "?？؟"
_MONTHS = frozenset(calendar.month_name[1:])
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SENTENCE_END = re.compile(r"[.!?:]\s*$")
_SPELT = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_NUMBERS = {word: str(number) for number, word in enumerate(_SPELT, start=2)}


def style_faults(
    original: str, styled: str, choices: Iterable[str], names: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return why a styled question does not stand for the original, a line each; none where it does.

    Every name (of `names`, and every word with a capital inside a sentence), month and number of the original
    must be there, spelt or in digits; no choice may be that the original lacks; and it must ask.
    """
    faults = [f"lacks the name {name!r}" for name in _names(original, names) if not occurs(name, styled)]
    there = _numbers(styled)
    faults += [f"lacks the number {number}" for number in _numbers(original) if number not in there]
    faults += [
        f"gives the choice {choice!r} away"
        for choice in choices
        if occurs(choice, styled) and not occurs(choice, original)
    ]
    if not any(mark in styled for mark in MARKS):
        faults.append("has no question mark")
    return tuple(faults)


def _names(text: str, names: Iterable[str]) -> list[str]:
    """Return the names in a text in a fixed order: known ones, months, and words with a capital inside it."""
    known = [name for name in names if occurs(name, text)]
    capital = [
        word.group()
        for word in _WORD.finditer(text)
        if word.group()[0].isupper() and (word.group() in _MONTHS or not _begins(text[: word.start()]))
    ]
    return list(dict.fromkeys([*known, *(word for word in capital if word != "I")]))


def _begins(before: str) -> bool:
    """Whether a sentence begins after this text."""
    return not before.strip(" \"'“‘(¿") or _SENTENCE_END.search(before) is not None


def _numbers(text: str) -> list[str]:
    """Return the numbers of a text in digits, each once."""
    spelt = (_NUMBERS[word] for word in _WORD.findall(text.casefold()) if word in _NUMBERS)
    return list(dict.fromkeys([*_DIGITS.findall(text), *spelt]))
