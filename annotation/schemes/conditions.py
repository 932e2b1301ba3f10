"""Rules of `show_if`: it names an earlier question, and an answer that this one can have."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from annotation.schemes.base import LEVELS, UNSCALED, QuestionDefinition, is_met
from annotation.schemes.problems import named
from annotation.schemes.scales import MOST_VALUES, is_number

FIELDS = ("question", "min", "max", "in")
Found = Iterator[tuple[tuple[str | int, ...], str]]


def condition_problems(
    question: QuestionDefinition,
    before: Sequence[QuestionDefinition],
    after: Sequence[QuestionDefinition],
) -> Found:
    """Yield the paths and sentences of what is wrong with a question's `show_if`; `after` begins with it."""
    condition = question.show_if
    if condition is None:
        return
    if unknown := [name for name in condition if name not in FIELDS]:
        yield ("show_if", unknown[0]), f"There is no condition {named(unknown[0])}: write min, max or in."
        return
    key = condition.get("question")
    asked = next((one for one in before if one.key == key), None)
    if asked is None:
        yield ("show_if", "question"), _no_question(question, key, after)
    elif asked.level in UNSCALED:
        yield (
            ("show_if", "question"),
            f"{named(key)} is answered in words or with an order, which cannot decide what is asked.",
        )
    elif asked.level in LEVELS:
        yield from _answer_problems(condition, asked)


def _no_question(question: QuestionDefinition, key: Any, after: Sequence[QuestionDefinition]) -> str:
    if not key:
        return "Say after which earlier question it is asked."
    if key == question.key:
        return "A question cannot wait for its own answer: name an earlier one."
    if any(one.key == key for one in after):
        return f"{named(key)} comes later: move it before this question, or name an earlier one."
    return f"There is no question {named(key)} before this one."


def _answer_problems(condition: Any, asked: QuestionDefinition) -> Found:
    ends = {name: condition[name] for name in ("min", "max") if name in condition}
    if not ends and "in" not in condition:
        yield ("show_if",), "Say after which answers it is asked: min, max or in."
    elif ends and "in" in condition:
        yield ("show_if", "in"), "Write either in, or min and max, not both."
    elif "in" in condition:
        yield from _list_problems(condition["in"], asked)
    elif asked.level == "nominal":
        yield ("show_if",), "Answers to a nominal question have no order: write in with a list of them."
    else:
        yield from _range_problems(ends, condition, asked)


def _list_problems(listed: Any, asked: QuestionDefinition) -> Found:
    if not isinstance(listed, list | tuple) or not listed:
        yield ("show_if", "in"), f"Write a list of answers to {named(asked.key)}."
        return
    if len(listed) > MOST_VALUES:
        yield ("show_if", "in"), f"There are {len(listed):,} answers; at most {MOST_VALUES} are taken."
        return
    if asked.is_open:
        yield ("show_if", "in"), f"{named(asked.key)} takes any number: write min or max."
        return
    for index, value in enumerate(listed):
        if isinstance(value, bool) or value not in asked.values:
            told = ", ".join(str(one) for one in asked.values[:12])
            yield (
                ("show_if", "in"),
                f"{named(value)} is not an answer to {named(asked.key)}: it takes {told}.",
            )
        elif value in listed[:index]:
            yield ("show_if", "in"), f"{named(value)} is there twice."


def _range_problems(ends: dict[str, Any], condition: Any, asked: QuestionDefinition) -> Found:
    wrong = [name for name, end in ends.items() if not is_number(end)]
    for name in wrong:
        yield ("show_if", name), f"{named(ends[name])} is not a number."
    if wrong:
        return
    if asked.is_open:
        can = _overlaps(ends, asked)
    else:
        can = any(is_number(value) and is_met(condition, {asked.key: value}) for value in asked.values)
    if not can:
        yield ("show_if",), f"No answer to {named(asked.key)} is like this, so it would never be asked."


def _overlaps(ends: dict[str, float], asked: QuestionDefinition) -> bool:
    """Whether some answer to an open number is between the ends."""
    low = max([end for end in (ends.get("min"), asked.minimum) if is_number(end)], default=-math.inf)
    high = min([end for end in (ends.get("max"), asked.maximum) if is_number(end)], default=math.inf)
    if asked.whole and math.isfinite(low) and math.isfinite(high):
        return math.ceil(low) <= math.floor(high)
    return low <= high
