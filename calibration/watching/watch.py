"""All that is watched of a campaign, kept for a moment: many who look cost little more than one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.utils import timezone

from annotation.checks.left_out import LeftOut, left_out
from annotation.corpora import splits
from annotation.models import Campaign, CheckPlan
from calibration.checks.results import Person, people
from calibration.reading.scope import of_campaign, without_left_out
from calibration.watching.activity import Act, Line, in_a_row, latest
from calibration.watching.agreement import Agreement, agreement
from calibration.watching.progress import Progress, choices, progress

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
