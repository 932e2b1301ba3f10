"""What the main character can know of a quiz question's answer in a session: answerable, not, or unclear."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["answerable", "unanswerable", "excluded"]
Policy = Literal["body", "appendix"]

POLICIES: tuple[Policy, ...] = ("body", "appendix")
"""Whether a question asked before its evidence cannot be answered (the paper's body) or is left out."""
KNOWN, KNOWN_DATED = "ans_wo_time", "ans_w_time"
BEFORE = "before_event_unans"
ABSENT, ABSENT_DATED = "dont_know_unans", "dont_know_unans_time"
_DATED = {KNOWN: KNOWN_DATED, ABSENT: ABSENT_DATED}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a question asked in a session is, its type ('' where excluded), and why.

    `sessions` are the numbers of the sessions that decide, `rule` names the rule.
    """

    kind: Kind
    type: str
    sessions: tuple[int, ...]
    rule: str


def quiz_use(
    heard: Collection[int], evidence: Collection[int], evidence_all: bool, t: int, policy: Policy = "body"
) -> Verdict:
    """Say whether a question can be answered in session `t`.

    Sessions are numbers from 1, and `heard` are those with the main character. `evidence` are the sessions
    that give the answer, of which one suffices, or all are needed. Where the asking session itself would
    decide, the use is excluded: the evidence may lie on either side of the asking point.
    """
    if policy not in POLICIES:
        raise ValueError(f"{policy!r} is no policy; those are {', '.join(POLICIES)}")
    there = sorted(number for number in set(evidence) if number in heard)
    if not there:
        return Verdict("unanswerable", ABSENT, tuple(sorted(evidence)), "not there")
    if not evidence_all:
        return _one_suffices(there, t, policy)
    if len(there) < len(set(evidence)):
        return Verdict("excluded", "", tuple(there), "partly there")
    return _all_needed(there, t, policy)


def dated(verdict: Verdict) -> Verdict:
    """Return what a question's variant with a date in its text is: there is none before the evidence."""
    if verdict.kind == "excluded":
        return verdict
    if verdict.type == BEFORE:
        return Verdict("excluded", "", verdict.sessions, "the date would tell")
    return replace(verdict, type=_DATED[verdict.type])


def _one_suffices(there: list[int], t: int, policy: Policy) -> Verdict:
    if there[0] < t:
        return Verdict("answerable", KNOWN, (there[0],), "heard")
    if t in there:
        return Verdict("excluded", "", (t,), "same session")
    return _before(tuple(there), policy)


def _all_needed(there: list[int], t: int, policy: Policy) -> Verdict:
    if there[-1] < t:
        return Verdict("answerable", KNOWN, tuple(there), "all heard")
    if there[-1] == t:
        return Verdict("excluded", "", (t,), "same session")
    return _before(tuple(there), policy)


def _before(there: tuple[int, ...], policy: Policy) -> Verdict:
    if policy == "appendix":
        return Verdict("excluded", "", there, "before the evidence")
    return Verdict("unanswerable", BEFORE, there, "before the evidence")
