"""The statements by which work is handed out: a seat, a claim, a lease, and what gives a slot back.

Each is one round trip. Whatever walks over slots goes by an index and stops at the first that fits.
"""

SEAT = """
SELECT c.id, c.name, c.state, c.occasion, c.scheme_version_id, c.lease_minutes,
       (SELECT max(g.id) FROM annotation_guidelines g WHERE g.campaign_id = c.id),
       m.id, m.user_id, m.cursor, m.done, m.pace,
       (SELECT count(*) FROM annotation_assignment a
         WHERE a.campaign_id = c.id AND a.user_id = m.user_id AND a.state = 'returned'),
       (SELECT count(*) FROM annotation_assignment a
         WHERE a.campaign_id = c.id AND a.user_id = m.user_id AND a.state = 'leased'),
       c.deadline, coalesce(c.deadline <= now(), false), c.most_tasks, c.most_tasks_a_day,
       CASE WHEN m.done_on = (now() AT TIME ZONE 'UTC')::date THEN m.done_today ELSE 0 END,
       c.task_order = 'own',
       (SELECT k.id FROM annotation_consent k
         WHERE k.id = (SELECT max(o.id) FROM annotation_consent o WHERE o.campaign_id = c.id) AND k.text <> ''
           AND NOT EXISTS (SELECT 1 FROM annotation_consentgiven w
                            WHERE w.consent_id = k.id AND w.user_id = m.user_id)),
       (SELECT max(g.id) FROM annotation_guidelines g JOIN annotation_guidelinesread r
             ON r.guidelines_id = g.id WHERE g.campaign_id = c.id AND r.user_id = m.user_id),
       EXISTS (SELECT 1 FROM annotation_checkplan p WHERE p.campaign_id = c.id),
       c.ruled,
       c.revise_hours, c.unseen_check,
       EXISTS (SELECT 1 FROM annotation_turnnote n WHERE n.campaign_id = c.id AND n.user_id = m.user_id
                AND n.superseded_at IS NULL)
       OR EXISTS (SELECT 1 FROM annotation_bookmark b WHERE b.campaign_id = c.id AND b.user_id = m.user_id),
       EXISTS (SELECT 1 FROM annotation_thread h WHERE h.campaign_id = c.id AND h.annotator_id = m.user_id),
       least(coalesce(c.batch_size::bigint * c.batches_open, 2147483647), 2147483647)::int,
       c.batch_size IS NOT NULL AND c.next_batch = 'complete', c.balance_by <> ''
  FROM annotation_campaignmember m JOIN annotation_campaign c ON c.id = m.campaign_id
 WHERE m.campaign_id = %s AND m.user_id = %s FOR UPDATE OF m
"""

# Batches that are not open begin at `upto`.
# The state is looked up slot by slot: as a join, the planner may read all of a person's assignments.
FREE = """s.campaign_id = %(campaign)s AND NOT s.taken AND s.position < %(upto)s
     AND coalesce((SELECT a.state FROM annotation_assignment a WHERE a.task_id = s.task_id
                    AND a.user_id = %(user)s AND a.occasion = %(occasion)s), 'expired') = 'expired'"""

# In a campaign with rules: what the person passes, asked once for a claim (`passing.passes_of`).
PASSED = """(s.gate_id IS NULL OR s.gate_id = ANY(%(gates)s::bigint[])
     AND NOT EXISTS (SELECT 1 FROM annotation_taskauthor w
                      WHERE w.task_id = s.task_id AND w.name = ANY(%(names)s::text[])))"""
RULED_FREE = f"""{FREE}
     AND {PASSED}"""

CLAIM = f"""
WITH free AS (
  SELECT s.id, s.task_id, s.position FROM annotation_slot s
   WHERE {FREE} AND s.position > %(after)s
   ORDER BY s.position, s.number LIMIT 1 FOR UPDATE SKIP LOCKED),
held AS (
  INSERT INTO annotation_assignment (slot_id, task_id, campaign_id, user_id, occasion, state, lease_expires,
                                     leased_at, draft, skip_reason, comment, flagged, guidelines_id)
  SELECT free.id, free.task_id, %(campaign)s, %(user)s, %(occasion)s, 'leased',
         now() + make_interval(mins => %(minutes)s), now(), '{{}}', '', '', false, %(guidelines)s FROM free
  ON CONFLICT (task_id, user_id, occasion, round) DO UPDATE SET state = 'leased', slot_id = excluded.slot_id,
     lease_expires = excluded.lease_expires,
     leased_at = excluded.leased_at, guidelines_id = excluded.guidelines_id
  RETURNING id, task_id, state, draft || jsonb_build_object('version', revision)),
moved AS (
  UPDATE annotation_campaignmember m SET cursor = free.position FROM free WHERE m.id = %(member)s)
SELECT * FROM held
"""  # noqa: S608  (a condition of ours)

