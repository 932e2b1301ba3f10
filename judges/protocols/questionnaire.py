"""Any scheme's questions in a prompt: how they are said, and which are asked after which answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from annotation.schemes.base import QuestionDefinition, explains, is_met
from annotation.text.cleaning import clean, one_line
from judges.protocols.scales import scale_lines, shown

HELP = {
    "definition": "Definition",
    "example": "Example",
    "not_this": "Not this",
    "keep_in_mind": "Keep in mind",
}
"""The parts of a question's help, in the order in which they are said."""


def is_tag(question: QuestionDefinition) -> bool:
    """Whether it is one mark of several that stand together: left untouched, it means no."""
    return question.is_tag


def is_shown(question: QuestionDefinition, answers: Mapping[str, Any]) -> bool:
    """Whether a question is asked, given the answers to the questions before it."""
    return is_met(question.show_if, answers)


def must_answer(question: QuestionDefinition, tags: Iterable[str]) -> bool:
    """Whether a question that is asked needs an answer: it is required, or says what a mark stands for."""
    return question.required or explains(question.level, question.show_if, set(tags))


def told(
    questions: Iterable[QuestionDefinition], *, conditions: bool = True, marks: Collection[str] = ()
) -> str:
    """Return questions as a prompt says them: wording, help, values and when each is asked.

    Those of one group stand under its name. Without `conditions` nothing is said of leaving answers out.
    `marks` are the keys of those that are answered by naming turns, so they have no values.
    """
    blocks: list[str] = []
    group = ""
    for question in questions:
        if question.group != group and question.group:
            name = one_line(question.group)
            blocks.append(name if name[-1:] in ".:?!" else f"{name}:")
        group = question.group
        values = [] if question.key in marks else values_told(question)
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


def values_told(question: QuestionDefinition) -> list[str]:
    """Return what may be answered, in lines."""
    if question.level == "text":
        return ["Answer in words."]
    if not question.values:
        ends = [f"- {shown_key(key)}: {one_line(text)}" for key, text in question.anchors.items()]
        return [f"Answer with {bounds_told(question)}.", *ends]
    if question.anchors or question.level != "binary":
        return scale_lines(question) if question.anchors else [_listed(question)]
    yes = question.positive if question.positive is not None else question.values[-1]
    return [f"- {shown(value)}: {'yes' if value == yes else 'no'}" for value in question.values]


def bounds_told(question: QuestionDefinition) -> str:
    """Return what may be answered to a question without values."""
    if question.level == "nominal":
        return "a short text"
    what = "a whole number" if question.whole else "a number, decimals allowed"
    least = 0 if question.minimum is None and question.level == "ratio" else question.minimum
    if question.maximum is None:
        return what if least is None else f"{what}, at least {shown(least)}"
    most = shown(question.maximum)
    return f"{what}, at most {most}" if least is None else f"{what}, from {shown(least)} to {most}"


def shown_key(key: Any) -> str:
    """Return the value that an anchor words, which a stored scheme has as a text."""
    return one_line(str(key))


def _listed(question: QuestionDefinition) -> str:
    return f"One of: {', '.join(shown(value) for value in question.values)}"


def _conditions(question: QuestionDefinition) -> list[str]:
    lines = []
    if (when := question.show_if) is not None:
        ends = [
            f"at {most} {when[end]:g}" for end, most in (("min", "least"), ("max", "most")) if end in when
        ]
        if "in" in when:
            ends = [" or ".join(shown(value) for value in when["in"])]
        place = (
            f"{one_line(when['question'])} is {' and '.join(ends)}" if ends else "the one before is answered"
        )
        lines.append(f"Asked only where {place}; else null.")
    elif not question.required:
        lines.append("May be left out: then null.")
    return lines
