"""A sample of the items on which a judge and people differ: by at least a share of the scale.

How far they are apart is what puts tasks in order of disagreement (`ordering.apart`). Like a sample of
dialogues it is kept when the campaign first opens, and never drawn again. Of a continuation that is rated as
a whole, one item that is in the sample is enough.
"""

from __future__ import annotations

from django.db import connection

from annotation.campaigns import choice, ordering
from annotation.errors import CampaignRefused
from annotation.models import Campaign, Item, SampledItem

DIFFERING = """
WITH <apart> SELECT p.item_id FROM apart p
  JOIN annotation_item i ON i.id = p.item_id
  JOIN annotation_continuation c ON c.id = i.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
 WHERE p.apart >= %(least)s - 1e-9 AND <chosen> AND <asked>
   AND (NOT %(compares)s OR EXISTS (SELECT 1 FROM annotation_compareditem x
                                     WHERE x.campaign_id = %(campaign)s AND x.item_id = i.id))
 ORDER BY p.item_id
"""


def items(campaign: Campaign) -> list[int] | None:
    """Return the ids of the items that were kept, or would be now; None where a campaign asks about all.

    What would be kept is looked up once for an instance as its settings are.
    """
    if campaign.sample_apart is None:
        return None
    kept = list(SampledItem.objects.filter(campaign=campaign).values_list("item_id", flat=True))
    if kept or campaign.state != Campaign.State.DRAFT:
        return kept
    about = (campaign.apart_judge, campaign.sample_apart, campaign.scheme_version_id, campaign.corpus_id)
    known: dict[object, list[int]] = campaign.__dict__.setdefault("_differing", {})
    if about not in known:
        known[about] = _differing(campaign)
    return known[about]


def dialogues(campaign: Campaign) -> list[int] | None:
    """Return the ids of the dialogues in which something differs; None where a campaign asks about all."""
    found = items(campaign)
    if found is None:
        return None
    rows = Item.objects.filter(pk__in=found).order_by("continuation__dialogue").distinct()
    return list(rows.values_list("continuation__dialogue", flat=True))


def keep(campaign: Campaign) -> None:
    """Keep the items on which judge and people differ now; raise CampaignRefused where there are none."""
    found = items(campaign)
    if found is None:
        return
    if not found:
        raise CampaignRefused(nothing(campaign))
    SampledItem.objects.bulk_create(
        (SampledItem(campaign=campaign, item_id=pk) for pk in found), batch_size=5_000, ignore_conflicts=True
    )


def nothing(campaign: Campaign) -> str:
    """Return the sentence of a campaign that nothing is left for."""
    return (
        f"On nothing that can be rated here are {campaign.apart_judge} and people {campaign.sample_apart:g} "
        "of the scale apart. Ask about smaller differences, or first have both rate a part of it."
    )


def _differing(campaign: Campaign) -> list[int]:
    query = DIFFERING.replace("<apart>", ordering.apart(people_only=True))
    query = query.replace("<chosen>", choice.CHOSEN).replace("<asked>", choice.ASKED)
    told = choice.values(campaign) | ordering.values(campaign) | {"least": campaign.sample_apart}
    with connection.cursor() as cursor:
        cursor.execute(query, told)
        return [pk for (pk,) in cursor.fetchall()]
