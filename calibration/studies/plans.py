"""Plans: how many more double-rated dialogues a study needs, from its pilot, with hours and costs."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from django.contrib.auth.models import User
from django.db import connection

from annotation.corpora import splits
from calibration.errors import CalibrationError, PlanRefused
from calibration.figure_cache import cached_or_job
from calibration.models import Study
from calibration.ratings.definitions import Definition, parse
from calibration.ratings.ratings import Subject, load, places, rater_names, subjects_of
from calibration.ratings.scope import Census, RaterInfo, Scope, census, of_study, offered
from calibration.reports.wording import crowd_of
from calibration.statistics import RatingError
from calibration.statistics.analysis import mean_of
from calibration.statistics.core.ratings import Ratings
from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.samples import MAX_TABLE
from calibration.statistics.panel import POOLED
from calibration.statistics.planning import (
    GAP,
    PowerPlan,
    ReportProgress,
    WidthPlan,
    clusters_for_alt_test,
    clusters_for_width,
    crowds,
    people_of,
    planned,
    ratings_an_item,
    silent,
    thinned,
    width_of,
)
from calibration.statistics.table import STATISTICS
from calibration.studies import study_actions as studies
from calibration.studies.parts import ALL_TAGS, PARTS, clusters_of, in_sets, pooled, split_of
from calibration.studies.parts import POOLED as POOLED_RATERS
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

# Query of a plan, named alike on the page and in the API.

Goal = Literal["width", "power"]
GOALS: tuple[Goal, ...] = get_args(Goal)
PEOPLE = "people"
"""Name for all people together as the rater."""
POWER = 0.8
PLANNED = (
    *(key for key, statistic in STATISTICS.items() if not statistic.of_sets),
    *(f"{GAP}{key}" for key in STATISTICS if key in POOLED),
)
"""Statistics that can be planned for: those of one question, and a judge's gap for those in POOLED."""


@dataclass(frozen=True)
class PlanQuery:
    """Query of a plan. Empty texts and None stand for the study's headline figure.

    `goal` is the width of an interval, or the power of the alternative annotator test. `question` is a
    reference such as `scheme@1/key`; `rater` is `people`, a judge or a metric; `statistic` one of PLANNED.
    `width` is high minus low; `power` the share of studies in which the test should pass. `pay` is the cost
    of an hour of rating, in any currency; it does not affect the plan itself.
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
        """Return a short key of the query and the study's definition, independent of labels."""
        identity = json.dumps([study.pk, study.definition, asdict(replace(self, pay=None))], sort_keys=True)
        return hashlib.sha256(identity.encode()).hexdigest()[:16]


def read(params: Mapping[str, Any], study: Study) -> PlanQuery:
    """Parse the query from texts (of a URL or a form).

    `half_width` may be given instead of `width`. Raises PlanRefused with a one-line message.
    """
    text = {key: str(value).strip() for key, value in params.items() if value is not None}
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
    """Return a number strictly between two limits; None for an empty text."""
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


def part_of(study: Study, requested: str) -> str:
    """Return the part used as the pilot: dev, or all without a split; test once it was opened.

    Raises PlanRefused for a part that may not be read.
    """
    part = studies.default_part(study)
    if requested in ("", part):
        return part
    split = split_of(study)
    if requested not in PARTS:
        raise PlanRefused(f"a part is dev, test or all, not {requested!r}")
    if split is None or requested == "all":
        raise PlanRefused(
            f"the corpus {study.corpus.name} has {'a' if split else 'no'} split: plan on {part}"
        )
    if studies.latest(study, "test") is None:
        raise PlanRefused("test was not opened for this study: plan on dev")
    return "test"


# Effort of a plan: ratings, hours and money, from the time that the pilot's raters spent.

FEWEST_TIMED = 3
"""Minimum number of people with known time for an interval of the time."""

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
class PlanTiming:
    """Seconds of attention per rating of an item: total seconds over all `ratings`, by `people`.

    The interval resamples people; its ends are None if the times of fewer than three people are known.
    """

    seconds: float
    low: float | None
    high: float | None
    ratings: int
    people: int


