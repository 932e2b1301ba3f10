"""How far productions are."""

from __future__ import annotations

from django.db.models import Count, QuerySet

from systems.models import Production


def counts(rows: QuerySet[Production]) -> dict[str, int]:
    """Return how many productions are in each status, and in `all`."""
    found = dict.fromkeys(Production.Status.values, 0)
    for row in rows.order_by().values("status").annotate(n=Count("pk")):
        found[row["status"]] = row["n"]
    return found | {"all": sum(found.values())}
