"""Question sets: every question with every use of it, from a script's accepted facts and quiz questions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from annotation.records import Dialogue
from annotation.script_records import LETTERS, UNKNOWN, Date, Fact, Form, Question, QuestionSet, Source, Use
from annotation.text.words import fold
from suites.long_dialogue.scripts.graph import (
    ANSWERED,
    DEFAULT,
    STATUSES,
    Graph,
    QuestionStatus,
    RelationTable,
    Stated,
    Topic,
    excluded,
    question_status,
    question_statuses,
)
from suites.long_dialogue.scripts.quiz import (
    CHOICES,
    KEYS,
    POLICIES,
    Policy,
    Tails,
    Verdict,
    dated,
    drawn_order,
    occurs,
    placed,
    question_about,
    quiz_use,
    with_date,
)
from suites.long_dialogue.scripts.sessions import Sessions, most_recent, when

# Figures of a question set: candidates per session by source, hops and type, answerable or not.


@dataclass(frozen=True, slots=True)
class TypeCount:
    """Number of uses of one kind, answerable or not, by type."""

    source: Source
    hops: int
    type: str
    answerable: int
    unanswerable: int


@dataclass(frozen=True, slots=True)
class Overview:
    """Figures of a set, as in table 2 of LongDialQA: sessions, turns, and counts of uses.

    `askable_sessions` are those with the main character, the only ones with questions; means are over them.
    `tests` is the base-10 logarithm of the number of possible series of one question per session.
    """

    sessions: int
    askable_sessions: int
    turns: int
    rows: tuple[TypeCount, ...]
    tests: float

    def uses(self, source: str = "", hops: int | None = None) -> int:
        """Return the number of uses, optionally of one source or number of hops."""
        return self.answerable(source, hops) + self.unanswerable(source, hops)

    def answerable(self, source: str = "", hops: int | None = None) -> int:
        """Return the number of answerable uses."""
        return sum(row.answerable for row in self._rows(source, hops))

    def unanswerable(self, source: str = "", hops: int | None = None) -> int:
        """Return the number of unanswerable uses."""
        return sum(row.unanswerable for row in self._rows(source, hops))

    def per_session(self, count: int) -> float | None:
        """Return a count per session with questions; None without such sessions."""
        return count / self.askable_sessions if self.askable_sessions else None

    def _rows(self, source: str, hops: int | None) -> list[TypeCount]:
        return [row for row in self.rows if source in ("", row.source) and hops in (None, row.hops)]


def overview(dialogue: Dialogue, questions: Iterable[Question], uses: Iterable[Use]) -> Overview:
    """Count the uses of a script's question set; `questions` are all used ones, of the set and others.

    Raises ValueError for a use of an unknown question.
    """
    sessions = Sessions(dialogue)
    kinds = {question.id: (question.source, question.hops) for question in questions}
    counts: Counter[tuple[str, str, bool]] = Counter()
    by_session: Counter[str] = Counter()
    for use in uses:
        counts[use.question, use.type, use.answerable] += 1
        by_session[use.session] += 1
    unknown = next((question for question, _, _ in counts if question not in kinds), None)
    if unknown is not None:
        raise ValueError(f"there is no question {unknown!r}")
    return Overview(
        sessions=len(sessions),
        askable_sessions=len(sessions.heard),
        turns=len(dialogue.turns),
        rows=_rows(kinds, counts),
        tests=sum(math.log10(count) for count in by_session.values()),
    )


def _rows(
    kinds: dict[str, tuple[Source, int]], counts: Counter[tuple[str, str, bool]]
) -> tuple[TypeCount, ...]:
    answerable: Counter[tuple[Source, int, str]] = Counter()
    unanswerable: Counter[tuple[Source, int, str]] = Counter()
    for (question, kind, right), count in counts.items():
        (answerable if right else unanswerable)[(*kinds[question], kind)] += count
    keys = sorted(answerable.keys() | unanswerable.keys())
    return tuple(TypeCount(*key, answerable[key], unanswerable[key]) for key in keys)


# A question with all its uses, before letters are drawn.


class Spot(NamedTuple):
    """A use of a question: the number of its session, whether it has an answer there, and the reason.

    `sessions` are ids; `since` is the last own turn that must be heard before.
    """

    number: int
    answerable: bool
    type: str
    sessions: tuple[str, ...]
    rule: str
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question, whether the set created it, and its spots in the order of sessions, at least one."""

    question: Question
    is_new: bool
    spots: list[Spot]


