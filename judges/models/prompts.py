"""Prompts as data: texts, and the named prompts whose versions they are."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class PromptText(models.Model):
    """A text of a prompt, found by the digest of its content. Never changed, by a trigger.

    A judge's spec holds the digest, so what a judge was asked can always be read again: a text that a
    rater's spec names cannot be deleted either. `examples` are worked examples and `picking` says how they
    were picked (`judges.protocols.examples`).
    """

    digest = models.CharField(max_length=64, unique=True)
    system = models.TextField(blank=True)
    user = models.TextField()
    form = models.CharField(max_length=40, blank=True)
    examples = models.JSONField(default=list)
    picking = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"text {self.digest[:12]}"


class Prompt(models.Model):
    """A researcher's prompt for a variant of a protocol; over a scheme of its own where the protocol takes
    any scheme. Its versions hold the texts. `archived` takes it off the lists of what can be run."""

    name = models.CharField(max_length=100, unique=True)
    protocol = models.CharField(max_length=60)
    variant = models.CharField(max_length=60, blank=True)
    scheme_version = models.ForeignKey(
        "annotation.SchemeVersion", null=True, blank=True, on_delete=models.PROTECT, related_name="prompts"
    )
    description = models.TextField(blank=True)
    archived = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="prompts"
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class PromptVersion(models.Model):
    """A version of a prompt: its text, where it came from, and why.

    `parent` is a reference such as `cpdscore_simple_without_reference@1` or `my prompt@2`, '' where it was
    written from nothing. `detail` holds what a proposal came from (the disagreements, the gain reported); a
    proposal is used by no judge before a person has adopted it. A version is never changed, and one whose
    text a rater uses is never deleted (triggers).
    """

    class Origin(models.TextChoices):
        WRITTEN = "written"
        COPIED = "copied"
        IMPORTED = "imported"
        PROPOSED = "proposed"

    prompt = models.ForeignKey(Prompt, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    text = models.ForeignKey(PromptText, on_delete=models.PROTECT, related_name="versions")
    parent = models.CharField(max_length=120, blank=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.WRITTEN)
    note = models.TextField(blank=True)
    detail = models.JSONField(default=dict)
    adopted_at = models.DateTimeField(null=True)
    adopted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="prompt_versions"
    )

    class Meta:
        ordering = ["prompt", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["prompt", "number"], name="prompt_version_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="prompt_version_from_one"),
            models.CheckConstraint(
                condition=Q(origin__in=["written", "copied", "imported", "proposed"]),
                name="prompt_origin_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.prompt_id}@{self.number}"

    @property
    def is_open(self) -> bool:
        """Whether it is a proposal that nobody has adopted."""
        return self.origin == self.Origin.PROPOSED and self.adopted_at is None
