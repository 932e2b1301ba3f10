"""Answers that compare responses, read as votes: pairs and rankings, with the systems of their members."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from annotation.corpora import splits
from annotation.kinds import COMPARING, KINDS
from annotation.models import ItemMember
from annotation.schemes.definitions import RANKING, is_comparison
from calibration.ratings.definitions import Definition
from calibration.ratings.designs import NO_DESIGN, Design, design_of
from calibration.ratings.ratings import METRIC, TEXT, Subject, find_question
from calibration.ratings.scope import Census, QuestionInfo, RaterInfo, Scope
from calibration.statistics.preference_strengths import Vote

# Votes: labels on pairs and rankings, with the systems of the members compared.

CHUNK = 20_000


def comparing(counted: Census) -> list[QuestionInfo]:
    """Return the questions of a scope that ask which of several responses is better."""
    return [
        question
        for question in counted.questions.values()
        if question.item_kind in COMPARING
        and (question.level == RANKING or is_comparison(question.level, question.values))
    ]


def read_votes(
    scope: Scope, questions: Collection[QuestionInfo], counted: Census, clusters: Collection[str] | None
) -> dict[int, list[Vote]]:
    """Return the votes of each question, in three queries; of ``clusters`` alone, if given.

    Of a rater's repeated answers the first counts, as in every statistic.
    """
    labels = scope.labels().filter(question__in=[question_info.id for question_info in questions])
    if clusters is not None:
        labels = labels.filter(splits.within(list(clusters), "item__"))
    place = ("item_id", "question_id", "rater_id", "sample")
    rows = list(
        labels.order_by(*place, "pk")
        .distinct(*place)
        .values_list(*place, "text", "shown", "item__continuation__dialogue__cluster")
        .iterator(chunk_size=CHUNK)
    )
    systems = systems_of({row[0] for row in rows})
    votes: dict[int, list[Vote]] = {question_info.id: [] for question_info in questions}
    for item, question, rater, sample, text, display_order, cluster in rows:
        rater_info = counted.raters[rater]
        vote = Vote(
            str(item),
            rater_info.name,
            text,
            systems[item],
            cluster,
            rater_info.kind,
            _swapped(display_order),
            sample,
        )
        votes[question].append(vote)
    return votes


def systems_of(items: Collection[int]) -> Mapping[int, tuple[str, ...]]:
    """Return the systems of each item's members, in the members' order."""
    systems: dict[int, list[str]] = defaultdict(list)
    members = ItemMember.objects.filter(item__in=items).order_by("item_id", "number")
    for item, system in members.values_list("item_id", "continuation__system__name").iterator(CHUNK):
        systems[item].append(system)
    return {item: tuple(names) for item, names in systems.items()}


def among(votes: Iterable[Vote], systems: Collection[str]) -> list[Vote]:
    """Return the votes that compare only these systems; all if none are named."""
    return [vote for vote in votes if not systems or set(vote.systems) <= set(systems)]


def _swapped(display_order: list[int] | None) -> bool | None:
    """Whether a pair's second member was shown first; None if unknown, or for more than two members."""
    return None if display_order is None or len(display_order) != 2 else display_order[0] == 1


# Votes in a study, by question.

# Answered questions that a study does not compare, with the reason and a map that would allow it.

PEOPLE = ("human", "key")


@dataclass(frozen=True, slots=True)
class Uncompared:
    """An answered question that no comparison reads: its raters, and the reason.

    `maps_to` is a question to which its answers could be mapped (empty if there is none), `map` the scale
    map.
    """

    ref: str
    title: str
    scheme_title: str
    item_kind: str
    raters: tuple[str, ...]
    reason: str
    maps_to: str
    map: str


def uncompared(
    definition: Definition, counted: Census, subjects: Sequence[Subject], voted: Collection[int] = ()
) -> list[Uncompared]:
    """Return each answered question that no comparison reads; `voted` are those read as preferences."""
    compared = {question for subject in subjects for question in subject.question_ids} | set(voted)
    rows = []
    for question in counted.questions.values():
        raters = _raters(question, counted, definition.raters)
        if question.id in compared or not raters:
            continue
        target = _target(question, counted, definition.raters)
        rows.append(
            Uncompared(
                question.ref,
                question.title,
                question.scheme_title,
                question.item_kind,
                tuple(rater.name for rater in raters),
                _reason(question, raters, definition),
                target.ref if target else "",
                "identity" if target and _scale(target) == _scale(question) else "rank",
            )
        )
    return rows


