"""Annotators from outside: links by which they join one campaign, and who came by them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class JoinLink(models.Model):
    """A link by which anybody who has it may annotate in one campaign, such as a study on Prolific or MTurk.

    Its address carries a signature and no secret is stored. At most `most` people come by it, until
    `expires_at` or until it is revoked. They end at a code: `code` for all, or where it is empty one for
    each. `return_url` is where they go with it; `{code}` and `{participant}` in it are filled in.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="join_links")
    name = models.CharField(max_length=80)
    most = models.PositiveIntegerField(null=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    code = models.CharField(max_length=64, blank=True)
    return_url = models.CharField(max_length=500, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(most__isnull=True) | Q(most__gte=1), name="join_link_lets_somebody_in"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Participant(models.Model):
    """Somebody who joined a campaign by a link: their account, and who they are where they came from.

    `external_id`, `study_id` and `session_id` are what the other platform calls them; researchers of the
    campaign see them, and no export of answers holds them. `code` is set when they are done.
    """

    link = models.ForeignKey(JoinLink, on_delete=models.CASCADE, related_name="participants")
    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="participants")
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="participant"
    )
    external_id = models.CharField(max_length=64)
    study_id = models.CharField(max_length=64, blank=True)
    session_id = models.CharField(max_length=64, blank=True)
    joined_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    code = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "external_id"], name="participant_once_a_campaign"),
            models.CheckConstraint(
                condition=Q(finished_at__isnull=True, code="") | (Q(finished_at__isnull=False) & ~Q(code="")),
                name="participant_has_code_when_done",
            ),
        ]

    def __str__(self) -> str:
        return f"participant {self.pk} of {self.campaign_id}"


class ParticipantBrowser(models.Model):
    """A browser in which a participant works, or asks to. `secret` is a hash of the cookie that it holds.

    The browser of the first use is confirmed at once; another one waits for a researcher, who tells it by
    the `code` that it shows (where the campaign's `join_proof` is "browser").
    """

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="browsers")
    secret = models.CharField(max_length=64)
    code = models.CharField(max_length=8)
    asked_at = models.DateTimeField(auto_now_add=True)
    confirmed_at = models.DateTimeField(null=True)
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["participant", "secret"], name="browser_once_a_participant"),
        ]

    def __str__(self) -> str:
        return f"browser {self.code} of participant {self.participant_id}"


class JoinTry(models.Model):
    """A try to join by a link from an address: a keyed hash of both, kept for an hour."""

    address = models.CharField(max_length=64)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["address", "at"], name="join_tries_of_address")]
        verbose_name_plural = "join tries"

    def __str__(self) -> str:
        return f"a try at {self.at}"
