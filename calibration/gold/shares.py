"""Shares of gold's values, with intervals by cluster: of all items where people's items were drawn from them.

Where review campaigns drew the items that people answered, with known probabilities, an item counts by its
weight (`calibration.ratings.designs`), and a share is that of the items drawn from. Otherwise it is the share
of the items with a gold value. PostgreSQL adds the items up by cluster, so gold of any size fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

import numpy as np
from django.db import connection

from annotation.campaigns import sampling
from annotation.corpora import splits
from annotation.models import Campaign, Question
from calibration.models import Gold
from calibration.ratings import designs
from calibration.ratings.designs import NO_DESIGN, Design, Weighting
from calibration.statistics import Plan, Result
from calibration.statistics.core.engine import FLAGS, LEAST_EVENTS, UNEQUAL
from calibration.statistics.core.ratings import ORDERED
from calibration.statistics.core.resampling import Resampling
from calibration.statistics.describe import Shared
from calibration.statistics.prevalence import few_labelled

DESIGNS = "designs"
"""Option of a gold: by question key, the review campaigns that drew its items, or why weights are unknown."""
MOST_VALUES = 20
"""Largest number of values of a question for which shares are given; with more, there is only the mean."""
PLAN = Plan()
GONE = "A review campaign that drew the items was deleted, or its strata can no longer be read."

SUMS = """
SELECT l.question_id, coalesce(i.cluster, d.cluster), l.number, l.text, count(*),
       count(w.weight), coalesce(sum(w.weight), 0), coalesce(sum(w.weight ^ 2), 0),
       count(*) FILTER (WHERE w.is_heavy)
  FROM calibration_goldlabel l
  JOIN annotation_item i ON i.id = l.item_id
  JOIN annotation_continuation c ON c.id = i.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
  LEFT JOIN unnest(%(questions)s::bigint[], %(items)s::bigint[], %(weights)s::float8[], %(heavy)s::boolean[])
    AS w(question, item, weight, is_heavy) ON w.question = l.question_id AND w.item = l.item_id
 WHERE l.gold_id = %(gold)s AND l.reason = ''
   AND coalesce(i.cluster, d.cluster) <> ALL(%(hidden)s::text[])
 GROUP BY 1, 2, 3, 4
 ORDER BY 1, 2, 3, 4
"""


def design_note(design: Design) -> dict[str, Any] | None:
    """Return what a gold stores of its items' design; None where each item counts once."""
    if design == NO_DESIGN:
        return None
    if design.problem:
        return {"problem": design.problem}
    return {"campaigns": list(design.campaigns), "combination": design.combination}


def weightings(gold: Gold) -> dict[str, Weighting]:
    """Return the weights of the items of a gold by question key, of questions whose items were drawn.

    They are read again from the draws, which never change. A weighting with a problem has no weights.
    """
    notes: dict[str, dict[str, Any]] = gold.options.get(DESIGNS, {})
    by_draw: dict[str, Weighting] = {}
    for note in notes.values():
        if str(note) not in by_draw:
            by_draw[str(note)] = _weighting(note)
    return {key: by_draw[str(note)] for key, note in notes.items()}


def _weighting(note: Mapping[str, Any]) -> Weighting:
    if "problem" in note:
        return Weighting(problem=note["problem"])
    campaigns = Campaign.objects.filter(pk__in=note["campaigns"], review_strata__isnull=False).order_by("pk")
    inclusions = {campaign: sampling.inclusion(campaign) or {} for campaign in campaigns}
    if len(inclusions) < len(note["campaigns"]):
        return Weighting(problem=GONE)
    weighting = designs.weighting(inclusions, is_complete=note["combination"] != "average")
    return weighting if weighting.combination == note["combination"] else Weighting(problem=GONE)


@dataclass(frozen=True)
class ValueShare:
    """A gold value with its number of items and its share (0 to 1); for the `mean`, of all values."""

    value: str
    n_items: int
    share: Result
    is_mean: bool = False


