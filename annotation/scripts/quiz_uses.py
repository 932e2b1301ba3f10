"""Where quiz questions are asked, as they stand and with the date of their evidence in the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from annotation.scripts.candidates import Candidate, Spot, Tally
from annotation.scripts.choices import CHOICES
from annotation.scripts.dates import most_recent, when
from annotation.scripts.quiz import Policy, Verdict, dated, quiz_use
from annotation.scripts.records import Date, Question
from annotation.scripts.sessions import Sessions
from annotation.scripts.wording import occurs, with_date
from annotation.text.tokens import fold

Names = Callable[[tuple[int, ...]], tuple[str, ...]]
"""The ids of sessions by their numbers."""


def quiz_candidates(
    sessions: Sessions, questions: Iterable[Question], name: str, policy: Policy, tally: Tally
) -> Iterator[Candidate]:
    """Yield the accepted quiz questions that stand by themselves, each followed by its dated variant.

    A question that has its date in its own text has no other variant. Raises ValueError for evidence in a
    session that the script does not have.
    """
    ids: Names = cache(lambda numbers: tuple(sessions[number].id for number in numbers))
    for question in sorted(filter(_counts, questions), key=lambda each: each.id):
        evidence = evidence_of(sessions, question)
        fault = _fault(question, evidence)
        if fault:
            tally.dropped[fault] += 1
            continue
        verdicts = [
            (t, quiz_use(sessions.heard, evidence, question.evidence_all, t, policy))
            for t in sorted(sessions.heard)
        ]
        date = most_recent(sessions[number].date for number in evidence)
        late = [(t, _not_ahead(dated(verdict), sessions[t].date, date)) for t, verdict in verdicts]
        own = late if question.dated else verdicts
        tally.excluded.update(verdict.rule for _, verdict in own if verdict.kind == "excluded")
        yield from _candidate(question, False, own, ids)
        if not question.dated:
            variant = dated_variant(sessions, question, name)
            if variant is None:
                tally.dropped["answer in text"] += 1
            else:
                yield from _candidate(variant, True, late, ids)


def _not_ahead(verdict: Verdict, now: Date, date: Date) -> Verdict:
    """Exclude what would be asked with a date that is still to come: it would say that nobody can know."""
    if verdict.kind != "excluded" and now.before(date):
        return Verdict("excluded", "", verdict.sessions, "the date lies ahead")
    return verdict


def evidence_of(sessions: Sessions, question: Question) -> tuple[int, ...]:
    """Return the numbers of a question's sessions of evidence; raise ValueError for an unknown one."""
    unknown = [key for key in question.evidence if key not in sessions.numbers]
    if unknown:
        raise ValueError(f"question {question.id!r}: there is no session {unknown[0]!r}")
    return tuple(sorted({sessions.numbers[key] for key in question.evidence}))


def dated_variant(sessions: Sessions, question: Question, name: str) -> Question | None:
    """Return a question with the most recent date of its evidence; None where the date gives its answer."""
    date = most_recent(sessions[number].date for number in evidence_of(sessions, question))
    if occurs(question.answer, when(date)):
        return None
    return replace(
        question,
        id=f"{name}:{question.id}:dated",
        text=with_date(question.text, date),
        dated=True,
        base=question.id,
        styles={},
        origin=name,
    )


def _counts(question: Question) -> bool:
    return question.source == "quiz" and question.status == "accepted" and not question.origin


def _fault(question: Question, evidence: Sequence[int]) -> str:
    """Return why a question is never asked, '' where it can be."""
    if not evidence:
        return "no evidence"
    choices = {fold(choice) for choice in question.choices}
    if len(question.choices) != CHOICES or len(choices) != CHOICES:
        return "not four choices"
    return "" if question.answer in question.choices else "answer among no choices"


def _candidate(
    question: Question, made: bool, verdicts: Sequence[tuple[int, Verdict]], ids: Names
) -> Iterator[Candidate]:
    spots = [
        Spot(t, verdict.kind == "answerable", verdict.type, ids(verdict.sessions), verdict.rule)
        for t, verdict in verdicts
        if verdict.kind != "excluded"
    ]
    if spots:
        yield Candidate(question, made, spots)
