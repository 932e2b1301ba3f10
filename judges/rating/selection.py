"""What a run covers: a corpus or a campaign, its systems, and how many samples of each answer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.campaigns import sampling
from annotation.corpora import parts, splits
from annotation.kinds import COMPARING
from annotation.models import Campaign, Continuation, Corpus, Item, ItemMember, Split
from annotation.records import SELF


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
