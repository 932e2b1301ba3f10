"""What trying a draft would take, before it is asked: calls, tokens, cost, and to whom the text goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.corpora import splits
from annotation.models import Continuation, Item
from jobs.models import Call, Endpoint
from judges.drafts import actions, benches
from judges.errors import JudgeError
from judges.models import Bench, Draft
from judges.prompt_versions import requests, texts
from judges.prompt_versions.requests import Request
from judges.protocols import Wording
from judges.protocols.needs import UNMET
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
    done = done.exclude(flags__contains=[UNMET])
    made = done.filter(continuation__in=own).values_list("continuation_id", "item_id")
    asked = set(some)
    finished = sum(place in asked for place in made)
    return of_targets(plan, Covered(len(some), dialogues, some), samples=samples, finished=finished)


def requests_of(
    bench: Bench,
    key: str,
    *,
    wording: Wording,
    variant: str,
    endpoint: Endpoint,
    options: Mapping[str, Any],
    parent: str = "",
    later: User | None = None,
) -> list[Request]:
    """Return what a draft would send about an item of dev ('': the bench's first), one for each part.

    Takes what `actions.write` takes; nothing but the text is kept. `later` is for `requests`. Raises
    JudgeError for what there is none of.
    """
    judge = actions.judge_for(bench, variant, endpoint, texts.store(wording=wording), options)
    with transaction.atomic():
        item = _item(bench, key)
        transaction.set_rollback(True)
    return requests.requests(judge, item, bench.campaign, later=later)


def _item(bench: Bench, key: str) -> Item:
    """Return the item of a key, or of the bench's first target; of a continuation the dialogue's."""
    if key.strip():
        found = requests.item_of(bench.corpus, key, benches.protocol_of(bench).covers)
        if splits.of_item(found) not in splits.clusters(split=bench.split, part="dev"):
            raise JudgeError(f"{key.strip()!r} is in the test part: drafts are tried on dev alone.")
        return found
    target = benches.grow(bench, 1)[0]
    rows = Item.objects.select_related("continuation__dialogue", "turn")
    if target.item_id is not None:
        return rows.get(pk=target.item_id)
    whole = rows.filter(continuation=target.continuation_id, kind="dialogue").first()
    if whole is None:
        raise JudgeError("The first continuation of this bench has no item of its own: name an item.")
    return whole


def is_known(draft: Draft) -> bool:
    """Whether drafts of the bench were sent to this draft's endpoint before."""
    drafts = draft.bench.drafts.filter(endpoint=draft.endpoint, targets__gt=0)
    return drafts.exists()