@dataclass(frozen=True, slots=True)
class PlanCrowd:
    """Plan with a given number of raters an item, in dialogues. `reason` says why there is none."""

    raters: int
    needed: int | None = None
    needed_low: int | None = None
    needed_high: int | None = None
    n_pilot: int = 0
    n_items: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PlanEffort:
    """Total effort for a number of dialogues with so many raters an item. Costs are in the pay's currency.

    An end is None if it lies beyond the numbers examined, or if nobody's time is known.
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


def timing(study: Study, questions: Sequence[int], plan: Plan) -> PlanTiming | None:
    """Return the time that people took to rate an item of a study; None if no page recorded it.

    Answers to the questions count, from the study's campaign or from all campaigns of its corpus. The time
    covers the whole screen, including other questions on it.
    """
    campaign = study.campaign_id
    params = {
        "corpus": study.corpus_id,
        "campaign": campaign,
        "questions": sorted(questions),
        "training": of_study(study).training,
    }
    with connection.cursor() as cursor:
        cursor.execute(TIMED, params)
        rows = np.array([row[1:] for row in cursor.fetchall()], dtype=float)
    return timed(rows, plan) if rows.size else None


def timed(rows: np.ndarray, plan: Plan) -> PlanTiming:
    """Return the timing from rows of (seconds, items), one per person."""
    seconds, items = rows.sum(axis=0)
    low = high = None
    if len(rows) >= FEWEST_TIMED and plan.resamples:
        resampled = np.random.default_rng(plan.seed).integers(0, len(rows), (plan.resamples, len(rows)))
        sums = rows[resampled].sum(axis=1)
        ends = np.quantile(sums[:, 0] / sums[:, 1], [(1 - plan.level) / 2, (1 + plan.level) / 2])
        low, high = (float(end) for end in ends)
    return PlanTiming(float(seconds / items), low, high, int(items), len(rows))


def effort(
    *,
    raters: float,
    needed: tuple[int | None, int | None, int | None],
    items_a_dialogue: float,
    timing: PlanTiming | None,
    pay: float | None,
    reason: str = "",
) -> PlanEffort:
    """Return the effort of a plan. `needed` holds its dialogues and their range; `pay` is per hour."""
    dialogues, fewest, most = needed
    each = items_a_dialogue * raters

    def hours(n: int | None, seconds: float | None) -> float | None:
        return None if n is None or seconds is None else n * each * seconds / 3600

    def cost(of: float | None) -> float | None:
        return None if of is None or pay is None else of * pay

    seconds = timing.seconds if timing else None
    quick, slow = (timing.low or seconds, timing.high or seconds) if timing else (None, None)
    middle, low, high = hours(dialogues, seconds), hours(fewest, quick), hours(most, slow)
    return PlanEffort(
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


# Result of a plan: typed, stored as JSON by a job, shown on the page and in the API.


@dataclass(frozen=True, slots=True)
class PlanRow:
    """Expected width (None: no interval) or power for a number of dialogues, with its range over pilots.

    `high` is None if the pilot gives no upper end.
    """

    n_clusters: int
    expected: float | None
    low: float | None
    high: float | None
    share_undefined: float


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """Result of a plan. If there is none, `reason` says why and `rows` is empty.

    `target` is the intended width or power; `value` the figure on the pilot, and `width` the width of its
    interval. `needed` dialogues reach the target, `more` of them beyond the pilot's `n_pilot`; both are None
    if no number examined reaches it. The ranges are over pilots; an end is None if it lies beyond. `crowd` is
    the name for the people, some of whom may be simulated. `ratings_an_item` is the number of people per item
    of the pilot, `crowds` the same plan for other numbers, `timing` the time per item (None: unknown) and
    `pay` the cost of an hour. `computed_at` is when a worker computed it, None if it uses the current labels;
    `labels_since` is whether labels have changed since.
    """

    study: str
    corpus: str
    part: str
    goal: Goal
    question: str
    title: str
    item_kind: str
    pooled: bool
    rater: str
    raters: tuple[str, ...]
    crowd: str
    statistic: str
    target: float | None
    level: float
    resamples: int
    seed: int
    epsilon: float
    reason: str = ""
    value: float | None = None
    width: float | None = None
    needed: int | None = None
    needed_low: int | None = None
    needed_high: int | None = None
    more: int | None = None
    reaching: float | None = None
    rough: bool = False
    design_effect: float | None = None
    n_pilot: int = 0
    n_items: int = 0
    rows: tuple[PlanRow, ...] = ()
    method: str = ""
    ratings_an_item: float | None = None
    crowds: tuple[PlanCrowd, ...] = ()
    timing: PlanTiming | None = None
    pay: float | None = None
    computed_at: datetime | None = None
    labels_since: bool = False

    @property
    def efforts(self) -> list[PlanEffort]:
        """Effort with as many raters an item as in the pilot, then with other numbers."""
        if self.reason or not self.ratings_an_item or not self.n_pilot:
            return []
        shared_args: dict[str, Any] = {"timing": self.timing, "pay": self.pay}
        own = (self.needed, self.needed_low, self.needed_high)
        alike = self.n_items / self.n_pilot
        efforts = [effort(raters=self.ratings_an_item, needed=own, items_a_dialogue=alike, **shared_args)]
        for crowd in self.crowds:
            if crowd.raters == self.ratings_an_item:
                continue  # the pilot's own
            needed = (crowd.needed, crowd.needed_low, crowd.needed_high)
            items = crowd.n_items / crowd.n_pilot if crowd.n_pilot else alike
            shared_args["reason"] = crowd.reason
            efforts.append(effort(raters=crowd.raters, needed=needed, items_a_dialogue=items, **shared_args))
        return efforts

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        plain = asdict(self)
        json_values = {"raters": list(self.raters), "rows": plain["rows"], "crowds": list(plain["crowds"])}
        json_values["computed_at"] = self.computed_at.isoformat() if self.computed_at else None
        return plain | json_values | {"efforts": [asdict(effort_row) for effort_row in self.efforts]}


def answer_of(stored: Mapping[str, Any]) -> PlanAnswer:
    """Return the result stored by a job."""
    values = {key: value for key, value in stored.items() if key != "efforts"}
    rows = tuple(PlanRow(**row) for row in stored["rows"])
    crowds = tuple(PlanCrowd(**crowd) for crowd in stored.get("crowds", ()))
    timing = stored.get("timing") and PlanTiming(**stored["timing"])
    values |= {"rows": rows, "raters": tuple(stored["raters"]), "crowds": crowds, "timing": timing}
    return PlanAnswer(**values)


# Pilot of a plan: the ratings of one question of a study, read as in its report.


@dataclass(frozen=True)
class PlanQuestion:
    """A question that can be planned for; a pooled set of tags has several subjects."""

    ref: str
    title: str
    subjects: tuple[Subject, ...]

    @property
    def is_pooled(self) -> bool:
        """Whether it pools the tags of a scheme."""
        return len(self.subjects) > 1


class Choices:
    """Questions and raters that can be planned for. `exact` counts machine labels of a campaign, slowly."""

    def __init__(self, study: Study, *, exact: bool = True) -> None:
        self.study = study
        self.scope: Scope = of_study(study)
        self.definition: Definition = parse(study.definition)
        self.counted: Census = (census if exact else offered)(self.scope)
        self.subjects = subjects_of(self.definition, self.counted)

    @cached_property
    def questions(self) -> list[PlanQuestion]:
        """The questions; pooled tags first, as in reports."""
        alone = [PlanQuestion(s.question.ref, s.question.title, (s,)) for s in self.subjects]
        together = [
            PlanQuestion(f"{members[0].question.scheme}/{POOLED_RATERS}", ALL_TAGS, tuple(members))
            for members in in_sets(self.subjects, lambda subject: subject.question)
        ]
        return together + alone

    def question(self, ref: str) -> PlanQuestion:
        """Return the question with this reference, by default the headline question. Raises PlanRefused."""
        if not self.questions:
            raise PlanRefused(
                "no question was answered by two raters, so nothing says how far dialogues differ: "
                "have a few dialogues rated twice first"
            )
        if ref:
            matching = next((question for question in self.questions if question.ref == ref), None)
            if matching is None:
                valid_refs = ", ".join(question.ref for question in self.questions)
                raise PlanRefused(f"this study has no question {ref!r}; there are {valid_refs}")
            return matching
        by_itself = [a for a in self.questions if not a.is_pooled]
        overall = [a for a in by_itself if a.subjects[0].question.key == "overall"]
        others = [a for a in by_itself if not a.subjects[0].question.group]
        return next(iter((*overall, *others, *self.questions)))

    def raters(self, kinds: tuple[str, ...] = ("judge", "metric")) -> list[RaterInfo]:
        """Return the raters of these kinds who answer any of the questions, each once, ordered by kind."""
        only = set(self.definition.raters)
        raters_by_name: dict[str, RaterInfo] = {}
        for subject in self.subjects:
            for (_, rater), info in rater_names(subject, self.counted).items():
                if info.kind in kinds and (not only or self.counted.raters[rater].name in only):
                    raters_by_name[info.name] = info
        return sorted(raters_by_name.values(), key=lambda info: (kinds.index(info.kind), info.id, info.name))

    def n_labels(self, plan_question: PlanQuestion) -> int:
        """Count the labels of a question in the whole scope."""
        question_ids = {number for subject in plan_question.subjects for number in subject.question_ids}
        return sum(n for (question, _), (n, _) in self.counted.counts.items() if question in question_ids)

    def ratings(self, plan_question: PlanQuestion, part: str) -> Ratings:
        """Read the ratings of a question on a part. Raises PlanRefused if they are off their scale."""
        clusters = clusters_of(split_of(self.study), part)
        where = places(self.scope, {s.question.item_kind for s in plan_question.subjects}, clusters)
        only = frozenset(self.definition.raters)
        loaded = [load(self.scope, subject, self.counted, where, only) for subject in plan_question.subjects]
        data = pooled(loaded)[0] if plan_question.is_pooled else loaded[0]
        try:
            return data.ratings(self.definition.samples)
        except RatingError as error:
            raise PlanRefused(str(error)) from error


# Computation of a plan.

RANKED = frozenset({"spearman", "kendall_tau_b"})
KAPPAS = {"binary": "cohen_kappa", "nominal": "cohen_kappa", "ordinal": "cohen_kappa_quadratic"}


def pilot_of(
    *, study: Study, query: PlanQuery, choices: Choices, by: User | None
) -> tuple[PlanQuestion, Ratings]:
    """Read the pilot; a split whose dev part is read is fixed from then on. Raises PlanRefused."""
    plan_question = choices.question(query.question)
    split = split_of(study)
    if split is not None:
        splits.fix(split=split, by=by)
    return plan_question, choices.ratings(plan_question, query.part)


def compute(
    *,
    study: Study,
    query: PlanQuery,
    choices: Choices,
    plan_question: PlanQuestion,
    ratings: Ratings,
    progress: ReportProgress = silent,
) -> PlanAnswer:
    """Compute the plan; if there is none, the result has a reason."""
    definition, question = choices.definition, plan_question.subjects[0].question
    rater = query.rater or _rater(query, ratings)
    people = {ratings.raters[column] for column in people_of(ratings)}
    crowd = crowd_of(info for info in choices.raters(("human",)) if info.name in people)
    answer = PlanAnswer(
        study=study.name,
        corpus=study.corpus.name,
        part=query.part,
        goal=query.goal,
        question=plan_question.ref,
        title=plan_question.title,
        item_kind=question.item_kind,
        pooled=plan_question.is_pooled,
        rater=rater,
        raters=(),
        crowd=crowd.many,
        statistic=query.statistic if query.goal == "width" else "alt_test_winning_rate",
        target=query.width if query.goal == "width" else query.power,
        level=definition.plan.level,
        resamples=definition.plan.resamples,
        seed=definition.plan.seed,
        epsilon=definition.epsilon,
        timing=timing(study, _question_ids(plan_question), definition.plan),
        pay=query.pay,
    )
    return plan_for(answer, ratings, definition.plan, progress)


def _question_ids(plan_question: PlanQuestion) -> list[int]:
    return [number for subject in plan_question.subjects for number in subject.question_ids]


def plan_for(
    answer: PlanAnswer, ratings: Ratings, plan: Plan, progress: ReportProgress = silent
) -> PlanAnswer:
    """Fill in the plan for a result that holds the query, or the reason why there is none."""
    answer = replace(answer, ratings_an_item=ratings_an_item(ratings, people_of(ratings)))
    try:
        if answer.goal == "power":
            return _with_power(answer, ratings, plan, progress)
        return _with_width(answer, ratings, plan, progress)
    except ValueError as error:
        return replace(answer, reason=str(error))


def _rater(query: PlanQuery, ratings: Ratings) -> str:
    """Return the headline rater: a judge, else the people, else a metric."""
    judges, metrics = ratings.of_kind("judge"), ratings.of_kind("metric")
    if judges:
        return ratings.raters[judges[0]]
    if query.goal == "width" and metrics and len(people_of(ratings)) < 2:
        return ratings.raters[metrics[0]]
    return PEOPLE


def _statistic(rater: str, ratings: Ratings) -> str:
    """Return the headline statistic for agreement with a rater."""
    if rater == PEOPLE or rater not in ratings.raters:
        return "krippendorff_alpha"
    identified = [column for column in people_of(ratings) if ratings.identified[column]]
    on_scale = ratings.as_answered().on_scale[ratings.column(rater)]
    return KAPPAS.get(ratings.level, "spearman") if on_scale and identified else "spearman"


def ranks_items(query: PlanQuery, ratings: Ratings) -> bool:
    """Whether a plan ranks the items of each resample: for scores with too many values for a table."""
    rater = query.rater or _rater(query, ratings)
    if query.goal == "power" or (query.statistic or _statistic(rater, ratings)) not in RANKED:
        return False
    people = list(people_of(ratings))
    sides = [mean_of(ratings.values[:, people]) if people else np.empty(0)]
    if rater in ratings.raters:
        sides.append(ratings.values[:, ratings.column(rater)])
    return math.prod(len(np.unique(side[~np.isnan(side)])) for side in sides) > MAX_TABLE


def _with_width(answer: PlanAnswer, ratings: Ratings, plan: Plan, progress: ReportProgress) -> PlanAnswer:
    statistic = answer.statistic or _statistic(answer.rater, ratings)
    answer = replace(answer, statistic=statistic)
    figure = planned(ratings, statistic, "" if answer.rater == PEOPLE else answer.rater)
    answer = replace(answer, raters=figure.raters, n_pilot=figure.n_clusters, n_items=figure.n_items)
    try:
        target = answer.target if answer.target is not None else half_of(width_of(figure, plan))
        answer = replace(answer, target=target)
        width_plan = clusters_for_width(figure, target, plan=plan, progress=progress)
    except ValueError as error:
        return replace(answer, reason=str(error))
    answer = _filled(
        answer,
        width_plan,
        value=width_plan.value,
        width=width_plan.width,
        design_effect=width_plan.design_effect,
        rows=tuple(
            PlanRow(w.n_clusters, w.width, w.low, w.high, w.share_undefined) for w in width_plan.widths
        ),
    )
    return replace(answer, crowds=_crowds(answer, ratings, plan))


def _crowds(answer: PlanAnswer, ratings: Ratings, plan: Plan) -> tuple[PlanCrowd, ...]:
    """Return the same plan for people among themselves with other numbers of raters an item."""
    assert answer.target is not None
    if answer.rater != PEOPLE or not STATISTICS[answer.statistic].exchangeable:
        return ()
    people, crowd_plans = people_of(ratings), []
    for number in crowds(ratings, people):
        try:
            figure = planned(thinned(ratings, people, number, plan.seed), answer.statistic)
            width_plan = clusters_for_width(figure, answer.target, plan=plan)
        except ValueError as error:
            crowd_plans.append(PlanCrowd(number, reason=str(error)))
            continue
        needed = (width_plan.needed, width_plan.needed_low, width_plan.needed_high)
        crowd_plans.append(PlanCrowd(number, *needed, figure.n_clusters, figure.n_items))
    return tuple(crowd_plans)


def half_of(width: float) -> float:
    """Return half a width to two significant digits: the default target."""
    return float(f"{width / 2:.2g}")


def _filled(answer: PlanAnswer, plan: WidthPlan | PowerPlan, **values: Any) -> PlanAnswer:
    """Fill in the number of dialogues and the method."""
    return replace(
        answer,
        needed=plan.needed,
        needed_low=plan.needed_low,
        needed_high=plan.needed_high,
        more=plan.more,
        rough=plan.is_rough,
        method=plan.method,
        **values,
    )


def _with_power(answer: PlanAnswer, ratings: Ratings, plan: Plan, progress: ReportProgress) -> PlanAnswer:
    people = [ratings.raters[c] for c in people_of(ratings) if ratings.identified[c]]
    if answer.rater == PEOPLE or answer.rater not in ratings.raters:
        judge_names = ", ".join(ratings.raters[c] for c in ratings.of_kind("judge")) or "none"
        raise ValueError(f"the alternative annotator test is that of a judge; judges here: {judge_names}")
    if not _tested(ratings, answer.rater):
        raise ValueError(f"{answer.rater} answers on another scale, so it has no alternative annotator test")
    power_plan = clusters_for_alt_test(
        ratings,
        answer.rater,
        people,
        target=POWER if answer.target is None else answer.target,
        epsilon=answer.epsilon,
        plan=plan,
        progress=progress,
    )
    return _filled(
        answer,
        power_plan,
        raters=(power_plan.judge, *power_plan.people),
        reaching=power_plan.reaching,
        n_pilot=power_plan.n_pilot,
        n_items=power_plan.n_items,
        rows=tuple(PlanRow(p.n_clusters, p.power, p.low, p.high, 0.0) for p in power_plan.powers),
    )


def _tested(ratings: Ratings, rater: str) -> bool:
    """Whether a report tests this rater: a judge, and on the question's scale if that is categorical."""
    column = ratings.column(rater)
    if ratings.kinds[column] != "judge":
        return False
    return ratings.on_scale[column] or ratings.level not in ("binary", "nominal")


