"""What follows from a person's hidden checks: a warning, a pause, or being left out of gold.

A rule acts on the last checks of a person (a window that rolls) once there are enough of them. It never
touches a label. After a pause was lifted, or somebody was taken back into gold, checks count from then on.
"""

from __future__ import annotations

from typing import NamedTuple

from django.utils import timezone

from annotation.checks.scoring import Score, total
from annotation.checks.stages import log
from annotation.models import CheckPlan, CheckResult, Occasion, Standing


class Recent(NamedTuple):
    """The score of somebody's checks in the window, and how many checks these are."""

    score: Score
    n: int


def recent(plan: CheckPlan, standing: Standing) -> Recent:
    """Return the score of the last checks that count; a check that was voided does not."""
    mine = CheckResult.objects.filter(
        campaign=standing.campaign_id, user=standing.user_id, occasion=Occasion.CHECK
    ).exclude(assignment__state="voided")
    if standing.window_from is not None:
        mine = mine.filter(at__gt=standing.window_from)
    rows = list(mine.order_by("-at", "-id")[: plan.window])
    return Recent(total(Score(row.right, row.asked, row.chance) for row in rows), len(rows))


def apply(plan: CheckPlan, standing: Standing) -> None:
    """Warn, pause or leave out a person whose recent checks are below the campaign's marks."""
    found = recent(plan, standing)
    share = found.score.share
    if found.n < plan.least or share is None:
        return
    why = f"{found.score.right} of {found.score.asked} answers right in the last {found.n} checks"
    now, changed = timezone.now(), []
    if _is_below(share, plan.leave_out_below) and standing.left_out_at is None:
        standing.left_out_at, standing.left_out_why = now, why
        changed += ["left_out_at", "left_out_why"]
        log(standing, "leave out of gold", by=None, reason=why)
    if _is_below(share, plan.pause_below) and standing.paused_at is None:
        standing.paused_at, standing.paused_why = now, why
        changed += ["paused_at", "paused_why"]
        log(standing, "pause annotator", by=None, reason=why)
    if _is_below(share, plan.warn_below) and standing.paused_at is None and _may_warn(plan, standing):
        standing.warned_at, standing.warning_read_at = now, None
        changed += ["warned_at", "warning_read_at"]
        log(standing, "warn annotator", by=None, reason=why)
    if changed:
        standing.save(update_fields=changed)


def _is_below(share: float, mark: float | None) -> bool:
    return mark is not None and share < mark - 1e-9


def _may_warn(plan: CheckPlan, standing: Standing) -> bool:
    """Whether the last warning was read, and as many checks lie behind it as a rule needs to act."""
    if standing.warned_at is None:
        return True
    since = CheckResult.objects.filter(
        campaign=standing.campaign_id,
        user=standing.user_id,
        occasion=Occasion.CHECK,
        at__gt=standing.warned_at,
    )
    return standing.warning_read_at is not None and since.count() >= plan.least
