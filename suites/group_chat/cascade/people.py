"""People's answers beside the systems': in the agent's place, about conduct, and about naturalness.

People in the agent's place give the human ceiling, and check the keys: a key that most of at least three
people contradict needs adjudication.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db.models import QuerySet

from annotation.kinds import DECISION
from annotation.models import Corpus, Occasion
from annotation.models.labels import Label, Rater
from annotation.records import Dialogue
from annotation.scenario_records import DIMENSIONS, LEAK, Key, SetCondition, condition_json
from annotation.text.display import number as rounded
from calibration.models import Report
from calibration.reports.figures import HUMAN as HUMAN_KIND
from calibration.reports.figures import QuestionFigures
from calibration.reports.results import Figure, Question
from calibration.reports.snapshot import is_readable, snapshot_of
from calibration.statistics import Plan, Result
from calibration.statistics.core.engine import cluster_codes, finished, resampled
from suites.group_chat.scenarios.points import key_at, others_at, scenario_of
from suites.group_chat.schemes import (
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

# Calibration of judges of conduct: whether a study reports their agreement with people.
#
# The badge *not calibrated* is shown unless a study of at least 30 decisions and 2 people reports the judge's
# agreement with them. Each dimension has its own badge, because a judge may follow people in one dimension
# but not in another.

LEAST_DECISIONS, LEAST_PEOPLE_IN_STUDY = 30, 2
NOT_CALIBRATED = "not calibrated"
NO_STUDY = "no study compares it with people"


@dataclass(frozen=True, slots=True)
class Badge:
    """Calibration of a judge on one dimension. `why` is the reason why it is not calibrated, '' where it is.

    `figure` is its agreement with people, from the report `report` of the study `study`; `constant` means
    that the judge gave the same value throughout.
    """

    judge: Rater
    dimension: str
    why: str = ""
    study: str = ""
    report: int | None = None
    figure: Figure | None = None
    constant: bool = False

    @property
    def stands(self) -> bool:
        """Whether the dimension's numbers by this judge are kept out of the headline."""
        return bool(self.why)

    def sentence(self) -> str:
        """Return the badge as one sentence."""
        if self.why or self.figure is None:
            return f"{NOT_CALIBRATED.capitalize()}: {self.judge.title} on {self.dimension}: {self.why}."
        low, high = self.figure.low, self.figure.high
        ends = "" if low is None or high is None else f" ({rounded(low, 2)} to {rounded(high, 2)})"
        return (
            f"{self.judge.title} on {self.dimension} agrees with people at "
            f"{rounded(self.figure.point, 3)}{ends}, "
            f"{self.figure.name.replace('_', ' ')}, n = {self.figure.n_items:,}, in the study {self.study}."
        )


def badges(corpus: Corpus, judges: Sequence[Rater]) -> tuple[Badge, ...]:
    """Return a badge for each judge and each dimension of conduct on which it rated a corpus's decisions.

    The newest readable report of every study counts; among several studies the one that lifts the badge is
    used, else the one with the most decisions.
    """
    if not judges:
        return ()
    rated_dimensions = _rated_dimensions(corpus, judges)
    compared = list(_compared(corpus)) if rated_dimensions else []
    return tuple(
        _best(judge, dimension, [pair for pair in compared if pair[1].key == dimension])
        for judge in judges
        for dimension in DIMENSIONS
        if (judge.pk, dimension) in rated_dimensions
    )


def _rated_dimensions(corpus: Corpus, judges: Sequence[Rater]) -> set[tuple[int, str]]:
    labels = Label.objects.filter(
        item__corpus=corpus,
        rater__in=judges,
        superseded_at=None,
        missing="",
        question__version__scheme__key=CONDUCT.key,
        question__key__in=DIMENSIONS,
    )
    return set(labels.values_list("rater_id", "question__key").distinct())


