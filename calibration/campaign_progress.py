"""Progress of an open campaign: pace and workload of its annotators, and their agreement so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

import numpy as np
from django.db import connection
from django.utils import timezone

from annotation.campaigns.progress import Counts, counts, managers_in
from annotation.corpora import splits
from annotation.models import CheckPlan, Item, Question, Rater, turn_numbers
from annotation.models.campaigns import Campaign
from annotation.text.display import number
from annotation.work.check_stages import LeftOut, left_out
from annotation.work.labels import pseudonyms_of_people as of_people
from calibration.campaign_checks import Person, people
from calibration.ratings.ratings import TEXT, Place, Subject, load, places
from calibration.ratings.scope import Census, QuestionInfo, Scope, census, of_campaign, without_left_out
from calibration.reports.tables import PEOPLE
from calibration.statistics import STATISTICS, Plan, RatingError, Ratings, Result
from calibration.statistics.core.engine import estimates, result_of
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.core.samples import Sample
from calibration.statistics.rater_panel import RaterRow, rater_panel
from calibration.studies.disagreements import comparison, distances

# Monitoring data of a campaign, cached briefly so that many viewers cost little more than one.

# Agreement of a campaign's people so far, each rater's severity, and the most divisive items.
#
# People are shown by pseudonym, as everywhere. The figures use the labels submitted so far: with few answers
# the intervals are wide. The test part of a corpus is left out while it is unopened.

PLAN = Plan(resamples=500)
OF_ALL = ("krippendorff_alpha", "percent_agreement")
OF_A_RATER = ("rater_mean", "rater_severity", "rater_with_rest")
"""Statistics of all people per question (OF_ALL), and of each person (OF_A_RATER)."""
MOST_LABELS = 200_000
"""Above this number of labels, agreement is left to the report, which is computed in the background."""
MOST_DIVIDING = 10


@dataclass(frozen=True)
class Agreed:
    """Agreement on a question so far; `reason` says why there is none."""

    question: QuestionInfo
    results: tuple[Result, ...] = ()
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return {
            "question": self.question.ref,
            "statistics": [result.as_dict() for result in self.results],
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Dividing:
    """An item on which raters differ, with their answers as (name, value in words).

    `apart` is in units of the scale; for categories the proportion of pairs that differ.
    """

    item: Item
    apart: float
    answers: tuple[tuple[str, str], ...]

    def as_json(self) -> dict[str, Any]:
        """Return JSON data."""
        answers = [{"rater": rater, "value": value} for rater, value in self.answers]
        return {"item": self.item.key, "apart": self.apart, "answers": answers}


@dataclass(frozen=True)
class Agreement:
    """Agreement on all questions, with the raters and the most divisive items of one (`chosen`).

    `too_many` means more labels than can be read within a request, `is_locked` that the test part is left
    out, `is_weighted` that items were drawn with unequal probabilities: then the questions' figures are
    weighted, and those of raters are of the rated items.
    """

    agreed: tuple[Agreed, ...]
    chosen: QuestionInfo | None = None
    raters: tuple[RaterRow, ...] = ()
    raters_reason: str = ""
    dividing: tuple[Dividing, ...] = ()
    labels: int = 0
    too_many: bool = False
    is_locked: bool = False
    is_weighted: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return {
            "labels": self.labels,
            "too_many": self.too_many,
            "test_left_out": self.is_locked,
            "weighted": self.is_weighted,
            "questions": [agreed.as_json() for agreed in self.agreed],
            "chosen": self.chosen.ref if self.chosen else None,
            "raters": [
                {
                    "rater": row.rater,
                    "group": row.group,
                    "figures": [figure.as_dict() for figure in row.figures],
                }
                for row in self.raters
            ],
            "raters_reason": self.raters_reason,
            "dividing": [item.as_json() for item in self.dividing],
        }


def questions_with_statistics(campaign: Campaign) -> list[Question]:
    """Return the questions of a campaign with statistics (all except free text), in order."""
    questions = campaign.scheme_version.questions.exclude(level=TEXT)
    return list(questions.select_related("version__scheme").order_by("position"))


def agreement(scope: Scope, campaign: Campaign, key: str = "", plan: Plan = PLAN) -> Agreement:
    """Return the agreement of the people in a campaign's scope.

    `key` selects the question for raters and items; the default is the first that two people answered, else
    the first.
    """
    counted = _of_people(census(scope), campaign)
    if counted.n_labels > MOST_LABELS:
        return Agreement((), labels=counted.n_labels, too_many=True)
    ours = {question.pk for question in questions_with_statistics(campaign)}
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
    selected = next(
        (candidate for candidate in infos if candidate.key == key and candidate.id in ratings), None
    ) or next((row.question for row in agreed if row.results), None)
    is_weighted = any(data.design.is_unequal for data in read.values())
    if selected is None:
        return Agreement(tuple(agreed), labels=counted.n_labels, is_locked=is_locked, is_weighted=is_weighted)
    panel = rater_panel(ratings[selected.id], plan=plan)
    ids = {place.key: pk for pk, place in where.items()}
    return Agreement(
        tuple(agreed),
        selected,
        tuple(panel.rows),
        panel.reason,
        _dividing(selected, ratings[selected.id], ids),
        counted.n_labels,
        is_locked=is_locked,
        is_weighted=is_weighted,
    )


def _places(scope: Scope, infos: Sequence[QuestionInfo]) -> tuple[dict[int, Place], bool]:
    """Return the places of items, without those of an unopened test part, and whether there is one."""
    locked = set(splits.unopened(scope.corpus).values_list("cluster", flat=True))
    where = places(scope, {info.item_kind for info in infos}) if infos else {}
    return {pk: place for pk, place in where.items() if place.cluster not in locked}, bool(locked)


def _of_people(counted: Census, campaign: Campaign) -> Census:
    """Return the census of people only: judges are measured in reports, not while people work."""
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
    estimated = estimates(sample, [STATISTICS[name] for name in OF_ALL], resampling)
    return Agreed(info, tuple(result_of(estimate, sample, plan) for estimate in estimated))


def _dividing(info: QuestionInfo, ratings: Ratings, ids: dict[str, int]) -> tuple[Dividing, ...]:
    """Return the items on which people differ most, largest distance first."""
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
    """Return the answers to an item with their raters; a tag as yes or no."""
    by_rater = zip(ratings.raters, ratings.values[row], strict=True)
    is_tag = info.level == "binary" and info.group
    return tuple(
        (rater, ("no", "yes")[bool(value)] if is_tag else ratings.label(float(value)))
        for rater, value in by_rater
        if not np.isnan(value)
    )


# Progress of a campaign: by annotator, by stratum and by day.

RECENT_DAYS = 7
"""Number of days whose pace is used for the forecast."""
DAYS_SHOWN = 14
MOST_STRATA = 50

ANNOTATORS = """
SELECT u.id, u.is_active,
       count(*) FILTER (WHERE a.state = 'submitted' AND a.slot_id IS NOT NULL),
       count(*) FILTER (WHERE a.state = 'leased'),
       count(*) FILTER (WHERE a.state = 'skipped'),
       count(*) FILTER (WHERE a.state = 'expired'),
       count(*) FILTER (WHERE a.state = 'returned'),
       count(*) FILTER (WHERE a.state = 'voided'),
       count(*) FILTER (WHERE a.flagged),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY (
         SELECT sum(told.value::bigint) / 1000.0 FROM jsonb_each_text(a.attention) AS told))
         FILTER (WHERE a.state = 'submitted'),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM a.submitted_at - a.leased_at))
         FILTER (WHERE a.state = 'submitted'),
       max(greatest(a.submitted_at, a.draft_saved_at, a.leased_at))
  FROM (SELECT user_id FROM annotation_campaignmember WHERE campaign_id = %(campaign)s
         UNION SELECT user_id FROM annotation_assignment WHERE campaign_id = %(campaign)s) p
  JOIN auth_user u ON u.id = p.user_id
  LEFT JOIN annotation_assignment a ON a.campaign_id = %(campaign)s AND a.user_id = u.id
 GROUP BY u.id, u.is_active
