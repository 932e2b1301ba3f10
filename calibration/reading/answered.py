"""What each rater answered, whether or not anything could be compared with it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models import Count, Max, Q

from calibration.reading.census import Census
from calibration.reading.scope import Scope


def answered(
    scope: Scope, counted: Census, clusters: Collection[str] | None = None, names: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Return per rater its questions, each with the numbers of items answered and of missing answers.

    Only items in `clusters` and raters in `names` count, where these are given.
    """
    labels = scope.labels()
    if clusters is not None:
        labels = labels.filter(item__continuation__dialogue__cluster__in=clusters)
    rows = (
        labels.values("rater_id", "question_id")
        .annotate(
            n=Count("item_id", distinct=True, filter=Q(missing="")),
            gone=Count("pk", filter=~Q(missing="")),
            samples=Max("sample"),
        )
        .order_by("rater_id", "question_id")
        .values_list("rater_id", "question_id", "n", "gone", "samples")
    )
    found: dict[int, dict[str, Any]] = {}
    order = list(counted.questions)
    for rater, question, n, gone, samples in sorted(rows, key=lambda row: (row[0], order.index(row[1]))):
        info = counted.raters[rater]
        if names and info.name not in names:
            continue
        told = found.setdefault(
            rater,
            {
                "name": info.name,
                "kind": info.kind,
                "identified": info.identified,
                "simulated": info.simulated,
                "questions": [],
            },
        )
        asked = counted.questions[question]
        told["questions"].append(
            {"ref": asked.ref, "title": asked.title, "n": n, "missing": gone, "samples": samples + 1}
        )
    return list(found.values())
