"""Which of the systems that labels speak of asked a fake model: their conditions say it."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import QuerySet

from annotation.corpora import clusters as item_clusters
from annotation.models import Label
from jobs.fake_models import BEGINNING


def fake_systems(labels: QuerySet[Label], clusters: Collection[str] | None = None) -> list[str]:
    """Return the names of the systems with a continuation by a fake model among what is labelled, in order.

    Only dialogues in `clusters` count, where these are given. One query.
    """
    found = labels.filter(item__continuation__condition__model__istartswith=BEGINNING)
    if clusters is not None:
        found = found.filter(item_clusters.within(clusters, "item__"))
    return sorted(set(found.order_by().values_list("item__continuation__system__name", flat=True).distinct()))