"""

STRATA = """
SELECT {stratum} AS stratum, count(DISTINCT t.id), count(*),
       count(*) FILTER (WHERE a.state = 'submitted'), count(*) FILTER (WHERE s.taken)
  FROM annotation_slot s
  JOIN annotation_task t ON t.id = s.task_id
  JOIN annotation_continuation c ON c.id = t.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
  JOIN annotation_system y ON y.id = c.system_id
  JOIN annotation_campaign k ON k.id = s.campaign_id
  LEFT JOIN annotation_item i ON i.id = t.item_id
  LEFT JOIN annotation_sampleddialogue m ON m.campaign_id = t.campaign_id AND m.dialogue_id = d.id
  LEFT JOIN annotation_assignment a ON a.slot_id = s.id AND a.state = 'submitted'
 WHERE s.campaign_id = %(campaign)s
   AND (k.batch_size IS NULL OR NOT %(opened)s OR t.position < k.batch_size::bigint * (k.batches_open + 1))
 GROUP BY 1 ORDER BY {order}, 1 LIMIT %(most)s
"""
STRATUM = {
    "system": "CASE WHEN i.compared IS NULL THEN y.name ELSE 'several' END",
    "language": "coalesce(nullif(d.language, ''), 'not known')",
    "stratum": "coalesce(nullif(m.stratum, ''), 'without')",
    "batch": "(t.position / k.batch_size + 1)::text",
}
IN_ORDER = {"batch": "min(t.position) DESC"}
"""Strata not ordered by size: the last batches come first."""
BY = {
    "system": "System",
    "language": "Language",
    "stratum": "Stratum of the sample",
    "batch": "Batch",
}
"""Groupings of progress, with titles."""

DAYS = """
SELECT (a.submitted_at AT TIME ZONE 'UTC')::date, count(*) FROM annotation_assignment a
 WHERE a.campaign_id = %(campaign)s AND a.state = 'submitted' AND a.slot_id IS NOT NULL
   AND a.submitted_at >= %(since)s
 GROUP BY 1 ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class Annotator:
    """An annotator's work, by pseudonym. `submitted` counts main work only, as in the campaign's counts.

    `attended` and `taken` are median seconds per submitted task: on the page, and from assignment to
    submission; None if unknown. `last` is the time of their last action.
    """

    name: str
    active: bool
    submitted: int
    held: int
    skipped: int
    expired: int
    returned: int
    voided: int
    flagged: int
    attended: float | None
    taken: float | None
    last: datetime | None

    @property
    def seconds(self) -> str:
        """Median seconds per submitted task; `in all` where the time on the page is unknown."""
        if self.attended is not None:
            return number(self.attended, 0)
        return "–" if self.taken is None else f"{number(self.taken, 0)} in all"


