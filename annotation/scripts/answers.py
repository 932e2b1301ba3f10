"""What an answer to a question about a script is worth: its scores, and what its raters say of it.

The content of an answer is the JSON that stands at the answer turn (`extra["answer"]`); what was replied is
the turn's text (`dialsim.md`, section 8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from annotation.records import EVENTS
from annotation.scripts.records import LETTERS, UNKNOWN, Question
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
from annotation.scripts.sessions import Sessions

# How much of a question's evidence stands in a prompt (`dialsim.md`, section 9).

Extent = Literal["sufficient", "partly", "none"]


@dataclass(frozen=True, slots=True)
class Shown:
    """What of a script stands in a prompt.

    `sessions` are the numbers of those that stand there as all that was heard of them, or as their summary;
    `turns` are positions of own turns that stand there by themselves.
    """

    sessions: frozenset[int] = field(default_factory=frozenset)
    turns: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Moment:
    """When a question is asked: in the session of a number, right after the own turn at a position."""

    session: int
    point: int


def sufficiency(
    evidence: Iterable[int],
    evidence_all: bool,
    evidence_turns: Iterable[int],
    shown: Shown,
    *,
    sessions: Sessions,
    asked: Moment,
) -> Extent:
    """Return how much of a question's evidence a prompt shows. `evidence` are numbers of sessions.

    One session suffices, or all are needed (`evidence_all`). A session counts where it stands in the prompt
    whole, or where its evidence turns do; where these are not known, all that was heard of it. The running
    session counts by evidence turns that are known and were heard, since the evidence may otherwise lie on
    either side of the asking point. What is not heard by then never counts.
    """
    turns = frozenset(evidence_turns)
    extents = [_extent(number, turns, shown, sessions, asked) for number in sorted(set(evidence))]
    counted = extents.count("sufficient")
    if extents and counted >= (len(extents) if evidence_all else 1):
        return "sufficient"
    return "none" if all(extent == "none" for extent in extents) else "partly"


def question_sufficiency(question: Question, shown: Shown, *, sessions: Sessions, asked: Moment) -> Extent:
    """Return how much of a question's evidence a prompt shows; see `sufficiency`."""
    numbers = [sessions.numbers[session] for session in question.evidence]
    return sufficiency(
        numbers, question.evidence_all, question.evidence_turns, shown, sessions=sessions, asked=asked
    )


def _extent(
    number: int, evidence_turns: frozenset[int], shown: Shown, sessions: Sessions, asked: Moment
) -> Extent:
    """Return how much of the evidence in one session a prompt shows."""
    if number > asked.session:
        return "none"
    running = number == asked.session
    heard = _heard(sessions, number, asked.point if running else None)
    known = frozenset(place for place in evidence_turns if sessions.of_turn[place] == number)
    there = heard if number in shown.sessions else heard & shown.turns
    needed = known or heard
    if not needed & there:
        return "none"
    return "sufficient" if needed <= there and (known or not running) else "partly"


def _heard(sessions: Sessions, number: int, until: int | None) -> frozenset[int]:
    """Return the positions of what was said in a session, as far as it was heard."""
    turns = sessions.dialogue.turns
    heard = sessions.heard_turns(number, until)
    return frozenset(place for place in heard if turns[place].act not in (*EVENTS, "silence"))


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
