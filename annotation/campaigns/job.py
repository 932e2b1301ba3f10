"""Opening a large campaign: a job, so that nobody waits in a request while its tasks are made."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from annotation.campaigns import actions as campaigns
from annotation.corpora import reading as browsing
from annotation.errors import CampaignRefused
from annotation.models import Campaign
from jobs import actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

KIND = "opening"
AT_ONCE = 20_000
"""A campaign over a corpus of at most this many items is opened while the page waits, in a few seconds."""


def open_campaign(*, by: User, campaign: Campaign) -> int | Job:
    """Open a small campaign and return how many tasks were made; start a job for a larger one.

    Raises CampaignRefused where it is open already.
    """
    if browsing.counts([campaign.corpus])[campaign.corpus_id]["items"] <= AT_ONCE:
        return campaigns.open(by=by, campaign=campaign)
    if campaign.state == Campaign.State.OPEN:
        raise CampaignRefused("The campaign is open already.")
    params = {"campaign": campaign.pk}
    return actions.start(kind=KIND, subject=f"campaign {campaign.pk}: {campaign.name}", params=params, by=by)


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Open the campaign that a job names; its result is {made: tasks}."""
    campaign = Campaign.objects.filter(pk=job.params["campaign"]).first()
    if campaign is None:
        raise JobRefused("the campaign was deleted")
    if job.created_by is None:
        raise JobRefused("the account that asked for it is gone: ask again")
    if campaign.state == Campaign.State.OPEN:
        return {"made": 0}  # its worker was lost after the last step
    try:
        return {"made": campaigns.open(by=job.created_by, campaign=campaign, progress=progress)}
    except CampaignRefused as error:
        raise JobRefused(str(error)) from error


JOB = JobKind(KIND, "Opening of a campaign", run)
