"""Labels: the one table for the answers of all raters."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from annotation.schemes.definitions import SHORT_NAME
from jobs.fake_models import MARK, is_fake

# Raters: people, judges, metrics and answer keys, all alike.


class Rater(models.Model):
    """A source of answers. Immutable, by a trigger, once it has labels.

    `spec` describes it (for a judge: protocol, prompt version, model, parameters; for a metric: name,
    variant, parameters, hash of its training data); `fingerprint` is the hash of kind and spec, so the
    same judge is the same rater. Imported raters belong to their corpus; accounts, judges, metrics to none.
    An unidentified person is an anonymous slot: only statistics that treat raters as exchangeable apply.
    Where a program answers in a person's place, the spec of that human rater holds `simulated`. A person's
    pseudonyms are derived from `secret` (`annotation.work.labels`). `name` is the rater's identity in files,
    addresses and references; a judge or metric is shown by its `short_name`, which stays editable.
    """

    class Kind(models.TextChoices):
        HUMAN = "human"
        JUDGE = "judge"
        METRIC = "metric"
        KEY = "key"

    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=200)
    short_name = models.CharField(max_length=SHORT_NAME, blank=True, default="", db_default="")
    corpus = models.ForeignKey(
        "annotation.Corpus", null=True, blank=True, on_delete=models.CASCADE, related_name="raters"
    )
    user = models.OneToOneField(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    identified = models.BooleanField(default=True)
    spec = models.JSONField(default=dict)
    fingerprint = models.CharField(max_length=64, blank=True)
    secret = models.UUIDField(db_default=RandomUUID(), editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["kind", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["corpus", "kind", "name"], nulls_distinct=False, name="rater_name_once"
            ),
            models.UniqueConstraint(
                fields=["fingerprint"], condition=~Q(fingerprint=""), name="rater_fingerprint_once"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["human", "judge", "metric", "key"]), name="rater_kind_known"
            ),
            models.CheckConstraint(condition=Q(kind="human") | Q(user__isnull=True), name="rater_user_human"),
            models.CheckConstraint(
                condition=Q(kind="human") | Q(identified=True), name="rater_only_people_anonymous"
            ),
            models.UniqueConstraint(
                Lower("short_name"), condition=~Q(short_name=""), name="rater_short_name_once"
            ),
            models.CheckConstraint(
                condition=Q(short_name="") | Q(kind__in=["judge", "metric"]), name="rater_short_name_machine"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def title(self) -> str:
        """Name on pages: the short name, else the name; it says where a fake model answers.

        For people see `annotation.work.labels.title_of`.
        """
        title = self.short_name or self.name
        fake = is_fake(str(self.spec.get("model", ""))) and MARK not in title
        return f"{title} {MARK}" if fake else title

    @property
    def detail(self) -> str:
        """Small print beside the short name: the model and the version of the prompt; '' without either."""
        prompt, version = self.spec.get("prompt", ""), self.spec.get("version")
        if prompt and "@" not in prompt and version is not None:
            prompt = f"{prompt}@{version}"
        parts = [str(part) for part in (self.spec.get("model"), prompt) if part]
        return " · ".join(parts) or (self.name if self.short_name else "")


class Occasion(models.TextChoices):
    """Occasion on which a label was given. Statistics read main and imported labels by default."""

    IMPORTED = "imported"
    MAIN = "main"
    TRAINING = "training"
    QUALIFICATION = "qualification"
    CHECK = "check"
    REPEAT = "repeat"
    ADJUDICATION = "adjudication"


class Label(models.Model):
    """A rater's answer to one question on one item. Append-only: triggers refuse update and delete.

    Exactly one of `number`, `text` and `missing` (the reason why there is no answer) is filled. A revision
    first sets `superseded_at` of the live label, the only change a label allows, and then inserts its
    successor. A trigger refuses a label whose question does not fit the item's kind or whose value is off the
    scale.

    Answers about a comparison refer to its members in the item's own order; `shown` are their numbers in the
    order in which the rater saw them, None where that is not known. `evidence` is the answer's evidence, in
    the form of `annotation.text.references`; null: none. A trigger refuses evidence that the rater was not
    shown, that is beyond a turn's text, or that the question did not ask for.
    """

    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="labels")
    question = models.ForeignKey(
        "annotation.Question", on_delete=models.PROTECT, related_name="labels", db_index=False
    )
    rater = models.ForeignKey("annotation.Rater", on_delete=models.PROTECT, related_name="labels")
    occasion = models.CharField(max_length=20, choices=Occasion)
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.CASCADE, related_name="labels"
    )
    sample = models.PositiveIntegerField(default=0)
    number = models.FloatField(null=True)
    text = models.TextField(null=True)  # noqa: DJ001  (null: the answer is not a text)
    missing = models.TextField(blank=True)
    shown = ArrayField(models.SmallIntegerField(), null=True)
    explanation = models.TextField(blank=True)
    evidence = models.JSONField(null=True)
    assignment = models.ForeignKey(
        "annotation.Assignment", null=True, on_delete=models.CASCADE, related_name="labels"
    )
    imported = models.ForeignKey(
        "annotation.Import", null=True, on_delete=models.CASCADE, related_name="labels"
    )
    supersedes = models.OneToOneField(
        "self", null=True, on_delete=models.CASCADE, related_name="superseded_by"
    )
    superseded_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item", "question", "rater", "occasion", "campaign", "sample"],
                condition=Q(superseded_at__isnull=True),
                nulls_distinct=False,
                name="label_live_once",
            ),
            models.CheckConstraint(
                condition=(
                    Q(number__isnull=False, text__isnull=True, missing="")
                    | Q(number__isnull=True, text__isnull=False, missing="")
                    | (Q(number__isnull=True, text__isnull=True) & ~Q(missing=""))
                ),
                name="label_one_answer",
            ),
        ]
        indexes = [
            models.Index(fields=["question", "rater"], name="label_by_question"),
            BrinIndex(fields=["created_at"], name="label_by_time"),
            models.Index(
                fields=["superseded_at"],
                condition=Q(superseded_at__isnull=False),
                name="label_by_end",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rater_id} on {self.item_id}: {self.value}"

    @property
    def value(self) -> float | str | None:
        """The answer: a number, a text, or None where it is missing."""
        return self.number if self.number is not None else self.text


def live_labels() -> models.QuerySet[Label]:
    """Return the labels that statistics read: live, and given on the main or an imported occasion."""
    return Label.objects.filter(superseded_at__isnull=True, occasion__in=[Occasion.MAIN, Occasion.IMPORTED])


# Counts of live labels, kept by triggers, so that no page counts the labels themselves.


class LabelCount(models.Model):
    """A partial count of one rater's live labels to one question.

    By corpus, campaign and occasion, and by whether the items are of training.

    The number is the sum of `n` over such rows, and that of missing answers the sum of `missing`: whatever
    inserts, supersedes or deletes labels adds a row with its difference in the same transaction (triggers on
    `annotation_label`). So the sums are exact in every transaction's view, and no two writers wait for each
    other. `annotation.work.labels.compact` merges rows now and then. `changes` counts labels added or
    removed, `last` is the highest id among them: together they show whether anything changed. The database
    deletes a row together with its subject.
    """

    corpus = models.ForeignKey(
        "annotation.Corpus", on_delete=models.DO_NOTHING, related_name="+", db_constraint=False
    )
    question = models.ForeignKey(
        "annotation.Question",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    rater = models.ForeignKey(
        "annotation.Rater",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    campaign = models.ForeignKey(
        "annotation.Campaign",
        null=True,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    occasion = models.CharField(max_length=20, choices=Occasion)
    training = models.BooleanField(default=False, db_default=False)
    n = models.BigIntegerField()
    missing = models.BigIntegerField()
    changes = models.BigIntegerField()
    last = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.n} labels of rater {self.rater_id} to question {self.question_id}"