def _compared(corpus: Corpus) -> Iterator[tuple[Report, Question]]:
    """Yield the questions of conduct in the newest report of each study of a corpus and part."""
    rows = Report.objects.filter(study__corpus=corpus).select_related("study")
    for report in rows.order_by("study_id", "part", "-pk").distinct("study_id", "part"):
        if is_readable(report):
            for question in snapshot_of(report).questions:
                if question.scheme.partition("@")[0] == CONDUCT.key and not question.pooled:
                    yield report, question


def _best(judge: Rater, dimension: str, pairs: Iterable[tuple[Report, Question]]) -> Badge:
    candidates = [_badge(judge, dimension, *pair) for pair in pairs]
    in_study = [badge for badge in candidates if badge is not None]
    if not in_study:
        return Badge(judge, dimension, NO_STUDY)
    return max(
        in_study,
        key=lambda badge: (not badge.stands, badge.figure.n_items if badge.figure else 0, badge.report),
    )


def _badge(judge: Rater, dimension: str, report: Report, question: Question) -> Badge | None:
    """Return a judge's badge from one study's question, None where the judge is not in it."""
    own = next((rater for rater in question.raters if rater.name == judge.name), None)
    if own is None:
        return None
    figures = QuestionFigures(question)
    figure = figures.with_people(figures.headline, judge.name)
    people = [
        rater for rater in question.raters if rater.kind == HUMAN_KIND and rater.n and not rater.simulated
    ]
    reason = ""
    if own.constant:
        reason = "constant rater: it gave one value throughout"
    elif len(people) < LEAST_PEOPLE_IN_STUDY:
        count_words = (
            "nobody" if not people else f"{len(people)} person" if len(people) == 1 else f"{len(people)}"
        )
        reason = f"{count_words} rated beside it, at least {LEAST_PEOPLE_IN_STUDY} people must"
    elif figure is None or not figure.ok:
        reason = f"its agreement with people is not defined: {figure.reason if figure else question.problem}"
    elif figure.n_items < LEAST_DECISIONS:
        reason = f"{figure.n_items} decisions were rated by it and by people, of {LEAST_DECISIONS} needed"
    return Badge(judge, dimension, reason.rstrip(": "), report.study.name, report.pk, figure, own.constant)


QUESTIONS = (ATTEND, SPEAK, ADDRESSED, TARGET)
LEAST_PEOPLE = 3
"""Least number of people whose majority can contradict a key."""
OCCASIONS = (Occasion.MAIN, Occasion.IMPORTED)
NOBODY = "nobody has answered this in the agent's place"
UNRATED = "nobody has rated how natural the scripts are"


@dataclass(frozen=True, slots=True)
class Contradicted:
    """A key that most people contradict, with the expected answer and theirs."""

    scenario: str
    point: int
    question: str
    key: str
    answer: str
    n_answer: int
    n_people: int


@dataclass(frozen=True)
class People:
    """People's answers. ``conduct`` has their mean by decision and dimension; ``raters`` is their number.

    ``agreement`` has the share of answers that meet the key, by question.
    """

    agreement: Mapping[str, Result] = field(default_factory=dict)
    raters: int = 0
    contradicted: tuple[Contradicted, ...] = ()
    conduct: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    natural: Result = field(
        default_factory=lambda: Result("naturalness", status="insufficient", reason=UNRATED)
    )


def read(scenarios: Mapping[int, Dialogue], items: Collection[int], plan: Plan) -> People:
    """Return people's answers about scenarios, by id, and about the conduct of decisions, by item."""
    answers = _answers(scenarios)
    agreement = {}
    for question in QUESTIONS:
        question_answers = [answer for answer in answers if answer.question == question]
        families = [_family(scenarios[answer.scenario]) for answer in question_answers]
        agreement[question] = mean(
            question, [float(answer.right) for answer in question_answers], families, plan, NOBODY
        )
    return People(
        agreement if answers else {},
        len({answer.rater for answer in answers}),
        _contradicted(scenarios, answers),
        _conduct(items),
        _natural(scenarios, plan),
    )


