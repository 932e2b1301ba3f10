"""Where a screen comes from: the queries of a task's head and of its turns, prepared for every connection."""

from __future__ import annotations

from typing import NamedTuple

from annotation.kinds import KINDS
from annotation.kinds.answer import ANSWER
from annotation.kinds.decision import DECISION
from annotation.kinds.fact import FACT


class Head(NamedTuple):
    """A task's continuation and dialogue; participants, metadata, agenda and what is shown as JSON texts.

    `systems` are all of the corpus, `conditions` (JSON) those of the dialogue's continuations, `compared` is
    the item's id where it compares several. Of a decision, `scenario` (JSON) is what it is about, and `key`
    its continuation's. Of what is about a script, `script` (JSON) has its sessions, and `record` (JSON) is
    the fact or question; of a fact, `relations` (JSON) are those of the corpus's own table. `kind` is the
    item's. `sessions` (JSON) are those of a script, whatever is asked about.
    """

    item: int | None
    turn: int | None
    continuation: int
    mode: str
    dialogue: int
    participants: str
    metadata: str
    summary: str
    agenda: str | None
    language: str
    shows: str
    systems: list[str]
    conditions: str
    whole: bool
    compared: int | None = None
    scenario: str | None = None
    key: str = ""
    kind: str | None = None
    script: str | None = None
    record: str | None = None
    relations: str | None = None
    sessions: str | None = None


WHOLE = ", ".join(f"'{key}'" for key, kind in KINDS.items() if kind.shows == "whole")

HEAD_OF = f"""
SELECT i.public, u.position, c.id, c.mode, d.id, d.participants, d.metadata, d.summary, d.agenda, d.language,
       k.shows, ARRAY(SELECT s.name FROM annotation_system s WHERE s.corpus_id = d.corpus_id ORDER BY s.name),
       (SELECT coalesce(jsonb_agg(DISTINCT o.condition), '[]')
          FROM annotation_continuation o WHERE o.dialogue_id = d.id),
       coalesce(i.kind IN ({WHOLE}), false), CASE WHEN i.compared IS NOT NULL THEN i.id END,
       CASE WHEN i.kind = '{DECISION.key}' THEN d.scenario END, c.key, i.kind,
       CASE WHEN i.record_id IS NOT NULL OR i.kind = '{ANSWER.key}' THEN d.script END,
       (SELECT w.content FROM annotation_record w WHERE w.id = i.record_id),
       CASE WHEN i.kind = '{FACT.key}' THEN (SELECT jsonb_path_query_array(r.rows, '$[*].key')
         FROM annotation_relationrows r WHERE r.corpus_id = d.corpus_id ORDER BY r.version DESC LIMIT 1) END,
       d.script -> 'sessions'
  FROM <source>
  JOIN annotation_continuation c ON c.id = t.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
  LEFT JOIN annotation_item i ON i.id = t.item_id
  LEFT JOIN annotation_turn u ON u.id = i.turn_id
"""  # noqa: S608  (keys of ours)

TASK = "annotation_task t JOIN annotation_campaign k ON k.id = t.campaign_id"
HEAD = HEAD_OF.replace("<source>", TASK) + " WHERE t.id = %s"

PLACE = """(SELECT %s::bigint AS continuation_id, %s::bigint AS item_id) t
 CROSS JOIN (SELECT %s::jsonb AS shows) k"""
HEAD_OF_PLACE = HEAD_OF.replace("<source>", PLACE)

TURNS = """
SELECT u.continuation_id <> %(continuation)s, u.position, u.speaker, u.text, u.given, u.at, i.public, u.extra,
       u.id
  FROM annotation_turn u LEFT JOIN annotation_item i ON i.turn_id = u.id
 WHERE (u.continuation_id = %(continuation)s AND u.position <= %(last)s)
    OR u.continuation_id = (SELECT o.id FROM annotation_continuation o WHERE o.dialogue_id = %(dialogue)s
                             AND o.key = 'self' AND o.id <> %(continuation)s)
 ORDER BY u.position
"""

# Of a script: the dialogue's own turns of some sessions; of an answer, also its turn with what was asked.
OF_SESSIONS = """
SELECT true, u.position, u.speaker, u.text, u.given, u.at, NULL::bigint, u.extra, u.id
  FROM annotation_turn u JOIN annotation_continuation o ON o.id = u.continuation_id
 WHERE o.dialogue_id = %(dialogue)s AND o.key = 'self' AND u.extra ? 'session'
   AND (u.extra ->> 'session') = ANY(%(sessions)s::text[])
 ORDER BY u.position
"""
OF_ANSWER = """
SELECT false, u.position, u.speaker, u.text, u.given, u.at, i.public, u.extra, u.id
  FROM annotation_turn u LEFT JOIN annotation_item i ON i.turn_id = u.id
 WHERE u.continuation_id = %(continuation)s AND u.position IN (%(last)s::int - 1, %(last)s::int)
 ORDER BY u.position
"""

NO_LAST = 2**31 - 1
TURN = "turn"

# The dialogue's own turns (no member), then those of the members in the order that was drawn, else their own.
COMPARED = """
SELECT NULL AS place, NULL, NULL, NULL, u.position, u.speaker, u.text, u.given, u.at, u.extra, u.id
  FROM annotation_turn u JOIN annotation_continuation o ON o.id = u.continuation_id
 WHERE o.dialogue_id = %(dialogue)s AND o.key = 'self'
UNION ALL
SELECT coalesce(array_position((SELECT a.shown FROM annotation_assignment a WHERE a.id = %(assignment)s),
                               m.number), m.number + 1),
       c.mode, m.turn_id IS NOT NULL, i.public, u.position, u.speaker, u.text, u.given, u.at, u.extra, u.id
  FROM annotation_itemmember m
  JOIN annotation_continuation c ON c.id = m.continuation_id
  LEFT JOIN annotation_turn last ON last.id = m.turn_id
  LEFT JOIN annotation_item i ON i.turn_id = m.turn_id AND %(each)s
  JOIN annotation_turn u ON u.continuation_id = c.id AND u.position <= coalesce(last.position, %(last)s)
 WHERE m.item_id = %(item)s
 ORDER BY place NULLS FIRST, position
"""
