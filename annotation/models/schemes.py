"""Schemes, their versions, and the questions on items."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Coalesce, NullIf

from annotation.kinds import KINDS
from annotation.schemes.definitions import EVIDENCE, LEVELS, SHORT_NAME, accepts


class Scheme(models.Model):
    """A named set of questions with versions. Built-in ones mirror `annotation.schemes.SCHEMES`.

    `own` marks those created by people here; others came with files, judges or metrics.
    """

    key = models.CharField(max_length=120, unique=True)
    title = models.CharField(max_length=200)
    own = models.BooleanField(default=False, db_default=False)
    archived_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title


class SchemeVersion(models.Model):
    """One version of a scheme, about items of one kind. Frozen, by a trigger, once a label uses it.

    Some of its questions may be about another kind (`Question.item_kind`). `unit` is the content of one task:
    one item, or all items of a continuation. `title`, `guidelines` and `source` are the definition's own;
    those of versions stored before 2026-11-22 are empty. `about_open` and `one_conversation` are as in the
    definition; for a built-in scheme, the definition is used.
    """

    class Unit(models.TextChoices):
        ITEM = "item"
        CONTINUATION = "continuation"

    scheme = models.ForeignKey(Scheme, on_delete=models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField(default=1)
    item_kind = models.CharField(max_length=10, choices=[(key, key) for key in KINDS])
    unit = models.CharField(max_length=20, choices=Unit, default=Unit.ITEM)
    title = models.TextField(blank=True, default="", db_default="")
    introduction = models.TextField(blank=True)
    guidelines = models.TextField(blank=True, default="", db_default="")
    source = models.TextField(blank=True, default="", db_default="")
    about_open = models.BooleanField(default=False, db_default=False)
    one_conversation = models.BooleanField(default=False, db_default=False)
    content_hash = models.CharField(max_length=64)
    frozen_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["scheme", "version"]
        constraints = [
            models.UniqueConstraint(fields=["scheme", "version"], name="scheme_version_once"),
            models.CheckConstraint(condition=Q(item_kind__in=list(KINDS)), name="scheme_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.scheme_id} v{self.version}"

    @property
    def name(self) -> str:
        """Its own title, which a later version does not change; its scheme's where none is stored."""
        return self.title or self.scheme.title

    @property
    def ref(self) -> str:
        """Reference in commands and programs: key@version."""
        return f"{self.scheme.key}@{self.version}"


VERSION_TITLE = Coalesce(
    NullIf("scheme_version__title", Value("")),
    "scheme_version__scheme__title",
    output_field=models.TextField(),
)
"""Order of rows by the name of their scheme version."""


class Question(models.Model):
    """One question. `values` lists the possible answers (empty: any number, or any text).

    `values` is a list of numbers (binary, ordinal, interval, ratio) or strings (nominal); `anchors` maps a
    value, as a string, to its wording. `show_if` (`annotation.schemes.definitions`) is for a question
    asked only after some answers to an earlier one. `minimum`, `maximum` and `whole` bound answers to a
    question that takes any number. `evidence`, `evidence_for` and `evidence_required` are its evidence
    settings (`annotation.schemes.definitions.takes_evidence`). `item_kind` is its kind of
    item where it differs from its version's, '' where it is the same: `about` gives it in any case.
    `short_name` names it in reports and lists in place of its wording.
    """

    class Level(models.TextChoices):
        BINARY = "binary"
        NOMINAL = "nominal"
        ORDINAL = "ordinal"
        INTERVAL = "interval"
        RATIO = "ratio"
        TEXT = "text"
        RANKING = "ranking"

    version = models.ForeignKey(SchemeVersion, on_delete=models.CASCADE, related_name="questions")
    key = models.CharField(max_length=120)
    position = models.PositiveIntegerField()
    wording = models.TextField()
    short_name = models.CharField(max_length=SHORT_NAME, blank=True, default="", db_default="")
    level = models.CharField(max_length=10, choices=Level)
    values = models.JSONField(default=list)
    anchors = models.JSONField(default=dict)
    positive = models.FloatField(null=True)
    group = models.CharField(max_length=120, blank=True)
    help = models.JSONField(default=dict)
    shortcut = models.CharField(max_length=5, blank=True)
    required = models.BooleanField(default=True)
    show_if = models.JSONField(null=True)
    minimum = models.FloatField(null=True)
    maximum = models.FloatField(null=True)
    whole = models.BooleanField(default=False, db_default=False)
    evidence = models.CharField(max_length=10, blank=True, default="", db_default="")
    evidence_for = models.JSONField(default=list, db_default=[])
    evidence_required = models.BooleanField(default=False, db_default=False)
    item_kind = models.CharField(max_length=10, blank=True, default="", db_default="")

    class Meta:
        ordering = ["version", "position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "key"], name="question_key_once"),
            models.UniqueConstraint(fields=["version", "position"], name="question_position_once"),
            models.CheckConstraint(
                condition=Q(level__in=list(LEVELS)),
                name="question_level_known",
            ),
            models.CheckConstraint(condition=Q(evidence__in=["", *EVIDENCE]), name="question_evidence_known"),
            models.CheckConstraint(condition=Q(item_kind__in=["", "dialogue"]), name="question_kind_known"),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def title(self) -> str:
        """Name on pages: the short name, else the wording."""
        return self.short_name or self.wording

    @property
    def about(self) -> str:
        """Kind of the items that it is about; fetch its version with it."""
        return self.item_kind or self.version.item_kind

    def accepts(self, value: Any) -> bool:
        """Whether a value may be stored as an answer."""
        return accepts(self.level, self.values, value, self.minimum, self.maximum, self.whole)


def asks_about(kind: str) -> Q:
    """Return the condition that a question is about items of a kind."""
    return Q(item_kind=kind) | Q(item_kind="", version__item_kind=kind)
