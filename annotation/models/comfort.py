"""How a person likes to work: kept on the account, so that it is the same on every device."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Comfort(models.Model):
    """A person's settings of the annotation page; who has none works with the defaults below.

    `keys` holds the commands whose key is not the usual one: command to key. `break_after` is after how many
    minutes of attention a break is proposed; None proposes none.
    """

    class Size(models.TextChoices):
        USUAL = "usual", "Usual"
        LARGE = "large", "Large"
        LARGEST = "largest", "Largest"

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="comfort")
    auto_advance = models.BooleanField(default=False)
    text_size = models.CharField(max_length=10, choices=Size, default=Size.USUAL)
    more_contrast = models.BooleanField(default=False)
    break_after = models.PositiveSmallIntegerField(null=True)
    keys = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "comfort settings"
        constraints = [
            models.CheckConstraint(
                condition=Q(text_size__in=["usual", "large", "largest"]), name="comfort_size_known"
            ),
            models.CheckConstraint(
                condition=Q(break_after__isnull=True) | Q(break_after__gte=5, break_after__lte=240),
                name="comfort_break_in_bounds",
            ),
        ]

    def __str__(self) -> str:
        return f"settings of {self.user_id}"
