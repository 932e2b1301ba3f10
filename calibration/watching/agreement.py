"""How far the people of a campaign agree so far, how severe each is, and which tasks divide them.

People are called by their pseudonyms, as wherever answers are. Read from what is submitted at the
moment: with few answers the intervals are wide, and they say so. The test part of a corpus is left out for as
long as nobody has opened it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.corpora import splits
from annotation.models import Campaign, Item, Question, Rater, turn_numbers
from calibration.disagreements.reading import PEOPLE, comparison, distances
from calibration.reading.census import Census, QuestionInfo, census
from calibration.reading.ratings import Place, load, places
from calibration.reading.scope import Scope
from calibration.reading.subjects import TEXT, Subject
from calibration.statistics import STATISTICS, Plan, RatingError, Ratings, Result
from calibration.statistics.core.engine import estimates, result_of
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.core.samples import Sample
from calibration.statistics.rater_panel import RaterRow, rater_panel

PLAN = Plan(resamples=500)
OF_ALL = ("krippendorff_alpha", "percent_agreement")
OF_A_RATER = ("rater_mean", "rater_severity", "rater_with_rest")
"""What is told of all people of a question, and of each of them."""
MOST_LABELS = 200_000
"""Labels above which agreement is left to the report, which is computed in the background."""
MOST_DIVIDING = 10


@dataclass(frozen=True)
class Agreed:
    """What is known of one question so far; `reason` says why there is nothing."""

    question: QuestionInfo
    results: tuple[Result, ...] = ()
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "question": self.question.ref,
            "statistics": [one.as_dict() for one in self.results],
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Dividing:
    """An item whose raters are far `apart` (in units of the scale; for categories the share of pairs that
    differ), and what each of them answered: (name, value in words).
    """

    item: Item
    apart: float
    answers: tuple[tuple[str, str], ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        answers = [{"rater": rater, "value": value} for rater, value in self.answers]
        return {"item": self.item.key, "apart": self.apart, "answers": answers}


@dataclass(frozen=True)
class Agreement:
    """All questions with their figures, and of one of them (`chosen`) the raters and the items that divide
    them. `too_many` says that there are more labels than are read while somebody waits, `is_locked` that the
    test part is left out.
    """

    agreed: tuple[Agreed, ...]
    chosen: QuestionInfo | None = None
    raters: tuple[RaterRow, ...] = ()
    raters_reason: str = ""
    dividing: tuple[Dividing, ...] = ()
    labels: int = 0
    too_many: bool = False
    is_locked: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "labels": self.labels,
            "too_many": self.too_many,
            "test_left_out": self.is_locked,
            "questions": [one.as_json() for one in self.agreed],
            "chosen": self.chosen.ref if self.chosen else None,
            "raters": [
                {"rater": row.rater, "group": row.group, "figures": [one.as_dict() for one in row.figures]}
                for row in self.raters
            ],
            "raters_reason": self.raters_reason,
            "dividing": [one.as_json() for one in self.dividing],
        }


def asked(campaign: Campaign) -> list[Question]:
    """Return the questions of a campaign that have statistics: all but free texts, in their order."""
    found = campaign.scheme_version.questions.exclude(level=TEXT)
    return list(found.select_related("version__scheme").order_by("position"))


def agreement(scope: Scope, campaign: Campaign, key: str = "", plan: Plan = PLAN) -> Agreement:
    """Return how far the people in a campaign's scope agree.

    `key` chooses the question whose raters and items are told.
    Without one it is the first question that two people answered, else the first.
    """
    counted = _of_people(census(scope), campaign)
    if counted.n_labels > MOST_LABELS:
        return Agreement((), labels=counted.n_labels, too_many=True)
    ours = {question.pk for question in asked(campaign)}
    infos = [info for info in counted.questions.values() if info.id in ours]
    where, is_locked = _places(scope, infos)
    names = frozenset(rater.name for rater in counted.raters.values())
    read = {info.id: load(scope, Subject(info), counted, where, names) for info in infos}
    agreed, ratings = [], {}
    for info in infos:
        try:
            ratings[info.id] = read[info.id].ratings()
        except RatingError as error:
            agreed.append(Agreed(info, reason=str(error)))
        else:
            agreed.append(_agreed(info, ratings[info.id], plan))
    chosen = next((one for one in infos if one.key == key and one.id in ratings), None) or next(
        (one.question for one in agreed if one.results), None
    )
    if chosen is None:
        return Agreement(tuple(agreed), labels=counted.n_labels, is_locked=is_locked)
    panel = rater_panel(ratings[chosen.id], plan=plan)
    ids = {place.key: pk for pk, place in where.items()}
    return Agreement(
        tuple(agreed),
        chosen,
        tuple(panel.rows),
        panel.reason,
        _dividing(chosen, ratings[chosen.id], ids),
        counted.n_labels,
        is_locked=is_locked,
    )


def _places(scope: Scope, infos: Sequence[QuestionInfo]) -> tuple[dict[int, Place], bool]:
    """Return where the items are, without those of a test part that is closed, and whether there is one."""
    locked = set(splits.unopened(scope.corpus).values_list("cluster", flat=True))
    where = places(scope, {info.item_kind for info in infos}) if infos else {}
    return {pk: place for pk, place in where.items() if place.cluster not in locked}, bool(locked)


def _of_people(counted: Census, campaign: Campaign) -> Census:
    """Return the census of people alone: judges are measured in reports, not while people work."""
    people = {pk: info for pk, info in counted.raters.items() if info.kind == Rater.Kind.HUMAN}
    pairs = {pair: n for pair, n in counted.counts.items() if pair[1] in people}
    asked_of = {question for question, _ in pairs}
    questions = {pk: info for pk, info in counted.questions.items() if pk in asked_of}
    return Census(questions, people, pairs)


def _agreed(info: QuestionInfo, ratings: Ratings, plan: Plan) -> Agreed:
    if len(ratings.raters) < 2:
        return Agreed(info, reason="one person has answered it so far")
    if not ((~np.isnan(ratings.values)).sum(axis=1) >= 2).any():
        return Agreed(info, reason="no item has two answers so far")
    ratings, resampling = ratings.as_answered(), resampling_of(ratings, plan)
    sample = Sample(ratings, tuple(range(len(ratings.raters))), resampling)
    found = estimates(sample, [STATISTICS[name] for name in OF_ALL], resampling)
    return Agreed(info, tuple(result_of(one, sample, plan) for one in found))


def _dividing(info: QuestionInfo, ratings: Ratings, ids: dict[str, int]) -> tuple[Dividing, ...]:
    """Return the items on which people are furthest apart, the furthest first."""
    if len(ratings.of_kind("human")) < 2:
        return ()
    apart = distances(comparison(ratings, PEOPLE, PEOPLE))
    rows = [int(row) for row in np.argsort(-np.nan_to_num(apart), kind="stable") if apart[row] > 0]
    rows = rows[:MOST_DIVIDING]
    related = ("continuation__dialogue", "turn")
    items = Item.objects.select_related(*related).in_bulk([ids[ratings.items[row]] for row in rows])
    turn_numbers.number(item.turn for item in items.values())
    return tuple(
        Dividing(items[ids[ratings.items[row]]], float(apart[row]), _answers(info, ratings, row))
        for row in rows
    )


def _answers(info: QuestionInfo, ratings: Ratings, row: int) -> tuple[tuple[str, str], ...]:
    """Return who answered what about an item; a tag as yes or no."""
    named = zip(ratings.raters, ratings.values[row], strict=True)
    is_tag = info.level == "binary" and info.group
    return tuple(
        (rater, ("no", "yes")[bool(value)] if is_tag else ratings.label(float(value)))
        for rater, value in named
        if not np.isnan(value)
    )
