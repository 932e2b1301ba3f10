"""Uses that came with a file against the rules: where the file and the rules say different things."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from annotation.records import Dialogue
from annotation.scripts.graph import Graph, Standing, Stated, excluded, standing
from annotation.scripts.making import evidence_of, together_at
from annotation.scripts.quiz import Policy, dated, quiz_use
from annotation.scripts.records import LETTERS, UNKNOWN, Question, Use
from annotation.scripts.relations import DEFAULT, RelationTable
from annotation.scripts.sessions import Sessions
from annotation.text.tokens import fold


@dataclass(frozen=True, slots=True)
class Difference:
    """A use (question and session ids) of which the file and the rules say different things."""

    question: str
    session: str
    file: str
    rules: str


def check(
    dialogue: Dialogue,
    questions: Iterable[Question],
    uses: Iterable[Use],
    policy: Policy = "body",
    *,
    presence: bool = True,
    table: RelationTable = DEFAULT,
) -> list[Difference]:
    """Return the differences between uses and rules, in the order of the uses: the file's keys stand.

    Quiz questions are checked by their evidence, those about facts by the dialogue's accepted facts; what has
    neither (see `unchecked`) by its keys alone. Raises ValueError for an unknown session of evidence.
    """
    rules = _Rules(dialogue, policy, presence, table)
    by_id = {question.id: question for question in questions}
    differences: list[Difference] = []
    for use in uses:
        question = by_id.get(use.question)
        told = [("a use", "there is no such question")] if question is None else rules.faults(question, use)
        differences += [Difference(use.question, use.session, *each) for each in told]
    return differences


def unchecked(dialogue: Dialogue, questions: Iterable[Question], table: RelationTable = DEFAULT) -> list[str]:
    """Return the ids of questions without evidence, or about facts that are not there: rules say nothing."""
    rules = _Rules(dialogue, "body", True, table)
    return [question.id for question in questions if not rules.apply(question)]


class _Rules:
    """The rules of sections 2 and 3 for one script."""

    def __init__(self, dialogue: Dialogue, policy: Policy, presence: bool, table: RelationTable) -> None:
        self.sessions, self.policy = Sessions(dialogue), policy
        self.graph = Graph(self.sessions, dialogue.facts, table, presence=presence)
        self._facts = {each.fact.id: each for each in self.graph.stated}

    def apply(self, question: Question) -> bool:
        """Whether a question says enough to be checked."""
        if question.source == "quiz":
            return bool(question.evidence)
        return self._hops(question) is not None

    def faults(self, question: Question, use: Use) -> Iterator[tuple[str, str]]:
        """Yield what the file says and what the rules say, for each difference about a use."""
        t = self.sessions.numbers.get(use.session)
        if t is None:
            yield "asked", "there is no such session"
            return
        if t not in self.sessions.heard:
            yield "asked", "the main character is not there"
        elif self.apply(question):
            yield from _compared(question, use, self._standing(question, t))
        yield from _key_faults(question, use)

    def _hops(self, question: Question) -> tuple[Stated, ...] | None:
        hops = tuple(self._facts[key] for key in question.facts if key in self._facts)
        return hops if len(hops) == len(question.facts) and len(hops) in (1, 2) else None

    def _standing(self, question: Question, t: int) -> Standing:
        if question.source == "quiz":
            return self._quiz(question, t)
        hops = self._hops(question)
        assert hops is not None
        if len(hops) == 1:
            return standing(self.graph, hops[0], t)
        return together_at(self.graph, (hops[0], hops[1]), t)

    def _quiz(self, question: Question, t: int) -> Standing:
        evidence = evidence_of(self.sessions, question)
        verdict = quiz_use(self.sessions.heard, evidence, question.evidence_all, t, self.policy)
        verdict = dated(verdict) if question.dated else verdict
        if verdict.kind == "excluded":
            return excluded(verdict.rule)
        return Standing(question.forms, verdict.type, verdict.kind == "answerable", verdict.rule)


def _compared(question: Question, use: Use, stand: Standing) -> Iterator[tuple[str, str]]:
    """Yield where a use is not as the rules have it; a file need not name a type or forms."""
    told = _words(use.answerable, use.type)
    if not stand.type:
        yield told, f"excluded: {stand.rule}"
    elif (use.answerable, use.type or stand.type) != (stand.answerable, stand.type):
        yield told, f"{_words(stand.answerable, stand.type)}: {stand.rule}"
    elif question.forms and question.forms != stand.forms:
        yield f"worded as {_listed(question.forms)}", f"worded as {_listed(stand.forms)}: {stand.rule}"


def _key_faults(question: Question, use: Use) -> Iterator[tuple[str, str]]:
    """Yield where the letter of a key is not that of its answer."""
    if not use.answerable or use.key == UNKNOWN:
        if use.answerable or use.key != UNKNOWN:
            yield f"{_words(use.answerable, '')}, key {use.key}", "key E exactly where there is no answer"
        return
    place = LETTERS.index(use.key) if use.key in LETTERS else len(LETTERS)
    shown = [question.choices[int(mark)] for mark in use.order if int(mark) < len(question.choices)]
    keyed = shown[place] if place < len(shown) else ""
    if fold(keyed) not in {fold(answer) for answer in (question.answer, *question.answers)}:
        yield f"key {use.key}: {keyed!r}", f"the answer is {question.answer!r}"


def _words(answerable: bool, kind: str) -> str:
    return ("answerable" if answerable else "unanswerable") + (f", {kind}" if kind else "")


def _listed(forms: Sequence[str]) -> str:
    return " and ".join(forms)
