"""The numbers of live labels, kept by triggers that write what each statement changes."""

import django.db.models.deletion
from django.db import migrations, models

REFERENCES = """
ALTER TABLE annotation_labelcount
  ADD CONSTRAINT label_count_corpus FOREIGN KEY (corpus_id) REFERENCES annotation_corpus ON DELETE CASCADE,
  ADD CONSTRAINT label_count_question FOREIGN KEY (question_id) REFERENCES annotation_question ON DELETE CASCADE,
  ADD CONSTRAINT label_count_rater FOREIGN KEY (rater_id) REFERENCES annotation_rater ON DELETE CASCADE,
  ADD CONSTRAINT label_count_campaign FOREIGN KEY (campaign_id) REFERENCES annotation_campaign ON DELETE CASCADE;
"""

REFERENCES_BACK = """
ALTER TABLE annotation_labelcount DROP CONSTRAINT label_count_corpus, DROP CONSTRAINT label_count_question,
  DROP CONSTRAINT label_count_rater, DROP CONSTRAINT label_count_campaign;
"""

COUNTED = "corpus_id, question_id, rater_id, campaign_id, occasion"

# What is deleted together with its item, question, rater or campaign has no row to be taken off: that went too.
TRIGGERS = f"""
CREATE FUNCTION concord_count_new_labels() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO annotation_labelcount ({COUNTED}, n, missing, changes, last)
  SELECT i.corpus_id, l.question_id, l.rater_id, l.campaign_id, l.occasion,
         count(*), count(*) FILTER (WHERE l.missing <> ''), count(*), max(l.id)
    FROM fresh l JOIN annotation_item i ON i.id = l.item_id
   WHERE l.superseded_at IS NULL GROUP BY 1, 2, 3, 4, 5;
  RETURN NULL;
END $$;
CREATE TRIGGER labels_counted_new AFTER INSERT ON annotation_label
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_count_new_labels();

CREATE FUNCTION concord_count_changed_labels() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO annotation_labelcount ({COUNTED}, n, missing, changes, last)
  SELECT i.corpus_id, l.question_id, l.rater_id, l.campaign_id, l.occasion, sum(l.sign),
         coalesce(sum(l.sign) FILTER (WHERE l.missing <> ''), 0), count(*), max(l.id)
    FROM (SELECT -1 AS sign, o.* FROM gone o WHERE o.superseded_at IS NULL
          UNION ALL SELECT 1, f.* FROM fresh f WHERE f.superseded_at IS NULL) l
    JOIN annotation_item i ON i.id = l.item_id GROUP BY 1, 2, 3, 4, 5;
  RETURN NULL;
END $$;
CREATE TRIGGER labels_counted_changed AFTER UPDATE ON annotation_label
  REFERENCING OLD TABLE AS gone NEW TABLE AS fresh FOR EACH STATEMENT
  EXECUTE FUNCTION concord_count_changed_labels();

CREATE FUNCTION concord_count_gone_labels() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO annotation_labelcount ({COUNTED}, n, missing, changes, last)
  SELECT i.corpus_id, l.question_id, l.rater_id, l.campaign_id, l.occasion,
         -count(*), -count(*) FILTER (WHERE l.missing <> ''), count(*), max(l.id)
    FROM gone l JOIN annotation_item i ON i.id = l.item_id
    JOIN annotation_corpus c ON c.id = i.corpus_id
    JOIN annotation_question q ON q.id = l.question_id
    JOIN annotation_rater r ON r.id = l.rater_id
    LEFT JOIN annotation_campaign g ON g.id = l.campaign_id
   WHERE l.superseded_at IS NULL AND (l.campaign_id IS NULL OR g.id IS NOT NULL) GROUP BY 1, 2, 3, 4, 5;
  RETURN NULL;
END $$;
CREATE TRIGGER labels_counted_gone AFTER DELETE ON annotation_label
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION concord_count_gone_labels();
"""

TRIGGERS_BACK = """
DROP TRIGGER labels_counted_new ON annotation_label;
DROP TRIGGER labels_counted_changed ON annotation_label;
DROP TRIGGER labels_counted_gone ON annotation_label;
DROP FUNCTION concord_count_new_labels, concord_count_changed_labels, concord_count_gone_labels;
"""

FILL = f"""
INSERT INTO annotation_labelcount ({COUNTED}, n, missing, changes, last)
SELECT i.corpus_id, l.question_id, l.rater_id, l.campaign_id, l.occasion,
       count(*), count(*) FILTER (WHERE l.missing <> ''), count(*), max(l.id)
  FROM annotation_label l JOIN annotation_item i ON i.id = l.item_id
 WHERE l.superseded_at IS NULL GROUP BY 1, 2, 3, 4, 5
"""


def reference(model, **options):
    return models.ForeignKey(
        to=f"annotation.{model}",
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        **options,
    )


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0003_import_jobs'),
    ]

    operations = [
        migrations.CreateModel(
            name='LabelCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('corpus', reference("corpus")),
                ('question', reference("question", db_index=False)),
                ('rater', reference("rater", db_index=False)),
                ('campaign', reference("campaign", null=True, db_index=False)),
                ('occasion', models.CharField(choices=[('imported', 'Imported'), ('main', 'Main'), ('training', 'Training'), ('qualification', 'Qualification'), ('check', 'Check'), ('repeat', 'Repeat'), ('adjudication', 'Adjudication')], max_length=20)),
                ('n', models.BigIntegerField()),
                ('missing', models.BigIntegerField()),
                ('changes', models.BigIntegerField()),
                ('last', models.BigIntegerField()),
            ],
        ),
        migrations.RunSQL(REFERENCES, REFERENCES_BACK),
        migrations.RunSQL(TRIGGERS, TRIGGERS_BACK),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
