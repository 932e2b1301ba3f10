"""Dialogues have a part, items know whether they are of training, and labels are counted by that."""

from django.db import migrations, models

KEPT = """
CREATE FUNCTION concord_keep_part() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'dialogue %: its part is the one that it came with', OLD.id USING ERRCODE = '23514';
END $$;
CREATE TRIGGER dialogue_keeps_part BEFORE UPDATE OF part ON annotation_dialogue
  FOR EACH ROW WHEN (OLD.part IS DISTINCT FROM NEW.part) EXECUTE FUNCTION concord_keep_part();
"""
NOT_KEPT = """
DROP TRIGGER dialogue_keeps_part ON annotation_dialogue;
DROP FUNCTION concord_keep_part;
"""

ITEMS_BEFORE = """
CREATE OR REPLACE FUNCTION concord_check_items() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad bigint;
BEGIN
  SELECT i.id INTO bad FROM changed i JOIN annotation_turn t ON t.id = i.turn_id
   WHERE t.given OR t.continuation_id <> i.continuation_id LIMIT 1;
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION 'item %: its turn is given or of another continuation', bad USING ERRCODE = '23514';
  END IF;
  SELECT i.id INTO bad FROM changed i JOIN annotation_continuation c ON c.id = i.continuation_id
    JOIN annotation_dialogue d ON d.id = c.dialogue_id WHERE d.corpus_id <> i.corpus_id LIMIT 1;
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION 'item %: its continuation is of another corpus', bad USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
"""
ITEMS = ITEMS_BEFORE.replace(
    "WHERE d.corpus_id <> i.corpus_id LIMIT 1",
    "WHERE d.corpus_id <> i.corpus_id OR i.training <> (d.part = 'training') LIMIT 1",
).replace("is of another corpus", "is of another corpus, or one of the two is in training")

COUNTED = "corpus_id, question_id, rater_id, campaign_id, occasion, training"
COLUMNS = "i.corpus_id, l.question_id, l.rater_id, l.campaign_id, l.occasion, i.training"
LIVE = "count(*), count(*) FILTER (WHERE l.missing <> ''), count(*), max(l.id)"
COUNTS = f"""
CREATE OR REPLACE FUNCTION concord_count_new_labels() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO annotation_labelcount ({COUNTED}, n, missing, changes, last)
  SELECT {COLUMNS}, {LIVE}
    FROM fresh l JOIN annotation_item i ON i.id = l.item_id
   WHERE l.superseded_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION concord_count_changed_labels() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO annotation_labelcount ({COUNTED}, n, missing, changes, last)
  SELECT {COLUMNS}, sum(l.sign),
         coalesce(sum(l.sign) FILTER (WHERE l.missing <> ''), 0), count(*), max(l.id)
    FROM (SELECT -1 AS sign, o.* FROM gone o WHERE o.superseded_at IS NULL
          UNION ALL SELECT 1, f.* FROM fresh f WHERE f.superseded_at IS NULL) l
    JOIN annotation_item i ON i.id = l.item_id GROUP BY 1, 2, 3, 4, 5, 6;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION concord_count_gone_labels() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO annotation_labelcount ({COUNTED}, n, missing, changes, last)
  SELECT {COLUMNS}, -count(*), -count(*) FILTER (WHERE l.missing <> ''), count(*), max(l.id)
    FROM gone l JOIN annotation_item i ON i.id = l.item_id
    JOIN annotation_corpus c ON c.id = i.corpus_id
    JOIN annotation_question q ON q.id = l.question_id
    JOIN annotation_rater r ON r.id = l.rater_id
    LEFT JOIN annotation_campaign g ON g.id = l.campaign_id
   WHERE l.superseded_at IS NULL AND (l.campaign_id IS NULL OR g.id IS NOT NULL) GROUP BY 1, 2, 3, 4, 5, 6;
  RETURN NULL;
END $$;
"""
COUNTS_BEFORE = (
    COUNTS.replace(", training,", ",").replace(", i.training", "").replace(", 5, 6", ", 5").replace("occasion, training", "occasion")
)

OF_TRAINING = "(SELECT corpus_id FROM annotation_dialogue WHERE part = 'training')"
FILL = f"""
UPDATE annotation_dialogue SET part = CASE lower(btrim(metadata->>'part'))
    WHEN 'evaluation' THEN 'evaluation' ELSE 'training' END
 WHERE lower(btrim(metadata->>'part')) IN ('train', 'training', 'evaluation');
UPDATE annotation_item i SET training = true
  FROM annotation_continuation c JOIN annotation_dialogue d ON d.id = c.dialogue_id
 WHERE c.id = i.continuation_id AND d.part = 'training';
DELETE FROM annotation_labelcount WHERE corpus_id IN {OF_TRAINING};
INSERT INTO annotation_labelcount ({COUNTED}, n, missing, changes, last)
SELECT {COLUMNS}, {LIVE}
  FROM annotation_label l JOIN annotation_item i ON i.id = l.item_id
 WHERE l.superseded_at IS NULL AND i.corpus_id IN {OF_TRAINING} GROUP BY 1, 2, 3, 4, 5, 6;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0028_join_proof'),
    ]

    operations = [
        migrations.AddField(
            model_name='dialogue',
            name='part',
            field=models.CharField(blank=True, choices=[('', 'Not in a part'), ('training', 'Training'), ('evaluation', 'Evaluation')], db_default='', default='', max_length=10),
        ),
        migrations.AddField(
            model_name='item',
            name='training',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='labelcount',
            name='training',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name='dialogue',
            index=models.Index(condition=models.Q(('part', ''), _negated=True), fields=['corpus', 'part'], name='dialogue_of_part'),
        ),
        migrations.AddConstraint(
            model_name='dialogue',
            constraint=models.CheckConstraint(condition=models.Q(('part__in', ['', 'training', 'evaluation'])), name='dialogue_part_known'),
        ),
        migrations.RunSQL(ITEMS, ITEMS_BEFORE),
        migrations.RunSQL(COUNTS, COUNTS_BEFORE),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.RunSQL(KEPT, NOT_KEPT),
    ]
