"""Scheme questions in prompts, and the fields of replies that answer them."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from annotation.records import SELF, Passage, Turn
from annotation.schemes.definitions import (
    TEXT_LIMIT,
    QuestionDefinition,
    Value,
    explains,
    is_met,
    takes_evidence,
)
from annotation.text.references import MOST, in_order
from annotation.text.views import clean, one_line, visible
from jobs.prompt import OutOfScale, Unparseable
from judges.protocols.protocol import Case, format_number
from judges.protocols.replies import integer, written_number

# Scales of questions, as written in prompts.


def format_value(value: Value) -> str:
    """Format a value as replies write it."""
    return one_line(value) if isinstance(value, str) else format_number(value)


def scale_lines(question: QuestionDefinition) -> list[str]:
    """Return a line per value of a question with its meaning; adjacent values of equal meaning share one."""
    anchors = {str(key): one_line(text) for key, text in question.anchors.items()}
    pairs = [(format_value(value), anchors.get(str(value), "")) for value in question.values]
    lines = []
    for text, group in groupby(pairs, key=lambda pair: pair[1]):
        names = [name for name, _ in group]
        if text:
            lines.append(f"- {_span(names)}: {text}")
        else:
            lines += [f"- {name}" for name in names]
    return lines


def _span(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


# Scheme questions in a prompt: their wording, and the answers on which they depend.

HELP = {
    "definition": "Definition",
    "example": "Example",
    "not_this": "Not this",
    "keep_in_mind": "Keep in mind",
}
"""Parts of a question's help, in display order."""
_COMMA = frozenset(",;，、；")
"""Characters that would look like the end of a value in a list on one line."""


def is_tag(question: QuestionDefinition) -> bool:
    """Whether the question is one of a group of tags: left unanswered, it means no."""
    return question.is_tag


def is_shown(question: QuestionDefinition, answers: Mapping[str, Any]) -> bool:
    """Whether a question is asked, given the answers to the questions before it."""
    return is_met(question.show_if, answers)


def must_answer(question: QuestionDefinition, tags: Iterable[str]) -> bool:
    """Whether a displayed question needs an answer: it is required, or explains a set tag."""
    return question.required or explains(question.level, question.show_if, set(tags))


def describe_questions(
    questions: Iterable[QuestionDefinition], *, conditions: bool = True, marks: Collection[str] = ()
) -> str:
    """Describe questions for a prompt: wording, help, values and when each is asked.

    Questions of a group are listed under its name. Without `conditions`, optional answers are not mentioned.
    `marks` are the keys of questions answered by naming turns, which have no values.
    """
    blocks: list[str] = []
    group = ""
    for question in questions:
        if question.group != group and question.group:
            name = one_line(question.group)
            blocks.append(name if name[-1:] in ".:?!" else f"{name}:")
        group = question.group
        values = [] if question.key in marks else describe_values(question)
        when = _conditions(question) if conditions else []
        blocks.append("\n".join([*_lines(question), *values, *when]))
    return "\n\n".join(blocks)


def _lines(question: QuestionDefinition) -> list[str]:
    lines = [f"{one_line(question.key)}: {one_line(question.wording)}"]
    for part, name in HELP.items():
        if text := question.help.get(part):
            first, *rest = clean(text).strip().split("\n")
            lines += [f"{name}: {first}", *(f"  {line}" for line in rest)]
    return lines


def describe_values(question: QuestionDefinition) -> list[str]:
    """Return the possible answers, in lines."""
    if question.level == "text":
        return ["Answer in words."]
    if not question.values:
        ends = [f"- {shown_key(key)}: {one_line(text)}" for key, text in question.anchors.items()]
        return [f"Answer with {describe_bounds(question)}.", *ends]
    if question.anchors or question.level != "binary":
        return scale_lines(question) if question.anchors else _list_values(question)
    yes = question.positive if question.positive is not None else question.values[-1]
    return [f"- {format_value(value)}: {'yes' if value == yes else 'no'}" for value in question.values]