@dataclass(frozen=True, slots=True)
class Tally:
    """Discarded items: questions (and facts) `dropped`, by reason, and uses `excluded`, by rule."""

    dropped: Counter[str] = field(default_factory=Counter)
    excluded: Counter[str] = field(default_factory=Counter)


# Uses of quiz questions, as written and with the date of their evidence in the text.

Names = Callable[[tuple[int, ...]], tuple[str, ...]]
"""Maps numbers of sessions to ids."""


def quiz_candidates(
    sessions: Sessions, questions: Iterable[Question], name: str, policy: Policy, tally: Tally
) -> Iterator[Candidate]:
    """Yield the accepted quiz questions outside question sets, each followed by its dated variant.

    A question with a date in its own text has no variant. Raises ValueError for evidence in a session that
    the script does not have.
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
    """Exclude a question with a future date: the date would reveal that nobody can know the answer."""
    if verdict.kind != "excluded" and now.before(date):
        return Verdict("excluded", "", verdict.sessions, "the date lies ahead")
    return verdict


def evidence_of(sessions: Sessions, question: Question) -> tuple[int, ...]:
    """Return the numbers of a question's evidence sessions; raise ValueError for an unknown one."""
    unknown = [key for key in question.evidence if key not in sessions.numbers]
    if unknown:
        raise ValueError(f"question {question.id!r}: there is no session {unknown[0]!r}")
    return tuple(sorted({sessions.numbers[key] for key in question.evidence}))


def dated_variant(sessions: Sessions, question: Question, name: str) -> Question | None:
    """Return a question with the latest date of its evidence; None if the date gives its answer."""
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
    """Return why a question can never be asked, '' if it can."""
    if not evidence:
        return "no evidence"
    choices = {fold(choice) for choice in question.choices}
    if len(question.choices) != CHOICES or len(choices) != CHOICES:
        return "not four choices"
    return "" if question.answer in question.choices else "answer among no choices"


def _candidate(
    question: Question, is_new: bool, verdicts: Sequence[tuple[int, Verdict]], ids: Names
) -> Iterator[Candidate]:
    spots = [
        Spot(t, verdict.kind == "answerable", verdict.type, ids(verdict.sessions), verdict.rule)
        for t, verdict in verdicts
        if verdict.kind != "excluded"
    ]
    if spots:
        yield Candidate(question, is_new, spots)


# Two-hop questions: their pairs of facts, and the status of a pair in a session.

Pair = tuple[Stated, Stated]

NEITHER = excluded("neither fact is known")


def _together(first: QuestionStatus, second: QuestionStatus) -> QuestionStatus:
    for hop in (first, second):
        if not hop.forms:
            return hop
    if not first.answerable and not second.answerable:
        return NEITHER
    unknown = next((hop for hop in (first, second) if not hop.answerable), None)
    return QuestionStatus(
        (*first.forms, *second.forms),
        f"{first.type}_{second.type}",
        unknown is None,
        "both heard" if unknown is None else unknown.rule,
    )


TOGETHER = {(first, second): _together(first, second) for first in STATUSES for second in STATUSES}
"""Status of two hops together: both known, or one of them unknown (key E); otherwise excluded."""


def pairs(graph: Graph) -> Iterator[Pair]:
    """Yield the pairs of facts that form two hops: never a fact with itself or with its inverse."""
    for first in graph.stated:
        if first.relation.first:
            for second in graph.by_head.get(first.tail, ()):
                if second.relation.second and not _same(graph.table, first, second):
                    yield first, second


def _same(table: RelationTable, first: Stated, second: Stated) -> bool:
    """Whether two facts, the second continuing where the first ends, state the same thing."""
    if first.head != second.tail:
        return False
    first_key, second_key = first.relation.key, second.relation.key
    return (first_key == second_key and first.head == first.tail) or table.inverse(first_key, second_key)


def middles(graph: Graph, first: Stated) -> dict[str, str]:
    """Return the people possible between the hops, folded: several if several tails are right."""
    return {first.tail: first.fact.tail} | graph.right(first.topic, first.number)


def together(
    graph: Graph, pair: Pair, first: list[QuestionStatus], second: list[QuestionStatus]
) -> list[QuestionStatus]:
    """Return the status of a pair in each askable session, given the statuses of its facts."""
    others = _others(graph, pair)
    if not others:
        return [TOGETHER[hops] for hops in zip(first, second, strict=True)]
    return [
        _beside(graph, first_status, second_status, others, t)
        for first_status, second_status, t in zip(first, second, graph.askable_sessions, strict=True)
    ]


