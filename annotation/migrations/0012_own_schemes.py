"""Schemes of one's own: bounds of open numbers, which the database checks at every label, too."""

from django.db import migrations, models

LABELS = """
CREATE OR REPLACE FUNCTION concord_check_labels() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
  SELECT l.item_id, q.key, l.number, l.text,
         CASE WHEN v.item_kind <> i.kind THEN 'the question is made for ' || v.item_kind || ' items'
              WHEN r.corpus_id IS NOT NULL AND r.corpus_id <> i.corpus_id THEN 'the rater is of another corpus'
              WHEN c.id IS NOT NULL AND c.corpus_id <> i.corpus_id THEN 'the campaign is of another corpus'
              WHEN l.assignment_id IS NOT NULL AND (a.campaign_id IS DISTINCT FROM l.campaign_id
                   OR t.continuation_id <> i.continuation_id OR r.user_id IS DISTINCT FROM a.user_id)
                THEN 'the assignment is about something else'
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
   WHERE v.item_kind <> i.kind
      OR (r.corpus_id IS NOT NULL AND r.corpus_id <> i.corpus_id)
      OR (c.id IS NOT NULL AND c.corpus_id <> i.corpus_id)
      OR (l.assignment_id IS NOT NULL AND (a.campaign_id IS DISTINCT FROM l.campaign_id
          OR t.continuation_id <> i.continuation_id OR r.user_id IS DISTINCT FROM a.user_id))
      OR (l.number IS NOT NULL AND (q.level IN ('nominal', 'text')
          OR (jsonb_array_length(q.values) > 0 AND NOT q.values @> to_jsonb(l.number))))
      OR (l.text IS NOT NULL AND (q.level NOT IN ('nominal', 'text')
          OR (q.level = 'nominal' AND jsonb_array_length(q.values) > 0 AND NOT q.values @> to_jsonb(l.text))))<bounds>
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

BOUNDS = """
      OR (l.number IS NOT NULL AND (l.number < q.minimum OR l.number > q.maximum
          OR (q.whole AND l.number <> trunc(l.number))))"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0011_consent_and_attention")]

    operations = [
        migrations.AddField("question", "minimum", models.FloatField(null=True)),
        migrations.AddField("question", "maximum", models.FloatField(null=True)),
        migrations.AddField("question", "whole", models.BooleanField(db_default=False, default=False)),
        migrations.AddField("scheme", "own", models.BooleanField(db_default=False, default=False)),
        migrations.AddField("scheme", "archived_at", models.DateTimeField(null=True)),
        migrations.AddField("schemeversion", "about_open", models.BooleanField(db_default=False, default=False)),
        migrations.AddField(
            "schemeversion", "one_conversation", models.BooleanField(db_default=False, default=False)
        ),
        migrations.RunSQL(LABELS.replace("<bounds>", BOUNDS), LABELS.replace("<bounds>", "")),
    ]