def describe_bounds(question: QuestionDefinition) -> str:
    """Return the possible answers to a question without values."""
    if question.level == "nominal":
        return "a short text"
    number_kind = "a whole number" if question.whole else "a number, decimals allowed"
    least = 0 if question.minimum is None and question.level == "ratio" else question.minimum
    if question.maximum is None:
        return number_kind if least is None else f"{number_kind}, at least {format_value(least)}"
    most = format_value(question.maximum)
    return (
        f"{number_kind}, at most {most}"
        if least is None
        else f"{number_kind}, from {format_value(least)} to {most}"
    )


def shown_key(key: Any) -> str:
    """Return the value that an anchor describes; stored schemes hold it as text."""
    return one_line(str(key))


def _list_values(question: QuestionDefinition) -> list[str]:
    """List values that have no meanings: on one line, or each on its own line if one has a comma."""
    values = [format_value(value) for value in question.values]
    if any(_COMMA & set(value) for value in values):
        return ["One of these, as it stands:", *(f"- {value}" for value in values)]
    return [f"One of: {', '.join(values)}"]


def _conditions(question: QuestionDefinition) -> list[str]:
    lines = []
    if (when := question.show_if) is not None:
        ends = [
            f"at {most} {when[end]:g}" for end, most in (("min", "least"), ("max", "most")) if end in when
        ]
        if "in" in when:
            ends = [" or ".join(format_value(value) for value in when["in"])]
        place = (
            f"{one_line(when['question'])} is {' and '.join(ends)}" if ends else "the one before is answered"
        )
        lines.append(f"Asked only where {place}; else null.")
    elif not question.required:
        lines.append("May be left out: then null.")
    return lines


# Fields of JSON replies to scheme questions: form, schema and parsing.

LONGEST_EXPLANATION = 10_000
NOT_ASKED = "not_asked"
"""Flag of a reply that answers a question ruled out by its other answers; that answer is ignored."""

Answered = dict[str, tuple[float | str, str]]
"""Value and explanation by question; unanswered questions are absent."""


def free(name: str, used_names: Iterable[str]) -> str:
    """Return a field name that is no question's key."""
    keys = set(used_names)
    while name in keys:
        name += "_"
    return name


def explanation_field(question: QuestionDefinition, questions: Sequence[QuestionDefinition]) -> str:
    """Return the name of the field that explains an answer."""
    return free(f"{question.key}_explanation", (other.key for other in questions))


def field_lines(questions: Sequence[QuestionDefinition]) -> list[str]:
    """Return the form of a reply's fields, one line per question."""
    return [
        f'{json.dumps(explanation_field(question, questions))}: "...", {json.dumps(question.key)}: ...'
        if question.level != "text"
        else f'{json.dumps(question.key)}: "..."'
        for question in questions
    ]


def schema_fields(questions: Sequence[QuestionDefinition]) -> dict[str, Any]:
    """Return the JSON schemas of the fields: an explanation before each value, except for texts."""
    tags = [question.key for question in questions if is_tag(question)]
    fields: dict[str, Any] = {}
    for question in questions:
        if question.level != "text":
            fields[explanation_field(question, questions)] = {"type": "string"}
        may_lack = question.show_if is not None or not must_answer(question, tags)
        fields[question.key] = (
            {"anyOf": [_value(question), {"type": "null"}]} if may_lack else _value(question)
        )
    return fields


def read_fields(
    data: Mapping[str, Any],
    questions: Sequence[QuestionDefinition],
    place: str = "",
    beside: Mapping[str, tuple[float | str, str]] | None = None,
) -> tuple[Answered, list[str]]:
    """Parse the answers in an object's fields, with flags; error messages begin with `place`.

    `beside` are answers to tags from elsewhere in the reply.

    Raises Unparseable for a missing field, a value off its scale, or an unanswered required question. A value
    for a question ruled out by the other answers is ignored and flagged.
    """
    answers: Answered = {}
    flags: list[str] = []
    marked = dict(beside or {})
    tags = [*marked, *(question.key for question in questions if is_tag(question))]
    for question in questions:
        if question.key not in data:
            raise Unparseable(f"{place}the field {question.key[:80]} is missing")
        why = (
            ""
            if question.level == "text"
            else text_field(data, explanation_field(question, questions), place)
        )
        value = value_of(question, data[question.key], place)
        if not is_shown(question, {key: answer for key, (answer, _) in {**marked, **answers}.items()}):
            if value is not None:
                flags.append(f"{NOT_ASKED}: {place}{question.key[:80]} was answered, though it was not asked")
        elif value is not None:
            answers[question.key] = (value, why)
        elif must_answer(question, tags):
            raise Unparseable(f"{place}{question.key[:80]} has no answer")
    return answers, flags


