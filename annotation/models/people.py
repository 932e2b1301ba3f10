"""Data of accounts: unmistakable names, one-time links, tokens for programs."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

NAME_LIMIT, WRITING_LIMIT, ADDRESS_LIMIT = 80, 200, 500
"""Maximum characters of the name of a group, link or token, of an author's name, and of a return address."""

SHORTEST_BREAK, LONGEST_BREAK = 5, 240
"""Minutes of attention after which a break may be suggested."""

# Personal preferences: stored on the account, so that they are the same on every device.


class Comfort(models.Model):
    """A person's settings of the annotation page; the defaults below apply without them.

    `keys` maps commands to keys where these differ from the defaults. `break_after` is the minutes of
    attention after which a break is suggested; None suggests none.
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
                condition=Q(break_after__isnull=True)
                | Q(break_after__gte=SHORTEST_BREAK, break_after__lte=LONGEST_BREAK),
                name="comfort_break_in_bounds",
            ),
        ]

    def __str__(self) -> str:
        return f"settings of {self.user_id}"


# Annotators from outside: links by which they join one campaign, and the people who used them.


class JoinLink(models.Model):
    """A link by which anybody who has it may annotate in one campaign, such as a study on Prolific or MTurk.

    Its address carries a signature and no secret is stored. At most `most` people join by it, until
    `expires_at` or until it is revoked. They end at a code: `code` for all, or where it is empty one for
    each. `return_url` is their final address; `{code}` and `{participant}` in it are filled in.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="join_links")
    name = models.CharField(max_length=NAME_LIMIT)
    most = models.PositiveIntegerField(null=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    code = models.CharField(max_length=64, blank=True)
    return_url = models.CharField(max_length=ADDRESS_LIMIT, blank=True)
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
    """A person who joined a campaign by a link: their account, and their identity on the other platform.

    `external_id`, `study_id` and `session_id` are that platform's ids; researchers of the campaign see them,
    and no export of answers holds them. `code` is set when they are done.
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

    The first browser is confirmed at once; any other waits for a researcher, who recognises it by the `code`
    that it shows (where the campaign's `join_proof` is "browser").
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
    """An attempt at a page without sign-in (a join link, a shared report): a keyed hash of page and address,
    kept for an hour.
    """

    address = models.CharField(max_length=64)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["address", "at"], name="join_tries_of_address")]
        verbose_name_plural = "join tries"

    def __str__(self) -> str:
        return f"a try at {self.at}"


# Groups of people, their languages and author names, and who may or must rate what in a campaign.


class PeopleGroup(models.Model):
    """A named group of people, such as the experts of a study. It gives no rights by itself."""

    name = models.CharField(max_length=NAME_LIMIT, unique=True)
    people = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="people_groups", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class PersonLanguage(models.Model):
    """A language that a person reads: the first part of its tag (`zh` of `zh-Hant`), in lower case."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="languages")
    language = models.CharField(max_length=40)

    class Meta:
        ordering = ["language"]
        constraints = [models.UniqueConstraint(fields=["user", "language"], name="language_once_a_person")]

    def __str__(self) -> str:
        return self.language


class WritingName(models.Model):
    """A name under which a person writes in dialogues, beside their user name; `folded` is compared."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="writes_as")
    name = models.CharField(max_length=WRITING_LIMIT)
    folded = models.CharField(max_length=800, db_index=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["user", "folded"], name="writing_name_once_a_person")]

    def __str__(self) -> str:
        return self.name


class StratumGroup(models.Model):
    """Reservation of a campaign's stratum (a value of its grouping field) for one group."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="strata")
    stratum = models.TextField(blank=True)
    group = models.ForeignKey(PeopleGroup, on_delete=models.PROTECT, related_name="strata")

    class Meta:
        ordering = ["stratum"]
        constraints = [models.UniqueConstraint(fields=["campaign", "stratum"], name="stratum_has_one_group")]

    def __str__(self) -> str:
        return f"{self.stratum} for {self.group_id}"


class RequiredGroup(models.Model):
    """Number of each task's raters from a group: that many of its slots are reserved for it."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="required")
    group = models.ForeignKey(PeopleGroup, on_delete=models.PROTECT, related_name="required")
    raters = models.PositiveSmallIntegerField(default=1)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "group"], name="group_required_once"),
            models.CheckConstraint(condition=Q(raters__gte=1), name="group_required_of_someone"),
        ]

    def __str__(self) -> str:
        return f"{self.raters} of {self.group_id}"


class Gate(models.Model):
    """Requirements for taking a slot: all slots of a campaign with the same requirements share a gate.

    A person who takes it reads `language` ('': any), is in `group` and in `reserved` (None: anybody), and,
    where the task's authors are known (`authored`), is none of them. A slot without a gate is open to every
    member.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="gates")
    language = models.CharField(max_length=40, blank=True, default="")
    group = models.ForeignKey(PeopleGroup, null=True, on_delete=models.PROTECT, related_name="+")
    reserved = models.ForeignKey(PeopleGroup, null=True, on_delete=models.PROTECT, related_name="+")
    authored = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "language", "group", "reserved", "authored"],
                nulls_distinct=False,
                name="gate_once",
            ),
        ]

    def __str__(self) -> str:
        return f"gate {self.pk} of {self.campaign_id}"


class TaskAuthor(models.Model):
    """Folded name of an author of a task's dialogue, kept where authors do not rate their own."""

    task = models.ForeignKey(
        "annotation.Task", on_delete=models.CASCADE, related_name="authors", db_index=False
    )
    name = models.CharField(max_length=800)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "name"], name="author_once_a_task")]

    def __str__(self) -> str:
        return f"{self.name} in {self.task_id}"


class UserName(models.Model):
    """An account's name in the forms used for comparison: no two accounts share either key."""

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
    """A person's identity at an OpenID Connect provider: a subject of an issuer, which is one account."""

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
    """A short-lived link that works once: for the first administrator, an invitation, a new password.

    Only the SHA-256 of its secret is stored. `user` is the account whose password is reset, `role` the role
    of an invited person, `name` the user name proposed to them, `email` the address of an invitation, and
    `mail` the outcome of sending it.
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

    @property
    def addressee(self) -> str:
        """For whom it is."""
        if self.user:
            return str(self.user.get_username())
        return ", ".join(filter(None, [self.email, self.name])) or "anyone with the link"

    @property
    def tone(self) -> str:
        """Colour of the outcome of sending it."""
        return {self.Mail.SENT: "success", self.Mail.FAILED: "danger"}.get(self.Mail(self.mail), "primary")


class ApiToken(models.Model):
    """Credential of a program that acts in a person's name. Only the SHA-256 of its key is stored."""

    class Scope(models.TextChoices):
        READ = "read", "read"
        WRITE = "write", "read and write"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=NAME_LIMIT)
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

    @property
    def is_expired(self) -> bool:
        """Whether it signs nobody in any more."""
        return self.expires_at <= timezone.now()
