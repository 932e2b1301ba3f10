"""Labels: the one table in which the answers of all raters land."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q


class Occasion(models.TextChoices):
    """On what occasion a label was given. Statistics read main and imported labels unless told otherwise."""

    IMPORTED = "imported"
    MAIN = "main"
    TRAINING = "training"
    QUALIFICATION = "qualification"
    CHECK = "check"
    REPEAT = "repeat"
    ADJUDICATION = "adjudication"


class Label(models.Model):
    """A rater's answer to one question on one item. Append-only: triggers refuse update and delete.

    Exactly one of `number`, `text` and `missing` (why there is no answer) is filled. A revision first sets
    `superseded_at` of the live label, the only change a label allows, and then inserts its successor. A
    trigger refuses a label whose question is not made for the item's kind or whose value is off the scale.

    Answers about a comparison speak of its members in the item's own order; `shown` are their numbers in the
    order in which the rater saw them, None where that is not known.
    `evidence` is what the answer points at, as `annotation.text.passages` writes it; null: nothing. A trigger
    refuses what the rater was not shown, what is beyond a turn's text, and what the question did not ask for.
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
