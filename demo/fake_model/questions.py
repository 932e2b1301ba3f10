"""The questions of a prompt: those that its text lists under their keys, and those of a JSON schema.

In the text a question is a paragraph: `key: wording`, then its values as lines (`- 1: very bad`, `- 2`,
`- 4 to 6: good`) or after `One of:`, and `Asked only where other is at most 3; else null.`
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from demo.fake_model.reading import Request

_WIDEST = 1000
_STEPS = 40
_KEY = re.compile(r"([^\s:-][^:\n]{0,119}): \S")
_VALUE = re.compile(r"- ([^:\n]+?)(?:: .*)?")
_SPAN = re.compile(r"(-?\d+) to (-?\d+)")
_ENDS = re.compile(r"from (-?[\d.]+) to (-?[\d.]*\d)")
_LISTED = re.compile(r"One of: (.+)")
_WORDS, _NUMBER = ("Answer in words.", "Answer with a short text."), "Answer with a "
_ONLY = re.compile(
    r"Asked only where (.+?) is (?:at least (\S+?))?(?: and )?(?:at most (\S+?))?; else null\."
)

Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its values in order (none: words, or a number between `low` and `high`), and when it is
    asked."""

    key: str
    values: Values
    in_words: bool = False
    other: str = ""
    least: float = float("-inf")
    most: float = float("inf")
    low: float = float("-inf")
    high: float = float("inf")

    def is_asked(self, answers: Mapping[str, Any]) -> bool:
        """Whether it is asked after the answers to other questions."""
        value = answers.get(self.other) if self.other else self.least
        return isinstance(value, int | float) and self.least <= value <= self.most


def listed(request: Request) -> dict[str, Question]:
    """Return the questions that the instruction lists, by key."""
    found = (_question(paragraph.split("\n")) for paragraph in re.split(r"\n\s*\n", request.instruction))
    return {question.key: question for question in found if question is not None}


def questions(request: Request) -> dict[str, Values]:
    """Return the fields of the schema that have values, with these in order."""
    properties = {} if request.schema is None else request.schema.get("properties", {})
    found = {name: _values(field) for name, field in properties.items() if isinstance(field, Mapping)}
    return {name: values for name, values in found.items() if values}


def _question(lines: list[str]) -> Question | None:
    key = _KEY.match(lines[0])
    if key is None:
        return None
    values: list[Any] = []
    for line in lines[1:]:
        if one := _VALUE.fullmatch(line):
            values += _spanned(one[1])
        elif several := _LISTED.fullmatch(line):
            values += [_typed(text) for text in several[1].split(", ")]
    in_words = any(line in _WORDS for line in lines[1:])
    if not values and not in_words and not any(line.startswith(_NUMBER) for line in lines[1:]):
        return None
    only = next((found for line in lines if (found := _ONLY.fullmatch(line))), None)
    number = next((line for line in lines[1:] if line.startswith(_NUMBER)), "")
    if number:
        values = []  # the lines word the ends of a scale without steps
    ends = _ENDS.search(number)
    other, least, most = (only[1], only[2], only[3]) if only else ("", None, None)
    asked = float(least or "-inf"), float(most or "inf")
    between = (float(ends[1]), float(ends[2])) if ends else ()
    return Question(key[1], tuple(values), in_words, other, *asked, *between)


def _spanned(text: str) -> list[Any]:
    found = _SPAN.fullmatch(text)
    if found and 0 < int(found[2]) - int(found[1]) <= _WIDEST:
        return list(range(int(found[1]), int(found[2]) + 1))
    return [_typed(text)]


def _typed(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _values(field: Mapping[str, Any]) -> Values:
    for inner in field.get("anyOf", ()):
        if isinstance(inner, Mapping) and (values := _values(inner)):
            return values
    if isinstance(field.get("enum"), list):
        return tuple(value for value in field["enum"] if value is not None)
    if field.get("type") == "boolean":
        return (False, True)
    low, high = field.get("minimum"), field.get("maximum")
    if not isinstance(low, int | float) or not isinstance(high, int | float) or not low < high:
        return ()
    if field.get("type") == "integer" and high - low <= _WIDEST:
        return tuple(range(int(low), int(high) + 1))
    return tuple(round(low + (high - low) * step / _STEPS, 3) for step in range(_STEPS + 1))
