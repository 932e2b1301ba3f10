"""Screens with several kinds of items: questions may be about the whole dialogue beside its turns, and the
responses to one point may stand beside each other, each an item of its own."""

from django.db import migrations, models

LABELS = """
CREATE OR REPLACE FUNCTION concord_check_labels() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
  SELECT l.item_id, q.key, l.number, l.text,
         CASE WHEN <kind> <> i.kind THEN 'the question is made for ' || <kind> || ' items'
              WHEN r.corpus_id IS NOT NULL AND r.corpus_id <> i.corpus_id THEN 'the rater is of another corpus'
              WHEN c.id IS NOT NULL AND c.corpus_id <> i.corpus_id THEN 'the campaign is of another corpus'
              WHEN l.assignment_id IS NOT NULL AND (a.campaign_id IS DISTINCT FROM l.campaign_id
                   OR <elsewhere>
                   OR r.user_id IS DISTINCT FROM a.user_id)
                THEN 'the assignment is about something else'
              WHEN l.shown IS NOT NULL AND NOT concord_is_order(l.shown, l.item_id)
                OR l.assignment_id IS NOT NULL AND l.shown IS DISTINCT FROM <shown>
                THEN 'it was not shown in this order'
              ELSE 'the value is not on the scale' END AS why
    INTO bad
    FROM fresh l
    JOIN annotation_item i ON i.id = l.item_id
    JOIN annotation_question q ON q.id = l.question_id
    JOIN annotation_schemeversion v ON v.id = q.version_id
    JOIN annotation_rater r ON r.id = l.rater_id
    LEFT JOIN annotation_campaign c ON c.id = l.campaign_id
    LEFT JOIN annotation_assignment a ON a.id = l.assignment_id
    LEFT JOIN annotation_task t ON t.id = a.task_id
   WHERE <kind> <> i.kind
      OR (r.corpus_id IS NOT NULL AND r.corpus_id <> i.corpus_id)
      OR (c.id IS NOT NULL AND c.corpus_id <> i.corpus_id)
      OR (l.assignment_id IS NOT NULL AND (a.campaign_id IS DISTINCT FROM l.campaign_id
          OR <elsewhere>
                   OR r.user_id IS DISTINCT FROM a.user_id))
      OR (l.number IS NOT NULL AND (q.level IN ('nominal', 'text', 'ranking')
          OR (jsonb_array_length(q.values) > 0 AND NOT q.values @> to_jsonb(l.number))))
      OR (l.text IS NOT NULL AND (q.level NOT IN ('nominal', 'text', 'ranking')
          OR (q.level = 'nominal' AND jsonb_array_length(q.values) > 0 AND NOT q.values @> to_jsonb(l.text))))
      OR (l.number IS NOT NULL AND (l.number < q.minimum OR l.number > q.maximum
          OR (q.whole AND l.number <> trunc(l.number))))
      OR (q.level = 'ranking' AND l.text IS NOT NULL AND NOT concord_is_ranking(l.text, l.item_id))
      OR (l.shown IS NOT NULL AND NOT concord_is_order(l.shown, l.item_id))
      OR (l.assignment_id IS NOT NULL AND l.shown IS DISTINCT FROM <shown>)
   LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'label of item %, question %, value %: %', bad.item_id, bad.key,
      coalesce(bad.number::text, bad.text, 'missing'), bad.why USING ERRCODE = '23514';
  END IF;
  UPDATE annotation_schemeversion SET frozen_at = now() WHERE frozen_at IS NULL AND id IN
    (SELECT q.version_id FROM fresh l JOIN annotation_question q ON q.id = l.question_id);
  UPDATE annotation_guidelines SET frozen_at = now() WHERE frozen_at IS NULL AND id IN
    (SELECT a.guidelines_id FROM fresh l JOIN annotation_assignment a ON a.id = l.assignment_id);
  RETURN NULL;
END $$;
"""

BEFORE = {
    "kind": "v.item_kind",
    "elsewhere": "t.continuation_id <> i.continuation_id OR t.item_id <> i.id",
    "shown": "a.shown",
}
# Of a task that shows responses beside each other, the answers are about these, and the order is its own.
NOW = {
    "kind": "coalesce(nullif(q.item_kind, ''), v.item_kind)",
    "elsewhere": """(t.continuation_id <> i.continuation_id OR t.item_id <> i.id) AND NOT EXISTS (
            SELECT 1 FROM annotation_itemmember m WHERE m.item_id = t.item_id AND m.turn_id = i.turn_id)""",
    "shown": "CASE WHEN i.compared IS NOT NULL THEN a.shown END",
}


def labels(pieces):
    """Return the check of labels with these pieces in it."""
    text = LABELS
    for name, piece in pieces.items():
        text = text.replace(f"<{name}>", piece)
    return text


class Migration(migrations.Migration):
    dependencies = [("annotation", "0020_giving_work_out")]

    operations = [
        migrations.AddField(
            "question", "item_kind", models.CharField(blank=True, db_default="", default="", max_length=10)
        ),
        migrations.AddConstraint(
            "question",
            models.CheckConstraint(
                condition=models.Q(("item_kind__in", ["", "dialogue"])), name="question_kind_known"
            ),
        ),
        migrations.AddField(
            "campaign", "side_by_side", models.BooleanField(db_default=False, default=False)
        ),
        migrations.RunSQL(labels(NOW), labels(BEFORE)),
    ]
