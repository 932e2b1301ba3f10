"""Gold labels: what is chosen from several raters, and how."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Dialogue


class Gold(models.Model):
    """One derivation of gold labels: which labels, by which rule, from which inputs (their hash).

    `n` and `without` count its labels and those without a value, `counts` does so by question id, as
    [n, without]. `findings` holds, by question key, what a rule estimated about the raters ({name: {measure:
    value}}), remarks, how an iterative estimate ended, and its basis: the items that they rest on, `dev` or
    `all`. They are written once, with
    the labels, which never change.
    """

    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="golds")
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.CASCADE, related_name="golds"
    )
    scheme_version = models.ForeignKey("annotation.SchemeVersion", on_delete=models.PROTECT)
    rule = models.CharField(max_length=40)
    options = models.JSONField(default=dict)
    inputs_hash = models.CharField(max_length=64)
    n = models.PositiveIntegerField(default=0)
    without = models.PositiveIntegerField(default=0)
    counts = models.JSONField(default=dict)
    findings = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"gold {self.pk} by {self.rule}"

    @property
    def part(self) -> str:
        """The part that it is of: training where that was named or its campaign's, else empty."""
        return str(self.options.get("part", "") or (self.campaign.part if self.campaign else ""))

    @property
    def is_of_training(self) -> bool:
        """Whether it is of training dialogues alone."""
        return self.part == Dialogue.Part.TRAINING


class GoldLabel(models.Model):
    """The gold answer to one question on one item, or the reason why there is none (a tie, no labels).

    `source` is where it came from, where there are several sources: adjudication, or a rule's key.
    `decisions` are those it was adjudicated by: the label's id, who decided, what, and the reason.
    """

    gold = models.ForeignKey(Gold, on_delete=models.CASCADE, related_name="labels")
    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE)
    question = models.ForeignKey("annotation.Question", on_delete=models.PROTECT)
    number = models.FloatField(null=True)
    text = models.TextField(null=True)  # noqa: DJ001  (null: the answer is not a text)
    reason = models.CharField(max_length=200, blank=True)
    n_raters = models.PositiveIntegerField()
    support = models.FloatField(null=True)
    votes = models.JSONField(default=dict)
    source = models.CharField(max_length=40, blank=True)
    decisions = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["gold", "item", "question"], name="gold_label_once"),
            models.CheckConstraint(
                condition=Q(number__isnull=True, text__isnull=True) ^ Q(reason=""),
                name="gold_value_or_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"gold of item {self.item_id}"
