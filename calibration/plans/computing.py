"""From a plan's question to its answer."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from django.contrib.auth.models import User

from annotation.corpora import splits
from calibration.models import Study
from calibration.plans.answer import PlanAnswer, PlanRow
from calibration.plans.effort import Crowd, timing
from calibration.plans.pilot import Asked, Choices
from calibration.plans.query import PEOPLE, POWER, PlanQuery
from calibration.reports.wording import crowd_of
from calibration.statistics import Plan, Ratings
from calibration.statistics.analysis import mean_of
from calibration.statistics.core.samples import MAX_TABLE
from calibration.statistics.planned_figures import people_of, planned
from calibration.statistics.planned_power import (
    PowerPlan,
    clusters_for_alt_test,
    crowds,
    ratings_an_item,
    thinned,
)
from calibration.statistics.planning import Told, WidthPlan, clusters_for_width, silent, width_of
from calibration.statistics.table import STATISTICS
from calibration.studies.inputs import split_of

RANKED = frozenset({"spearman", "kendall_tau_b"})
KAPPAS = {"binary": "cohen_kappa", "nominal": "cohen_kappa", "ordinal": "cohen_kappa_quadratic"}


def pilot_of(*, study: Study, query: PlanQuery, choices: Choices, by: User | None) -> tuple[Asked, Ratings]:
    """Read the pilot; a split whose dev part is read is fixed from then on. Raises PlanRefused."""
    asked = choices.question(query.question)
    split = split_of(study)
    if split is not None:
        splits.fix(split=split, by=by)
    return asked, choices.ratings(asked, query.part)


def compute(
    *, study: Study, query: PlanQuery, choices: Choices, asked: Asked, ratings: Ratings, told: Told = silent
) -> PlanAnswer:
    """Return the plan; where there is none, an answer that says why."""
    definition, question = choices.definition, asked.subjects[0].question
    rater = query.rater or _rater(query, ratings)
    people = {ratings.raters[column] for column in people_of(ratings)}
    who = crowd_of(info for info in choices.raters(("human",)) if info.name in people)
    answer = PlanAnswer(
        study=study.name,
        corpus=study.corpus.name,
        part=query.part,
        goal=query.goal,
        question=asked.ref,
        title=asked.title,
        item_kind=question.item_kind,
        pooled=asked.is_pooled,
        rater=rater,
        raters=(),
        crowd=who.many,
        statistic=query.statistic if query.goal == "width" else "alt_test_winning_rate",
        target=query.width if query.goal == "width" else query.power,
        level=definition.plan.level,
        resamples=definition.plan.resamples,
        seed=definition.plan.seed,
        epsilon=definition.epsilon,
        timing=timing(study, _question_ids(asked), definition.plan),
        pay=query.pay,
    )
    return plan_for(answer, ratings, definition.plan, told)


def _question_ids(asked: Asked) -> list[int]:
    return [number for subject in asked.subjects for number in subject.question_ids]


def plan_for(answer: PlanAnswer, ratings: Ratings, plan: Plan, told: Told = silent) -> PlanAnswer:
    """Return an answer that says what is asked, with the plan filled in, or the reason why there is none."""
    answer = replace(answer, ratings_an_item=ratings_an_item(ratings, people_of(ratings)))
    try:
        if answer.goal == "power":
            return _with_power(answer, ratings, plan, told)
        return _with_width(answer, ratings, plan, told)
    except ValueError as error:
        return replace(answer, reason=str(error))


def _rater(query: PlanQuery, ratings: Ratings) -> str:
    """Return whom a report leads with: a judge where there is one, else the people, else a metric."""
    judges, metrics = ratings.of_kind("judge"), ratings.of_kind("metric")
    if judges:
        return ratings.raters[judges[0]]
    if query.goal == "width" and metrics and len(people_of(ratings)) < 2:
        return ratings.raters[metrics[0]]
    return PEOPLE


def _statistic(rater: str, ratings: Ratings) -> str:
    """Return the statistic that stands for agreement with a rater, as a report's headline has it."""
    if rater == PEOPLE or rater not in ratings.raters:
        return "krippendorff_alpha"
    known = [column for column in people_of(ratings) if ratings.identified[column]]
    on_scale = ratings.as_answered().on_scale[ratings.column(rater)]
    return KAPPAS.get(ratings.level, "spearman") if on_scale and known else "spearman"


