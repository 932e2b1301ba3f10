"""Rules of a question's scale: its values, their wordings, and the bounds of an open number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, TypeGuard

from annotation.schemes.base import QuestionDefinition
from annotation.schemes.problems import named, text_problem

MOST_VALUES = 101
"""Values of one scale: as many as a scale from 0 to 100 has."""
LONGEST_VALUE = 200
LONGEST_ANCHOR = 500
LARGEST = 10**15
"""Numbers up to here are the same on the page, in the database and in files."""
OPEN = ("interval", "ratio")
Found = Iterator[tuple[tuple[str | int, ...], str]]


def scale_problems(question: QuestionDefinition, *, names_people: bool = False) -> Found:
    """Yield the paths, from the question on, and sentences of what is wrong with a question's scale.

    With `names_people` a nominal question without values is answered with a set of participants.
    """
    if names_people and question.level == "nominal" and not question.values:
        return
    yield from _VALUES[question.level](question)
    yield from _positive_problems(question)
    yield from _anchor_problems(question)
    yield from _bound_problems(question)


def _binary(question: QuestionDefinition) -> Found:
    values = question.values
    if list(values) != [0, 1] or any(isinstance(value, bool) for value in values):
        yield ("values",), "A binary question has the values 0 and 1, in this order."


def _nominal(question: QuestionDefinition) -> Found:
    values = question.values
    if len(values) < 2:
        yield ("values",), "A nominal question needs at least two values to choose from."
    yield from _too_many(values)
    seen: set[str] = set()
    for index, value in enumerate(values):
        if not isinstance(value, str):
            yield ("values", index), f"{named(value)} is not a text: write it in quotes."
        elif not value.strip() or value != " ".join(value.split()):
            yield (
                ("values", index),
                f"{named(value)} is empty or has spaces or line breaks that cannot be seen.",
            )
        elif why := text_problem(value, LONGEST_VALUE):
            yield ("values", index), why
        elif value in seen:
            yield ("values", index), f"{named(value)} is there twice: take one away."
        else:
            seen.add(value)


def _steps(question: QuestionDefinition) -> Found:
    """Yield what is wrong with values that must be rising numbers."""
    values = question.values
    yield from _too_many(values)
    wrong = [index for index, value in enumerate(values) if not is_number(value)]
    for index in wrong:
        yield ("values", index), f"{named(values[index])} is not a number between -10^15 and 10^15."
    if wrong:
        return
    steps = [float(value) for value in values]
    if any(low >= high for low, high in pairwise(steps)):
        yield ("values",), "The values must rise from the first to the last, none twice."
    if question.level == "ratio" and steps and steps[0] < 0:
        yield ("values",), "A ratio scale has no values below 0: use interval."


def _ordinal(question: QuestionDefinition) -> Found:
    if len(question.values) < 2:
        yield ("values",), "An ordinal question needs at least two values, lowest first."
    yield from _steps(question)


def _number(question: QuestionDefinition) -> Found:
    if len(question.values) == 1:
        yield ("values",), "One value leaves no choice: write more, or none for any number."
    yield from _steps(question)


def _text(question: QuestionDefinition) -> Found:
    if question.values:
        yield ("values",), "A question answered in words has no values: take them out."


def _ranking(question: QuestionDefinition) -> Found:
    if question.values:
        yield ("values",), "A ranking orders what is shown and has no values of its own: take them out."


def _too_many(values: tuple[Any, ...]) -> Found:
    if len(values) > MOST_VALUES:
        yield ("values",), f"There are {len(values):,} values; at most {MOST_VALUES} are taken."


_VALUES = {
    "binary": _binary,
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _number,
    "ratio": _number,
    "text": _text,
    "ranking": _ranking,
}


def _positive_problems(question: QuestionDefinition) -> Found:
    positive = question.positive
    if question.level != "binary":
        if positive is not None:
            yield ("positive",), "Only a binary question has a positive value: take it out."
    elif isinstance(positive, bool) or positive not in (0, 1):
        yield ("positive",), "Say which answer is the positive one: 0 or 1."
    elif question.is_tag and positive != 1:
        yield ("positive",), "A tag that is set is positive: write 1, or word it the other way round."


def _anchor_problems(question: QuestionDefinition) -> Found:
    for value, text in question.anchors.items():
        if value not in question.values:
            what = f"{named(value)} is not one of its values"
            yield ("anchors", str(value)), f"{what}: word only values that can be chosen."
        elif not text.strip():
            yield ("anchors", str(value)), "Its wording is empty: write it, or leave it out."
        elif why := text_problem(text, LONGEST_ANCHOR):
            yield ("anchors", str(value)), why


def _bound_problems(question: QuestionDefinition) -> Found:
    low, high = question.minimum, question.maximum
    if question.level not in OPEN or question.values:
        for name, value in (("minimum", low), ("maximum", high), ("whole", question.whole or None)):
            if value is not None:
                yield (name,), "Only an interval or ratio question without values has bounds: take it out."
        return
    ends = {"minimum": low, "maximum": high}
    wrong = [name for name, value in ends.items() if value is not None and not is_number(value)]
    for name in wrong:
        yield (name,), f"{named(ends[name])} is not a number between -10^15 and 10^15."
    if wrong:
        return
    if question.level == "ratio" and (low is None or low < 0):
        yield ("minimum",), "A ratio scale begins at 0: write a minimum of 0 or more, or use interval."
    if low is not None and high is not None and low >= high:
        yield ("maximum",), f"The maximum must be above the minimum, {low:g}."
    for name, value in ends.items():
        if question.whole and value is not None and value != int(value):
            yield (name,), "The answers are whole numbers: write a whole number here, too."


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number that is the same everywhere: finite, within ±10^15, not true or false."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= LARGEST if isinstance(value, int) else math.isfinite(value) and abs(value) <= LARGEST
