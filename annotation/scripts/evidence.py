"""How much of a question's evidence stands in a prompt (`dialsim.md`, section 9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from annotation.records import EVENTS
from annotation.scripts.records import Question
from annotation.scripts.sessions import Sessions

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
