"""Rules of evidence: which answers of a question point at turns, or at words in them."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.schemes.base import EVIDENCE, QuestionDefinition
from annotation.schemes.problems import named

KEY = "e"
"""The key that begins to point, on the annotator's page of a scheme that asks for evidence."""
Found = Iterator[tuple[tuple[str | int, ...], str]]


def evidence_problems(question: QuestionDefinition) -> Found:
    """Yield the paths, from the question on, and sentences of what is wrong with a question's evidence."""
    if question.evidence and question.evidence not in EVIDENCE:
        yield (
            ("evidence",),
            f"There is no evidence {named(question.evidence)}: write {', '.join(EVIDENCE)} or none.",
        )
    if not question.evidence:
        if question.evidence_required:
            yield ("evidence_required",), "Say what the answers point at: evidence: turns, or spans."
        if question.evidence_for:
            yield ("evidence_for",), "Say what these answers point at: evidence: turns, or spans."
        return
    yield from _value_problems(question)


def _value_problems(question: QuestionDefinition) -> Found:
    if question.evidence_for and not question.values:
        yield (
            ("evidence_for",),
            "Only answers that are chosen from a list can be named: leave it out for all of them.",
        )
        return
    for index, value in enumerate(question.evidence_for):
        if isinstance(value, bool) or value not in question.values:
            told = ", ".join(str(one) for one in question.values[:12])
            yield ("evidence_for",), f"{named(value)} is not an answer to this question: it takes {told}."
        elif value in question.evidence_for[:index]:
            yield ("evidence_for",), f"{named(value)} is there twice."
        elif question.is_tag and value == 0:
            yield ("evidence_for",), "A tag that is not set has nothing to point at: take 0 out."
