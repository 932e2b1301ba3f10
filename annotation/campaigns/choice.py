"""Selection of a corpus's continuations for a campaign, as SQL conditions and their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, QuerySet, Value

from annotation.corpora import exclusion
from annotation.corpora.splits import TRAINING, of_dialogues
from annotation.hooks import MAKE_ITEMS
from annotation.kinds import COMPARING, OF_RECORDS
from annotation.models import Campaign, Continuation, SampledItem, SchemeVersion
from annotation.records import SELF
from annotation.scenario_records import POINTS
from annotation.schemes import SCHEMES
from annotation.schemes.definitions import NO_CONVERSATION, STATIC

SELECTION = """(d.part = 'training') = %(training)s AND d.id <> ALL(%(excluded)s::bigint[]) AND
       (CASE WHEN %(own_key)s <> '' THEN c.key = %(own_key)s
       ELSE %(of_records)s AND c.key = 'self' OR NOT %(of_records)s AND
        (d.scenario IS NULL OR (c.key = 'points') = %(as_agent)s) AND (c.key = 'self' AND %(own)s
        OR (%(systems)s::bigint[] = '{}' OR c.system_id = ANY(%(systems)s::bigint[]))
           AND (c.key <> 'self' OR NOT EXISTS (
             SELECT 1 FROM annotation_continuation o WHERE o.dialogue_id = d.id AND o.key <> 'self'
                AND EXISTS (SELECT 1 FROM annotation_item w WHERE w.continuation_id = o.id)))) END)"""
"""Condition on a continuation `c` of a dialogue `d`: the campaign's systems and own turns include it.

Training dialogues are selected only where the campaign's part is training, and then nothing else is. The
points of a scenario are only for people who decide in the agent's place. Facts and questions are items of
the dialogue's own turns, whatever systems were chosen. Dialogues that the campaign excludes by answers are in
no selection. A campaign whose members write has its own continuations.
"""

BY_SPEAKERS = """(%(speakers)s::text[] = '{}' OR concord_is_asked(%(speakers)s::text[], d.participants,
       (SELECT said.speaker FROM annotation_turn said WHERE said.id = i.turn_id)))"""
"""Condition on an item `i` of a dialogue `d`: it is no turn, or a turn by the campaign's speakers."""

MODE_ALLOWED = "c.mode <> ALL(%(refused)s)"
LEFT_OUT = "c.mode = ANY(%(refused)s)"


def values(campaign: Campaign) -> dict[str, Any]:
    """Return the parameters of SELECTION, MODE_ALLOWED and LEFT_OUT, with corpus, seed and kind of items."""
    return {
        "campaign": campaign.pk,
        "corpus": campaign.corpus_id,
        "systems": list(campaign.systems.order_by("pk").values_list("pk", flat=True)),
        "own": campaign.include_self,
        "own_key": campaign.own_key,
        "speakers": list(campaign.speakers),
        "training": campaign.part == TRAINING,
        "excluded": exclusion.excluded_ids(campaign.corpus, campaign.exclude),
        "seed": str(campaign.seed),
        "one_item": campaign.scheme_version.unit == SchemeVersion.Unit.ITEM and not campaign.own_key,
        "kind": campaign.scheme_version.item_kind,
        "compares": campaign.scheme_version.item_kind in COMPARING,
        "beside": campaign.side_by_side,
        "of_records": campaign.scheme_version.item_kind in OF_RECORDS,
        "refused": list(refused(campaign.scheme_version)),
        "as_agent": campaign.scheme_version.scheme.key in MAKE_ITEMS,
    }


def by_speakers(speakers: Sequence[str], item: str = "") -> Q:
    """Return BY_SPEAKERS as a condition on items, or on rows whose item is at `item` (such as `item__`)."""
    if not speakers:
        return Q()
    return Q(
        Func(
            Value(list(speakers), Campaign._meta.get_field("speakers")),
            F(f"{item}continuation__dialogue__participants"),
            F(f"{item}turn__speaker"),
            function="concord_is_asked",
            output_field=BooleanField(),
        )
    )


def by_review(campaign: Campaign, item: str = "") -> Q:
    """Return the condition that an item (or a row's, at `item`) was drawn for a campaign's review queue.

    True for every item of a campaign without a queue, and of a draft, which has drawn nothing yet.
    """
    if campaign.review_strata is None:
        return Q()
    return Q(Exists(SampledItem.objects.filter(campaign=campaign, item=OuterRef(f"{item}pk"))))


def selected_continuations(campaign: Campaign) -> QuerySet[Continuation]:
    """Return the continuations of SELECTION as a queryset."""
    others = Continuation.objects.written().filter(dialogue=OuterRef("dialogue")).exclude(key="self")
    systems = list(campaign.systems.values_list("pk", flat=True))
    by_system = Q(system__in=systems) if systems else Q()
    own = Q(key="self") if campaign.include_self else Q(pk__in=[])
    continuations = Continuation.objects.filter(
        of_dialogues(campaign.part, "dialogue__"),
        exclusion.without(exclusion.excluded_ids(campaign.corpus, campaign.exclude), "dialogue__"),
        dialogue__corpus=campaign.corpus_id,
    )
    if campaign.own_key:
        return continuations.filter(key=campaign.own_key)
    if campaign.scheme_version.item_kind in OF_RECORDS:
        return continuations.filter(key=SELF)
    if campaign.scheme_version.scheme.key in MAKE_ITEMS:
        continuations = continuations.filter(key=POINTS)
    else:
        continuations = continuations.exclude(key=POINTS, dialogue__scenario__isnull=False)
    return continuations.filter(own | by_system & (~Q(key="self") | ~Exists(others)))


def refused(version: SchemeVersion) -> dict[str, str]:
    """Return the modes of continuations that a scheme excludes, each with the reason."""
    scheme = SCHEMES.get(version.scheme.key, version)
    return {STATIC: NO_CONVERSATION} if scheme.one_conversation else {}
