"""What trying a draft would take, before it is asked: calls, tokens, cost, and to whom the text goes."""

from __future__ import annotations

from django.db import transaction

from annotation.models import Continuation
from jobs.models import Call
from judges.drafts import actions, benches
from judges.models import Draft
from judges.rating.estimates import Estimate, of_targets
from judges.rating.sampled import Covered


def estimate(draft: Draft, targets: int | None, samples: int = 1) -> Estimate:
    """Return what it takes to let a draft answer a bench's first targets (None: all of dev).

    Nothing is kept: neither the targets that would be drawn nor a judge. Raises JudgeError as running does.
    """
    with transaction.atomic():
        found = _estimate(draft, targets, samples)
        transaction.set_rollback(True)
    return found


def _estimate(draft: Draft, targets: int | None, samples: int) -> Estimate:
    wanted = benches.grow(draft.bench, targets)
    plan = actions.judge_of(draft).plan(draft.bench.campaign)
    some = tuple((target.continuation_id, target.item_id) for target in wanted)
    own = {continuation for continuation, _ in some}
    dialogues = Continuation.objects.filter(pk__in=own).values("dialogue").distinct().count()
    done = Call.objects.filter(rater=plan.rater, state=Call.State.DONE, sample__lt=samples)
    made = done.filter(continuation__in=own).values_list("continuation_id", "item_id")
    asked = set(some)
    finished = sum(place in asked for place in made)
    return of_targets(plan, Covered(len(some), dialogues, some), samples=samples, finished=finished)


def is_known(draft: Draft) -> bool:
    """Whether drafts of the bench were sent to this draft's endpoint before."""
    drafts = draft.bench.drafts.filter(endpoint=draft.endpoint, targets__gt=0)
    return drafts.exists()
