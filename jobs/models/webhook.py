"""Webhooks: URLs that are notified of events, and the deliveries to them."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

MOST_ATTEMPTS = 8
"""Maximum attempts of a delivery; the waits between them are in `jobs.webhooks`."""


def new_salt() -> str:
    """Return a random salt from which, with the server's secret, a webhook's secret is derived."""
    return secrets.token_hex(16)


class Webhook(models.Model):
    """A URL that is notified of events: of one campaign, or of all of Concord.

    The signing secret is not stored: it is derived from `salt` and the server's secret key when needed
    (`jobs.webhooks`). After a rotation the secret of `old_salt` also signs, until `old_until`.
    `allow_private` permits an address on this machine or in its private network. `failing_since` is the first
    failed delivery since the last success; a webhook that fails for too long is switched off, with an
    `off_reason` (empty if a user switched it off).
    """

    url = models.URLField(max_length=500)
    events = models.JSONField(default=list)
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.CASCADE, related_name="webhooks"
    )
    active = models.BooleanField(default=True)
    allow_private = models.BooleanField(default=False)
    salt = models.CharField(max_length=32, default=new_salt)
    old_salt = models.CharField(max_length=32, blank=True)
    old_until = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    off_reason = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="webhooks"
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "url"], nulls_distinct=False, name="webhook_once_per_address"
            ),
            models.CheckConstraint(condition=~Q(events=[]), name="webhook_is_told_something"),
        ]

    def __str__(self) -> str:
        return f"webhook {self.pk}"


class WebhookEvent(models.Model):
    """An event, written in the transaction in which it happened. `public` is its external id."""

    public = models.UUIDField(unique=True, db_default=RandomUUID(), editable=False)
    kind = models.CharField(max_length=30)
    data = models.JSONField(default=dict)
    at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class Delivery(models.Model):
    """Delivery of an event to a webhook: stored before anything is sent, so that a lost worker loses nothing.

    `public` is its id for the receiver, the same at every attempt. A `pending` delivery is due at
    `not_before`; a `leased` one is free again after `lease_expires`. `asked`: a user wants it sent now,
    switched off or not. The last attempt is in `code` (null without a response), `said` (the first bytes of
    the response), `error` and `ms`.
    """

    class State(models.TextChoices):
        PENDING = "pending"
        LEASED = "leased"
        DELIVERED = "delivered"
        FAILED = "failed"

    public = models.UUIDField(unique=True, db_default=RandomUUID(), editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.ForeignKey(WebhookEvent, on_delete=models.CASCADE, related_name="deliveries")
    state = models.CharField(max_length=10, choices=State, default=State.PENDING, db_default=State.PENDING)
    asked = models.BooleanField(default=False, db_default=False)
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    max_attempts = models.PositiveSmallIntegerField(default=MOST_ATTEMPTS, db_default=MOST_ATTEMPTS)
    not_before = models.DateTimeField(db_default=Now())
    lease_expires = models.DateTimeField(null=True)
    code = models.PositiveSmallIntegerField(null=True)
    said = models.TextField(blank=True, default="", db_default="")
    error = models.TextField(blank=True, default="", db_default="")
    ms = models.PositiveIntegerField(null=True)
    tried_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event"], name="delivery_once"),
            models.CheckConstraint(
                condition=Q(state__in=["pending", "leased", "delivered", "failed"]),
                name="delivery_state_known",
            ),
            models.CheckConstraint(
                condition=~Q(state="leased") | Q(lease_expires__isnull=False), name="delivery_lease_has_end"
            ),
        ]
        indexes = [
            models.Index(
                fields=["webhook", "id"], condition=Q(state__in=["pending", "leased"]), name="delivery_open"
            ),
        ]

    def __str__(self) -> str:
        return f"delivery {self.pk}: {self.state}"
