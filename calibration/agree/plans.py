"""`agree --plan-width` and `--plan-power`: how many more double-rated dialogues a file's study needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from calibration.agree.report import Section
from calibration.plans.answer import PlanAnswer
from calibration.plans.computing import plan_for
from calibration.plans.query import PEOPLE
from calibration.plans.renderings import headings, rows
from calibration.plans.wording import cautions, sentences
from calibration.reports.wording import PEOPLE as CROWD
from calibration.statistics import Analysis, Plan, Ratings
from calibration.statistics.planned_figures import people_of


def computed(title: str, ratings: Ratings, plan: Plan, options: dict[str, Any]) -> list[PlanAnswer]:
    """Return the plans asked for of one question: of people together, and of each judge and metric."""
    found = []
    if options["plan_width"] is not None:
        for rater in _raters(ratings):
            found.append(
                plan_for(
                    _empty(title, ratings, plan, options, "width", rater, options["plan_width"]),
                    ratings,
                    plan,
                )
            )
    if options["plan_power"] is not None:
        for column in ratings.of_kind("judge"):
            rater = ratings.raters[column]
            found.append(
                plan_for(
                    _empty(title, ratings, plan, options, "power", rater, options["plan_power"]),
                    ratings,
                    plan,
                )
            )
    return found


def _raters(ratings: Ratings) -> Iterator[str]:
    if len(people_of(ratings)) > 1:
        yield PEOPLE
    for kind in ("judge", "metric"):
        yield from (ratings.raters[column] for column in ratings.of_kind(kind))


def _empty(
    title: str, ratings: Ratings, plan: Plan, options: dict[str, Any], goal: Any, rater: str, target: float
) -> PlanAnswer:
    return PlanAnswer(
        study="",
        corpus="this file",
        part="all",
        goal=goal,
        question=title,
        title=title or "this question",
        item_kind="",
        pooled=False,
        rater=rater,
        raters=(),
        crowd=CROWD.many if any(ratings.kinds) else "raters",
        statistic=options["plan_statistic"] or "" if goal == "width" else "alt_test_winning_rate",
        target=target,
        level=plan.level,
        resamples=plan.resamples,
        seed=plan.seed,
        epsilon=options["epsilon"],
    )


def section(answer: PlanAnswer, ratings: Ratings) -> Section:
    """Return a plan as a section of the report: its sentences, then the numbers of dialogues in lines."""
    who = "people" if answer.rater == PEOPLE else answer.rater
    head = headings(answer)
    told = [f"{head[0]} {n}: {head[1].lower()} {expected} ({span})." for n, expected, span in rows(answer)]
    return Section(
        f"Plan, {who} on {answer.title}",
        ratings,
        Analysis(),
        tuple(told),
        tuple(sentences(answer)),
        (),
        tuple(cautions(answer)),
    )
