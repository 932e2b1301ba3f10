"""Question sets: every question with every use of it, from a script's accepted facts and quiz questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotation.records import Dialogue
from annotation.scripts.candidates import Candidate, Spot, Tally
from annotation.scripts.choices import CHOICES, KEYS, Tails, drawn_order, placed
from annotation.scripts.graph import Graph, Stated
from annotation.scripts.knowing import Standing, standings
from annotation.scripts.quiz import POLICIES, Policy
from annotation.scripts.quiz_uses import quiz_candidates
from annotation.scripts.records import UNKNOWN, Fact, Form, Question, QuestionSet, Use
from annotation.scripts.relations import DEFAULT, RelationTable
from annotation.scripts.sessions import Sessions
from annotation.scripts.two_hops import middles, pairs, together
from annotation.scripts.wording import occurs, question_about

# Where questions about one fact or two are asked, with their texts, answers and choices.

Facts = tuple[Stated, ...]


class FactQuestions:
    """The questions about a graph's facts, made for a question set of this name by this seed."""

    def __init__(self, graph: Graph, name: str, seed: int, tally: Tally) -> None:
        self.graph, self.name, self.seed, self.tally = graph, name, seed, tally
        self._tails = Tails(graph)
        self._ids = {number: session.id for number, session in enumerate(graph.sessions.script.sessions, 1)}

    def candidates(self) -> Iterator[Candidate]:
        """Yield the questions about one fact, then those about two, in the order of sessions and ids."""
        self.tally.dropped.update(self.graph.left_out)
        ambiguous = {each for each in self.graph.stated if self.graph.ambiguous(each)}
        stands = {each: standings(self.graph, each) for each in self.graph.stated}
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

    def _about(self, facts: Facts, stands: Sequence[Standing]) -> Iterator[Candidate]:
        """Yield a candidate for each way in which these facts are asked about."""
        spots: dict[tuple[Form, ...], list[Spot]] = {}
        sessions = tuple(dict.fromkeys(self._ids[each.number] for each in facts))
        own = {each.number for each in facts}
        for t, stand in zip(self.graph.asked, stands, strict=True):
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
    """Return all answers that are right, folded and as written; the fact's own first."""
    last = facts[-1]
    answers = {last.tail: last.fact.tail}
    for person in _people(graph, facts):
        right = graph.right((person, last.relation.key), last.number)
        answers |= {tail: text for tail, text in right.items() if tail not in answers}
    return answers


def barred_answers(graph: Graph, facts: Facts) -> set[str]:
    """Return the folded answers that are not offered as wrong ones, because they may be right."""
    last = facts[-1]
    barred: set[str] = set()
    for person in _people(graph, facts):
        barred |= graph.barred((person, last.relation.key), last.number)
    if len(facts) > 1 and facts[0].relation.multi_valued:
        barred |= graph.barred(facts[0].topic, facts[0].number)
    return barred


def asked_about(graph: Graph, facts: Facts) -> set[str]:
    """Return every folded name of those whom a question is about: the head, and who is meant between hops.

    Nobody's boss is that person: such a wrong answer could be told without having heard anything.
    """
    heads = {facts[0].head, *_people(graph, facts)}
    return set().union(*(graph.sessions.names_like(head) for head in heads))


def _people(graph: Graph, facts: Facts) -> list[str]:
    """Return whose tails the last hop asks for: the head, or whoever the first hop may mean."""
    return [facts[0].head] if len(facts) == 1 else sorted(middles(graph, facts[0]))


def _since(facts: Facts, t: int) -> int | None:
    """Return the last turn of the facts that are said in the asking session itself."""
    return max((each.since for each in facts if each.number == t and each.since is not None), default=None)


@dataclass(frozen=True, slots=True)
class MadeSet:
    """A question set, the questions that were made for it, and what came to nothing.

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
    """Return a script's question set: the same for the same facts, questions, name and seed, in any order.

    Only what is accepted counts; `facts` and `questions` are the dialogue's own unless others are passed.
    Raises ValueError for no script, an unknown policy, or a session that is not there.
    """
    if policy not in POLICIES:
        raise ValueError(f"{policy!r} is no policy; those are {', '.join(POLICIES)}")
    sessions, tally = Sessions(dialogue), Tally()
    graph = Graph(sessions, dialogue.facts if facts is None else facts, table, presence=presence)
    quiz = dialogue.questions if questions is None else questions
    made: list[Question] = []
    uses: list[Use] = []
    for candidates in (
        quiz_candidates(sessions, quiz, name, policy, tally),
        FactQuestions(graph, name, seed, tally).candidates(),
    ):
        for candidate in candidates:
            if candidate.made:
                made.append(candidate.question)
            uses.extend(_uses(candidate, sessions, seed))
    return MadeSet(
        questions=tuple(made),
        set=QuestionSet(name, seed, policy, presence, uses=tuple(uses)),
        dropped=dict(sorted(tally.dropped.items())),
        excluded=dict(sorted(tally.excluded.items())),
    )


def _uses(candidate: Candidate, sessions: Sessions, seed: int) -> Iterator[Use]:
    """Yield the uses of a question, with the order of its choices and the letter of its key in each."""
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
