"""Creation of items that compare several continuations, or responses to one point, of a dialogue.

A corpus has one item per set of members, whatever their order; existing items stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from annotation.corpora.import_staging import derived_table, execute, fetch, fresh_table
from annotation.formats import Faults, ImportProblem
from annotation.models import Item
from annotation.models.corpora import Corpus, ItemMember
from annotation.text.references import members_key
from config.planner import WORTH_TELLING, analyse_tables

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
"""Creates the missing items of `given` (n, continuation_id, turn_id), and returns their number."""

SETS = """SELECT * FROM unnest(%(sets)s::int[], %(continuations)s::bigint[], %(turns)s::bigint[])
  AS g (n, continuation_id, turn_id)"""

Members = Sequence[tuple[int, int | None]]
"""Compared members: ids of continuations, each with the id of one of its turns; None for the whole."""


def make(*, corpus: Corpus, sets: Sequence[Members]) -> int:
    """Create the items that compare each set of members, in any order; return the number of new ones."""
    rows = [(n, continuation, turn) for n, members in enumerate(sets) for continuation, turn in members]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    values = dict(zip(("sets", "continuations", "turns"), columns, strict=True))
    return int(fetch(MAKE.format(given=SETS), {"corpus": corpus.pk, **values})[0][0])


def compared(members: Members) -> str:
    """Return the `compared` column of an item with these members, in any order."""
    ordered = sorted(members, key=lambda member: (member[0], member[1] or 0))
    return "+".join(str(part) if turn is None else f"{part}.{turn}" for part, turn in ordered)


def members_of(items: Collection[int]) -> dict[int, list[ItemMember]]:
    """Return the members of items in their own order, with continuation, system and turn; one query."""
    members: dict[int, list[ItemMember]] = {}
    rows = ItemMember.objects.filter(item__in=items).order_by("item_id", "number")
    for member in rows.select_related("continuation__system", "continuation__dialogue", "turn"):
        members.setdefault(member.item_id, []).append(member)
    return members


def keys_of(items: Collection[int]) -> dict[int, str]:
    """Return the keys of the comparisons among items, by id; one query."""
    return {
        item: members_key(
            members[0].continuation.dialogue.key,
            [(member.continuation.key, member.position) for member in members],
        )
        for item, members in members_of(items).items()
    }


# Comparisons that a file's labels are about: members are found, and missing items created.

COLUMNS = "(n bigint, place int, continuation text, continuation_id bigint, turn_id bigint, at int, why text)"

FIND = """
INSERT INTO import_member
SELECT l.n, m.place, m.one->>0, c.id, t.id, t.at,
       CASE WHEN c.id IS NULL THEN 'the dialogue has no continuation ' || (m.one->0)::text
            WHEN m.one->>1 IS NOT NULL AND t.id IS NULL
              THEN 'there is no turn ' || (m.one->>1) || ' in the continuation ' || (m.one->0)::text
            WHEN t.given THEN 'turn ' || (m.one->>1) || ' of ' || (m.one->0)::text
              || ' is given: it is context and not rated' END
  FROM import_label l
  JOIN annotation_dialogue d ON d.corpus_id = %(corpus)s AND d.key = l.dialogue
 CROSS JOIN LATERAL jsonb_array_elements(l.members) WITH ORDINALITY AS m (one, place)
  LEFT JOIN annotation_continuation c ON c.dialogue_id = d.id AND c.key = m.one->>0
  LEFT JOIN annotation_turn t ON t.continuation_id = c.id AND t.position = (m.one->>1)::int
 WHERE l.members IS NOT NULL
"""

WRONG = """
SELECT l.n, l.line, l.field, coalesce(min(m.why),
         CASE WHEN count(*) > count(DISTINCT (m.continuation_id, m.turn_id))
                THEN 'the same is compared with itself: ' || min(m.continuation)
              WHEN count(m.turn_id) NOT IN (0, count(*))
                THEN 'some are turns and some are whole continuations'
              WHEN count(DISTINCT coalesce(m.at, -1)) > 1 THEN 'the responses answer different points'
              WHEN count(*) NOT BETWEEN 2 AND 10 THEN 'from 2 to 10 can be compared' END) AS why
  FROM import_member m JOIN import_label l ON l.n = m.n
 GROUP BY l.n, l.line, l.field
HAVING min(m.why) IS NOT NULL OR count(*) > count(DISTINCT (m.continuation_id, m.turn_id))
    OR count(m.turn_id) NOT IN (0, count(*)) OR count(DISTINCT coalesce(m.at, -1)) > 1
    OR count(*) NOT BETWEEN 2 AND 10
 ORDER BY l.n LIMIT 10000
"""

LEAVE_OUT = """
WITH wrong AS (DELETE FROM import_label WHERE n = ANY(%(rows)s) RETURNING n)
DELETE FROM import_member m USING wrong WHERE m.n = wrong.n
"""

# `own` has the number in the item of each of a label's members, in the label's order.
KEEP = """
INSERT INTO import_compared
SELECT m.n, i.id, array_agg(mm.number::int ORDER BY m.place)
  FROM (SELECT n, string_agg(continuation_id || coalesce('.' || turn_id, ''), '+'
                             ORDER BY continuation_id, turn_id) AS compared
          FROM import_member GROUP BY n) AS sets
  JOIN annotation_item i ON i.compared = sets.compared
  JOIN import_member m ON m.n = sets.n
  JOIN annotation_itemmember mm ON mm.item_id = i.id AND mm.continuation_id = m.continuation_id
   AND mm.turn_id IS NOT DISTINCT FROM m.turn_id
 GROUP BY m.n, i.id
"""
MOST = 10_000
"""Maximum number of labels without a place in one report, as in the statements."""
STAGED_MEMBERS = "SELECT n, continuation_id, turn_id FROM import_member"


def place(corpus: Corpus, faults: Faults) -> int:
    """Find the members of the staged labels and create items that the corpus lacks; return their number.

    Labels whose members cannot be compared go to `faults`. `import_compared` has the item of each other
    label.
    """
    fresh_table("import_compared", "(n bigint PRIMARY KEY, item_id bigint, own int[])")
    parameters = {"corpus": corpus.pk}
    if not derived_table("import_member", COLUMNS, FIND, parameters):
        return 0
    if wrong := fetch(WRONG):
        for _, line, field, why in wrong:
            name = f"{field.removesuffix('value')}continuations" if field.startswith("labels") else "item"
            name = field if field == "responses" else name
            faults.add(ImportProblem(why, field=name, line=line))
        execute(LEAVE_OUT, {"rows": [row[0] for row in wrong]})
    if len(wrong) == MOST:
        faults.refuse()  # there may be further faults, for which no item can be created
    item_count = fetch(MAKE.format(given=STAGED_MEMBERS), parameters)[0][0]
    if item_count >= WORTH_TELLING:
        analyse_tables(Item._meta.db_table, ItemMember._meta.db_table)
    execute(KEEP, parameters)
    analyse_tables("import_compared")
    return int(item_count)
