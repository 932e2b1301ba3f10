"""Strata balanced over annotators: each slot knows its stratum, so that a claim compares numbers."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.models import Q

from annotation.campaigns import sampling
from annotation.errors import CampaignRefused
from annotation.kinds.table import COMPARING
from annotation.models import Campaign, StratumShare
from annotation.text.views import METADATA

MOST_STRATA = 100
"""Strata that somebody's work can be balanced over; each is looked at when a task is claimed."""

STRATA = """
SELECT DISTINCT coalesce({stratum}, '') AS name
  FROM annotation_task t
  JOIN annotation_continuation c ON c.id = t.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
 WHERE t.campaign_id = %(campaign)s AND t.position >= 0
 LIMIT %(most)s
"""
MAKE = """
INSERT INTO annotation_balancestratum (campaign_id, name)
SELECT %(campaign)s, name FROM ({strata}) AS there ON CONFLICT DO NOTHING
"""
SET = """
UPDATE annotation_slot s SET stratum_id = b.id
  FROM annotation_task t
  JOIN annotation_continuation c ON c.id = t.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
  JOIN annotation_balancestratum b ON b.campaign_id = t.campaign_id AND b.name = coalesce({stratum}, '')
 WHERE s.task_id = t.id AND s.campaign_id = %(campaign)s AND s.stratum_id IS NULL
"""


def apply(campaign: Campaign) -> None:
    """Write beside each slot that lacks it what stratum it is of; raise CampaignRefused for too many."""
    if not campaign.balance_by:
        return
    stratum = sampling.stratum_sql(campaign.balance_by)
    values: dict[str, Any] = sampling.stratum_values(campaign, campaign.balance_by)
    values |= {"campaign": campaign.pk, "most": MOST_STRATA + 1}
    with connection.cursor() as cursor:
        cursor.execute(MAKE.format(strata=STRATA.format(stratum=stratum)), values)
        if campaign.balanced.count() > MOST_STRATA:
            by = campaign.balance_by.removeprefix(METADATA)
            raise CampaignRefused(
                f"There are more than {MOST_STRATA} values of {by}: nobody's work can be balanced over so "
                "many. Balance by something with fewer values."
            )
        cursor.execute(SET.format(stratum=stratum), values)


def refusal(campaign: Campaign) -> tuple[str, str] | None:
    """Return the setting that stands against balancing, and why; None where nothing does."""
    by = campaign.balance_by
    if not by:
        return None
    if why := sampling.refusal(campaign.corpus, by):
        why = why.replace("A sample is drawn", "Work is balanced")
        return "balance_by", why.replace("to draw by", "to balance by")
    if by == sampling.SYSTEM and (campaign.side_by_side or campaign.scheme_version.item_kind in COMPARING):
        return "balance_by", "A task shows several systems: work cannot be balanced by system."
    if campaign.task_order == Campaign.Order.OWN:
        return (
            "balance_by",
            "Work is balanced in one order for all: choose another order than one's own, or no strata.",
        )
    return None


def shares(campaign: Campaign) -> list[dict[str, int]]:
    """Return how many tasks of each stratum each annotator has or had, who had most first; no names."""
    rows = StratumShare.objects.filter(Q(stratum__campaign=campaign), done__gt=0)
    found: dict[int, dict[str, int]] = {}
    for user, stratum, done in rows.order_by("stratum__name").values_list("user", "stratum__name", "done"):
        found.setdefault(user, {})[stratum] = done
    return sorted(found.values(), key=lambda done: (-sum(done.values()), sorted(done.items())))