def text_field(data: Mapping[str, Any], name: str, place: str = "") -> str:
    """Return a text field, '' for null; raise Unparseable if it is missing, no text, or too long to store."""
    value = "" if name in data and data[name] is None else data.get(name)
    if not isinstance(value, str):
        raise Unparseable(f"{place}the field {name[:80]} is missing or no text")
    if len(value) > LONGEST_EXPLANATION:
        raise Unparseable(
            f"{place}{name[:80]} has {len(value):,} characters, not at most {LONGEST_EXPLANATION:,}"
        )
    return value


def value_of(question: QuestionDefinition, raw: Any, place: str = "") -> float | str | None:
    """Parse an answer from a JSON value, None for null (and an empty text); raise Unparseable.

    A number may be written as a text, such as "4" or "4/5".
    """
    name = f"{place}{question.key[:80]}"
    if raw is None:
        return None
    if question.level in ("text", "nominal"):
        return _text(question, raw, name)
    if isinstance(raw, str):
        raw = _number_in(question, raw, name)
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not _is_finite(raw):
        raise Unparseable(f"{name}: {str(raw)[:40]!r} is not a number")
    if question.values:
        if raw not in question.values:
            raise OutOfScale(f"{name}: {str(raw)[:40]} is not one of {_scale(question)}")
    elif question.level == "ratio" and raw < 0:
        raise OutOfScale(f"{name}: {str(raw)[:40]} is below 0")
    elif not question.accepts(raw):
        raise OutOfScale(f"{name}: {str(raw)[:40]} is not {describe_bounds(question)}")
    return float(raw)


def _number_in(question: QuestionDefinition, text: str, name: str) -> float | str:
    """Return the number that a text is, or the text."""
    most = float(question.values[-1]) if question.values else question.maximum
    try:
        number = written_number(text, most)
    except OutOfScale as error:
        raise OutOfScale(f"{name}: {error}") from None
    return text if number is None else number


def turn_numbers(data: Mapping[str, Any], name: str, last: int) -> set[int]:
    """Return the turns that a list names, 1 to `last` as shown in the prompt; raise Unparseable."""
    value = data.get(name)
    if not isinstance(value, list):
        raise Unparseable(f"the field {name[:80]} is missing or no list")
    return {turn_number(number, name, last) for number in value}


def turn_number(raw: Any, name: str, last: int) -> int:
    """Return a turn's number, 1 to `last`; raise Unparseable."""
    number = integer(raw)
    if number is None:
        raise Unparseable(f"{name[:80]}: {str(raw)[:40]!r} is not a turn number")
    if not 1 <= number <= last:
        raise OutOfScale(f"{name[:80]}: there is no turn {str(number)[:40]}; the turns are 1 to {last}")
    return number


def _text(question: QuestionDefinition, raw: Any, name: str) -> str | None:
    if not isinstance(raw, str):
        raise Unparseable(f"{name}: {str(raw)[:40]!r} is not a text")
    if len(raw) > TEXT_LIMIT:
        raise Unparseable(f"{name}: the text has {len(raw):,} characters, not at most {TEXT_LIMIT:,}")
    if question.level == "nominal" and question.values:
        values_by_text = {format_value(value): str(value) for value in question.values} | {
            str(value): str(value) for value in question.values
        }
        if raw not in values_by_text:
            raise OutOfScale(f"{name}: {raw[:40]!r} is not one of {_scale(question)}")
        return values_by_text[raw]
    return raw.strip() or None


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _scale(question: QuestionDefinition) -> str:
    return ", ".join(format_value(value) for value in question.values)[:200]


def _value(question: QuestionDefinition) -> dict[str, Any]:
    if question.level in ("text", "nominal"):
        values = [format_value(value) for value in question.values]
        return (
            {"type": "string", "enum": values}
            if values and question.level == "nominal"
            else {"type": "string"}
        )
    if not question.values:
        return {"type": "integer" if question.whole else "number", **_bounds(question)}
    is_whole = all(float(value) == int(float(value)) for value in question.values)
    return {"type": "integer" if is_whole else "number", "enum": list(question.values)}


