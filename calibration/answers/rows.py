"""One row per asked question: what was asked where, and what became of the answer. Plain data, no database.

A row is read from the answer's own record (`answer` in the turn's `extra`) and from the labels it has. Where
a score's label is missing, the reply is scored again (`annotation.scripts.answers`); one that neither rule
nor judge has decided is pending, and one whose call failed is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.scripts.answers import (
    ABSTAINED,
    AMBIGUOUS,
    FAILED,
    LATE,
    NONE,
    RULES,
    STRICT,
    WAITS,
    Rule,
    labels_of,
    verdict_of,
)
from annotation.scripts.records import UNKNOWN

SUFFICIENT, PARTLY, NOTHING = "sufficient", "partly", "none"
RETRIEVED = (SUFFICIENT, PARTLY, NOTHING)
CALL_FAILED = "the call failed"
HALF = 0.5
MODEL, MEMORY, RETRIEVER, NAMES, SET = "model", "memory", "retriever", "names", "set"


@dataclass(frozen=True, slots=True)
class Said:
    """What raters answered about one answer: by rule right or not and abstained, and what a judge said.

    None where there is no such label. `undecided` says that the judge could not decide, which is wrong.
    """

    strict: float | None = None
    lenient: float | None = None
    abstained: float | None = None
    judge: float | None = None
    undecided: bool = False

    def by(self, rule: Rule) -> float | None:
        """Return whether it is right by the label of a rule."""
        return self.strict if rule == "strict" else self.lenient


NOBODY = Said()


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer stands: by whom, under which condition, in which trial and script.

    `sessions` is how many the script has, `cluster` what is resampled (the session, or its season).
    """

    system: str
    script: str
    cluster: str
    condition: Mapping[str, str] = field(default_factory=dict)
    trial: int = 0
    sessions: int = 0
    item: int | None = None
    fake_model: bool = False


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An asked question and its answer. `strict` and `lenient` say whether it is right, None where that is
    not known (`why`). `distance` are sessions and tokens from the evidence to the question.
    """

    place: Place
    question: str
    session: int
    use: str
    answerable: bool
    key: str
    source: str
    hops: int
    outcome: str
    strict: bool | None
    lenient: bool | None
    abstained: bool | None
    why: str = ""
    undecided: bool = False
    by_judge: bool = False
    relations: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    asker: str = ""
    format: str = ""
    names: str = ""
    question_set: str = ""
    retrieval: str = ""
    distance: tuple[int | None, int | None] = (None, None)
    wanted: str = ""
    asked: str = ""
    owed: tuple[str, ...] = ()

    def right(self, rule: Rule) -> bool | None:
        """Return whether it is right by a rule."""
        return self.strict if rule == "strict" else self.lenient

    @property
    def is_failed(self) -> bool:
        """Whether there is no answer because the call failed."""
        return self.outcome == FAILED

    def condition(self, key: str) -> str:
        """Return a setting of its condition; the model is the system where none is named, names are those
        of the script where nothing else is said."""
        usual = {MODEL: self.place.system, NAMES: self.names, SET: self.question_set}
        return self.place.condition.get(key) or usual.get(key, "")


def row_of(answer: Mapping[str, Any], reply: str, place: Place, said: Said = NOBODY) -> AnswerRow:
    """Return the row of an answer's own record and its reply.

    Raises KeyError where a field that must be there is not.
    """
    outcome, key = str(answer["outcome"]), str(answer["key"])
    strict, lenient = (_right(answer, reply, rule, said) for rule in RULES)
    by_judge = _by_judge(answer, reply, said)
    distance = answer.get("distance") or {}
    drawn = answer.get("class") or {}
    return AnswerRow(
        place=place,
        question=str(answer["question"]),
        session=int(answer["session"]),
        use=str(answer["use"]),
        answerable=bool(answer["answerable"]),
        key=key,
        source=str(answer["source"]),
        hops=int(answer.get("hops") or 0),
        outcome=outcome,
        strict=strict,
        lenient=lenient,
        abstained=_abstained(answer, reply, said),
        why=_why(answer, strict, lenient),
        undecided=by_judge and said.undecided,
        by_judge=by_judge,
        relations=tuple(answer.get("relations") or ()),
        forms=tuple(answer.get("forms") or ()),
        asker=str(answer.get("asker") or ""),
        format=str(answer.get("format") or ""),
        names=str(answer.get("names") or ""),
        question_set=str(answer.get("set") or ""),
        retrieval=str((answer.get("retrieval") or {}).get("evidence") or ""),
        distance=(distance.get("sessions"), distance.get("tokens")),
        wanted=str(drawn.get("wanted") or ""),
        asked=str(drawn.get("asked") or ""),
        owed=tuple(drawn.get("owed") or ()),
    )


def _right(answer: Mapping[str, Any], reply: str, rule: Rule, said: Said) -> bool | None:
    """Return whether an answer is right: by its label, by the rule, else by a judge."""
    if answer["outcome"] == FAILED:
        return None
    if (told := said.by(rule)) is not None:
        return told >= HALF
    verdict = verdict_of(answer, reply, rule)
    if verdict != "undecided":
        return verdict == "right"
    return None if said.judge is None else said.judge >= HALF


def _by_judge(answer: Mapping[str, Any], reply: str, said: Said) -> bool:
    """Whether a judge decides: no rule does, and the judge has answered."""
    if answer["outcome"] == FAILED or said.strict is not None or said.judge is None:
        return False
    return verdict_of(answer, reply) == "undecided"


def _abstained(answer: Mapping[str, Any], reply: str, said: Said) -> bool | None:
    """Return whether the answer was that it cannot be known.

    Where a judge decides and the key is (E), what it finds right said so, in words that no list has.
    """
    if answer["outcome"] == FAILED:
        return None
    if answer["key"] == UNKNOWN and _by_judge(answer, reply, said):
        return (said.judge or 0) >= HALF
    if said.abstained is not None:
        return said.abstained >= HALF
    told = {(one.rater, one.question): one.value for one in labels_of(answer, reply)}
    return bool(told[STRICT, ABSTAINED])


def _why(answer: Mapping[str, Any], strict: bool | None, lenient: bool | None) -> str:
    """Return why it is not known whether an answer is right."""
    if answer["outcome"] == FAILED:
        error = str(answer.get("error") or "")
        return f"{CALL_FAILED}: {error}" if error else CALL_FAILED
    return WAITS if strict is None or lenient is None else ""


__all__ = [
    "AMBIGUOUS",
    "FAILED",
    "LATE",
    "NONE",
    "RULES",
    "AnswerRow",
    "Place",
    "Rule",
    "Said",
    "row_of",
]
