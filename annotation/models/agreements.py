"""What annotators agree to and read before they work: a campaign's consent text, and changed guidelines."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Consent(models.Model):
    """A version of a campaign's consent text; the newest is in force, and an empty one asks for nothing.

    A trigger keeps a version that somebody agreed to as it was.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="consents")
    version = models.PositiveIntegerField(default=1)
    text = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "version"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "version"], name="consent_version_once"),
        ]

    def __str__(self) -> str:
        return f"consent v{self.version}"


class ConsentGiven(models.Model):
    """That a person agreed to a version of a consent text, and when. Never changed, by a trigger."""

    consent = models.ForeignKey(Consent, on_delete=models.CASCADE, related_name="given")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="consents_given"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "consents given"
        constraints = [models.UniqueConstraint(fields=["consent", "user"], name="consent_given_once")]

    def __str__(self) -> str:
        return f"{self.user_id} to {self.consent_id}"


class GuidelinesRead(models.Model):
    """That a person began with a version of guidelines, or acknowledged it when it changed, and when."""

    guidelines = models.ForeignKey("annotation.Guidelines", on_delete=models.CASCADE, related_name="read")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="guidelines_read"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "guidelines read"
        constraints = [models.UniqueConstraint(fields=["guidelines", "user"], name="guidelines_read_once")]

    def __str__(self) -> str:
        return f"{self.user_id} read {self.guidelines_id}"
