"""Records of dialogues: facts that are said in them, and questions about them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.kinds import KINDS, OF_RECORDS
from annotation.script_records import STATUSES


class Record(models.Model):
    """A fact or a question of a dialogue, as content (`annotation.script_records`) with where it came from.

    `key` is unique per dialogue and kind. Triggers refuse to change the content of a record that has labels:
    a correction is a new record that supersedes it. `status` says what review came to; only accepted records
    count. `provenance` is {"by": "hand" | "import" | "production", ...}. `set` is the question set that made
    it, null for one that stands by itself.
    """

    corpus = models.ForeignKey(
        "annotation.Corpus", on_delete=models.CASCADE, related_name="records", db_index=False
    )
    dialogue = models.ForeignKey(
        "annotation.Dialogue", on_delete=models.CASCADE, related_name="records", db_index=False
    )
    kind = models.CharField(max_length=10, choices=[(key, KINDS[key].singular) for key in OF_RECORDS])
    key = models.CharField(max_length=300)
    content = models.JSONField()
    provenance = models.JSONField(default=dict)
    status = models.CharField(
        max_length=10, choices=[(status, status) for status in STATUSES], default="draft"
    )
    superseded_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="supersedes"
    )
    set = models.ForeignKey(
        "annotation.QuestionSet", null=True, blank=True, on_delete=models.CASCADE, related_name="questions"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["dialogue", "kind", "id"]
        constraints = [
            models.UniqueConstraint(fields=["dialogue", "kind", "key"], name="record_key_once"),
            models.CheckConstraint(condition=Q(kind__in=OF_RECORDS), name="record_kind_known"),
            models.CheckConstraint(condition=Q(status__in=STATUSES), name="record_status_known"),
            models.CheckConstraint(condition=~Q(key=""), name="record_has_a_key"),
        ]
        indexes = [models.Index(fields=["corpus", "kind", "status"], name="records_of_corpus")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class QuestionSet(models.Model):
    """Questions and when they are asked, of a corpus's scripts: made by rules from a seed, or imported.

    Versions of one name follow each other: one that a simulation used never changes. `stale` says why its
    uses no longer are what the rules would say now, '' while they are. `options` has seed, policy, presence
    and the table of relations; `figures` what its page tells; `digest` is the SHA-256 of what it was made
    from.
    """

    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="question_sets")
    name = models.CharField(max_length=80)
    version = models.PositiveIntegerField(default=1)
    imported = models.BooleanField(default=False)
    options = models.JSONField(default=dict)
    figures = models.JSONField(default=dict)
    digest = models.CharField(max_length=64, blank=True)
    stale = models.TextField(blank=True)
    used_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "name", "version"], name="question_set_once"),
            models.CheckConstraint(condition=~Q(name=""), name="question_set_has_a_name"),
        ]

    def __str__(self) -> str:
        return f"{self.name} (version {self.version})" if self.version > 1 else self.name


class Use(models.Model):
    """A question of a set asked in a session: answerable or not, its key, its type, and why.

    `session` is the session's number, from 1; `order` says which choice stands at A to D; `since` is the
    position of the last own turn that must have been heard. `why` lists the numbers of the sessions that
    decide, `rule` names the rule.
    """

    set = models.ForeignKey(QuestionSet, on_delete=models.CASCADE, related_name="uses", db_index=False)
    question = models.ForeignKey(Record, on_delete=models.CASCADE, related_name="uses")
    session = models.PositiveIntegerField()
    answerable = models.BooleanField()
    key = models.CharField(max_length=1)
    type = models.CharField(max_length=40)
    order = models.CharField(max_length=4, default="0123")
    since = models.PositiveIntegerField(null=True)
    why = models.JSONField(default=list)
    rule = models.CharField(max_length=60, blank=True)

    class Meta:
        ordering = ["set", "session", "id"]
        constraints = [
            models.UniqueConstraint(fields=["set", "question", "session"], name="use_once"),
            models.CheckConstraint(condition=Q(key__in=list("ABCDE")), name="use_key_is_a_letter"),
            models.CheckConstraint(
                condition=Q(answerable=True, key__in=list("ABCD")) | Q(answerable=False, key="E"),
                name="use_key_fits",
            ),
            models.CheckConstraint(condition=Q(session__gte=1), name="use_session_counts_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.type} in session {self.session}"


class SessionVersion(models.Model):
    """What a session of a script was said to be: its date, place and who was present, by whom and why.

    The dialogue's script holds the last version; version 1 is what was imported. `reason` is one of `Reason`,
    `note` says it in words.
    """

    class Reason(models.TextChoices):
        IMPORTED = "imported", "as imported"
        TALK = "talk", "a day named in the talk"
        DISTANCE = "distance", "a distance to another session"
        BROADCAST = "broadcast", "the date of broadcast"
        OTHER = "other", "another reason"

    dialogue = models.ForeignKey(
        "annotation.Dialogue", on_delete=models.CASCADE, related_name="session_versions", db_index=False
    )
    session = models.CharField(max_length=300)
    version = models.PositiveIntegerField()
    content = models.JSONField()
    reason = models.CharField(max_length=12, choices=Reason)
    note = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["dialogue", "session", "version"]
        constraints = [
            models.UniqueConstraint(fields=["dialogue", "session", "version"], name="session_version_once")
        ]

    def __str__(self) -> str:
        return f"session {self.session}, version {self.version}"


class RelationRows(models.Model):
    """A corpus's own table of relations, in place of the one that comes with Concord; versioned."""

    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="relation_tables")
    version = models.PositiveIntegerField()
    rows = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["corpus", "-version"]
        constraints = [models.UniqueConstraint(fields=["corpus", "version"], name="relation_table_once")]

    def __str__(self) -> str:
        return f"relations of {self.corpus_id}, version {self.version}"