def ranks_items(query: PlanQuery, ratings: Ratings) -> bool:
    """Whether a plan ranks the items of every resample: of scores with too many values for a table."""
    rater = query.rater or _rater(query, ratings)
    if query.goal == "power" or (query.statistic or _statistic(rater, ratings)) not in RANKED:
        return False
    people = list(people_of(ratings))
    sides = [mean_of(ratings.values[:, people]) if people else np.empty(0)]
    if rater in ratings.raters:
        sides.append(ratings.values[:, ratings.column(rater)])
    return math.prod(len(np.unique(side[~np.isnan(side)])) for side in sides) > MAX_TABLE


def _with_width(answer: PlanAnswer, ratings: Ratings, plan: Plan, told: Told) -> PlanAnswer:
    statistic = answer.statistic or _statistic(answer.rater, ratings)
    answer = replace(answer, statistic=statistic)
    figure = planned(ratings, statistic, "" if answer.rater == PEOPLE else answer.rater)
    answer = replace(answer, raters=figure.raters, n_pilot=figure.n_clusters, n_items=figure.n_items)
    try:
        target = answer.target if answer.target is not None else half_of(width_of(figure, plan))
        answer = replace(answer, target=target)
        found = clusters_for_width(figure, target, plan=plan, told=told)
    except ValueError as error:
        return replace(answer, reason=str(error))
    answer = _told_width(answer, found)
    return replace(answer, crowds=_crowds(answer, ratings, plan))


def _crowds(answer: PlanAnswer, ratings: Ratings, plan: Plan) -> tuple[Crowd, ...]:
    """Return the same plan of people with each other, with other numbers of raters an item."""
    assert answer.target is not None
    if answer.rater != PEOPLE or not STATISTICS[answer.statistic].exchangeable:
        return ()
    people, found = people_of(ratings), []
    for number in crowds(ratings, people):
        try:
            figure = planned(thinned(ratings, people, number, plan.seed), answer.statistic)
            told = clusters_for_width(figure, answer.target, plan=plan)
        except ValueError as error:
            found.append(Crowd(number, reason=str(error)))
            continue
        needed = (told.needed, told.needed_low, told.needed_high)
        found.append(Crowd(number, *needed, figure.n_clusters, figure.n_items))
    return tuple(found)


def half_of(width: float) -> float:
    """Return half a width to two significant digits: what one plans for unless told."""
    return float(f"{width / 2:.2g}")


def _told_width(answer: PlanAnswer, found: WidthPlan) -> PlanAnswer:
    return replace(
        answer,
        value=found.value,
        width=found.width,
        needed=found.needed,
        needed_low=found.needed_low,
        needed_high=found.needed_high,
        more=found.more,
        rough=found.is_rough,
        design_effect=found.design_effect,
        rows=tuple(PlanRow(w.n_clusters, w.width, w.low, w.high, w.share_undefined) for w in found.widths),
        method=found.method,
    )


def _with_power(answer: PlanAnswer, ratings: Ratings, plan: Plan, told: Told) -> PlanAnswer:
    people = [ratings.raters[c] for c in people_of(ratings) if ratings.identified[c]]
    if answer.rater == PEOPLE or answer.rater not in ratings.raters:
        known = ", ".join(ratings.raters[c] for c in ratings.of_kind("judge")) or "none"
        raise ValueError(f"the alternative annotator test is that of a judge; judges here: {known}")
    if not _tested(ratings, answer.rater):
        raise ValueError(f"{answer.rater} answers on another scale, so it has no alternative annotator test")
    found = clusters_for_alt_test(
        ratings,
        answer.rater,
        people,
        target=POWER if answer.target is None else answer.target,
        epsilon=answer.epsilon,
        plan=plan,
        told=told,
    )
    return _told_power(answer, found)


def _tested(ratings: Ratings, rater: str) -> bool:
    """Whether a report makes the test of this rater: a judge, on the scale where that is of categories."""
    column = ratings.column(rater)
    if ratings.kinds[column] != "judge":
        return False
    return ratings.on_scale[column] or ratings.level not in ("binary", "nominal")


def _told_power(answer: PlanAnswer, found: PowerPlan) -> PlanAnswer:
    return replace(
        answer,
        raters=(found.judge, *found.people),
        needed=found.needed,
        needed_low=found.needed_low,
        needed_high=found.needed_high,
        more=found.more,
        reaching=found.reaching,
        rough=found.is_rough,
        n_pilot=found.n_pilot,
        n_items=found.n_items,
        rows=tuple(PlanRow(p.n_clusters, p.power, p.low, p.high, 0.0) for p in found.powers),
        method=found.method,
    )