def _raters(question: QuestionInfo, counted: Census, names: Collection[str]) -> list[RaterInfo]:
    return [rater for rater in counted.raters_of(question.id) if not names or rater.name in names]


def _reason(question: QuestionInfo, raters: Sequence[RaterInfo], definition: Definition) -> str:
    if question.level == TEXT:
        return "free text has no agreement statistics"
    if definition.questions:
        return "this study does not ask it"
    others = [rater.name for rater in raters if rater.kind != METRIC]
    if not others:
        about = KINDS[question.item_kind].plural
        return f"metrics are compared with people alone, who answered no question in order about {about}"
    return f"only {others[0]} answered it"


def _target(question: QuestionInfo, counted: Census, names: Collection[str]) -> QuestionInfo | None:
    """Return the best matching question that others answered on the same kind of item.

    People's questions come first, then the same scale. People's answers map to an earlier question of people
    only, so that one link is offered, not two.
    """
    mine = {rater.id for rater in _raters(question, counted, names)}
    own, earlier, fitting = _has_people(question, counted, names), True, []
    for place, other in enumerate(counted.questions.values()):
        earlier = earlier and other.id != question.id
        theirs = {rater.id for rater in _raters(other, counted, names) if rater.kind != METRIC}
        if (
            other.item_kind != question.item_kind
            or TEXT in (other.level, question.level)
            or not theirs - mine
        ):
            continue
        leads = _has_people(other, counted, names)
        if (leads and earlier) if own else (leads or earlier):
            unlike = (not leads, _scale(other) != _scale(question), other.key != question.key, place)
            fitting.append((unlike, other))
    return min(fitting, key=lambda pair: pair[0])[1] if fitting else None


def _has_people(question: QuestionInfo, counted: Census, names: Collection[str]) -> bool:
    return any(rater.kind in PEOPLE for rater in _raters(question, counted, names))


def _scale(question: QuestionInfo) -> tuple[str, list[Any]]:
    return question.level, question.values


@dataclass(frozen=True)
class Compared:
    """Votes on a question that asks which of several responses is better.

    `design` says how the items that people voted on were drawn.
    """

    question: QuestionInfo
    votes: tuple[Vote, ...]
    design: Design = NO_DESIGN

    @property
    def raters(self) -> frozenset[str]:
        """Names of the raters who voted."""
        return frozenset(vote.rater for vote in self.votes)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the votes, independent of the reading order."""
        lines = sorted(repr(astuple(vote)[1:]) for vote in self.votes)
        if self.design != NO_DESIGN:
            lines.append(repr((self.design.as_dict(), sorted(self.design.weights.items()))))
        return hashlib.sha256("\n".join([self.question.ref, *lines]).encode()).hexdigest()


def compared(
    scope: Scope, definition: Definition, counted: Census, clusters: Collection[str] | None
) -> tuple[Compared, ...]:
    """Return the votes on every question of a study that compares responses.

    A study that names no questions covers all. If the study names raters, only their votes are included.
    """
    questions = comparing(counted)
    if definition.questions:
        question_ids = {
            find_question(study_question.question, counted).id for study_question in definition.questions
        }
        questions = [question for question in questions if question.id in question_ids]
    if not questions:
        return ()
    votes = read_votes(scope, questions, counted, clusters)
    votes_by_question = []
    for voted_question in questions:
        own_votes = tuple(
            v for v in votes[voted_question.id] if not definition.raters or v.rater in definition.raters
        )
        if any(vote.label is not None for vote in own_votes):
            design = _design(scope, voted_question, own_votes)
            votes_by_question.append(Compared(voted_question, own_votes, design))
    return tuple(votes_by_question)


def _design(scope: Scope, question: QuestionInfo, votes: Sequence[Vote]) -> Design:
    """Return how the items were drawn that people voted on; weights are by the votes' items."""
    places = {int(vote.item): vote.item for vote in votes}
    answered = {int(vote.item) for vote in votes if vote.kind == PEOPLE[0] and vote.label is not None}
    return design_of(scope, [question.id], places, answered)
