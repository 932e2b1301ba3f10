"""Strata that are balanced over a campaign's annotators, and how much of each somebody has done."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class BalanceStratum(models.Model):
    """A value of what a campaign balances its tasks by, such as a system. Annotators never see it."""

    campaign = models.ForeignKey(
        "annotation.Campaign", on_delete=models.CASCADE, related_name="balanced", db_index=False
    )
    name = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="balanced_stratum_once")]

    def __str__(self) -> str:
        return f"{self.name} in {self.campaign_id}"


class StratumShare(models.Model):
    """How many tasks of a stratum somebody has done or holds, kept by a trigger, and where they are in it.

    `cursor` is the place of the last task of the stratum that they claimed.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    stratum = models.ForeignKey(BalanceStratum, on_delete=models.CASCADE, related_name="shares")
    cursor = models.IntegerField(default=-1, db_default=-1)
    done = models.IntegerField(default=0, db_default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "stratum"], name="stratum_share_once")]

    def __str__(self) -> str:
        return f"{self.done} of {self.stratum_id} by {self.user_id}"
