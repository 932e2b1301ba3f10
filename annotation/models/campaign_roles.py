"""What a person is in one campaign, beside their role in all of Concord."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class CampaignRole(models.Model):
    """That a person adjudicates or looks after one campaign. Who rates in it is a CampaignMember.

    A campaign's researcher may do in it what researchers do everywhere, a campaign's adjudicator may decide
    where its raters disagree. Either may be an annotator, or nobody, in other campaigns.
    """

    class Role(models.TextChoices):
        ADJUDICATOR = "adjudicator", "Adjudicator"
        RESEARCHER = "researcher", "Researcher of this campaign"

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="roles")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="campaign_roles"
    )
    role = models.CharField(max_length=20, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "role", "id"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user", "role"], name="campaign_role_once"),
            models.CheckConstraint(
                condition=Q(role__in=["adjudicator", "researcher"]), name="campaign_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.role} of {self.campaign_id}"
