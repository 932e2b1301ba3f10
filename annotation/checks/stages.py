"""Training and the test, which come before the main work: where somebody is in them, and what is next.

Everything here runs while the member's row is locked (`annotation.work.leases.take_seat`), so that two tabs
of one person come one after the other: a try begins once, and ends once.
"""

from __future__ import annotations

import hashlib
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from annotation.checks.scoring import Score, total
from annotation.models import (
    Assignment,
    Attempt,
    Campaign,
    CheckPlan,
    CheckResult,
    KeyTask,
    Occasion,
    Standing,
)
from annotation.models.checks import STAGES
from config.models import Event

TRAINING, TEST = Occasion.TRAINING, Occasion.QUALIFICATION
DONE = [Assignment.State.SUBMITTED, Assignment.State.SKIPPED]
NAMES = {TRAINING: "training", TEST: "test"}


def standing_of(campaign: int, user: int) -> Standing:
    """Return where a person stands in a campaign, from its beginning where they have no standing yet."""
    return Standing.objects.get_or_create(campaign_id=campaign, user_id=user)[0]


def keys_of(campaign: int, occasion: str) -> list[KeyTask]:
    """Return a campaign's key tasks for one occasion, without those retired, in the order of their making."""
    return list(KeyTask.objects.filter(campaign=campaign, occasion=occasion, retired_at=None))


def stages(campaign: int) -> set[str]:
    """Return which stages a campaign has: training, qualification, both or none."""
    keys = KeyTask.objects.filter(campaign=campaign, occasion__in=STAGES, retired_at=None)
    return set(keys.order_by().values_list("occasion", flat=True).distinct())


def stage(standing: Standing) -> str:
    """Return the stage that comes before somebody's main work, '' for none; who has done all is admitted."""
    if standing.admitted_at is not None:
        return ""
    there = stages(standing.campaign_id)
    if TRAINING in there and standing.trained_at is None:
        return TRAINING
    if TEST in there:
        return TEST
    if there:
        admit(standing, verb="finish the training")
    return ""


def attempts(standing: Standing, occasion: str) -> list[Attempt]:
    """Return somebody's rounds of training, or tries at the test, in order."""
    found = Attempt.objects.filter(campaign=standing.campaign_id, user=standing.user_id, occasion=occasion)
    return list(found.order_by("number"))


def under_way(standing: Standing) -> Attempt | None:
    """Return the round or try that somebody is in."""
    found = Attempt.objects.filter(campaign=standing.campaign_id, user=standing.user_id, finished_at=None)
    return found.first()


def begin(standing: Standing, occasion: str, number: int) -> None:
    """Begin a round of training or a try at the test, where it is this one's turn; otherwise nothing.

    Asked for twice, it begins once. There are no more tries than the campaign allows.
    """
    before = attempts(standing, occasion)
    plan = CheckPlan.objects.get(campaign=standing.campaign_id)
    if stage(standing) != occasion or number != len(before) + 1:
        return
    if any(attempt.finished_at is None for attempt in before):
        return
    if occasion == TEST and len(before) >= plan.test_tries:
        return
    if occasion == TRAINING and before and not plan.training_again:
        return
    Attempt.objects.create(
        campaign_id=standing.campaign_id, user_id=standing.user_id, occasion=occasion, number=number
    )


def rest(attempt: Attempt, seed: int) -> list[KeyTask]:
    """Return what is left of a round or try. The test's order is another one at every try of everybody."""
    done = _of(attempt).filter(state__in=DONE).values("task")
    keys = KeyTask.objects.filter(campaign=attempt.campaign_id, occasion=attempt.occasion, retired_at=None)
    left = list(keys.exclude(task__in=done))
    if attempt.occasion == TEST:
        left.sort(key=lambda key: _drawn(f"{seed}:{attempt.user_id}:{attempt.number}:{key.task_id}"))
    return left


def finish(standing: Standing, plan: CheckPlan, attempt: Attempt) -> None:
    """End a round or try: what was skipped counts as wrong. Who passes the test is admitted."""
    score = score_of(attempt)
    attempt.right, attempt.asked = score.right, score.asked
    attempt.score = score.by(plan.test_measure)
    if attempt.occasion == TEST:
        attempt.passed = attempt.score is not None and attempt.score >= plan.test_mark - 1e-9
    attempt.finished_at = timezone.now()
    attempt.save()
    if attempt.occasion != TEST:
        return
    told: dict[str, Any] = {"try": attempt.number, "right": score.right, "asked": score.asked}
    if attempt.passed:
        admit(standing, verb="pass the test", **told)
    else:
        log(standing, "fail the test", by=standing.user_id, **told)


def score_of(attempt: Attempt) -> Score:
    """Return the score of a round or try: of what was submitted, and of what was skipped."""
    mine = _of(attempt)
    results = CheckResult.objects.filter(assignment__in=mine)
    given = [Score(r.right, r.asked, r.chance) for r in results]
    skipped = mine.filter(state=Assignment.State.SKIPPED).values("task")
    missed = [Score(0, key.answers.count(), 0.0) for key in KeyTask.objects.filter(task__in=skipped)]
    return total([*given, *missed])


def admit(standing: Standing, *, verb: str, **told: Any) -> None:
    """Open the main work to somebody who has done what comes before it."""
    standing.admitted_at = timezone.now()
    standing.save(update_fields=["admitted_at"])
    log(standing, verb, by=standing.user_id, **told)


def log(standing: Standing, verb: str, *, by: int | None, **detail: Any) -> None:
    """Leave an entry about a person in the campaign's log; `by` is None where a rule of the campaign acts."""
    campaign = Campaign.objects.only("name").get(pk=standing.campaign_id)
    told = {"campaign": campaign.pk, "annotator": standing.user.get_username(), **detail}
    Event.objects.create(by_id=by, verb=f"campaign: {verb}", subject=campaign.name, detail=told)


def failed(campaign: Campaign) -> set[int]:
    """Return the ids of those who took every try at the test, passed none, and were not let in."""
    plan = CheckPlan.objects.filter(campaign=campaign).first()
    if plan is None:
        return set()
    tries = Attempt.objects.filter(campaign=campaign, occasion=TEST, passed=False).order_by()
    counted = tries.values("user").annotate(n=Count("pk")).filter(n__gte=plan.test_tries)
    admitted = Standing.objects.filter(campaign=campaign, admitted_at__isnull=False)
    return set(counted.exclude(user__in=admitted.values("user")).values_list("user", flat=True))


def _of(attempt: Attempt) -> Any:
    mine = Q(campaign=attempt.campaign_id, user=attempt.user_id, occasion=attempt.occasion)
    return Assignment.objects.filter(mine, slot=None, round=attempt.number)


def _drawn(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