def mean(name: str, values: list[float], families: list[str], plan: Plan, reason: str) -> Result:
    """Return the mean of values with its interval over families; without values it is undefined."""
    if not values:
        return Result(name, status="insufficient", reason=reason)
    units = cluster_codes(families, len(values))
    rows = np.column_stack([np.ones(len(values)), values])
    point, replicates = resampled(units, rows, lambda totals: totals[:, 1] / totals[:, 0], plan)
    return finished(
        name,
        point,
        replicates,
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


def _current_labels(scheme: str) -> QuerySet[Label]:
    """Return people's current answers to a scheme; of repeated answers the first."""
    return Label.objects.filter(
        rater__kind=Rater.Kind.HUMAN,
        superseded_at=None,
        missing="",
        occasion__in=OCCASIONS,
        question__version__scheme__key=scheme,
    ).order_by("pk")


def _answers(scenarios: Mapping[int, Dialogue]) -> list[_Answer]:
    by_place: dict[tuple[int, int, str, int], _Answer] = {}
    labels = _current_labels(HUMAN.key).filter(
        item__kind=DECISION.key, item__continuation__dialogue__in=scenarios
    )
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
        by_place.setdefault((scenario, point, question, rater), answer)
    return list(by_place.values())


def _asks(key: Key, question: str) -> bool:
    conditions = {ADDRESSED: key.addressed, TARGET: key.target}
    return question not in conditions or conditions[question] is not None


def _meets(dialogue: Dialogue, point: int, key: Key, question: str, value: str) -> bool:
    """Whether an answer has the key's best score, or is a set that meets its condition."""
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
    for answer in answers:
        by_place[answer.scenario, answer.point, answer.question].append(answer)
    contradicted = []
    for (scenario, point, question), place_answers in by_place.items():
        wrong_count = sum(not answer.right for answer in place_answers)
        if len(place_answers) >= LEAST_PEOPLE and 2 * wrong_count > len(place_answers):
            dialogue = scenarios[scenario]
            value, n = Counter(answer.value for answer in place_answers if not answer.right).most_common(1)[0]
            expected = _expected_words(key_at(scenario_of(dialogue), point), question)
            contradicted.append(
                Contradicted(dialogue.id, point, question, expected, value, n, len(place_answers))
            )
    return tuple(
        sorted(contradicted, key=lambda entry: (entry.scenario, entry.point, QUESTIONS.index(entry.question)))
    )


def _expected_words(key: Key, question: str) -> str:
    """Return a key's expected answer in words."""
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
    """Return people's mean score of each decision on each dimension of conduct, without leaks."""
    scores: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    labels = _current_labels(CONDUCT.key).filter(item__in=list(items), number__isnull=False)
    for item, dimension, number in labels.exclude(question__key__in=[LEAK, WHY]).values_list(
        "item", "question__key", "number"
    ):
        scores[item][dimension].append(float(number or 0))
    return {
        item: {dimension: float(np.mean(values)) for dimension, values in by_dimension.items()}
        for item, by_dimension in scores.items()
    }


def _natural(scenarios: Mapping[int, Dialogue], plan: Plan) -> Result:
    """Return the naturalness of the scripts, 1 to 5: the mean over scripts of each one's mean rating."""
    by_scenario: dict[int, list[float]] = defaultdict(list)
    labels = _current_labels(NATURALNESS.key).filter(
        question__key=NATURAL, item__continuation__dialogue__in=scenarios, number__isnull=False
    )
    for scenario, number in labels.values_list("item__continuation__dialogue", "number"):
        by_scenario[scenario].append(float(number or 0))
    values = [float(np.mean(scores)) for scores in by_scenario.values()]
    return mean(
        "naturalness", values, [_family(scenarios[scenario]) for scenario in by_scenario], plan, UNRATED
    )


def _family(dialogue: Dialogue) -> str:
    return dialogue.cluster or dialogue.id