@dataclass(frozen=True, slots=True)
class Stratum:
    """Tasks and slots of a stratum; `submitted` slots, and `taken` ones (submitted or held)."""

    name: str
    tasks: int
    slots: int
    submitted: int
    taken: int

    @property
    def ratings(self) -> str:
        """Submitted slots among all of them: `12 of 30`."""
        return f"{self.submitted:,} of {self.slots:,}"

    @property
    def held(self) -> int:
        """Slots that are held by an annotator or were returned to one."""
        return self.taken - self.submitted


@dataclass(frozen=True, slots=True)
class Forecast:
    """Forecast of completion at the mean pace of the last days, `a_day` submissions; None without a pace."""

    left: int
    a_day: float
    days: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a campaign."""

    counts: Counts
    annotators: tuple[Annotator, ...]
    by: str
    strata: tuple[Stratum, ...]
    days: tuple[tuple[date, int], ...]
    forecast: Forecast

    def as_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return {
            "counts": asdict(self.counts),
            "annotators": [asdict(annotator) for annotator in self.annotators],
            "by": self.by,
            "strata": [asdict(stratum) for stratum in self.strata],
            "days": [{"day": day, "submitted": n} for day, n in self.days],
            "forecast": asdict(self.forecast),
        }


def choices(campaign: Campaign) -> dict[str, str]:
    """Return the groupings of a campaign's progress, with titles; by stratum or batch only if it has any."""
    is_stratified = campaign.sample_dialogues is not None and campaign.sample_by
    without = {*(() if is_stratified else ("stratum",)), *(() if campaign.batch_size else ("batch",))}
    return {key: title for key, title in BY.items() if key not in without}


def progress(campaign: Campaign, by: str = "system") -> Progress:
    """Return the progress of a campaign, in five queries. Raises KeyError for an unknown `by`."""
    counted = counts(campaign)
    days = _days(campaign)
    return Progress(
        counts=counted,
        annotators=_annotators(campaign),
        by=by,
        strata=tuple(
            Stratum(*row) for row in _rows(_strata(by), campaign, most=MOST_STRATA, opened=by == "batch")
        ),
        days=days,
        forecast=_forecast(campaign, counted.slots - counted.submitted, days),
    )


def _annotators(campaign: Campaign) -> tuple[Annotator, ...]:
    rows = _rows(ANNOTATORS, campaign)
    names = of_people((user for user, *_ in rows), campaign.corpus_id)
    return tuple(
        sorted((Annotator(names[user], *row) for user, *row in rows), key=lambda annotator: annotator.name)
    )