def together_at(graph: Graph, pair: Pair, t: int) -> QuestionStatus:
    """Return the status of a pair in session `t`."""
    first, second = (question_status(graph, hop, t) for hop in pair)
    return _beside(graph, first, second, _others(graph, pair), t)


def _beside(
    graph: Graph, first: QuestionStatus, second: QuestionStatus, others: Collection[Topic], t: int
) -> QuestionStatus:
    """Combine the statuses of two hops; not unknown if the answer is known for another possible person."""
    stand = TOGETHER[first, second]
    if stand.forms and not second.answerable and any(graph.may_know(topic, t) for topic in others):
        return ANSWERED
    return stand


def _others(graph: Graph, pair: Pair) -> list[Topic]:
    """Return the topics about other people possible between the hops, since several tails may be right."""
    first, second = pair
    if not first.relation.multi_valued:
        return []
    tails = {each.tail for each in graph.readings[first.topic]} - {first.tail}
    topics = ((tail, second.relation.key) for tail in sorted(tails))
    return [topic for topic in topics if topic in graph.readings]


# Uses of questions about one or two facts, with their texts, answers and choices.

Facts = tuple[Stated, ...]


class FactQuestions:
    """Questions about a graph's facts, for a question set with this name and seed."""

    def __init__(self, graph: Graph, name: str, seed: int, tally: Tally) -> None:
        self.graph, self.name, self.seed, self.tally = graph, name, seed, tally
        self._tails = Tails(graph)
        self._ids = {number: session.id for number, session in enumerate(graph.sessions.script.sessions, 1)}

    def candidates(self) -> Iterator[Candidate]:
        """Yield the questions about one fact, then those about two, in the order of sessions and ids."""
        self.tally.dropped.update(self.graph.left_out)
        ambiguous = {each for each in self.graph.stated if self.graph.ambiguous(each)}
        stands = {each: question_statuses(self.graph, each) for each in self.graph.stated}
        for each in self.graph.stated:
            if each in ambiguous:
                self.tally.dropped["ambiguous"] += 1
            else:
                yield from self._about((each,), stands[each])
        for first, second in pairs(self.graph):
            if first in ambiguous or second in ambiguous:
                self.tally.dropped["ambiguous"] += 1
            else:
                hops = together(self.graph, (first, second), stands[first], stands[second])
                yield from self._about((first, second), hops)

    def _about(self, facts: Facts, stands: Sequence[QuestionStatus]) -> Iterator[Candidate]:
        """Yield a candidate for each wording of a question about these facts."""
        spots: dict[tuple[Form, ...], list[Spot]] = {}
        sessions = tuple(dict.fromkeys(self._ids[each.number] for each in facts))
        own = {each.number for each in facts}
        for t, stand in zip(self.graph.askable_sessions, stands, strict=True):
            if stand.forms:
                since = _since(facts, t) if t in own else None
                spot = Spot(t, stand.answerable, stand.type, sessions, stand.rule, since)
                spots.setdefault(stand.forms, []).append(spot)
        if not spots:
            self.tally.excluded.update(stand.rule for stand in stands)
            return
        answers, barred = right_answers(self.graph, facts), barred_answers(self.graph, facts)
        key = "+".join(each.fact.id for each in facts)
        people = asked_about(self.graph, facts)
        wrong = self._tails.wrong(facts[-1], barred | set(answers), people, self.seed, key)
        if len(wrong) < CHOICES - 1:
            self.tally.dropped["too few distractors"] += 1
            return
        self.tally.excluded.update(stand.rule for stand in stands if not stand.forms)
        for forms in sorted(spots):
            question = self._question(facts, forms, key, tuple(answers.values()), wrong)
            if occurs(question.answer, question.text):
                self.tally.dropped["answer in text"] += 1
            else:
                yield Candidate(question, True, spots[forms])

    def _question(
        self,
        facts: Facts,
        forms: tuple[Form, ...],
        key: str,
        answers: tuple[str, ...],
        wrong: tuple[str, ...],
    ) -> Question:
        dates = [self.graph.sessions[each.number].date for each in facts]
        answer = facts[-1].fact.tail
        return Question(
            id=f"{self.name}:{key}:{'-'.join(forms)}",
            source="tkg",
            text=question_about(facts, forms, dates),
            choices=placed(answer, wrong, self.seed, key),
            answer=answer,
            evidence=tuple(dict.fromkeys(each.fact.session for each in facts)),
            evidence_all=len(facts) > 1,
            hops=len(facts),
            evidence_turns=tuple(turn for each in facts for turn in each.fact.turns),
            facts=tuple(each.fact.id for each in facts),
            relations=tuple(each.relation.key for each in facts),
            forms=forms,
            dated="past" in forms,
            answers=answers,
            origin=self.name,
            status="accepted",
        )


