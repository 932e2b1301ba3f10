"""Question sets: every question with every use of it, from a script's accepted facts and quiz questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from annotation.records import Dialogue
from annotation.scripts.candidates import Candidate, Tally
from annotation.scripts.choices import KEYS, drawn_order
from annotation.scripts.fact_uses import FactQuestions
from annotation.scripts.graph import Graph
from annotation.scripts.quiz import POLICIES, Policy
from annotation.scripts.quiz_uses import quiz_candidates
from annotation.scripts.records import UNKNOWN, Fact, Question, QuestionSet, Use
from annotation.scripts.relations import DEFAULT, RelationTable
from annotation.scripts.sessions import Sessions


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
