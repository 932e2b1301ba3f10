"""What people say beside the machine: in the agent's place, of conduct, and of how natural the scripts are.

People in the agent's place give the human ceiling, and check the keys: one that most of at least three people
contradict is for adjudication. `group_chat.md`, sections 8 and 9.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
from django.db.models import QuerySet

from annotation.kinds import DECISION
from annotation.models import Label, Occasion, Rater
from annotation.records import Dialogue
from annotation.scenarios.points import key_at, others_at, scenario_of
from annotation.scenarios.records import LEAK, Key, SetCondition, condition_json
from annotation.schemes.decisions import (
    ADDRESSED,
    ATTEND,
    CONDUCT,
    HUMAN,
    NATURAL,
    NATURALNESS,
    SPEAK,
    TARGET,
    WHY,
    read_set,
)
from calibration.statistics import Plan, Result
from calibration.statistics.core.sums import cluster_codes, finished, resampled

QUESTIONS = (ATTEND, SPEAK, ADDRESSED, TARGET)
LEAST_PEOPLE = 3
"""So many people must have answered for their majority to contradict a key."""
OCCASIONS = (Occasion.MAIN, Occasion.IMPORTED)
NOBODY = "nobody has answered this in the agent's place"
UNRATED = "nobody has rated how natural the scripts are"


@dataclass(frozen=True, slots=True)
class Contradicted:
    """A key that most people contradict: what it says, and what most people said."""

    scenario: str
    point: int
    question: str
    key: str
    answer: str
    n_answer: int
    n_people: int


@dataclass(frozen=True)
class People:
    """What people said. ``conduct`` has their mean by decision and dimension; ``raters`` how many took part.

    ``agreement`` is by question the share of answers that meet the key.
    """

    agreement: Mapping[str, Result] = field(default_factory=dict)
    raters: int = 0
    contradicted: tuple[Contradicted, ...] = ()
    conduct: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    natural: Result = field(
        default_factory=lambda: Result("naturalness", status="insufficient", reason=UNRATED)
    )


def read(scenarios: Mapping[int, Dialogue], items: Collection[int], plan: Plan) -> People:
    """Return what people said of scenarios, by id, and of the conduct of decisions, by item."""
    answers = _answers(scenarios)
    agreement = {}
    for question in QUESTIONS:
        asked = [one for one in answers if one.question == question]
        families = [_family(scenarios[one.scenario]) for one in asked]
        agreement[question] = mean(question, [float(one.right) for one in asked], families, plan, NOBODY)
    return People(
        agreement if answers else {},
        len({one.rater for one in answers}),
        _contradicted(scenarios, answers),
        _conduct(items),
        _natural(scenarios, plan),
    )


def mean(name: str, values: list[float], families: list[str], plan: Plan, reason: str) -> Result:
    """Return the mean of values with its interval over families; undefined, with the reason, without any."""
    if not values:
        return Result(name, status="insufficient", reason=reason)
    units = cluster_codes(families, len(values))
    rows = np.column_stack([np.ones(len(values)), values])
    point, drawn = resampled(units, rows, lambda totals: totals[:, 1] / totals[:, 0], plan)
    return finished(
        name,
        point,
        drawn,
        plan,
        n_items=len(values),
        n_clusters=len(set(families)),
        method="mean over answers",
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    scenario: int
    point: int
    question: str
    rater: int
    value: str
    right: bool


def _live(scheme: str) -> QuerySet[Label]:
    """Return people's live answers to a scheme, of a repeated one the first."""
    return Label.objects.filter(
        rater__kind=Rater.Kind.HUMAN,
        superseded_at=None,
        missing="",
        occasion__in=OCCASIONS,
        question__version__scheme__key=scheme,
    ).order_by("pk")


