"""Decisions from the reviews of a fact or a question: accepted, rejected, corrected, or still open.

Each review states one verdict: accepted as it is, rejected, or a correction. An adjudicated review overrides
all others. Without one, at least two people are needed, and all of them must agree; names and relations are
compared without case and white space. An unreadable review (a relation that is not in the table, a session
that does not exist) decides nothing, and blocks the decision, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from annotation.script_records import Fact, Question
from annotation.text.views import one_line
from annotation.text.words import fold
from suites.long_dialogue import schemes as long_dialogues
from suites.long_dialogue.scripts.graph import DEFAULT, PERSON, RelationTable
from suites.long_dialogue.scripts.sessions import People, Sessions
from suites.reviews import Review

Decision = Literal["accepted", "rejected", "corrected", "undecided"]
Content = TypeVar("Content", Fact, Question)
REVIEWERS = 2
"""Number of people who must agree without an adjudication."""
UNREVIEWED = "nobody has reviewed it"
ALONE = "one person has reviewed it, and two are needed"


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Content]):
    """Outcome of the reviews.

    `content` is the fact or question with its new status, None while undecided. A corrected record is the
    accepted correction: it supersedes the old one, whose status becomes `corrected`. `reason` explains why it
    is undecided or rejected.
    """

    decision: Decision
    content: Content | None = None
    reason: str = ""


class Unreadable(ValueError):
    """A review that cannot be applied; the message has the reason."""


def fact_outcome(
    fact: Fact, reviews: Sequence[Review], sessions: Sessions, relations: RelationTable = DEFAULT
) -> Outcome[Fact]:
    """Return the outcome of a fact's reviews (scheme `fact_review`).

    A wrong fact without any correction is rejected. A turn given by its number (from 1, among the dialogue's
    own turns) replaces the fact's turns, and its session the fact's session.
    """
    reader = _FactReader(fact, sessions, relations)
    return _outcome(fact, reviews, long_dialogues.RIGHT, reader.read)


def quiz_outcome(question: Question, reviews: Sequence[Review], sessions: Sessions) -> Outcome[Question]:
    """Return the outcome of a quiz question's reviews (scheme `quiz_review`).

    An unanswerable question, or one with a wrong answer, is rejected. A question with other evidence than the
    reviewers' is corrected. For a single session, `evidence_all` does not matter.
    """
    return _outcome(
        question, reviews, long_dialogues.ANSWERABLE, lambda answers: _question(question, answers, sessions)
    )


def _outcome(
    content: Content, reviews: Sequence[Review], first: str, read: Callable[[Mapping[str, Any]], Content]
) -> Outcome[Content]:
    """Return the outcome of the reviews that answer the first question; `read` parses one review."""
    answered = [review for review in reviews if review.answers.get(first) is not None]
    decisive = [review for review in answered if review.adjudicated][-1:] or answered
    if not decisive:
        return Outcome("undecided", reason=UNREVIEWED)
    verdicts: list[Content] = []
    for review in decisive:
        try:
            verdicts.append(read(review.answers))
        except Unreadable as error:
            return Outcome("undecided", reason=f"{review.rater}: {error}")
    if not decisive[0].adjudicated and len({review.rater for review in decisive}) < REVIEWERS:
        return Outcome("undecided", reason=ALONE)
    if reason := _difference(verdicts):
        return Outcome("undecided", reason=reason)
    verdict = verdicts[0]
    if verdict.status == "rejected":
        return Outcome("rejected", verdict, _why_rejected(decisive[0]))
    if verdict.status == "corrected":
        return Outcome("corrected", replace(verdict, status="accepted"))
    return Outcome("accepted", verdict)


def _difference(verdicts: Sequence[Any]) -> str:
    """Return the point on which the reviewers differ, '' if all agree."""
    first = verdicts[0]
    for other in verdicts[1:]:
        if "rejected" in (first.status, other.status) and first.status != other.status:
            return "the reviewers differ: some reject it, others do not"
        for name in _COMPARED[type(first)]:
            if _plain(getattr(first, name)) != _plain(getattr(other, name)):
                return f"the reviewers differ in its {name.replace('_', ' ')}"
    return ""


_COMPARED: Mapping[type, tuple[str, ...]] = {
    Fact: ("head", "relation", "tail", "session", "turns"),
    Question: ("evidence", "evidence_all"),
}


def _plain(value: Any) -> Any:
    return fold(value) if isinstance(value, str) else value


def _why_rejected(review: Review) -> str:
    if long_dialogues.RIGHT in review.answers:
        return "it is not said"
    if review.answers[long_dialogues.ANSWERABLE] == 0:
        return "it cannot be answered from the script"
    return "its answer is not right"


class _FactReader:
    """Parses the fact that a review states."""

    def __init__(self, fact: Fact, sessions: Sessions, relations: RelationTable) -> None:
        self._fact = fact
        self._sessions = sessions
        self._relations = {fold(key): key for key in relations}
        self._table = relations
        self._people = People(sessions.dialogue.participants)

    def read(self, answers: Mapping[str, Any]) -> Fact:
        """Return a review's fact: rejected, accepted, or corrected. Raises Unreadable."""
        texts = {name: one_line(answers.get(name) or "") for name in long_dialogues.CORRECTED}
        if answers[long_dialogues.RIGHT] == 0 and not any(texts.values()):
            return replace(self._fact, status="rejected")
        fact = self._placed(self._fact, answers.get(long_dialogues.TURN))
        if answers[long_dialogues.RIGHT] == 0:
            fact = self._corrected(fact, texts)
        same = all(
            _plain(getattr(fact, name)) == _plain(getattr(self._fact, name)) for name in _COMPARED[Fact]
        )
        return replace(self._fact, status="accepted") if same else replace(fact, status="corrected")

    def _corrected(self, fact: Fact, texts: Mapping[str, str]) -> Fact:
        relation = (
            self._relation(texts[long_dialogues.RELATION])
            if texts[long_dialogues.RELATION]
            else fact.relation
        )
        kinds = self._table.get(relation)
        head, tail = texts[long_dialogues.HEAD] or fact.head, texts[long_dialogues.TAIL] or fact.tail
        return replace(
            fact,
            relation=relation,
            head=self._people.name(head) or head if kinds and kinds.head == PERSON else head,
            tail=self._people.name(tail) or tail if kinds and kinds.tail == PERSON else tail,
        )

    def _relation(self, name: str) -> str:
        key = self._relations.get(fold(name))
        if key is None:
            raise Unreadable(f"there is no relation {name[:40]!r}")
        return key

    def _placed(self, fact: Fact, number: Any) -> Fact:
        """Return the fact with the turn of a number, if there is one."""
        if number is None:
            return fact
        place = int(number) - 1
        of_turn = self._sessions.of_turn
        if not 0 <= place < len(of_turn) or not of_turn[place]:
            raise Unreadable(f"there is no turn {int(number)} in a session")
        if place in fact.turns:
            return fact
        return replace(fact, session=self._sessions[of_turn[place]].id, turns=(place,))