@dataclass(frozen=True)
class QuestionShares:
    """Shares of the gold values of one question.

    `population` is the number of items that the shares speak of; with `is_weighted` they are those that
    people's items were drawn from, otherwise the items with a gold value. `n_without` items drawn have no
    gold value. `problem` says why shares do not speak of all items, '' where they do, or where no review
    campaign drew them.
    """

    question: Question
    rows: tuple[ValueShare, ...]
    n_items: int
    population: int
    is_weighted: bool
    combination: str = ""
    n_without: int = 0
    problem: str = ""

    @property
    def subject(self) -> str:
        """The items that the shares are of."""
        if self.is_weighted:
            return f"all {self.population:,} items drawn from"
        return f"the {self.n_items:,} item{'' if self.n_items == 1 else 's'} with gold"

    def as_dict(self) -> dict[str, Any]:
        """Return the shares as JSON data."""
        return {
            "question": self.question.key,
            "n_items": self.n_items,
            "population": self.population,
            "weighted": self.is_weighted,
            "combination": self.combination,
            "n_without": self.n_without,
            "problem": self.problem,
            "values": [
                {"value": row.value, "n_items": row.n_items, "share": row.share.as_dict()}
                for row in self.rows
                if not row.is_mean
            ],
            "mean": next((row.share.as_dict() for row in self.rows if row.is_mean), None),
        }


@dataclass
class _Sums:
    """The items of a question with a value, by cluster and value: a row each."""

    clusters: list[str] = field(default_factory=list)
    values: list[float | str] = field(default_factory=list)
    sums: list[tuple[float, ...]] = field(default_factory=list)


def shares_of(gold: Gold) -> list[QuestionShares]:
    """Return the shares of a gold's values, by question, without items of a test part that nobody opened."""
    weights = weightings(gold)
    questions = {
        question.pk: question
        for question in Question.objects.filter(version=gold.scheme_version).order_by("position")
    }
    unopened = splits.unopened(gold.corpus).values_list("cluster", flat=True)
    hidden = [] if gold.is_of_training else list(unopened)
    by_question = _read(gold, questions, weights, hidden)
    return [
        _shares(question, by_question[pk], weights.get(question.key), is_whole=not hidden)
        for pk, question in questions.items()
        if pk in by_question
    ]


def _read(
    gold: Gold, questions: Mapping[int, Question], weights: Mapping[str, Weighting], hidden: Sequence[str]
) -> dict[int, _Sums]:
    """Return the sums of items and weights by question id."""
    rows = [
        (pk, item, weight, weight > mean)
        for pk, question in questions.items()
        if question.key in weights
        for mean in [fmean(weights[question.key].weights.values() or [0.0])]
        for item, weight in weights[question.key].weights.items()
    ]
    parameters: dict[str, Any] = {
        "gold": gold.pk,
        "hidden": hidden,
        "questions": [row[0] for row in rows],
        "items": [row[1] for row in rows],
        "weights": [row[2] for row in rows],
        "heavy": [row[3] for row in rows],
    }
    by_question: dict[int, _Sums] = {}
    with connection.cursor() as cursor:
        cursor.execute(SUMS, parameters)
        for pk, cluster, value, text, *sums in cursor.fetchall():
            own = by_question.setdefault(pk, _Sums())
            own.clusters.append(cluster)
            own.values.append(value if text is None else text)
            own.sums.append(tuple(float(each) for each in sums))
    return by_question


def _shares(question: Question, own: _Sums, weighting: Weighting | None, *, is_whole: bool) -> QuestionShares:
    counts, weighted, weights, squares, heavy = np.array(own.sums).T
    n_items, problem = int(counts.sum()), "" if weighting is None else weighting.problem
    outside = n_items - int(weighted.sum())
    if weighting is not None and not problem and outside:
        problem = (
            f"No review campaign drew {outside:,} of the items with gold: shares are of the items with gold, "
            "not of all items."
        )
    is_drawn = weighting is not None and not problem
    is_unequal = is_drawn and len(set(weighting.weights.values())) > 1 if weighting else False
    mass = weights if is_drawn else counts
    method = ""
    if is_unequal:
        effective = weights.sum() ** 2 / squares.sum()
        method = f"weighted by 1 / probability of being drawn, {effective:,.0f} effective items"
    estimate = _Estimate(own, counts, mass, heavy, method, is_unequal)
    result = QuestionShares(
        question, tuple(estimate.rows(question)), n_items, n_items, is_weighted=False, problem=problem
    )
    if weighting is None or problem:
        return result
    return replace(
        result,
        population=weighting.population,
        is_weighted=True,
        combination=weighting.combination,
        n_without=len(weighting.weights) - n_items if is_whole else 0,
    )


