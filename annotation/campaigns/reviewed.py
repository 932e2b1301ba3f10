"""Selection of facts and questions of scripts for a campaign: by review status, all or a sample.

The built-in review schemes are limited to the records that they review: quiz questions for their evidence,
and questions with several wordings for these. The sample depends only on the seed and the keys in the files;
it is stored when the campaign first opens, and never drawn again.
"""

from __future__ import annotations

from typing import Any

from django.db import connection

from annotation.campaigns import choice
from annotation.errors import CampaignRefused
from annotation.kinds import KINDS, OF_RECORDS
from annotation.models import Campaign, SampledItem

RECORD_SELECTION = """(i.record_id IS NULL OR EXISTS (SELECT 1 FROM annotation_record r
        WHERE r.id = i.record_id AND r.superseded_by_id IS NULL AND %(status)s IN ('all', r.status)
          AND CASE %(about)s WHEN 'quiz_review' THEN r.content->>'source' = 'quiz' AND r.set_id IS NULL
                             WHEN 'style_review' THEN r.content->'styles' <> '{}'::jsonb ELSE true END))"""
"""Condition on an item `i`: it is not a record, or the campaign selects the record."""

SAMPLE_QUERY = """
SELECT i.id FROM annotation_dialogue d
  JOIN annotation_continuation c ON c.dialogue_id = d.id
  JOIN annotation_item i ON i.continuation_id = c.id AND i.kind = %(kind)s
  JOIN annotation_record w ON w.id = i.record_id
 WHERE d.corpus_id = %(corpus)s AND <chosen> AND <record>
 ORDER BY md5(%(seed)s || ':sample:' || d.key || '/' || w.key), d.key, w.key
 LIMIT %(most)s
"""


def values(campaign: Campaign) -> dict[str, Any]:
    """Return the parameters of RECORD_SELECTION."""
    return {"status": campaign.record_status, "about": campaign.scheme_version.scheme.key}


def asks(campaign: Campaign) -> bool:
    """Whether a campaign's scheme is about records."""
    return campaign.scheme_version.item_kind in OF_RECORDS


def items(campaign: Campaign) -> list[int] | None:
    """Return the ids of the sampled items, stored or as drawn now; None where there is no sample."""
    if campaign.sample_records is None or not asks(campaign):
        return None
    stored = list(SampledItem.objects.filter(campaign=campaign).values_list("item_id", flat=True))
    if stored or campaign.state != Campaign.State.DRAFT:
        return stored
    query = SAMPLE_QUERY.replace("<chosen>", choice.SELECTION).replace("<record>", RECORD_SELECTION)
    parameters = choice.values(campaign) | values(campaign) | {"most": campaign.sample_records}
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return [pk for (pk,) in cursor.fetchall()]


def keep(campaign: Campaign) -> None:
    """Store the sample; raise CampaignRefused where there are too few records."""
    sample = items(campaign)
    if sample is None:
        return
    assert campaign.sample_records is not None
    if len(sample) < campaign.sample_records:
        kind = KINDS[campaign.scheme_version.item_kind].plural
        raise CampaignRefused(
            f"{campaign.sample_records:,} {kind} are to be drawn, but there are only {len(sample):,}. Draw "
            "fewer, or ask about all of them."
        )
    SampledItem.objects.bulk_create(
        (SampledItem(campaign=campaign, item_id=pk) for pk in sample), batch_size=5_000, ignore_conflicts=True
    )


def refusal(campaign: Campaign) -> tuple[str, str] | None:
    """Return an invalid setting about records and the reason; None where all are valid."""
    if campaign.sample_records is None:
        return None
    if not asks(campaign):
        return "sample_records", "Only facts and questions are drawn one by one: draw dialogues instead."
    if campaign.sample_apart is not None:
        return "sample_records", "Draw a number of them, or those on which judge and people differ."
    return None
