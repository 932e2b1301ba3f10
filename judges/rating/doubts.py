"""Values of metrics that stand but are doubtful, because the metric could hardly read the text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Max, Q
from django.db.models.fields.json import KeyTextTransform

from annotation.models import Corpus
from jobs.models import Call


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
            flagged=Count("pk", filter=~Q(flags=[])),
            example=Max(KeyTextTransform(0, "flags")),
        )
    )
    return {
        row["rater"]: Doubt(row["calls"], row["flagged"], row["example"]) for row in rows if row["flagged"]
    }
