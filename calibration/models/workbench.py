"""What people say of disagreements on the workbench, and what waits for adjudication."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Mark(models.Model):
    """Whose answer is wrong where a judge and people disagree, and why somebody thinks so.

    Append-only (trigger): the latest row of a place counts, and `withdrawn` takes back what stood there.
    `judged` names the draft or judge on its bench as addresses do (`draft-3`, `judge-17`).
    """

    class Verdict(models.TextChoices):
        JUDGE_WRONG = "judge_wrong", "judge wrong"
        PEOPLE_WRONG = "people_wrong", "people wrong"
        UNCLEAR = "unclear", "unclear"
        WITHDRAWN = "withdrawn", "withdrawn"

    bench = models.ForeignKey("judges.Bench", on_delete=models.CASCADE, related_name="marks")
    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="+")
    question = models.ForeignKey("annotation.Question", on_delete=models.PROTECT, related_name="+")
    judged = models.CharField(max_length=40)
    judged_name = models.CharField(max_length=200)
    verdict = models.CharField(max_length=12, choices=Verdict)
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(verdict__in=["judge_wrong", "people_wrong", "unclear", "withdrawn"]),
                name="mark_verdict_known",
            )
        ]
        indexes = [models.Index(fields=["bench", "item", "question"], name="mark_of_place")]

    def __str__(self) -> str:
        return f"{self.judged} on {self.item_id}: {self.verdict}"


class ForAdjudication(models.Model):
    """A question about an item whose labels somebody should decide on anew, and the reason.

    It waits until it is withdrawn (`withdrawn_at`) or settled (`settled_at`); of one place at most one waits.
    """

    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="+")
    question = models.ForeignKey("annotation.Question", on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    mark = models.ForeignKey(Mark, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    withdrawn_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "items for adjudication"
        constraints = [
            models.UniqueConstraint(
                fields=["item", "question"],
                condition=Q(withdrawn_at=None, settled_at=None),
                name="adjudication_waits_once",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="adjudication_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} for adjudication"
