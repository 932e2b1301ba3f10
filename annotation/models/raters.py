"""Raters: people, judges, metrics and answer keys, all alike."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import Q


class Rater(models.Model):
    """Who or what answers. Immutable, by a trigger, once it has labels.

    `spec` says what it is (for a judge: protocol, prompt version, model, parameters; for a metric: name,
    variant, parameters, hash of what it was fitted on); `fingerprint` is the hash of kind and spec, so the
    same judge is the same rater. Imported raters belong to their corpus; accounts, judges, metrics to none.
    An unidentified person is an anonymous slot: only statistics that treat raters as exchangeable apply.
    Where a program answers in a person's place, the spec of that human rater holds `simulated`. From `secret`
    a person's pseudonyms are drawn (`annotation.labels.pseudonyms`).
    """

    class Kind(models.TextChoices):
        HUMAN = "human"
        JUDGE = "judge"
        METRIC = "metric"
        KEY = "key"

    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=200)
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
        ]

    def __str__(self) -> str:
        return self.name
