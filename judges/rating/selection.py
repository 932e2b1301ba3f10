"""What a run covers: a corpus or a campaign, its systems, and how many samples of each answer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.campaigns import sampling
from annotation.corpora import openings, parts, splits
from annotation.errors import SplitRefused
from annotation.kinds.table import COMPARING
from annotation.models import Campaign, Continuation, Corpus, Item, ItemMember, Rater
from annotation.models.splits import Split
from annotation.records import SELF
from judges.errors import JudgeError
from judges.rating.plans import Judge


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection. No `systems` means all; own turns count where there is nothing else, or when asked.

    `part` (dev or test, of `split`) leaves out the clusters of the other part. Training dialogues are covered
    where `part` is training or the campaign is about them, and then alone.
    """

    corpus: Corpus
    campaign: Campaign | None = None
    systems: tuple[str, ...] = ()
    include_self: bool = False
    samples: int = 1
    split: Split | None = None
    part: str = ""

    @property
    def is_training(self) -> bool:
        """Whether it covers training dialogues: they are named, or the campaign is about them."""
        return parts.TRAINING in (self.part, self.campaign.part if self.campaign else "")

    def as_json(self) -> dict[str, Any]:
        """Return the selection as plain data."""
        whole = {
            "corpus": self.corpus.pk,
            "campaign": self.campaign.pk if self.campaign else None,
            "systems": sorted(self.systems),
            "include_self": self.include_self,
            "samples": self.samples,
        }
        if self.split is not None:
            return whole | {"split": self.split.pk, "part": self.part}
        return whole | {"part": self.part} if self.part else whole

    def digest(self) -> str:
        """Return the SHA-256 of the selection: the same hash is the same run of a rater."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()


def continuations(selection: Selection) -> QuerySet[Continuation]:
    """Return the continuations that a selection covers."""
    if selection.campaign and selection.campaign.tasks.exists():
        chosen = Q(pk__in=selection.campaign.tasks.values("continuation"))
        if selection.campaign.side_by_side:
            chosen |= Q(pk__in=_beside(selection.campaign).values("continuation"))
        return _of_part(_of_systems(Continuation.objects.filter(chosen), selection.systems), selection)
    systems, include_self = selection.systems, selection.include_self
    if selection.campaign:
        systems = systems or tuple(selection.campaign.systems.values_list("name", flat=True))
        include_self = include_self or selection.campaign.include_self
    rows = Continuation.objects.filter(dialogue__corpus=selection.corpus)
    if selection.campaign and (drawn := sampling.dialogues(selection.campaign)) is not None:
        rows = rows.filter(dialogue__in=drawn)
    if not include_self:
        others = Continuation.objects.filter(dialogue=OuterRef("dialogue")).exclude(key=SELF)
        rows = rows.filter(~Q(key=SELF) | ~Exists(others))
    return _of_part(_of_systems(rows, systems), selection)


def items(selection: Selection, kind: str) -> QuerySet[Item]:
    """Return the items of one kind that a selection covers: of a campaign that shows single items, those."""
    if kind in COMPARING:
        return _comparisons(selection, kind)
    rows = Item.objects.filter(kind=kind, continuation__in=continuations(selection))
    if selection.campaign:
        single = selection.campaign.tasks.filter(item__isnull=False, item__kind=kind)
        beside = _beside(selection.campaign) if selection.campaign.side_by_side else ItemMember.objects.none()
        if single.exists() or beside.exists():
            rows = rows.filter(Q(pk__in=single.values("item")) | Q(turn__in=beside.values("turn")))
    return rows


def _beside(campaign: Campaign) -> QuerySet[ItemMember]:
    """Return the responses that a campaign's tasks show side by side."""
    return ItemMember.objects.filter(item__in=campaign.tasks.values("item"))


def _comparisons(selection: Selection, kind: str) -> QuerySet[Item]:
    """Return the comparisons of a campaign, or of a corpus, none of whose members is of another system."""
    rows = Item.objects.filter(kind=kind, corpus=selection.corpus, training=selection.is_training)
    if campaign := selection.campaign:
        tasks, chosen = campaign.tasks.values("item"), campaign.compared_items.values("item")
        rows = rows.filter(pk__in=tasks) if tasks.exists() else rows.filter(pk__in=chosen)
    if selection.systems:
        members = ItemMember.objects.filter(item=OuterRef("pk"))
        others = members.exclude(continuation__system__name__in=selection.systems)
        rows = rows.filter(~Exists(others))
    if selection.split is None:
        return rows
    clusters = selection.split.clusters.filter(part=selection.part).values("cluster")
    return rows.filter(splits.within(clusters))


def _of_systems(rows: QuerySet[Continuation], systems: tuple[str, ...]) -> QuerySet[Continuation]:
    return rows.filter(system__name__in=systems) if systems else rows


def _of_part(rows: QuerySet[Continuation], selection: Selection) -> QuerySet[Continuation]:
    rows = rows.filter(parts.of_dialogues(parts.TRAINING if selection.is_training else "", "dialogue__"))
    if selection.split is None:
        return rows
    clusters = selection.split.clusters.filter(part=selection.part).values("cluster")
    return rows.filter(dialogue__cluster__in=clusters)


# Whether a run of a judge covers test items, and whether test was opened for that judge.


def locked(selection: Selection) -> Split | None:
    """Return the split whose test part a run would cover, None where it covers none.

    Training is never test. Else a part is named, or the corpus's first split is in use: until it is, no part
    of it is test to anybody.
    """
    if selection.split is not None:
        return selection.split if selection.part == "test" else None
    if selection.is_training:
        return None
    split = splits.lock_of(selection.corpus)
    if split is None or split.fixed_at is None:
        return None
    return split if continuations(replace(selection, split=split, part="test")).exists() else None


def needs_opening(rater: Rater, selection: Selection) -> str:
    """Return why a run may not start yet, '' where it may: only judges are developed on dev."""
    split = locked(selection)
    if split is None or not openings.unopened(split, [rater]):
        return ""
    covers = "covers" if selection.part else "includes"
    return (
        f"This run {covers} the test part of {selection.corpus.name} (split {split.name}), which is opened "
        f"once per judge, on purpose: say what it is opened for, for {rater.name} (“Open test for”, "
        "--open-test, open_test), or run it on dev."
    )


def judge_needs_opening(judge: Judge, selection: Selection) -> str:
    """Return the same for a judge as it is set up; nothing is kept of it."""
    if locked(selection) is None:
        return ""
    with transaction.atomic():
        refusal = needs_opening(judge.plan(selection.campaign).rater, selection)
        transaction.set_rollback(True)
    return refusal


def open_or_refuse(*, rater: Rater, selection: Selection, by: User | None, reason: str) -> None:
    """Open test for a judge whose run covers it; raise JudgeError where no reason is given for that."""
    refusal = needs_opening(rater, selection)
    if not refusal:
        return
    if not reason.strip():
        raise JudgeError(refusal)
    split = locked(selection)
    assert split is not None
    try:
        splits.fix(split=split, by=by)
        openings.open_for(split=split, raters=[rater], by=by, reason=reason)
    except SplitRefused as error:
        raise JudgeError(str(error)) from None
