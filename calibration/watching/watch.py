"""All that is watched of a campaign, kept for a moment: many who look cost little more than one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from django.db import connection
from django.utils import timezone

from annotation.campaigns.progress import managers_in
from annotation.checks.marks import LeftOut, left_out
from annotation.corpora import splits
from annotation.labels.pseudonyms import of_people
from annotation.models import CheckPlan
from annotation.models.campaigns import Campaign
from calibration.checks.results import Person, people
from calibration.reading.scope import of_campaign, without_left_out
from calibration.watching.agreement import Agreement, agreement
from calibration.watching.progress import Progress, choices, progress

# What happened last in a campaign: what annotators and researchers did, in one list.

MOST = 120
"""So many acts are read; a page shows fewer lines, because acts in a row are one."""
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
    """What somebody did: an annotator by pseudonym, who manages by user name.

    `submission` leads to it where it is one, `reason` is what they said of it.
    """

    at: datetime
    who: str
    what: str
    submission: int | None
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return self._asdict()


class Line(NamedTuple):
    """What one person did, once or several times in a row, from `since` until `at`."""

    at: datetime
    since: datetime
    who: str
    what: str
    reason: str


def in_a_row(acts: Sequence[Act]) -> list[Line]:
    """Return acts as lines, the latest first: submissions of one person with nothing between are one line.

    So are tasks that were skipped for the same reason. At most LINES.
    """
    lines = []
    for (who, what, reason), group in groupby(acts, lambda act: (act.who, act.what, act.reason)):
        row = list(group)
        if len(row) > 1 and what in MANY:
            lines.append(Line(row[0].at, row[-1].at, who, MANY[what].format(len(row)), reason))
        else:
            lines += [Line(act.at, act.at, who, what, reason) for act in row]
    return lines[:LINES]


def latest(campaign: Campaign) -> tuple[Act, ...]:
    """Return the last acts, the latest first."""
    with connection.cursor() as cursor:
        cursor.execute(ACTS, {"campaign": campaign.pk, "name": campaign.name, "most": MOST})
        rows = cursor.fetchall()
    working = of_people({who for _, who, *_ in rows if who}, campaign.corpus_id)
    acting = working | managers_in(working, campaign)
    return tuple(
        Act(
            at,
            (working if submission else acting).get(who, ""),
            WORDS.get(what, what.removeprefix("campaign: ")),
            submission,
            reason,
        )
        for at, who, what, submission, reason in rows
    )


REST = 20
"""What took a second to compute is kept for this many, so that watching takes a twentieth of a processor."""
LEAST_SECONDS = 1.0
MOST_KEPT = 200

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Watch:
    """A campaign at a moment: `at` is when its progress was read, `agreed_at` when agreement was computed.

    `left_out` are those whom gold leaves out: agreement does, too, unless it is that of `everyone`. `checks`
    say how annotators do in training, test, checks and repeats; nothing where a campaign has none of these.
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
        """What happened last, as a page tells it."""
        return in_a_row(self.activity)

    @property
    def stamp(self) -> str:
        """A text that changes with what is shown."""
        return f"{self.at.timestamp():.3f}-{self.agreed_at.timestamp():.3f}"

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "campaign": self.campaign.name,
            "state": self.campaign.state,
            "at": self.at,
            "progress": self.progress.as_json(),
            "agreed_at": self.agreed_at,
            "agreement": self.agreement.as_json(),
            "everyone": self.everyone,
            "left_out": [
                {"annotator": one.name, "since": one.since, "why": one.why} for one in self.left_out
            ],
            "checks": [person.as_json() for person in self.checks],
            "activity": [act.as_json() for act in self.activity],
        }


@dataclass(frozen=True, slots=True)
class _Entry:
    made: float
    took: float
    stamp: str
    at: datetime
    value: Any


class _Moments:
    """What was computed last, by what it is about; each kept for as long as it is cheap not to look again."""

    def __init__(self) -> None:
        self._entries: dict[tuple[Any, ...], _Entry] = {}
        self._lock = threading.Lock()

    def get(self, about: tuple[Any, ...], stamp: str, compute: Callable[[], Kept]) -> tuple[Kept, datetime]:
        """Return what is kept while it is fresh or its stamp has not changed, else what is computed now."""
        now = time.monotonic()
        with self._lock:
            entry = self._entries.get(about)
        if entry is not None and (
            now - entry.made < max(LEAST_SECONDS, REST * entry.took) or (stamp and stamp == entry.stamp)
        ):
            return entry.value, entry.at
        at, value = timezone.now(), compute()
        with self._lock:
            if len(self._entries) >= MOST_KEPT:
                self._entries.clear()
            self._entries[about] = _Entry(now, time.monotonic() - now, stamp, at, value)
        return value, at

    def forget(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._entries.clear()


moments = _Moments()


def watch(campaign: Campaign, *, by: str = "", question: str = "", everyone: bool = False) -> Watch:
    """Return a campaign as it is now, or was a moment ago where that takes long to compute.

    `by` says by what progress is told (`progress.choices`; '' is the first), `question` is the key of the
    question whose raters are told, `everyone` that agreement counts who is left out of gold, too. Raises
    KeyError for a `by` that there is not.
    """
    known = choices(campaign)
    by = by or next(iter(known))
    if by not in known:
        raise KeyError(by)
    far, at = moments.get(("progress", campaign.pk, by), "", lambda: progress(campaign, by))
    closed = splits.unopened(campaign.corpus).count()  # opening test changes what is read, and no label
    scope = of_campaign(campaign) if everyone else without_left_out(of_campaign(campaign))
    stamp = f"{scope.stamp()} {closed} {[one.name for one in scope.without]}"
    agreed, agreed_at = moments.get(
        ("agreement", campaign.pk, question, everyone), stamp, lambda: agreement(scope, campaign, question)
    )
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


def checked(campaign: Campaign) -> tuple[Person, ...]:
    """Return how annotators do in training, test, checks and repeats; nothing where there are none."""
    if not CheckPlan.objects.filter(campaign=campaign).exists():
        return ()
    return moments.get(("checks", campaign.pk), "", lambda: tuple(people(campaign)))[0]
