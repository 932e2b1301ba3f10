"""What belongs to accounts: names that cannot be mistaken, one-time links, tokens for programs."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class UserName(models.Model):
    """An account's name as it is compared with others: no two accounts share either key."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="known_as")
    name = models.CharField(max_length=150)
    folded = models.CharField(max_length=600)
    look = models.CharField(max_length=600)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["folded"], name="user_name_folded_once"),
            models.UniqueConstraint(fields=["look"], name="user_name_look_once"),
        ]

    def __str__(self) -> str:
        return self.name


class OneTimeLink(models.Model):
    """A link that works once and not for long: for the first administrator, an invitation, a new password.

    Only the SHA-256 of its secret is kept. `user` is whose password is reset, `role` what an invited person
    becomes, `name` the user name that is proposed to them.
    """

    class Kind(models.TextChoices):
        ADMINISTRATOR = "administrator"
        INVITATION = "invitation"
        RESET = "reset"

    kind = models.CharField(max_length=20, choices=Kind)
    token_hash = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="reset_links"
    )
    role = models.CharField(max_length=20, blank=True)
    name = models.CharField(max_length=150, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="made_links"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["administrator", "invitation", "reset"]), name="link_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(kind="reset", user__isnull=False) | (~Q(kind="reset") & Q(user__isnull=True)),
                name="link_reset_has_user",
            ),
            models.UniqueConstraint(
                fields=["kind"],
                condition=Q(kind="administrator", used_at__isnull=True),
                name="link_first_administrator_once",
            ),
            models.UniqueConstraint(
                fields=["user"], condition=Q(kind="reset", used_at__isnull=True), name="link_reset_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} link {self.pk}"


class ApiToken(models.Model):
    """What a program signs in with, in a person's name. Only the SHA-256 of its key is kept."""

    class Scope(models.TextChoices):
        READ = "read"
        WRITE = "write"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    key_hash = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.READ)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(scope__in=["read", "write"]), name="token_scope_known"),
        ]

    def __str__(self) -> str:
        return self.name
