"""What an answer to a question about a script is worth: its scores, and what its raters say of it.

The content of an answer is the JSON that stands at the answer turn (`extra["answer"]`); what was replied is
the turn's text (`dialsim.md`, section 8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from annotation.scripts.evidence import Extent, Moment, Shown, question_sufficiency, sufficiency
from annotation.scripts.records import LETTERS, UNKNOWN
from annotation.scripts.replies import (
    AMBIGUOUS,
    FAILED,
    LATE,
    NONE,
    TEXT,
    UNKNOWN_TEXT,
    Outcome,
    Verdict,
    read_free,
    read_natural,
    read_template,
    says_unknown,
)

__all__ = [
    "ABSTAINED",
    "AMBIGUOUS",
    "CHOICE",
    "FAILED",
    "FORMATS",
    "KEY",
    "LATE",
    "LENIENT",
    "NATURAL",
    "NONE",
    "OBSERVED",
    "OPEN",
    "RIGHT",
    "RULES",
    "STRICT",
    "TEMPLATE",
    "TEXT",
    "UNKNOWN_TEXT",
    "WAITS",
    "Answered",
    "Extent",
    "Moment",
    "Outcome",
    "Rule",
    "Shown",
    "Verdict",
    "labels_of",
    "late",
    "question_sufficiency",
    "read_free",
    "read_natural",
    "read_template",
    "right_texts",
    "says_unknown",
    "score",
    "sufficiency",
    "verdict_of",
]

Rule = Literal["strict", "lenient"]

RULES: tuple[Rule, ...] = ("strict", "lenient")
TEMPLATE, NATURAL, OPEN = "template", "natural", "open"
FORMATS = (TEMPLATE, NATURAL, OPEN)
OBSERVED, KEY = "observed", "key"
STRICT, LENIENT = "score:strict", "score:lenient"
"""The raters of an answer that no person and no model is."""
CHOICE, RIGHT, ABSTAINED = "choice", "right", "abstained"
WAITS = "waits for a judge"
"""Why it is missing whether an answer is right, until a judge has read it."""


class Answered(NamedTuple):
    """What one rater says of an answer; `missing` says why exactly where `value` is None."""

    rater: str
    question: str
    value: float | str | None
    missing: str = ""


def score(outcome: Outcome, key: str, rule: Rule = "strict") -> bool:
    """Whether an outcome is right; what was read off an option's text is so in the lenient score alone."""
    return outcome.value == key and (rule == "lenient" or not outcome.lenient)


def late(seconds: float, limit: float | None) -> bool:
    """Whether an answer took longer than its limit in seconds; None: there is none."""
    return limit is not None and seconds > limit


def labels_of(answer: Mapping[str, Any], reply: str) -> list[Answered]:
    """Return what the rater that observes, the key and both scores say of an answer and its reply.

    An open question has no choices, so nobody is asked which was taken. What no rule can score waits for a
    judge; of a failed call everything but the key is missing.
    """
    outcome = Outcome(answer["outcome"], bool(answer.get("lenient")))
    told = [] if answer["format"] == OPEN else _choices(outcome, answer["key"])
    told += _scores(STRICT, "strict", outcome, answer, reply)
    told += _scores(LENIENT, "lenient", outcome, answer, reply)
    return told


def verdict_of(answer: Mapping[str, Any], reply: str, rule: Rule = "strict") -> Verdict:
    """Return whether an answer that came is right by a rule, `undecided` where a judge has to read it."""
    outcome = Outcome(answer["outcome"], bool(answer.get("lenient")))
    if outcome.value == LATE:
        return "wrong"
    if answer["format"] != TEMPLATE:
        return read_free(reply, right_texts(answer), answer["key"])
    return "right" if score(outcome, answer["key"], rule) else "wrong"


def _choices(outcome: Outcome, key: str) -> list[Answered]:
    letter = outcome.letter
    observed = Answered(OBSERVED, CHOICE, letter, "" if letter else outcome.value)
    return [observed, Answered(KEY, CHOICE, key)]


def _scores(
    rater: str, rule: Rule, outcome: Outcome, answer: Mapping[str, Any], reply: str
) -> Iterable[Answered]:
    if outcome.value == FAILED:
        return [Answered(rater, question, None, FAILED) for question in (RIGHT, ABSTAINED)]
    verdict = verdict_of(answer, reply, rule)
    right = Answered(rater, RIGHT, None, WAITS) if verdict == "undecided" else None
    return [
        right or Answered(rater, RIGHT, float(verdict == "right")),
        Answered(rater, ABSTAINED, float(_abstained(outcome, rule, answer["format"], reply))),
    ]


def _abstained(outcome: Outcome, rule: Rule, form: str, reply: str) -> bool:
    if form == TEMPLATE or outcome.value == LATE:
        return score(outcome, UNKNOWN, rule)
    return says_unknown(reply)


def right_texts(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Return all right texts: the answer, others that are right, and the key's own as it was shown."""
    shown = dict(zip(LETTERS, answer.get("choices") or (), strict=False)).get(answer["key"])
    return tuple(text for text in (answer.get("answer"), *(answer.get("answers") or ()), shown) if text)