# Large plans: computed by a worker, with progress that any process can read.
#
# A plan of a small pilot is computed within the request. A larger one is a job, which stores its result.

KIND = "plan"
FEW_LABELS = 15_000
"""Largest number of labels for which a pilot is read within the request."""
FEW_CLUSTERS = {"width": 250, "power": 130}
"""Largest number of dialogues for which a plan is computed within the request, in about a second."""
FEW_RANKED = 150
"""Largest number of items if each resample ranks its items anew."""


def plan_or_job(*, study: Study, query: PlanQuery, by: User | None, again: bool = False) -> PlanAnswer | Job:
    """Compute a small plan at once; for a larger one return the last result, or else its job.

    The last result stays while labels arrive, marked as such, until `again` requests a new one. Raises
    PlanRefused or DefinitionError.
    """
    subject = _subject(study, query)
    if not Job.objects.filter(kind=KIND, subject=subject).exists():
        choices = Choices(study)
        if choices.n_labels(choices.question(query.question)) <= FEW_LABELS:
            plan_question, ratings = pilot_of(study=study, query=query, choices=choices, by=by)
            if is_quick(query, ratings):
                return compute(
                    study=study, query=query, choices=choices, plan_question=plan_question, ratings=ratings
                )
    params = {"study": study.pk, "query": asdict(query)}
    stamp = of_study(study).stamp()
    cached = cached_or_job(
        kind=KIND, subject=subject, stamp=stamp, params=params, by=by, again=again, follows=False
    )
    if isinstance(cached, Job):
        return cached
    answer = answer_of(cached.result["plan"])
    return replace(answer, pay=query.pay, computed_at=cached.at, labels_since=cached.labels_since)


