"""Making the items that compare several continuations, or responses to one point, of a dialogue.

A corpus has one item for the same members, whatever their order; those that are there already stay as they
are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.db import connection

from annotation.models import Corpus, ItemMember
from annotation.text.item_keys import members_key

MAKE = """
WITH given AS MATERIALIZED ({given}),
ranked AS MATERIALIZED (
  SELECT g.n, g.continuation_id, g.turn_id, d.part = 'training' AS training, row_number() OVER (
           PARTITION BY g.n ORDER BY concord_member_rank(d.key, c.key, u.position)) - 1 AS number
    FROM given g
    JOIN annotation_continuation c ON c.id = g.continuation_id
    JOIN annotation_dialogue d ON d.id = c.dialogue_id
    LEFT JOIN annotation_turn u ON u.id = g.turn_id),
wanted AS MATERIALIZED (
  SELECT min(n) AS n, compared, kind, first, training FROM (
    SELECT n, string_agg(continuation_id || coalesce('.' || turn_id, ''), '+'
                         ORDER BY continuation_id, turn_id) AS compared,
           CASE count(*) WHEN 2 THEN 'pair' ELSE 'ranking' END AS kind,
           min(continuation_id) FILTER (WHERE number = 0) AS first, bool_or(training) AS training
      FROM ranked GROUP BY n) AS sets GROUP BY compared, kind, first, training),
made AS (
  INSERT INTO annotation_item (corpus_id, kind, continuation_id, compared, training)
  SELECT %(corpus)s, kind, first, compared, training FROM wanted ORDER BY n
  ON CONFLICT (compared) WHERE compared IS NOT NULL DO NOTHING RETURNING id, compared),
kept AS (
  INSERT INTO annotation_itemmember (item_id, number, continuation_id, turn_id)
  SELECT made.id, ranked.number, ranked.continuation_id, ranked.turn_id
    FROM made JOIN wanted USING (compared) JOIN ranked USING (n) RETURNING item_id)
SELECT count(DISTINCT item_id) FROM kept
"""
"""Makes the items that are lacking of `given` (n, continuation_id, turn_id), and says how many those are."""

SETS = """SELECT * FROM unnest(%(sets)s::int[], %(continuations)s::bigint[], %(turns)s::bigint[])
  AS g (n, continuation_id, turn_id)"""

Members = Sequence[tuple[int, int | None]]
"""What is compared: ids of continuations, each with the id of a turn of it, or with None for all of it."""


def make(*, corpus: Corpus, sets: Sequence[Members]) -> int:
    """Make the items that compare each of the sets of members, in any order; return how many are new."""
    rows = [(n, continuation, turn) for n, members in enumerate(sets) for continuation, turn in members]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    values = dict(zip(("sets", "continuations", "turns"), columns, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(MAKE.format(given=SETS), {"corpus": corpus.pk, **values})
        return int(cursor.fetchone()[0])


def compared(members: Members) -> str:
    """Return what an item's `compared` is for these members, in any order."""
    ordered = sorted(members, key=lambda one: (one[0], one[1] or 0))
    return "+".join(str(part) if turn is None else f"{part}.{turn}" for part, turn in ordered)


def members_of(items: Collection[int]) -> dict[int, list[ItemMember]]:
    """Return the members of items in their own order, with continuation, system and turn; one query."""
    found: dict[int, list[ItemMember]] = {}
    rows = ItemMember.objects.filter(item__in=items).order_by("item_id", "number")
    for member in rows.select_related("continuation__system", "continuation__dialogue", "turn"):
        found.setdefault(member.item_id, []).append(member)
    return found


def keys_of(items: Collection[int]) -> dict[int, str]:
    """Return the keys of the comparisons among items, by id; one query."""
    return {
        item: members_key(
            members[0].continuation.dialogue.key, [(one.continuation.key, one.position) for one in members]
        )
        for item, members in members_of(items).items()
    }
