"""What judges and what writes have cost: by judge, by campaign, by run, from what triggers count and never by
counting calls."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, F, Sum, Value
from django.db.models.functions import Coalesce, NullIf

from jobs.models import CallCount

NAME = Coalesce(NullIf("run__title", Value("")), "run__rater__name")
"""What a run is called: one that writes has a title, one that rates the name of its rater."""
BY: dict[str, tuple[str, Any]] = {
    "judge": ("run__rater", NAME),
    "campaign": ("run__campaign", F("run__campaign__name")),
    "run": ("run", NAME),
}
"""Per way of adding up: the column of its id, and that of its name."""
SUMS = ("asked", "cached", "tokens_in", "tokens_out", "cost", "saved", "timed", "costed")


def spent(way: str) -> Any:
    """Return what runs that ask a model took, one row a judge, campaign or run and currency; dearest first.

    A query of rows for `as_row`. KeyError for another `way`.
    """
    key, name = BY[way]
    rows: Any = CallCount.objects.filter(run__endpoint__isnull=False)
    found = rows.values(key=F(key), name=name, currency=F("run__endpoint__currency"))
    sums = {f"total_{column}": Sum(column) for column in SUMS}
    summed = found.annotate(runs=Count("run", distinct=True), **sums)
    return summed.order_by("-total_cost", "-total_asked", "key")


def as_row(found: dict[str, Any]) -> dict[str, Any]:
    """Return a row as pages and programs read it.

    It has `key` (None: runs of no campaign), `name`, `currency`, `runs`, and sums: `asked` completions that
    were paid for, `cached` calls that were answered without asking, tokens, `cost`, and what the cache
    `saved`. `cost` is None where nothing of it is known, as the endpoint had no prices; `at_least` says that
    it is more, because of some calls nothing is known.
    """
    row = {name: found[name] for name in ("key", "name", "currency", "runs")}
    row |= {column: found[f"total_{column}"] for column in SUMS}
    timed, costed = row.pop("timed"), row.pop("costed")
    known = costed or not row["asked"]
    return row | {"cost": row["cost"] if known else None, "at_least": 0 < costed < timed}