# In an order of one's own: on in the continuation at hand, else at the beginning of one further on from a
# place that is drawn. Each step is a look into an index, so it takes as long with 100 tasks as with 100,000.
AHEAD = f"""
SELECT coalesce(
  (SELECT s.position FROM annotation_slot s
    WHERE {FREE} AND s.position > %(after)s AND s.position <= (
      SELECT max(t.position) FROM annotation_task t WHERE t.campaign_id = %(campaign)s
         AND t.continuation_id = (SELECT o.continuation_id FROM annotation_task o
           WHERE o.campaign_id = %(campaign)s AND o.position = %(after)s))
    ORDER BY s.position LIMIT 1),
  (SELECT min(t.position) FROM annotation_task t WHERE t.campaign_id = %(campaign)s
      AND t.continuation_id = (SELECT o.continuation_id FROM annotation_task o
        WHERE o.campaign_id = %(campaign)s AND o.position = (
          SELECT s.position FROM annotation_slot s
           WHERE {FREE} AND s.position >= floor(%(place)s::float8 * least(%(upto)s, (
             SELECT max(l.position) + 1 FROM annotation_task l WHERE l.campaign_id = %(campaign)s)))
           ORDER BY s.position LIMIT 1))))
"""  # noqa: S608  (a condition of ours)
CLAIM_OWN = CLAIM.replace("s.position > %(after)s", f"s.position >= ({AHEAD})")

# The first slot that the person's gates leave free is looked up gate by gate in an index, so that a claim
# does not walk over the thousands of slots that are for others.
FIRST = """least(
  (SELECT min(f.position) FROM unnest(%(gates)s::bigint[]) AS open(gate) CROSS JOIN LATERAL (
     SELECT s.position FROM annotation_slot s
      WHERE s.gate_id = open.gate AND NOT s.taken AND s.position > %(after)s
      ORDER BY s.position LIMIT 1) AS f),
  (SELECT s.position FROM annotation_slot s WHERE s.campaign_id = %(campaign)s AND s.gate_id IS NULL
      AND NOT s.taken AND s.position > %(after)s ORDER BY s.position LIMIT 1))"""
CLAIM_RULED = CLAIM.replace(FREE, f"{RULED_FREE} AND s.position >= {FIRST}")
CLAIM_OWN_RULED = CLAIM_OWN.replace(FREE, RULED_FREE)

# What a researcher gave somebody waits for the task in hand, and for longer than a lease.
RESUME = """
UPDATE annotation_assignment SET lease_expires = greatest(lease_expires, now() + make_interval(mins => %s))
 WHERE id = (SELECT a.id FROM annotation_assignment a
              WHERE a.campaign_id = %s AND a.user_id = %s AND a.state = 'leased'
              ORDER BY a.given_reason <> '', a.id LIMIT 1) AND state = 'leased'
 RETURNING id, task_id, state, draft || jsonb_build_object('version', revision), given_reason
"""

RETURNED = """
SELECT id, task_id, state, draft || jsonb_build_object('version', revision), withdrawn_reason
  FROM annotation_assignment
 WHERE campaign_id = %s AND user_id = %s AND state = 'returned' ORDER BY id LIMIT 1
"""

TAKE_AGAIN = """
WITH mine AS (
  SELECT a.id, a.slot_id, a.task_id FROM annotation_assignment a
   WHERE a.campaign_id = %(campaign)s AND a.user_id = %(user)s AND a.state = 'expired'
     AND a.slot_id IS NOT NULL
     AND (a.id = %(assignment)s::bigint OR %(assignment)s::bigint IS NULL)
     AND EXISTS (SELECT 1 FROM annotation_slot s WHERE s.task_id = a.task_id AND NOT s.taken)
   ORDER BY a.leased_at DESC LIMIT 1 FOR UPDATE),
free AS (
  SELECT s.id FROM annotation_slot s JOIN mine ON mine.task_id = s.task_id
   WHERE NOT s.taken ORDER BY s.id <> mine.slot_id, s.number LIMIT 1 FOR UPDATE OF s SKIP LOCKED)
UPDATE annotation_assignment a SET state = 'leased', slot_id = free.id,
       lease_expires = now() + make_interval(mins => %(minutes)s)
  FROM mine, free WHERE a.id = mine.id
 RETURNING a.id, a.task_id, a.state, a.draft || jsonb_build_object('version', a.revision)
"""

TAKE_AGAIN_RULED = TAKE_AGAIN.replace(
    "WHERE s.task_id = a.task_id AND NOT s.taken", f"WHERE s.task_id = a.task_id AND NOT s.taken AND {PASSED}"
).replace("WHERE NOT s.taken ORDER BY", f"WHERE NOT s.taken AND {PASSED} ORDER BY")

# Who has an open slot of a task whose reserved one fell free while somebody looked at theirs moves to it.
SETTLE = """
UPDATE annotation_assignment m SET slot_id = moved.slot FROM (
  SELECT a.id, s.id AS slot FROM annotation_slot s
    JOIN annotation_gate g ON g.id = s.gate_id AND g.reserved_id IS NOT NULL
    JOIN annotation_assignment a ON a.task_id = s.task_id AND a.state IN ('leased', 'submitted', 'returned')
    JOIN annotation_slot o ON o.id = a.slot_id
    LEFT JOIN annotation_gate h ON h.id = o.gate_id
   WHERE s.campaign_id = %(campaign)s AND NOT s.taken AND h.reserved_id IS NULL
     AND concord_passes(g.id, a.user_id) AND NOT concord_wrote(a.task_id, a.user_id)
   LIMIT 1 FOR UPDATE OF s, a SKIP LOCKED) AS moved
 WHERE m.id = moved.id
"""

RETURN_EXPIRED = """
WITH late AS (
  SELECT a.id FROM annotation_assignment a JOIN annotation_campaign c ON c.id = a.campaign_id
   WHERE a.state = 'leased' AND a.lease_expires < now() AND c.state = 'open'
     AND (a.campaign_id = %(campaign)s::bigint OR %(campaign)s::bigint IS NULL)
   FOR UPDATE OF a SKIP LOCKED)
UPDATE annotation_assignment a SET state = 'expired' FROM late WHERE a.id = late.id
"""
