"""Saying a reading: what the replies that `Asking.write` makes have in common."""

from __future__ import annotations

from judges.protocols.base import Reading, Unwritable, Verdict


def said(reading: Reading, question: str, turn: int | None) -> Verdict:
    """Return a reading's answer to a question about a turn (None: the whole); raise Unwritable for none."""
    for verdict in reading.verdicts:
        if (verdict.question, verdict.turn) == (question, turn) and verdict.value is not None:
            return verdict
    place = "" if turn is None else f" about turn {turn + 1}"
    raise Unwritable(f"there is no answer to {question}{place}")


def number(verdict: Verdict) -> float:
    """Return the number that a verdict answers; raise Unwritable where it is another kind of answer."""
    if not isinstance(verdict.value, int | float):
        raise Unwritable(f"the answer to {verdict.question} is not a number")
    return verdict.value


def written(value: float) -> str:
    """Return a number as it is written in a reply: `4`, `3.5`."""
    return str(int(value)) if value == int(value) else repr(float(value))


def score(reading: Reading, question: str, turn: int | None) -> str:
    """Return the number that answers a question, as it is written in a reply; raise Unwritable for none."""
    return written(number(said(reading, question, turn)))
