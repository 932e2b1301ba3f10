"""How long what is rated is: characters and words, which a judge may follow without reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db import connection

from calibration.reading.ratings import Place

_WORDS = "cardinality(array_remove(regexp_split_to_array(u.text, '\\s+'), ''))"
_LENGTHS = f"""
SELECT i.id, coalesce(sum(length(u.text)), 0), coalesce(sum({_WORDS}), 0)
  FROM annotation_item i
  JOIN annotation_turn u ON u.id = i.turn_id
                         OR (i.turn_id IS NULL AND u.continuation_id = i.continuation_id AND NOT u.given)
 WHERE i.id = ANY(%s)
 GROUP BY i.id
"""  # noqa: S608  (words of ours)
BATCH = 20_000


def lengths(where: Mapping[int, Place]) -> dict[str, tuple[int, int]]:
    """Return the characters and words of items by their keys: of a turn's text, or of a continuation's turns
    that are not given."""
    found: dict[str, tuple[int, int]] = {}
    for batch in _batches(sorted(where)):
        with connection.cursor() as cursor:
            cursor.execute(_LENGTHS, [batch])
            found |= {where[item].key: (int(many), int(words)) for item, many, words in cursor.fetchall()}
    return found


def _batches(ids: list[int]) -> Iterable[list[int]]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))
