"""Turn numbers, as used by annotators and everybody who communicates with them.

A turn is numbered from 1 among the turns shown with it: the dialogue's own turns before it, for a static
turn those up to the point that it answers and the given turns right before it, and the turns of its
continuation. Keys and files also have its 0-based index within the continuation, which identifies it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from django.db import connection

if TYPE_CHECKING:
    from annotation.models.corpora import Turn

TURN_NUMBER = """
CASE WHEN c.key = 'self' THEN t.position + 1
     WHEN c.mode = 'rollout' THEN t.position + 1 + (
       SELECT coalesce(max(o.position) + 1, 0) FROM annotation_turn o WHERE o.continuation_id = (
         SELECT s.id FROM annotation_continuation s WHERE s.dialogue_id = c.dialogue_id AND s.key = 'self'))
     ELSE least(t.at, (
       SELECT coalesce(max(o.position) + 1, 0) FROM annotation_turn o WHERE o.continuation_id = (
         SELECT s.id FROM annotation_continuation s WHERE s.dialogue_id = c.dialogue_id AND s.key = 'self')))
       + t.position - coalesce((
         SELECT max(b.position) FROM annotation_turn b
          WHERE b.continuation_id = t.continuation_id AND b.position < t.position
            AND NOT (b.given AND b.at IS NOT DISTINCT FROM t.at)), -1)
END
"""
"""SQL for the number of turn t of continuation c; null where there is no turn."""

OF_TURNS = (
    "FROM annotation_turn t JOIN annotation_continuation c ON c.id = t.continuation_id WHERE t.id = ANY(%s)"
)
NUMBERS = f"SELECT t.id, {TURN_NUMBER} {OF_TURNS}"
IN_ORDER = f"SELECT c.id, {TURN_NUMBER} {OF_TURNS.replace('t.id', 'c.id')} ORDER BY c.id, t.position"


def numbers_of(turns: Iterable[int]) -> dict[int, int]:
    """Return the number of each turn, by its id, in one query."""
    with connection.cursor() as cursor:
        cursor.execute(NUMBERS, [list(turns)])
        return dict(cursor.fetchall())


def of_continuations(continuations: Sequence[int]) -> dict[int, list[int]]:
    """Return the numbers of the turns of each continuation, by its id, in turn order."""
    with connection.cursor() as cursor:
        cursor.execute(IN_ORDER, [list(continuations)])
        numbers: dict[int, list[int]] = {pk: [] for pk in continuations}
        for continuation, number in cursor.fetchall():
            numbers[continuation].append(number)
    return numbers


def number(turns: Iterable[Turn | None]) -> None:
    """Number turns together, so that a page with many of them makes one query."""
    waiting = [turn for turn in turns if turn is not None and "number" not in turn.__dict__]
    numbers = numbers_of(turn.pk for turn in waiting) if waiting else {}
    for turn in waiting:
        turn.__dict__["number"] = numbers[turn.pk]
