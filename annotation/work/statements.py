"""The statements behind the hot path of annotators: one round trip each, and the locks they take."""

# A task about turns and about the whole has the whole last; one with responses side by side has each of them,
# in the order drawn for the annotator.
WORK = """
SELECT a.id, a.campaign_id, a.task_id, a.state, a.occasion, a.revision, a.written_by,
       CASE WHEN t.item_id IS NOT NULL THEN ARRAY(
         SELECT ARRAY[i.public, i.id] FROM annotation_item i
          WHERE i.id = t.item_id AND i.kind = ANY(%(kinds)s::text[])
         UNION ALL (SELECT ARRAY[i.public, i.id] FROM annotation_itemmember m
           JOIN annotation_item i ON i.turn_id = m.turn_id AND i.kind = ANY(%(kinds)s::text[])
          WHERE m.item_id = t.item_id ORDER BY array_position(a.shown, m.number))) ELSE ARRAY(
         SELECT ARRAY[i.public, i.id] FROM annotation_item i LEFT JOIN annotation_turn u ON u.id = i.turn_id
          WHERE i.continuation_id = t.continuation_id AND i.kind = ANY(%(kinds)s::text[])
          ORDER BY u.position NULLS LAST) END,
       (SELECT r.id FROM annotation_rater r WHERE r.user_id = a.user_id), a.slot_id IS NULL, a.round, a.shown
  FROM annotation_assignment a JOIN annotation_task t ON t.id = a.task_id
 WHERE a.id = %(assignment)s AND a.user_id = %(user)s AND a.campaign_id = %(campaign)s FOR UPDATE OF a
"""

# Training and tests (`counts` is 0) are not among the tasks done.
# What a client told last of its attention to a task never falls: drafts may come late, or twice.
FINISH = """
WITH finished AS (
  UPDATE annotation_assignment a SET state = 'submitted', submitted_at = now(), draft = '{}',
         revision = revision + 1, written_by = '', comment = %(comment)s, flagged = %(flagged)s,
         attention = CASE WHEN %(attention)s::bigint = 0 THEN a.attention ELSE a.attention ||
         jsonb_build_object(%(client)s::text, greatest(
           %(attention)s::bigint, (a.attention->>%(client)s::text)::bigint)) END
   WHERE id = %(assignment)s RETURNING least(%(ceiling)s, coalesce(
     (SELECT sum(value::bigint) / 1000.0 FROM jsonb_each_text(a.attention)),
     extract(epoch FROM now() - leased_at))) AS seconds)
UPDATE annotation_campaignmember m
   SET done = m.done + %(counts)s, done_on = (now() AT TIME ZONE 'UTC')::date,
       done_today = %(counts)s
         + CASE WHEN m.done_on = (now() AT TIME ZONE 'UTC')::date THEN m.done_today ELSE 0 END,
       pace = coalesce(0.8 * m.pace + 0.2 * finished.seconds, finished.seconds)
  FROM finished WHERE m.id = %(member)s RETURNING m.done, m.pace, m.done_today
"""

DRAFT = """
UPDATE annotation_assignment a
   SET attention = CASE WHEN %(attention)s::bigint = 0 THEN a.attention ELSE a.attention ||
         jsonb_build_object(%(client)s::text, greatest(
           %(attention)s::bigint, (a.attention->>%(client)s::text)::bigint)) END,
       draft = %(draft)s::jsonb, draft_saved_at = now(), revision = %(version)s, written_by = %(client)s,
       lease_expires = CASE WHEN a.state = 'leased' THEN now() + make_interval(mins => c.lease_minutes)
                            ELSE a.lease_expires END
  FROM annotation_campaign c
 WHERE a.id = %(assignment)s AND a.user_id = %(user)s AND a.campaign_id = %(campaign)s
   AND c.id = a.campaign_id
   AND (a.state <> 'submitted' OR %(revising)s) AND a.state <> 'voided'
   AND a.revision < %(version)s
   AND (a.written_by = %(client)s OR a.revision = %(based_on)s::bigint OR a.revision = 0)
RETURNING a.state
"""
