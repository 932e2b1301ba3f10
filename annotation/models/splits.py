"""Dev and test: which clusters a judge is developed on and which it is measured on."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Split(models.Model):
    """A draw of a corpus's clusters into dev and test from a seed. Fixed, by a trigger, at first use."""

    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="splits")
    name = models.CharField(max_length=80, default="main")
    seed = models.PositiveIntegerField(default=0)
    test_share = models.FloatField(default=0.5)
    fixed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "name"], name="split_name_once"),
            models.CheckConstraint(
                condition=Q(test_share__gt=0, test_share__lt=1), name="split_share_proper"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.corpus_id}"


class SplitCluster(models.Model):
    """Where one cluster falls."""

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="clusters")
    cluster = models.CharField(max_length=300)
    part = models.CharField(max_length=4, choices=[("dev", "dev"), ("test", "test")])

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["split", "cluster"], name="split_cluster_once"),
            models.CheckConstraint(condition=Q(part__in=["dev", "test"]), name="split_part_known"),
        ]

    def __str__(self) -> str:
        return f"{self.cluster}: {self.part}"


class TestLook(models.Model):
    """One look at the test part: who, when, for what. Printed on every report that shows test."""

    __test__ = False  # not a pytest class

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="looks")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(auto_now_add=True)
    purpose = models.TextField()
    judges = models.JSONField(default=list)
    """The names of the judges whose figures were asked for."""

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.by_id} at {self.at}"


class JudgeOpening(models.Model):
    """Test opened for one judge of a split, once, with a reason. Versions of one judge share its `family`."""

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="openings")
    rater = models.ForeignKey("annotation.Rater", on_delete=models.CASCADE, related_name="openings")
    family = models.CharField(max_length=300)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(auto_now_add=True)
    reason = models.TextField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["split", "rater"], name="test_opened_once_per_judge"),
        ]

    def __str__(self) -> str:
        return f"{self.rater_id} on {self.split_id}"
