"""Who may adjudicate: the one place that says so."""

from __future__ import annotations

from annotation import access
from calibration.models import AdjudicationRound
from config.permissions import Viewer, is_researcher


def may_decide(viewer: Viewer, found: AdjudicationRound) -> bool:
    """Whether someone may decide on the cases of a round: researchers, and a campaign's own adjudicators."""
    if found.campaign_id is None:
        return is_researcher(viewer)
    return access.may_adjudicate(viewer, found.campaign_id)
