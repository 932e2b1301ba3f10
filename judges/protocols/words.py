"""Words of a turn: what the rules count. English only; another language has other small words."""

from __future__ import annotations

import re

_STOP = """
    a about after again all also am an and any are as at be been before being both but by can could did
    do does doing don down each even few for from further get go going got had has have having he her
    here him his how i if in into is it its just know let like ll m make me more most much my no nor not
    now of off oh ok okay on once one only or other our out over own quite re really right s said same
    say see she should so some still such t than that the their them then there these they thing things
    think this those through to too under until up us ve very was we well were what when where which
    while who why will with would yeah yes you your
"""
_NEGATIONS = """
    aren't can't cannot couldn't didn't doesn't don't hadn't hasn't haven't isn't neither never no
    nobody none not nothing shouldn't wasn't weren't without won't wouldn't
"""
STOP_WORDS = frozenset(_STOP.split())
NEGATIONS = frozenset(_NEGATIONS.split())
WEEKDAYS = frozenset(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, with straight apostrophes."""
    return tuple(word.replace("’", "'") for word in _WORD.findall(text.lower()))


def content_words(text: str) -> frozenset[str]:
    """Return the distinct words that carry content: no stop words, no negations, nothing of one letter."""
    return frozenset(w for w in words(text) if len(w) > 1 and w not in STOP_WORDS and w not in NEGATIONS)


def figures(text: str) -> frozenset[str]:
    """Return the numbers in digits and the weekdays of a text."""
    return frozenset(word for word in words(text) if word.isdigit() or word in WEEKDAYS)


def is_negated(text: str) -> bool:
    """Whether a text holds a negation."""
    return bool(NEGATIONS & set(words(text)))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return |A and B| / |A or B|, 0 where both are empty."""
    return len(one & other) / len(one | other) if one | other else 0.0


def runs(text_words: tuple[str, ...], length: int) -> frozenset[tuple[str, ...]]:
    """Return all runs of `length` words in a row."""
    return frozenset(text_words[i : i + length] for i in range(len(text_words) - length + 1))
