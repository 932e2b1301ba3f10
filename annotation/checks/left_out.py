"""Who is left out of gold: whose labels, of which campaign, since when and why. The labels all stay."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from annotation.labels.pseudonyms import name_of
from annotation.models import Campaign, Corpus, Rater, Standing


class LeftOut(NamedTuple):
    """A rater, by the name that reports have, whose labels of a campaign are left out."""

    campaign: int
    rater: int
    name: str
    campaign_name: str
    since: datetime
    why: str

    @property
    def sentence(self) -> str:
        """Return it as one line for people."""
        return f"{self.name} in {self.campaign_name}, since {self.since:%Y-%m-%d} ({self.why})"

    def as_json(self) -> dict[str, Any]:
        """Return plain data, as it is kept with what was made without the rater."""
        return {
            "rater": self.name,
            "campaign": self.campaign_name,
            "since": self.since.isoformat(),
            "why": self.why,
        }


def left_out(corpus: Corpus, campaign: Campaign | None = None) -> tuple[LeftOut, ...]:
    """Return who is left out of the gold of a campaign, or of all campaigns of a corpus, by name."""
    marked = Standing.objects.filter(left_out_at__isnull=False, campaign__corpus=corpus)
    if campaign is not None:
        marked = marked.filter(campaign=campaign)
    fields = ("campaign", "user", "campaign__name", "left_out_at", "left_out_why")
    rows = list(marked.order_by("campaign").values_list(*fields))
    if not rows:
        return ()
    raters = {rater.user_id: rater for rater in Rater.objects.filter(user__in=marked.values("user"))}
    found = [
        LeftOut(campaign, raters[user].pk, name_of(raters[user], corpus.pk), name, since, why)
        for campaign, user, name, since, why in rows
        if user in raters and since is not None
    ]
    return tuple(sorted(found, key=lambda one: (one.name, one.campaign)))