def _strata(by: str) -> str:
    return STRATA.format(stratum=STRATUM[by], order=IN_ORDER.get(by, "3 DESC"))


def _rows(query: str, campaign: Campaign, **values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(query, {"campaign": campaign.pk, **values})
        return cursor.fetchall()


def _days(campaign: Campaign) -> tuple[tuple[date, int], ...]:
    """Return the submissions of each of the last days (UTC), including days without any."""
    today = timezone.now().date()
    first = today - timedelta(days=DAYS_SHOWN - 1)
    submitted = dict(_rows(DAYS, campaign, since=first))
    return tuple(
        (day, submitted.get(day, 0)) for day in (first + timedelta(days=n) for n in range(DAYS_SHOWN))
    )


def _forecast(campaign: Campaign, remaining: int, days: tuple[tuple[date, int], ...]) -> Forecast:
    """Forecast from the last days, or from those since the first submission if these are fewer."""
    recent = days[-RECENT_DAYS:]
    worked = [n for n, (_, many) in enumerate(recent) if many]
    if not worked:
        return Forecast(remaining, 0.0, None)
    earlier = any(many for _, many in days[:-RECENT_DAYS])
    over = len(recent) if earlier else len(recent) - worked[0]
    a_day = sum(many for _, many in recent) / over
    return Forecast(remaining, a_day, remaining / a_day)


# Activity of a campaign: actions of annotators and researchers in one list.

MOST = 120
"""Maximum number of actions read; a page shows fewer lines, because it joins consecutive ones."""
LINES = 30

ACTS = """
(SELECT coalesce(a.submitted_at, a.leased_at) AS at, a.user_id, a.state, a.id, a.skip_reason
   FROM annotation_assignment a
  WHERE a.campaign_id = %(campaign)s AND a.state IN ('submitted', 'skipped', 'leased')
  ORDER BY 1 DESC, a.id DESC LIMIT %(most)s)
UNION ALL
(SELECT e.at, e.by_id, e.verb, NULL, coalesce(e.detail ->> 'reason', '')
   FROM config_event e
  WHERE e.verb LIKE 'campaign: %%' AND e.subject = %(name)s
  ORDER BY e.at DESC LIMIT %(most)s)
ORDER BY 1 DESC LIMIT %(most)s
"""
WORDS = {"submitted": "submitted a task", "skipped": "skipped a task", "leased": "took a task"}
MANY = {"submitted a task": "submitted {} tasks", "skipped a task": "skipped {} tasks"}


class Act(NamedTuple):
    """An action of a person: an annotator by pseudonym, a manager by user name.

    `submission` is the id for its link, if it has one; `reason` is the person's reason.
    """

    at: datetime
    who: str
    what: str
    submission: int | None
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return self._asdict()


class Line(NamedTuple):
    """One or several consecutive actions of a person, from `since` until `at`."""

    at: datetime
    since: datetime
    who: str
    what: str
    reason: str


def in_a_row(acts: Sequence[Act]) -> list[Line]:
    """Return actions as lines, latest first, joining consecutive submissions of a person.

    Consecutive skips with the same reason are joined, too. At most LINES lines.
    """
    lines = []
    for (actor, action, reason), group in groupby(acts, lambda act: (act.who, act.what, act.reason)):
        row = list(group)
        if len(row) > 1 and action in MANY:
            lines.append(Line(row[0].at, row[-1].at, actor, MANY[action].format(len(row)), reason))
        else:
            lines += [Line(act.at, act.at, actor, action, reason) for act in row]
    return lines[:LINES]


def latest(campaign: Campaign) -> tuple[Act, ...]:
    """Return the last actions, latest first."""
    with connection.cursor() as cursor:
        cursor.execute(ACTS, {"campaign": campaign.pk, "name": campaign.name, "most": MOST})
        rows = cursor.fetchall()
    working = of_people({actor for _, actor, *_ in rows if actor}, campaign.corpus_id)
    acting = working | managers_in(working, campaign)
    return tuple(
        Act(
            at,
            (working if submission else acting).get(actor, ""),
            WORDS.get(action, action.removeprefix("campaign: ")),
            submission,
            reason,
        )
        for at, actor, action, submission, reason in rows
    )


REST = 20
"""Cache seconds per second of computing, so that monitoring takes at most a twentieth of a processor."""
LEAST_SECONDS = 1.0
MOST_KEPT = 200

Cached = TypeVar("Cached")


@dataclass(frozen=True)
class Watch:
    """A snapshot of a campaign: `at` is the time of its progress, `agreed_at` that of its agreement.

    `left_out` are the people left out of gold, whom agreement leaves out, too, unless `everyone` is set.
    `checks` are the annotators' results in training, test, checks and repeats; empty if the campaign has none
    of these.
    """

    campaign: Campaign
    at: datetime
    progress: Progress
    agreed_at: datetime
    agreement: Agreement
    activity: tuple[Act, ...]
    left_out: tuple[LeftOut, ...] = ()
    everyone: bool = False
    checks: tuple[Person, ...] = ()

    @property
    def lines(self) -> list[Line]:
        """Latest activity as lines for the page."""
        return in_a_row(self.activity)

    @property
    def stamp(self) -> str:
        """A text that changes with the content shown."""
        return f"{self.at.timestamp():.3f}-{self.agreed_at.timestamp():.3f}"

    def as_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return {
            "campaign": self.campaign.name,
            "state": self.campaign.state,
            "at": self.at,
            "progress": self.progress.as_json(),
            "agreed_at": self.agreed_at,
            "agreement": self.agreement.as_json(),
            "everyone": self.everyone,
            "left_out": [
                {"annotator": person.name, "since": person.since, "why": person.why}
                for person in self.left_out
            ],
            "checks": [person.as_json() for person in self.checks],
            "activity": [act.as_json() for act in self.activity],
        }


@dataclass(frozen=True, slots=True)
class _Entry:
    created: float
    took: float
    stamp: str
    at: datetime
    value: Any


class _Moments:
    """Cache of computed values by subject; a value is kept longer the longer it took to compute."""

    def __init__(self) -> None:
        self._entries: dict[tuple[Any, ...], _Entry] = {}
        self._lock = threading.Lock()

    def get(
        self, about: tuple[Any, ...], stamp: str, compute: Callable[[], Cached]
    ) -> tuple[Cached, datetime]:
        """Return the cached value while it is fresh or its stamp is unchanged, else compute it."""
        now = time.monotonic()
        with self._lock:
            entry = self._entries.get(about)
        if entry is not None and (
            now - entry.created < max(LEAST_SECONDS, REST * entry.took) or (stamp and stamp == entry.stamp)
        ):
            return entry.value, entry.at
        at, value = timezone.now(), compute()
        with self._lock:
            if len(self._entries) >= MOST_KEPT:
                self._entries.clear()
            self._entries[about] = _Entry(now, time.monotonic() - now, stamp, at, value)
        return value, at

    def forget(self) -> None:
        """Clear the cache."""
        with self._lock:
            self._entries.clear()


moments = _Moments()


def watch(campaign: Campaign, *, by: str = "", question: str = "", everyone: bool = False) -> Watch:
    """Return the current state of a campaign, or a slightly older one if that is slow to compute.

    `by` is the grouping of progress (`choices`; '' is the first), `question` the key of the question whose
    raters are shown; `everyone` includes people left out of gold in the agreement. Raises KeyError for an
    unknown `by`.
    """
    options = choices(campaign)
    by = by or next(iter(options))
    if by not in options:
        raise KeyError(by)
    far, at = moments.get(("progress", campaign.pk, by), "", lambda: progress(campaign, by))
    agreed, agreed_at = agreement_so_far(campaign, question=question, everyone=everyone)
    return Watch(
        campaign,
        at,
        far,
        agreed_at,
        agreed,
        latest(campaign),
        left_out(campaign.corpus, campaign),
        everyone,
        checked(campaign),
    )


def agreement_so_far(
    campaign: Campaign, *, question: str = "", everyone: bool = False
) -> tuple[Agreement, datetime]:
    """Return the agreement of a campaign's people and its time; a slightly older one if that is slow."""
    closed = splits.unopened(campaign.corpus).count()  # opening test changes the labels read, but no label
    scope = of_campaign(campaign) if everyone else without_left_out(of_campaign(campaign))
    stamp = f"{scope.stamp()} {closed} {[rater.name for rater in scope.without]}"
    return moments.get(
        ("agreement", campaign.pk, question, everyone), stamp, lambda: agreement(scope, campaign, question)
    )


def checked(campaign: Campaign) -> tuple[Person, ...]:
    """Return annotators' results in training, test, checks and repeats; empty if there are none."""
    if not CheckPlan.objects.filter(campaign=campaign).exists():
        return ()
    return moments.get(("checks", campaign.pk), "", lambda: tuple(people(campaign)))[0]
