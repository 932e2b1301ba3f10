"""What a judge could not answer, and why: its failed calls by kind, over some items or of some calls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

from django.db.models import Count, Q, QuerySet

from annotation.models import Item, Rater
from jobs.errors import ERROR_KINDS
from jobs.models import Call


def by_kind(rater: Rater, items: Collection[int]) -> dict[str, int]:
    """Return how many items lack an answer of a rater because a call failed, by the kind of its error.

    A call about a whole continuation counts for each of the items in it, each sample by itself. Kinds stand
    in the order of `jobs.errors`; those that failed before kinds were kept are under ''.
    """
    chosen = Item.objects.filter(pk__in=items).values_list("pk", "continuation")
    within = Counter(continuation for _, continuation in chosen)
    failed = Call.objects.filter(rater=rater, state=Call.State.FAILED)
    failed = failed.filter(Q(item__in=list(items)) | Q(item=None, continuation__in=list(within)))
    found: Counter[str] = Counter()
    for kind, item, continuation in failed.values_list("error_kind", "item", "continuation"):
        found[kind] += 1 if item is not None else within[continuation]
    return _in_order(found)


def by_rater(calls: QuerySet[Call]) -> dict[int, dict[str, int]]:
    """Return how many of some calls failed, by rater id and kind of error: one query."""
    rows = calls.filter(state=Call.State.FAILED).order_by().values_list("run__rater", "error_kind")
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for rater, kind, n in rows.annotate(Count("pk")):
        found[rater][kind] += n
    return {rater: _in_order(counted) for rater, counted in found.items()}


def _in_order(found: Counter[str]) -> dict[str, int]:
    return {kind: found[kind] for kind in (*ERROR_KINDS, "") if found[kind]}