def _bounds(question: QuestionDefinition) -> dict[str, float]:
    ends = {"minimum": question.minimum, "maximum": question.maximum}
    return {name: end for name, end in ends.items() if end is not None}


# Evidence of a judge's answers: numbers of turns, as shown in brackets in the prompt.
#
# Requested in JSON replies about one item. A number that no turn in the prompt has is ignored and flagged; an
# answer that lacks required evidence is flagged, but the answer itself stands.

NO_EVIDENCE = "no_evidence"
"""Flag of an answer that requires evidence but names no turn shown in the prompt."""
NO_TURN = "no_such_turn"
"""Flag of evidence that names a turn not shown in the prompt."""
EVIDENCE_NOTE = (
    "A list that ends in _evidence holds the numbers, as they stand in brackets before the turns, of those "
    "that the answer refers to, [] where it refers to none."
)


def asking(questions: Sequence[QuestionDefinition]) -> list[QuestionDefinition]:
    """Return the questions whose answers may point at turns."""
    return [question for question in questions if question.evidence]


def field_of(question: QuestionDefinition, questions: Sequence[QuestionDefinition]) -> str:
    """Return the name of the field for a question's evidence."""
    return free(f"{question.key}_evidence", (other.key for other in questions))


def numbers_of(case: Case) -> dict[int, Passage]:
    """Return the turns numbered in a prompt: a rated turn and the turns before it, else the judged turns."""
    own = case.continuation.id
    if case.turn is None:
        return {number: Passage(own, index) for number, index in enumerate(case.judged(), start=1)}
    places: dict[int, Passage] = {id(turn): Passage(own, n) for n, turn in enumerate(case.continuation.turns)}
    if own != SELF:
        places |= {id(turn): Passage(SELF, n) for n, turn in enumerate(case.dialogue.turns)}
    visible_turns: tuple[Turn, ...] = visible(case.dialogue, case.continuation, case.turn)
    passages = [*(places[id(turn)] for turn in visible_turns), Passage(own, case.turn)]
    return dict(enumerate(passages, start=1))


def evidence_schema_fields(questions: Sequence[QuestionDefinition]) -> dict[str, Any]:
    """Return the JSON schemas of the evidence fields."""
    numbers = {"type": "array", "items": {"type": "integer"}}
    return {field_of(question, questions): numbers for question in asking(questions)}


def read_evidence(
    data: Mapping[str, Any], questions: Sequence[QuestionDefinition], answers: Answered, case: Case
) -> tuple[dict[str, tuple[Passage, ...]], list[str]]:
    """Parse the evidence of answers by question, with flags; raise Unparseable if a field is not a list."""
    passages = numbers_of(case)
    read: dict[str, tuple[Passage, ...]] = {}
    flags: list[str] = []
    for question in asking(questions):
        name = field_of(question, questions)
        entries = [] if name in data and data[name] is None else data.get(name)
        if not isinstance(entries, list):
            raise Unparseable(f"the field {name[:80]} is missing or no list")
        if question.key not in answers or not takes_evidence(question, answers[question.key][0]):
            continue
        numbers = [number for entry in entries if (number := integer(entry)) in passages]
        read[question.key] = in_order(passages[number] for number in numbers if number is not None)[:MOST]
        if strange := [entry for entry in entries if integer(entry) not in passages]:
            flags.append(f"{NO_TURN}: {question.key[:80]} points at {str(strange[0])[:40]}, no turn shown")
        if question.evidence_required and not read[question.key]:
            flags.append(f"{NO_EVIDENCE}: {question.key[:80]} points at no turn")
    return read, flags


def written_evidence(
    questions: Sequence[QuestionDefinition], pointed: Mapping[str, tuple[Passage, ...]], case: Case
) -> dict[str, list[int]]:
    """Return the fields with the evidence of answers; places within a text are given as whole turns."""
    numbers = {passage: number for number, passage in numbers_of(case).items()}
    return {
        field_of(question, questions): sorted(
            {
                numbers[place]
                for passage in pointed.get(question.key, ())
                if (place := Passage(passage.continuation, passage.turn)) in numbers
            }
        )
        for question in asking(questions)
    }
