"""What a plan takes: ratings, hours and money, from the time that the pilot's raters gave their pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db import connection

from calibration.models import Study
from calibration.reading.scope import of_study
from calibration.statistics import Plan

FEWEST_TIMED = 3
"""People whose time is known, below which nothing says how far people's times differ."""

TIMED = """
SELECT a.user_id, sum(own.seconds)::float8, sum(rated.items)::float8
  FROM (SELECT l.assignment_id, count(DISTINCT l.item_id) AS items
          FROM annotation_label l JOIN annotation_item i ON i.id = l.item_id
         WHERE i.corpus_id = %(corpus)s AND i.training = %(training)s AND l.question_id = ANY(%(questions)s)
           AND l.superseded_at IS NULL AND l.occasion = 'main' AND l.assignment_id IS NOT NULL
           AND (%(campaign)s::bigint IS NULL OR l.campaign_id = %(campaign)s)
         GROUP BY 1) AS rated
  JOIN annotation_assignment a ON a.id = rated.assignment_id AND a.state = 'submitted'
  JOIN LATERAL (SELECT sum(told.value::bigint) / 1000.0 AS seconds
                  FROM jsonb_each_text(a.attention) AS told) own ON own.seconds > 0
 GROUP BY 1 ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of attention that rating an item took: all seconds by all `ratings` of items, of `people`.

    The interval resamples people; its ends are None where fewer than FEWEST_TIMED are known.
    """

    seconds: float
    low: float | None
    high: float | None
    ratings: int
    people: int


@dataclass(frozen=True, slots=True)
class Crowd:
    """A plan with so many raters an item. `reason` says why there is none; numbers are of dialogues."""

    raters: int
    needed: int | None = None
    needed_low: int | None = None
    needed_high: int | None = None
    n_pilot: int = 0
    n_items: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Effort:
    """What a number of dialogues takes with so many raters an item, all told. Costs are in the pay's money.

    An end is None where it lies beyond what was looked at, or where nobody's time is known.
    """

    raters: float
    dialogues: int | None
    items: int | None
    ratings: int | None
    hours: float | None
    hours_low: float | None
    hours_high: float | None
    cost: float | None
    cost_low: float | None
    cost_high: float | None
    reason: str = ""


def timing(study: Study, questions: Sequence[int], plan: Plan) -> Timing | None:
    """Return how long rating an item of a study took its people; None where no page told it.

    What answers one of the questions counts, of the study's campaign or of all campaigns of its corpus. The
    time is that of the whole screen, whatever else was asked there.
    """
    campaign = study.campaign_id
    told = {
        "corpus": study.corpus_id,
        "campaign": campaign,
        "questions": sorted(questions),
        "training": of_study(study).training,
    }
    with connection.cursor() as cursor:
        cursor.execute(TIMED, told)
        rows = np.array([row[1:] for row in cursor.fetchall()], dtype=float)
    return timed(rows, plan) if rows.size else None


def timed(rows: np.ndarray, plan: Plan) -> Timing:
    """Return the timing of people (rows), each with their seconds and their items."""
    seconds, items = rows.sum(axis=0)
    low = high = None
    if len(rows) >= FEWEST_TIMED and plan.resamples:
        drawn = np.random.default_rng(plan.seed).integers(0, len(rows), (plan.resamples, len(rows)))
        sums = rows[drawn].sum(axis=1)
        ends = np.quantile(sums[:, 0] / sums[:, 1], [(1 - plan.level) / 2, (1 + plan.level) / 2])
        low, high = (float(end) for end in ends)
    return Timing(float(seconds / items), low, high, int(items), len(rows))


def effort(
    *,
    raters: float,
    needed: tuple[int | None, int | None, int | None],
    items_a_dialogue: float,
    timing: Timing | None,
    pay: float | None,
    reason: str = "",
) -> Effort:
    """Return what a plan takes. `needed` are its dialogues and their range; `pay` is for an hour."""
    dialogues, fewest, most = needed
    each = items_a_dialogue * raters

    def hours(n: int | None, seconds: float | None) -> float | None:
        return None if n is None or seconds is None else n * each * seconds / 3600

    def cost(of: float | None) -> float | None:
        return None if of is None or pay is None else of * pay

    seconds = timing.seconds if timing else None
    quick, slow = (timing.low or seconds, timing.high or seconds) if timing else (None, None)
    middle, low, high = hours(dialogues, seconds), hours(fewest, quick), hours(most, slow)
    return Effort(
        raters=raters,
        dialogues=dialogues,
        items=None if dialogues is None else round(dialogues * items_a_dialogue),
        ratings=None if dialogues is None else round(dialogues * each),
        hours=middle,
        hours_low=low,
        hours_high=high,
        cost=cost(middle),
        cost_low=cost(low),
        cost_high=cost(high),
        reason=reason,
    )
