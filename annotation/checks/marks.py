"""What follows from a person's hidden checks: a warning, a pause, or being left out of gold.

A rule acts on the last checks of a person (a window that rolls) once there are enough of them. It never
touches a label. After a pause was lifted, or somebody was taken back into gold, checks count from then on.

Being left out, which annotators are not told, follows a check at once. A warning or a pause comes one to MOST
tasks later, at a step drawn for the person: right after the check it would tell which task it was.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any, NamedTuple

from django.utils import timezone

from annotation.checks.scoring import Score, total
from annotation.checks.stages import log
from annotation.labels.pseudonyms import name_of
from annotation.models import Campaign, CheckPlan, CheckResult, Corpus, Occasion, Rater
from annotation.models.checks import Standing

# Who is left out of gold: whose labels, of which campaign, since when and why. The labels all stay.


class LeftOut(NamedTuple):
    """A rater, by the name that reports have, whose labels of a campaign are left out."""

    campaign: int
    rater: int
    name: str
    campaign_name: str
    since: datetime
    why: str

    @property
    def sentence(self) -> str:
        """Return it as one line for people."""
        return f"{self.name} in {self.campaign_name}, since {self.since:%Y-%m-%d} ({self.why})"

    def as_json(self) -> dict[str, Any]:
        """Return plain data, as it is kept with what was made without the rater."""
        return {
            "rater": self.name,
            "campaign": self.campaign_name,
            "since": self.since.isoformat(),
            "why": self.why,
        }


def left_out(corpus: Corpus, campaign: Campaign | None = None) -> tuple[LeftOut, ...]:
    """Return who is left out of the gold of a campaign, or of all campaigns of a corpus, by name."""
    marked = Standing.objects.filter(left_out_at__isnull=False, campaign__corpus=corpus)
    if campaign is not None:
        marked = marked.filter(campaign=campaign)
    fields = ("campaign", "user", "campaign__name", "left_out_at", "left_out_why")
    rows = list(marked.order_by("campaign").values_list(*fields))
    if not rows:
        return ()
    raters = {rater.user_id: rater for rater in Rater.objects.filter(user__in=marked.values("user"))}
    found = [
        LeftOut(campaign, raters[user].pk, name_of(raters[user], corpus.pk), name, since, why)
        for campaign, user, name, since, why in rows
        if user in raters and since is not None
    ]
    return tuple(sorted(found, key=lambda one: (one.name, one.campaign)))


class Recent(NamedTuple):
    """The score of somebody's checks in the window, and how many checks these are."""

    score: Score
    n: int


MOST = 4
"""Tasks that may lie between a check and the warning or pause that follows from it."""


def step_due(step: int, drawn: str) -> int:
    """Return how many tasks are submitted when a person is warned or paused for a check, their `step`-th."""
    digest = hashlib.sha256(f"{drawn}:marks:{step}".encode()).digest()
    return step + 1 + int.from_bytes(digest[:6]) % MOST


def recent(plan: CheckPlan, standing: Standing, but: int | None = None) -> Recent:
    """Return the score of the last checks that count; one that was voided, and the task `but`, do not."""
    mine = CheckResult.objects.filter(
        campaign=standing.campaign_id, user=standing.user_id, occasion=Occasion.CHECK
    ).exclude(assignment__state="voided")
    if standing.window_from is not None:
        mine = mine.filter(at__gt=standing.window_from)
    if but is not None:
        mine = mine.exclude(assignment=but)
    rows = list(mine.order_by("-at", "-id")[: plan.window])
    return Recent(total(Score(row.right, row.asked, row.chance) for row in rows), len(rows))


def leave_out(plan: CheckPlan, standing: Standing) -> None:
    """Leave a person out of gold whose recent checks are below the campaign's mark."""
    share, why = _judged(plan, recent(plan, standing))
    if _is_below(share, plan.leave_out_below) and standing.left_out_at is None:
        standing.left_out_at, standing.left_out_why = timezone.now(), why
        standing.save(update_fields=["left_out_at", "left_out_why"])
        log(standing, "leave out of gold", by=None, reason=why)


def warn_or_pause(plan: CheckPlan, standing: Standing, but: int | None) -> None:
    """Warn or pause a person whose recent checks, but for the task `but`, are below the campaign's marks."""
    share, why = _judged(plan, recent(plan, standing, but))
    now, changed = timezone.now(), []
    if _is_below(share, plan.pause_below) and standing.paused_at is None:
        standing.paused_at, standing.paused_why = now, why
        changed += ["paused_at", "paused_why"]
        log(standing, "pause annotator", by=None, reason=why)
    if _is_below(share, plan.warn_below) and standing.paused_at is None and _may_warn(plan, standing, but):
        standing.warned_at, standing.warning_read_at = now, None
        changed += ["warned_at", "warning_read_at"]
        log(standing, "warn annotator", by=None, reason=why)
    if changed:
        standing.save(update_fields=changed)


def _judged(plan: CheckPlan, found: Recent) -> tuple[float | None, str]:
    """Return the share of right answers, None where too few checks are done to judge, and it in words."""
    why = f"{found.score.right} of {found.score.asked} answers right in the last {found.n} checks"
    return (None if found.n < plan.least else found.score.share), why


def _is_below(share: float | None, mark: float | None) -> bool:
    return share is not None and mark is not None and share < mark - 1e-9


def _may_warn(plan: CheckPlan, standing: Standing, but: int | None) -> bool:
    """Whether the last warning was read, and as many checks lie behind it as a rule needs to act."""
    if standing.warned_at is None:
        return True
    since = CheckResult.objects.filter(
        campaign=standing.campaign_id,
        user=standing.user_id,
        occasion=Occasion.CHECK,
        at__gt=standing.warned_at,
    ).exclude(assignment=but)
    return standing.warning_read_at is not None and since.count() >= plan.least