def _answers(scenarios: Mapping[int, Dialogue]) -> list[_Answer]:
    found: dict[tuple[int, int, str, int], _Answer] = {}
    labels = _live(HUMAN.key).filter(item__kind=DECISION.key, item__continuation__dialogue__in=scenarios)
    for scenario, at, question, rater, number, text in labels.values_list(
        "item__continuation__dialogue", "item__turn__at", "question__key", "rater", "number", "text"
    ):
        point = (at or 0) - 1
        dialogue = scenarios[scenario]
        key = key_at(scenario_of(dialogue), point)
        if key.free or question not in QUESTIONS or not _asks(key, question):
            continue
        value = (text or "") if number is None else f"{number:g}"
        right = _meets(dialogue, point, key, question, value)
        answer = _Answer(scenario, point, question, rater, value, right)
        found.setdefault((scenario, point, question, rater), answer)
    return list(found.values())


def _asks(key: Key, question: str) -> bool:
    asked = {ADDRESSED: key.addressed, TARGET: key.target}
    return question not in asked or asked[question] is not None


def _meets(dialogue: Dialogue, point: int, key: Key, question: str, value: str) -> bool:
    """Whether an answer is one that the key scores best, or a set that meets its condition."""
    if question == ATTEND:
        return value == str(key.attend)
    if question == SPEAK:
        return key.speak.get(value, 0.0) == max(key.speak.values(), default=0.0)
    condition = key.addressed if question == ADDRESSED else key.target
    agent, author = scenario_of(dialogue).agent, dialogue.turns[point].speaker
    everybody = others_at(dialogue, point, author if question == ADDRESSED else agent)
    return condition is not None and condition.met(read_set(value), everybody)


def _contradicted(scenarios: Mapping[int, Dialogue], answers: list[_Answer]) -> tuple[Contradicted, ...]:
    """Return the keys that more than half of at least three people contradict, in the order of the set."""
    by_place: dict[tuple[int, int, str], list[_Answer]] = defaultdict(list)
    for one in answers:
        by_place[one.scenario, one.point, one.question].append(one)
    found = []
    for (scenario, point, question), given in by_place.items():
        wrong = sum(not one.right for one in given)
        if len(given) >= LEAST_PEOPLE and 2 * wrong > len(given):
            dialogue = scenarios[scenario]
            value, n = Counter(one.value for one in given if not one.right).most_common(1)[0]
            told = _told(key_at(scenario_of(dialogue), point), question)
            found.append(Contradicted(dialogue.id, point, question, told, value, n, len(given)))
    return tuple(sorted(found, key=lambda one: (one.scenario, one.point, QUESTIONS.index(one.question))))


def _told(key: Key, question: str) -> str:
    """Return in words what a key expects."""
    if question == ATTEND:
        return str(key.attend)
    if question == SPEAK:
        best = max(key.speak.values(), default=0.0)
        return " or ".join(act for act, score in key.speak.items() if score == best)
    return _set_words(key.addressed if question == ADDRESSED else key.target)


def _set_words(condition: SetCondition | None) -> str:
    stored = condition_json(condition)
    return ";".join(stored) if isinstance(stored, list) else str(stored)


def _conduct(items: Collection[int]) -> dict[int, dict[str, float]]:
    """Return people's mean score of each decision on each dimension of conduct, leaks left out."""
    scores: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    labels = _live(CONDUCT.key).filter(item__in=list(items), number__isnull=False)
    for item, dimension, number in labels.exclude(question__key__in=[LEAK, WHY]).values_list(
        "item", "question__key", "number"
    ):
        scores[item][dimension].append(float(number or 0))
    return {
        item: {dimension: float(np.mean(given)) for dimension, given in told.items()}
        for item, told in scores.items()
    }


def _natural(scenarios: Mapping[int, Dialogue], plan: Plan) -> Result:
    """Return how natural people find the scripts, 1 to 5: the mean of each script's mean."""
    given: dict[int, list[float]] = defaultdict(list)
    labels = _live(NATURALNESS.key).filter(
        question__key=NATURAL, item__continuation__dialogue__in=scenarios, number__isnull=False
    )
    for scenario, number in labels.values_list("item__continuation__dialogue", "number"):
        given[scenario].append(float(number or 0))
    values = [float(np.mean(scores)) for scores in given.values()]
    return mean("naturalness", values, [_family(scenarios[one]) for one in given], plan, UNRATED)


def _family(dialogue: Dialogue) -> str:
    return dialogue.cluster or dialogue.id