def _question(question: Question, answers: Mapping[str, Any], sessions: Sessions) -> Question:
    """Return the question with a review's evidence. Raises Unreadable."""
    if answers[long_dialogues.ANSWERABLE] == 0 or answers.get(long_dialogues.ANSWER) == 0:
        return replace(question, status="rejected")
    if answers.get(long_dialogues.ANSWER) is None or answers.get(long_dialogues.ALL) is None:
        raise Unreadable("the review is not complete")
    evidence = _sessions(answers.get(long_dialogues.SESSIONS) or "", sessions)
    needed = bool(answers[long_dialogues.ALL]) and len(evidence) > 1
    same = set(evidence) == set(question.evidence) and needed == (
        question.evidence_all and len(question.evidence) > 1
    )
    if same:
        return replace(question, status="accepted")
    numbers = {sessions.numbers[name] for name in evidence}
    evidence_turns = tuple(place for place in question.evidence_turns if sessions.of_turn[place] in numbers)
    return replace(
        question, evidence=evidence, evidence_all=needed, evidence_turns=evidence_turns, status="corrected"
    )


def _sessions(text: str, sessions: Sessions) -> tuple[str, ...]:
    """Return the ids listed in a text, in the script's order. Raises Unreadable for none or unknown ones."""
    ids = {part.strip() for part in text.split(long_dialogues.JOIN) if part.strip()}
    if not ids:
        raise Unreadable("no session is named")
    if unknown := sorted(ids - set(sessions.numbers)):
        raise Unreadable(f"there is no session {unknown[0][:40]!r}")
    return tuple(sorted(ids, key=lambda name: sessions.numbers[name]))
