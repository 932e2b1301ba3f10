"""The audit log: what was done by whom, for the acts that must be traceable.

It stands here, below all rooms, because all of them write to it.
"""

from django.conf import settings
from django.db import models


class Event(models.Model):
    """One logged act: a deletion, an opening of test, a change of a campaign's state."""

    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(auto_now_add=True)
    verb = models.CharField(max_length=60)
    subject = models.CharField(max_length=300)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.verb} {self.subject}"


class KeptAnswer(models.Model):
    """What was answered to a request with an `Idempotency-Key`: `config.idempotency`.

    `name` is a hash of route and key, `request` one of what was sent. `status` is null while the request is
    being done, which nobody else sees: it is one transaction.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=64)
    request = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.TextField(blank=True, default="", db_default="")
    at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="answer_kept_once")]

    def __str__(self) -> str:
        return f"answer to {self.name[:8]}"
