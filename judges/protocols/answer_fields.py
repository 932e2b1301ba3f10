"""The fields of a JSON reply to any scheme's questions: their form, their schema, and how they are read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.schemes.base import TEXT_LIMIT, QuestionDefinition
from jobs.prompt import OutOfScale, Unparseable
from judges.protocols.questionnaire import bounds_told, is_shown, is_tag, must_answer
from judges.protocols.scales import shown

LONGEST_EXPLANATION = 10_000
NOT_ASKED = "not_asked"
"""The flag of a reply that answers a question which its other answers rule out; that answer is left aside."""

Answered = dict[str, tuple[float | str, str]]
"""Per question its value and its explanation; one without an answer is not there."""


def free(name: str, taken: Iterable[str]) -> str:
    """Return a field's name that no question has for its key."""
    keys = set(taken)
    while name in keys:
        name += "_"
    return name


def explanation_field(question: QuestionDefinition, questions: Sequence[QuestionDefinition]) -> str:
    """Return the name of the field that explains an answer."""
    return free(f"{question.key}_explanation", (one.key for one in questions))


def field_lines(questions: Sequence[QuestionDefinition]) -> list[str]:
    """Return the form of a reply's fields, a line for each question."""
    return [
        f'{json.dumps(explanation_field(one, questions))}: "...", {json.dumps(one.key)}: ...'
        if one.level != "text"
        else f'{json.dumps(one.key)}: "..."'
        for one in questions
    ]


def schema_fields(questions: Sequence[QuestionDefinition]) -> dict[str, Any]:
    """Return the JSON schemas of the fields: an explanation before each value but words."""
    tags = [one.key for one in questions if is_tag(one)]
    fields: dict[str, Any] = {}
    for one in questions:
        if one.level != "text":
            fields[explanation_field(one, questions)] = {"type": "string"}
        may_lack = one.show_if is not None or not must_answer(one, tags)
        fields[one.key] = {"anyOf": [_value(one), {"type": "null"}]} if may_lack else _value(one)
    return fields


def object_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these fields."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def read_fields(
    data: Mapping[str, Any],
    questions: Sequence[QuestionDefinition],
    place: str = "",
    beside: Mapping[str, tuple[float | str, str]] | None = None,
) -> tuple[Answered, list[str]]:
    """Return the answers that an object's fields hold, and flags; `place` begins every message.

    `beside` are answers to marks that are said elsewhere in the reply.

    Raises Unparseable for a missing field, a value that is not on its scale, or a required question left out.
    A value for a question that is not asked after the others' answers is left aside, and flagged.
    """
    found: Answered = {}
    flags: list[str] = []
    known = dict(beside or {})
    tags = [*known, *(one.key for one in questions if is_tag(one))]
    for one in questions:
        if one.key not in data:
            raise Unparseable(f"{place}the field {one.key[:80]} is missing")
        why = "" if one.level == "text" else text_field(data, explanation_field(one, questions), place)
        value = value_of(one, data[one.key], place)
        if not is_shown(one, {key: answer for key, (answer, _) in {**known, **found}.items()}):
            if value is not None:
                flags.append(f"{NOT_ASKED}: {place}{one.key[:80]} was answered, though it was not asked")
        elif value is not None:
            found[one.key] = (value, why)
        elif must_answer(one, tags):
            raise Unparseable(f"{place}{one.key[:80]} has no answer")
    return found, flags


def text_field(data: Mapping[str, Any], name: str, place: str = "") -> str:
    """Return a text; raise Unparseable where it is missing, not a text, or too long to be kept."""
    value = data.get(name)
    if not isinstance(value, str):
        raise Unparseable(f"{place}the field {name[:80]} is missing or no text")
    if len(value) > LONGEST_EXPLANATION:
        raise Unparseable(
            f"{place}{name[:80]} has {len(value):,} characters, not at most {LONGEST_EXPLANATION:,}"
        )
    return value


def value_of(question: QuestionDefinition, raw: Any, place: str = "") -> float | str | None:
    """Return the value that a JSON value says, None for null (and an empty text); raise Unparseable."""
    name = f"{place}{question.key[:80]}"
    if raw is None:
        return None
    if question.level in ("text", "nominal"):
        return _text(question, raw, name)
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not _is_finite(raw):
        raise Unparseable(f"{name}: {str(raw)[:40]!r} is not a number")
    if question.values:
        if raw not in question.values:
            raise OutOfScale(f"{name}: {str(raw)[:40]} is not one of {_scale(question)}")
    elif question.level == "ratio" and raw < 0:
        raise OutOfScale(f"{name}: {str(raw)[:40]} is below 0")
    elif not question.accepts(raw):
        raise OutOfScale(f"{name}: {str(raw)[:40]} is not {bounds_told(question)}")
    return float(raw)


def _text(question: QuestionDefinition, raw: Any, name: str) -> str | None:
    if not isinstance(raw, str):
        raise Unparseable(f"{name}: {str(raw)[:40]!r} is not a text")
    if len(raw) > TEXT_LIMIT:
        raise Unparseable(f"{name}: the text has {len(raw):,} characters, not at most {TEXT_LIMIT:,}")
    if question.level == "nominal" and question.values:
        known = {shown(value): str(value) for value in question.values} | {
            str(value): str(value) for value in question.values
        }
        if raw not in known:
            raise OutOfScale(f"{name}: {raw[:40]!r} is not one of {_scale(question)}")
        return known[raw]
    return raw.strip() or None


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _scale(question: QuestionDefinition) -> str:
    return ", ".join(shown(value) for value in question.values)[:200]


def _value(question: QuestionDefinition) -> dict[str, Any]:
    if question.level in ("text", "nominal"):
        values = [shown(value) for value in question.values]
        return (
            {"type": "string", "enum": values}
            if values and question.level == "nominal"
            else {"type": "string"}
        )
    if not question.values:
        return {"type": "integer" if question.whole else "number", **_bounds(question)}
    whole = all(float(value) == int(float(value)) for value in question.values)
    return {"type": "integer" if whole else "number", "enum": list(question.values)}


def _bounds(question: QuestionDefinition) -> dict[str, float]:
    ends = {"minimum": question.minimum, "maximum": question.maximum}
    return {name: end for name, end in ends.items() if end is not None}