class _Estimate:
    """Shares and the mean of one question from its items by cluster and value, all on the same resamples."""

    def __init__(self, own: _Sums, counts: Any, mass: Any, heavy: Any, method: str, is_unequal: bool) -> None:
        names, units = np.unique(np.array(own.clusters, dtype=str), return_inverse=True)
        self.own, self.counts, self.mass, self.heavy = own, counts, mass, heavy
        self.method, self.is_unequal = method, is_unequal
        self.resampling = Resampling(PLAN, units.ravel(), len(names))

    def rows(self, question: Question) -> Iterable[ValueShare]:
        """Yield each value of the scale or in use, if they are few, and the mean on ordered scales."""
        values = sorted({*map(_plain, question.values), *map(_plain, self.own.values)}, key=_order)
        if question.level == "binary":
            positive = 1.0 if question.positive is None else float(question.positive)
            values = [value for value in values if value == positive]
        if len(values) <= MOST_VALUES:
            yield from map(self._share, values)
        if question.level in ORDERED and question.level != "binary":
            numbers = np.array([float(value) for value in self.own.values])
            yield ValueShare("mean", int(self.counts.sum()), self._result("gold_mean", numbers, ()), True)

    def _share(self, value: float | str) -> ValueShare:
        has = np.array([_plain(each) == value for each in self.own.values])
        n, total = int(self.counts[has].sum()), int(self.counts.sum())
        flags = few_labelled(min(n, total - n))
        if self.is_unequal and min(self.heavy[has].sum(), self.heavy[~has].sum()) < LEAST_EVENTS:
            flags += ("few_heavy_events",)
        text = value if isinstance(value, str) else f"{value:g}"
        return ValueShare(text, n, self._result("gold_share", has.astype(np.float64), flags))

    def _result(self, name: str, values: Any, flags: tuple[str, ...]) -> Result:
        every = np.ones(len(values), dtype=bool)
        rows = np.column_stack([self.mass, self.mass * values])
        flags = ((UNEQUAL,) if self.is_unequal else ()) + flags
        shared = Shared(every, rows, self.method, flags=flags)
        result = shared.result(name, self.resampling, lambda sums: sums[:, 1] / sums[:, 0], raters=1)
        return replace(result, n_items=int(self.counts.sum()))


def _plain(value: float | str) -> float | str:
    return value if isinstance(value, str) else float(value)


def _order(value: float | str) -> tuple[bool, float | str]:
    return isinstance(value, str), value


def sentences(questions: Sequence[QuestionShares]) -> list[str]:
    """Return how the shares were computed, and what limits them, as sentences; none without shares."""
    if not questions:
        return []
    texts = [f"95% intervals from {PLAN.resamples:,} resamples of clusters, seed {PLAN.seed}."]
    if any(question.is_weighted for question in questions):
        texts.append(
            "People’s items were drawn with known probabilities: each counts by 1 / its probability, so that "
            "shares are estimates for all items drawn from, and the counts are those of the items with gold."
        )
    texts += [designs.COMBINATIONS[question.combination] for question in questions if question.combination]
    texts += [
        f"{question.n_without:,} of the items drawn have no gold value for {question.question.title} and are "
        "taken to be like the others."
        for question in questions
        if question.n_without
    ]
    texts += [question.problem for question in questions if question.problem]
    flags = {flag for question in questions for row in question.rows for flag in row.share.flags}
    texts += [f"{text[:1].upper()}{text[1:]}." for flag, text in FLAGS.items() if flag in flags - {UNEQUAL}]
    return list(dict.fromkeys(texts))
