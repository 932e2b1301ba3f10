"""What a plan is asked for, in the same words by page, command and API."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from calibration.errors import PlanRefused
from calibration.models import Study
from calibration.statistics import STATISTICS
from calibration.statistics.planned_figures import GAP
from calibration.statistics.pooled import POOLED
from calibration.studies import actions as studies
from calibration.studies.inputs import split_of

Goal = Literal["width", "power"]
GOALS: tuple[Goal, ...] = get_args(Goal)
PEOPLE = "people"
"""The rater that is all people together."""
POWER = 0.8
PLANNED = (*STATISTICS, *(f"{GAP}{key}" for key in STATISTICS if key in POOLED))
"""What one may plan an interval of: every statistic of raters, and a judge's gap in those of one table."""


@dataclass(frozen=True)
class PlanQuery:
    """A plan's question. Empty texts and None stand for the study's own headline figure.

    `goal` is an interval's width, or the power of the alternative annotator test. `question` is a reference
    such as `scheme@1/key`; `rater` is `people`, a judge or a metric; `statistic` one of PLANNED. `width` is
    high less low; `power` the share of studies in which the test is to pass. `pay` is what an hour of rating
    costs, in whatever money; it changes nothing of the plan itself.
    """

    part: str
    goal: Goal = "width"
    question: str = ""
    rater: str = ""
    statistic: str = ""
    width: float | None = None
    power: float = POWER
    pay: float | None = None

    def key(self, study: Study) -> str:
        """Return a short text that changes with the query and the study's definition, and not with labels."""
        told = json.dumps([study.pk, study.definition, asdict(replace(self, pay=None))], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:16]


def read(given: Mapping[str, Any], study: Study) -> PlanQuery:
    """Return the query that plain texts (of an address, a form, a command) ask for.

    `half_width` may be given instead of `width`. Raises PlanRefused with one clear line.
    """
    text = {key: str(value).strip() for key, value in given.items() if value is not None}
    goal = text.get("goal") or "width"
    if goal not in GOALS:
        raise PlanRefused(f"a plan is for a width or for power, not {goal!r}")
    statistic = text.get("statistic", "")
    if statistic and statistic not in PLANNED:
        raise PlanRefused(f"no statistic {statistic!r} to plan for; there are {', '.join(PLANNED)}")
    if text.get("width") and text.get("half_width"):
        raise PlanRefused("name the width or the half width, not both")
    width = _number("width", text.get("width", ""), 0, math.inf)
    half = _number("half width", text.get("half_width", ""), 0, math.inf)
    power = _number("power", text.get("power", ""), 0, 1)
    return PlanQuery(
        part=part_of(study, text.get("part", "")),
        goal=goal,
        question=text.get("question", ""),
        rater=text.get("rater", ""),
        statistic=statistic,
        width=2 * half if half is not None else width,
        power=POWER if power is None else power,
        pay=_number("pay", text.get("pay", ""), 0, math.inf),
    )


def _number(name: str, text: str, low: float, high: float) -> float | None:
    """Return a number between two others, both left out; None for no text."""
    if not text:
        return None
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        number = math.nan
    if not low < number < high or len(text) > 20:
        between = f"between {low:g} and {high:g}" if high < math.inf else f"above {low:g}"
        raise PlanRefused(f"the {name} must be a number {between}, not {text!r}")
    return number


def part_of(study: Study, asked: str) -> str:
    """Return the part whose labels are the pilot: dev, or all without a split; test once it was opened.

    Raises PlanRefused for a part that may not be read.
    """
    part = studies.default_part(study)
    if asked in ("", part):
        return part
    split = split_of(study)
    if asked not in ("dev", "test", "all"):
        raise PlanRefused(f"a part is dev, test or all, not {asked!r}")
    if split is None or asked == "all":
        raise PlanRefused(
            f"the corpus {study.corpus.name} has {'a' if split else 'no'} split: plan on {part}"
        )
    if studies.latest(study, "test") is None:
        raise PlanRefused("test was not opened for this study: plan on dev")
    return "test"
