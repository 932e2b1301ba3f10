"""Acts on all selected campaigns, as far as the account manages them."""

from __future__ import annotations

from annotation import access
from annotation.campaigns import campaign_actions, editing
from annotation.errors import CampaignRefused
from config.bulk import BulkAct, BulkActs

CAMPAIGN_ACTS = BulkActs(
    noun="campaign",
    rows=access.managed,
    name=lambda campaign: campaign.name,
    argument="campaign",
    refusal=CampaignRefused,
    acts={
        "pause": BulkAct("Pause", "paused", campaign_actions.pause),
        "close": BulkAct("Close", "closed", campaign_actions.close),
        "archive": BulkAct("Archive", "archived", editing.archive),
        "bring-back": BulkAct("Bring back", "brought back", editing.bring_back),
    },
)
ONLY_CURRENT, ONLY_ARCHIVED = ("pause", "close", "archive"), ("bring-back",)
"""Verbs that only campaigns which are not archived allow, and those that only archived ones do."""
