"""How much a person may submit in a campaign and until when, in words for whoever meets the bound."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.utils import timezone

from annotation.models import Campaign, CampaignMember


class Limits(NamedTuple):
    """A campaign's bounds, and how far a member is: `over` says whether the deadline has passed.

    `done` tasks of theirs stand, `today` were submitted since midnight, UTC. None is no bound.
    """

    deadline: datetime | None
    over: bool
    most: int | None
    most_a_day: int | None
    done: int
    today: int

    @property
    def reached(self) -> str:
        """Which bound is reached: "deadline", "total", "day", or "" for none."""
        if self.over:
            return "deadline"
        if self.most is not None and self.done >= self.most:
            return "total"
        if self.most_a_day is not None and self.today >= self.most_a_day:
            return "day"
        return ""

    @property
    def sentence(self) -> str:
        """What the annotator is told of the bound that is reached, '' where none is."""
        if self.reached == "deadline":
            return f"The deadline of this campaign has passed ({_moment(self.deadline)})."
        if self.reached == "total":
            return f"You have submitted as many tasks as one person may here: {self.most:,}."
        if self.reached == "day":
            most = f"You have submitted as many tasks as one person may in a day: {self.most_a_day:,}."
            return f"{most} The next day begins at midnight, UTC."
        return ""

    @property
    def ahead(self) -> str:
        """What the annotator is told beforehand, '' where there is no bound."""
        today = f" ({self.today:,} today)" if self.most_a_day else ""
        return _bounds(self.deadline, self.most, self.most_a_day, today)

    @property
    def brief(self) -> str:
        """What stands beside an annotator's progress: the deadline, and how much of a day's work is done."""
        until = f"until {self.deadline.astimezone(UTC):%d %b, %H:%M} UTC" if self.deadline else ""
        today = f"{self.today:,} of {self.most_a_day:,} today" if self.most_a_day else ""
        return " · ".join(part for part in (until, today) if part)

    @property
    def left(self) -> int | None:
        """How many more tasks the person may submit in all, today's bound aside; None for no bound."""
        return None if self.most is None else max(0, self.most - self.done)

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "deadline": self.deadline,
            "most_tasks": self.most,
            "most_tasks_a_day": self.most_a_day,
            "done_today": self.today,
            "reached": self.reached,
            "notice": self.sentence,
        }


def bounds_of(campaign: Campaign) -> str:
    """Return a campaign's bounds as a researcher reads them, '' where there is none."""
    return _bounds(campaign.deadline, campaign.most_tasks, campaign.most_tasks_a_day)


def _bounds(deadline: datetime | None, most: int | None, most_a_day: int | None, today: str = "") -> str:
    told = [
        f"until {_moment(deadline)}" if deadline else "",
        f"at most {most:,} tasks a person" if most else "",
        f"at most {most_a_day:,} a day{today}" if most_a_day else "",
    ]
    return ", ".join(part for part in told if part)


def limits_of(member: CampaignMember) -> Limits:
    """Return the limits of a member, without a lock: for pages that list campaigns."""
    now, campaign = timezone.now(), member.campaign
    today = member.done_today if member.done_on == now.astimezone(UTC).date() else 0
    over = campaign.deadline is not None and campaign.deadline <= now
    bounds = campaign.most_tasks, campaign.most_tasks_a_day
    return Limits(campaign.deadline, over, *bounds, member.done, today)


def _moment(moment: datetime | None) -> str:
    return f"{moment.astimezone(UTC):%d %B %Y, %H:%M} UTC" if moment else ""
