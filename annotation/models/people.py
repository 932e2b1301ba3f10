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


class SignInIdentity(models.Model):
    """Who an OpenID Connect provider says somebody is: a subject of an issuer, which is one account."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_in_identities"
    )
    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="sign_in_identity_once"),
            models.CheckConstraint(condition=~Q(subject=""), name="sign_in_identity_has_subject"),
        ]

    def __str__(self) -> str:
        return f"account {self.user_id} at {self.issuer}"


class OneTimeLink(models.Model):
    """A link that works once and not for long: for the first administrator, an invitation, a new password.

    Only the SHA-256 of its secret is kept. `user` is whose password is reset, `role` what an invited person
    becomes, `name` the user name that is proposed to them, `email` where an invitation was sent, and `mail`
    what became of that.
    """

    class Kind(models.TextChoices):
        ADMINISTRATOR = "administrator"
        INVITATION = "invitation"
        RESET = "reset"

    class Mail(models.TextChoices):
        NONE = "", "not by e-mail"
        QUEUED = "queued", "being sent"
        SENT = "sent", "sent"
        FAILED = "failed", "not sent"

    kind = models.CharField(max_length=20, choices=Kind)
    token_hash = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="reset_links"
    )
    role = models.CharField(max_length=20, blank=True)
    name = models.CharField(max_length=150, blank=True)
    email = models.CharField(max_length=254, blank=True, default="", db_default="")
    mail = models.CharField(max_length=10, choices=Mail, blank=True, default="", db_default="")
    mail_error = models.CharField(max_length=300, blank=True, default="", db_default="")
    mailed_at = models.DateTimeField(null=True)
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
            models.CheckConstraint(
                condition=Q(mail="") | (Q(mail__in=["queued", "sent", "failed"]) & ~Q(email="")),
                name="link_mail_has_address",
            ),
            models.CheckConstraint(condition=Q(email="") | Q(kind="invitation"), name="link_email_invites"),
            models.UniqueConstraint(
                fields=["email"],
                condition=Q(used_at__isnull=True) & ~Q(email=""),
                name="link_email_once",
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
