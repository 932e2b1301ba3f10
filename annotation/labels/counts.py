"""The numbers of live labels, read from what triggers keep (`LabelCount`) and never by counting labels."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Max, QuerySet, Sum

from annotation.models import Corpus, LabelCount
from config.models import Tally

TALLY = Tally(
    table="annotation_labelcount",
    keys=("corpus_id", "question_id", "rater_id", "campaign_id", "occasion", "training"),
    sums=("n", "missing", "changes"),
    greatest=("last",),
)
compact = TALLY.compact


class Total(NamedTuple):
    """How many live labels there are, how many of them are missing with a reason, and what tells changes."""

    n: int
    missing: int
    changes: int
    last: int


def count(corpus: Corpus) -> int:
    """Return the number of live labels about a corpus, on whatever occasion."""
    return total(LabelCount.objects.filter(corpus=corpus)).n


def total(rows: QuerySet[LabelCount]) -> Total:
    """Return the sum of some counts."""
    found = rows.aggregate(n=Sum("n"), missing=Sum("missing"), changes=Sum("changes"), last=Max("last"))
    return Total(**{name: value or 0 for name, value in found.items()})


def by_pair(rows: QuerySet[LabelCount]) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the numbers of labels and of missing ones per (question id, rater id), where there are any."""
    found = rows.order_by("question_id", "rater_id").values_list("question_id", "rater_id")
    summed = found.annotate(Sum("n"), Sum("missing"))
    return {(question, rater): (n, missing) for question, rater, n, missing in summed if n}
