"""How many live labels there are, kept by triggers, so that no page counts the labels themselves."""

from __future__ import annotations

from django.db import models

from annotation.models.labels import Occasion


class LabelCount(models.Model):
    """A part of the number of live labels of one rater to one question, by corpus, campaign and occasion,
    and by whether the items are of training.

    The number is the sum of `n` over such rows, and that of missing answers the sum of `missing`: whatever
    inserts, supersedes or deletes labels adds a row with its difference in the same transaction (triggers on
    `annotation_label`). So the sums are exact in every transaction's view, and no two writers wait for each
    other. `annotation.labels.counts.compact` puts rows together now and then. `changes` counts labels that
    came or went, `last` is the highest id among them: together they tell whether anything changed. The
    database deletes a row with what it speaks of.
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
