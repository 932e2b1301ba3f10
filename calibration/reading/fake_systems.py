"""Which of the systems that labels speak of asked a fake model: their conditions say it."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q, QuerySet

from annotation.corpora import splits
from annotation.models import Label
from jobs.fake_models import BEGINNING, CONDITION_KEYS


def fake_systems(labels: QuerySet[Label], clusters: Collection[str] | None = None) -> list[str]:
    """Return the names of the systems with a continuation by a fake model among what is labelled, in order.

    Only dialogues in `clusters` count, where these are given. One query.
    """
    names = [f"item__continuation__condition__{key}__istartswith" for key in CONDITION_KEYS]
    found = labels.filter(Q(*((name, BEGINNING) for name in names), _connector=Q.OR))
    if clusters is not None:
        found = found.filter(splits.within(clusters, "item__"))
    return sorted(set(found.order_by().values_list("item__continuation__system__name", flat=True).distinct()))
