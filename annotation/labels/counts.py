"""The numbers of live labels, read from what triggers keep (`LabelCount`) and never by counting labels."""

from __future__ import annotations

from typing import NamedTuple

from django.db import OperationalError, connection, transaction
from django.db.models import Max, QuerySet, Sum
from psycopg.errors import LockNotAvailable

from annotation.models import Corpus, LabelCount

CROWDED = 8
"""Rows about the same labels that are put together once there are more."""
_COMPACT = """
WITH gone AS (
  DELETE FROM annotation_labelcount WHERE id IN (
    SELECT id FROM annotation_labelcount WHERE id IN (
      SELECT id FROM (
        SELECT id, count(*) OVER (
          PARTITION BY corpus_id, question_id, rater_id, campaign_id, occasion) AS many
          FROM annotation_labelcount) AS parts WHERE many > %s)
       FOR UPDATE SKIP LOCKED) RETURNING *)
INSERT INTO annotation_labelcount
       (corpus_id, question_id, rater_id, campaign_id, occasion, n, missing, changes, last)
SELECT corpus_id, question_id, rater_id, campaign_id, occasion,
       sum(n), sum(missing), sum(changes), max(last)
  FROM gone GROUP BY 1, 2, 3, 4, 5
"""


class Tally(NamedTuple):
    """How many live labels there are, how many of them are missing with a reason, and what tells changes."""

    n: int
    missing: int
    changes: int
    last: int


def count(corpus: Corpus) -> int:
    """Return the number of live labels about a corpus, on whatever occasion."""
    return total(LabelCount.objects.filter(corpus=corpus)).n


def total(rows: QuerySet[LabelCount]) -> Tally:
    """Return the sum of some counts."""
    found = rows.aggregate(n=Sum("n"), missing=Sum("missing"), changes=Sum("changes"), last=Max("last"))
    return Tally(**{name: value or 0 for name, value in found.items()})


def by_pair(rows: QuerySet[LabelCount]) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the numbers of labels and of missing ones per (question id, rater id), where there are any."""
    found = rows.order_by("question_id", "rater_id").values_list("question_id", "rater_id")
    summed = found.annotate(Sum("n"), Sum("missing"))
    return {(question, rater): (n, missing) for question, rater, n, missing in summed if n}


def compact() -> None:
    """Put crowded rows together; nothing that a sum says changes. Workers call it every few seconds.

    It gives way to whatever holds what the rows speak of, such as a deletion, and comes again.
    """
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '100ms'")
            cursor.execute(_COMPACT, [CROWDED])
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