def right_answers(graph: Graph, facts: Facts) -> dict[str, str]:
    """Return all right answers, folded and as written; the fact's own first."""
    last = facts[-1]
    answers = {last.tail: last.fact.tail}
    for person in _people(graph, facts):
        right = graph.right((person, last.relation.key), last.number)
        answers |= {tail: text for tail, text in right.items() if tail not in answers}
    return answers


def barred_answers(graph: Graph, facts: Facts) -> set[str]:
    """Return the folded answers that must not be offered as wrong, because they may be right."""
    last = facts[-1]
    barred: set[str] = set()
    for person in _people(graph, facts):
        barred |= graph.barred((person, last.relation.key), last.number)
    if len(facts) > 1 and facts[0].relation.multi_valued:
        barred |= graph.barred(facts[0].topic, facts[0].number)
    return barred


def asked_about(graph: Graph, facts: Facts) -> set[str]:
    """Return every folded name of the people a question is about: the head, and those between the hops.

    People are never their own boss: such a wrong answer could be ruled out without having heard anything.
    """
    heads = {facts[0].head, *_people(graph, facts)}
    return set().union(*(graph.sessions.names_like(head) for head in heads))


def _people(graph: Graph, facts: Facts) -> list[str]:
    """Return the heads of the last hop: the question's head, or the people possible after the first hop."""
    return [facts[0].head] if len(facts) == 1 else sorted(middles(graph, facts[0]))


def _since(facts: Facts, t: int) -> int | None:
    """Return the last turn of the facts stated in the asking session itself."""
    return max((each.since for each in facts if each.number == t and each.since is not None), default=None)


@dataclass(frozen=True, slots=True)
class MadeSet:
    """A question set, the questions created for it, and the discarded items.

    `dropped` counts questions and facts by reason, `excluded` uses by rule.
    """

    questions: tuple[Question, ...]
    set: QuestionSet
    dropped: Mapping[str, int]
    excluded: Mapping[str, int]


def make(
    dialogue: Dialogue,
    *,
    name: str,
    seed: int,
    policy: Policy = "body",
    presence: bool = True,
    table: RelationTable = DEFAULT,
    facts: Iterable[Fact] | None = None,
    questions: Iterable[Question] | None = None,
) -> MadeSet:
    """Make a script's question set; equal facts, questions, name and seed, in any order, give the same set.

    Only accepted facts and questions count; by default those of the dialogue. Raises ValueError without a
    script, and for an unknown policy or session.
    """
    if policy not in POLICIES:
        raise ValueError(f"{policy!r} is no policy; those are {', '.join(POLICIES)}")
    sessions, tally = Sessions(dialogue), Tally()
    graph = Graph(sessions, dialogue.facts if facts is None else facts, table, presence=presence)
    quiz = dialogue.questions if questions is None else questions
    new_questions: list[Question] = []
    uses: list[Use] = []
    for candidates in (
        quiz_candidates(sessions, quiz, name, policy, tally),
        FactQuestions(graph, name, seed, tally).candidates(),
    ):
        for candidate in candidates:
            if candidate.is_new:
                new_questions.append(candidate.question)
            uses.extend(_uses(candidate, sessions, seed))
    return MadeSet(
        questions=tuple(new_questions),
        set=QuestionSet(name, seed, policy, presence, uses=tuple(uses)),
        dropped=dict(sorted(tally.dropped.items())),
        excluded=dict(sorted(tally.excluded.items())),
    )


def _uses(candidate: Candidate, sessions: Sessions, seed: int) -> Iterator[Use]:
    """Yield the uses of a question, each with the order of its choices and the letter of its key."""
    question = candidate.question
    place = question.choices.index(question.answer)
    for spot in candidate.spots:
        session = sessions[spot.number].id
        order = drawn_order(seed, question.id, session)
        yield Use(
            question=question.id,
            session=session,
            answerable=spot.answerable,
            key=KEYS[order, place] if spot.answerable else UNKNOWN,
            type=spot.type,
            order=order,
            since=spot.since,
            sessions=spot.sessions,
            rule=spot.rule,
        )


# Comparison of imported uses with the rules.