def newer_job(study: Study, query: PlanQuery) -> Job | None:
    """Return the job for a plan newer than the last result, still active or failed."""
    last = Job.objects.filter(kind=KIND, subject=_subject(study, query)).first()
    return None if last is None or last.state == Job.State.DONE else last


def is_quick(query: PlanQuery, ratings: Ratings) -> bool:
    """Whether a plan is computed within the request."""
    if ratings.n_clusters > FEW_CLUSTERS[query.goal]:
        return False
    return ratings.n_items <= FEW_RANKED or not ranks_items(query, ratings)


def _subject(study: Study, query: PlanQuery) -> str:
    return f"study {study.pk}, {query.part}, {query.key(study)}: {study.name}"[:300]


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Compute the plan of a job; the result is {plan: the plan's result, stamp}."""
    study = studies.study_of(job)
    query = PlanQuery(**job.params["query"])
    stamp = of_study(study).stamp()
    try:
        choices = Choices(study)
        plan_question, ratings = pilot_of(study=study, query=query, choices=choices, by=job.created_by)
        answer = compute(
            study=study,
            query=query,
            choices=choices,
            plan_question=plan_question,
            ratings=ratings,
            progress=progress,
        )
    except CalibrationError as error:
        raise JobRefused(str(error)) from error
    return {"plan": answer.as_dict(), "stamp": stamp}


JOB = JobKind(KIND, "Plan", run)
