"""Values of metrics that stand but are doubtful: a metric could hardly read a text, or learned from it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Max, Q
from django.db.models.fields.json import KeyTextTransform

from annotation.models import Corpus
from jobs.models import Call
from judges.metrics.kit.act_models import FITTED_ON_ITSELF


@dataclass(frozen=True, slots=True)
class Doubt:
    """How many of a metric's continuations are flagged, of how many, and one of the reasons."""

    calls: int
    flagged: int
    example: str


def doubtful_values(corpus: Corpus, raters: Collection[int]) -> dict[int, Doubt]:
    """Return the doubts of metrics on a corpus by rater id; those without any are left out."""
    rows = (
        Call.objects.filter(rater__in=raters, continuation__dialogue__corpus=corpus, state=Call.State.DONE)
        .values("rater")
        .annotate(
            calls=Count("pk"),
            flagged=Count("pk", filter=~Q(flags=[]) & ~Q(flags=[FITTED_ON_ITSELF])),
            example=Max(KeyTextTransform(0, "flags")),
        )
    )
    return {
        row["rater"]: Doubt(row["calls"], row["flagged"], row["example"]) for row in rows if row["flagged"]
    }


def fitted_on_themselves(corpus: Corpus, raters: Collection[int]) -> dict[int, int]:
    """Return, by the id of a metric's rater, on how many continuations of a corpus it had learned from the
    dialogue that it scored; those without any are left out."""
    rows = (
        Call.objects.filter(rater__in=raters, continuation__dialogue__corpus=corpus, state=Call.State.DONE)
        .filter(flags__contains=[FITTED_ON_ITSELF])
        .values("rater")
        .annotate(n=Count("pk"))
    )
    return {row["rater"]: row["n"] for row in rows}