@dataclass(frozen=True, slots=True)
class Difference:
    """A use (question and session ids) for which the file and the rules differ."""

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
    """Return the differences between uses and rules, in the order of the uses; the file's keys are kept.

    Quiz questions are checked by their evidence, questions about facts by the dialogue's accepted facts, and
    questions with neither (see `unchecked`) by their keys alone. Raises ValueError for an unknown session of
    evidence.
    """
    rules = _Rules(dialogue, policy, presence, table)
    by_id = {question.id: question for question in questions}
    differences: list[Difference] = []
    for use in uses:
        question = by_id.get(use.question)
        faults = [("a use", "there is no such question")] if question is None else rules.faults(question, use)
        differences += [Difference(use.question, use.session, *each) for each in faults]
    return differences


def unchecked(dialogue: Dialogue, questions: Iterable[Question], table: RelationTable = DEFAULT) -> list[str]:
    """Return the ids of questions without evidence, or about unknown facts: rules cannot decide on them."""
    rules = _Rules(dialogue, "body", True, table)
    return [question.id for question in questions if not rules.apply(question)]


class _Rules:
    """The rules of question sets for one script."""

    def __init__(self, dialogue: Dialogue, policy: Policy, presence: bool, table: RelationTable) -> None:
        self.sessions, self.policy = Sessions(dialogue), policy
        self.graph = Graph(self.sessions, dialogue.facts, table, presence=presence)
        self._facts = {each.fact.id: each for each in self.graph.stated}

    def apply(self, question: Question) -> bool:
        """Whether a question has enough data to be checked."""
        if question.source == "quiz":
            return bool(question.evidence)
        return self._hops(question) is not None

    def faults(self, question: Question, use: Use) -> Iterator[tuple[str, str]]:
        """Yield pairs of the file's and the rules' view, for each difference about a use."""
        t = self.sessions.numbers.get(use.session)
        if t is None:
            yield "asked", "there is no such session"
            return
        if t not in self.sessions.heard:
            yield "asked", "the main character is not there"
        elif self.apply(question):
            yield from _compared(question, use, self._status(question, t))
        yield from _key_faults(question, use)

    def _hops(self, question: Question) -> tuple[Stated, ...] | None:
        hops = tuple(self._facts[key] for key in question.facts if key in self._facts)
        return hops if len(hops) == len(question.facts) and len(hops) in (1, 2) else None

    def _status(self, question: Question, t: int) -> QuestionStatus:
        if question.source == "quiz":
            return self._quiz(question, t)
        hops = self._hops(question)
        assert hops is not None
        if len(hops) == 1:
            return question_status(self.graph, hops[0], t)
        return together_at(self.graph, (hops[0], hops[1]), t)

    def _quiz(self, question: Question, t: int) -> QuestionStatus:
        evidence = evidence_of(self.sessions, question)
        verdict = quiz_use(self.sessions.heard, evidence, question.evidence_all, t, self.policy)
        verdict = dated(verdict) if question.dated else verdict
        if verdict.kind == "excluded":
            return excluded(verdict.rule)
        return QuestionStatus(question.forms, verdict.type, verdict.kind == "answerable", verdict.rule)


def _compared(question: Question, use: Use, stand: QuestionStatus) -> Iterator[tuple[str, str]]:
    """Yield differences between a use and the rules; a file need not specify a type or forms."""
    file_words = _words(use.answerable, use.type)
    if not stand.type:
        yield file_words, f"excluded: {stand.rule}"
    elif (use.answerable, use.type or stand.type) != (stand.answerable, stand.type):
        yield file_words, f"{_words(stand.answerable, stand.type)}: {stand.rule}"
    elif question.forms and question.forms != stand.forms:
        yield (
            f"worded as {_join_forms(question.forms)}",
            f"worded as {_join_forms(stand.forms)}: {stand.rule}",
        )


def _key_faults(question: Question, use: Use) -> Iterator[tuple[str, str]]:
    """Yield keys whose letter does not match the answer."""
    if not use.answerable or use.key == UNKNOWN:
        if use.answerable or use.key != UNKNOWN:
            yield f"{_words(use.answerable, '')}, key {use.key}", "key E exactly where there is no answer"
        return
    place = LETTERS.index(use.key) if use.key in LETTERS else len(LETTERS)
    displayed = [question.choices[int(mark)] for mark in use.order if int(mark) < len(question.choices)]
    keyed = displayed[place] if place < len(displayed) else ""
    if fold(keyed) not in {fold(answer) for answer in (question.answer, *question.answers)}:
        yield f"key {use.key}: {keyed!r}", f"the answer is {question.answer!r}"


def _words(answerable: bool, kind: str) -> str:
    return ("answerable" if answerable else "unanswerable") + (f", {kind}" if kind else "")


def _join_forms(forms: Sequence[str]) -> str:
    return " and ".join(forms)
