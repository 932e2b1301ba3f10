"""Values of metrics that stand but are doubtful: a metric could hardly read a text, or learned from it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Max, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform

from jobs.models import Call
from judges.metrics.kit.act_models import FITTED_ON_ITSELF


@dataclass(frozen=True, slots=True)
class Doubt:
    """How many of a metric's continuations are flagged, of how many, and one of the reasons."""

    calls: int
    flagged: int
    example: str


def doubtful_values(calls: QuerySet[Call]) -> dict[int, Doubt]:
    """Return the doubts of metrics by rater id, from their calls; those without any are left out."""
    rows = (
        calls.filter(state=Call.State.DONE)
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


def fitted_on_themselves(calls: QuerySet[Call]) -> dict[int, int]:
    """Return, by the id of a metric's rater, on how many continuations it had learned from the dialogue that
    it scored, from its calls; those without any are left out."""
    rows = (
        calls.filter(state=Call.State.DONE, flags__contains=[FITTED_ON_ITSELF])
        .values("rater")
        .annotate(n=Count("pk"))
    )
    return {row["rater"]: row["n"] for row in rows}
