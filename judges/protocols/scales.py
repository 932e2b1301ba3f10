"""The scale of a question in words, as prompts say it."""

from __future__ import annotations

from itertools import groupby

from annotation.schemes.base import QuestionDefinition, Value
from annotation.text.cleaning import one_line
from judges.protocols.writing import written


def shown(value: Value) -> str:
    """Return a value as a reply has it."""
    return one_line(value) if isinstance(value, str) else written(value)


def scale_lines(question: QuestionDefinition) -> list[str]:
    """Return a line for each value of a question with what it stands for; neighbours alike share one."""
    anchors = {str(key): one_line(text) for key, text in question.anchors.items()}
    pairs = [(shown(value), anchors.get(str(value), "")) for value in question.values]
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
