"""How a campaign assigns work: raters that differ by task, a drawn sample, order, limits, deadline, archive."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

RATERS_OF_TASKS = """
UPDATE annotation_task t SET raters = c.raters_per_item FROM annotation_campaign c WHERE c.id = t.campaign_id;
"""

RATERS = """
CREATE OR REPLACE FUNCTION concord_check_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_task WHERE id = NEW.task_id AND NEW.number BETWEEN 1 AND raters;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'slot % of task %: the task has fewer raters', NEW.number, NEW.task_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER slots_within_raters ON annotation_slot;
CREATE TRIGGER slots_within_raters BEFORE INSERT OR UPDATE OF number, task_id ON annotation_slot
  FOR EACH ROW EXECUTE FUNCTION concord_check_slot();

CREATE FUNCTION concord_check_task_raters() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
  PERFORM 1 FROM annotation_campaign WHERE id IN (SELECT campaign_id FROM fresh) ORDER BY id FOR SHARE;
  SELECT t.id, t.raters INTO bad FROM fresh t JOIN annotation_campaign c ON c.id = t.campaign_id
   WHERE t.raters <> c.raters_per_item AND t.raters IS DISTINCT FROM c.overlap_raters LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'task %: % raters are not what its campaign asks for', bad.id, bad.raters
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER tasks_have_raters AFTER INSERT ON annotation_task
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_check_task_raters();
CREATE TRIGGER tasks_change_raters AFTER UPDATE ON annotation_task
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_check_task_raters();

CREATE FUNCTION concord_refuse_fewer_raters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'annotation_campaign' THEN
    PERFORM 1 FROM annotation_task WHERE campaign_id = OLD.id LIMIT 1;
    IF NOT FOUND THEN RETURN NULL; END IF;
  END IF;
  RAISE EXCEPTION '% %: its raters never become fewer', TG_TABLE_NAME, OLD.id USING ERRCODE = '23514';
END $$;
CREATE TRIGGER tasks_keep_raters AFTER UPDATE OF raters ON annotation_task
  FOR EACH ROW WHEN (NEW.raters < OLD.raters) EXECUTE FUNCTION concord_refuse_fewer_raters();
CREATE TRIGGER campaigns_keep_raters AFTER UPDATE OF raters_per_item, overlap_raters ON annotation_campaign
  FOR EACH ROW WHEN (NEW.raters_per_item < OLD.raters_per_item
    OR coalesce(NEW.overlap_raters, 0) < coalesce(OLD.overlap_raters, 0))
  EXECUTE FUNCTION concord_refuse_fewer_raters();
"""

RATERS_BACK = """
DROP TRIGGER tasks_have_raters ON annotation_task;
DROP TRIGGER tasks_change_raters ON annotation_task;
DROP TRIGGER tasks_keep_raters ON annotation_task;
DROP TRIGGER campaigns_keep_raters ON annotation_campaign;
DROP FUNCTION concord_check_task_raters, concord_refuse_fewer_raters;
DROP TRIGGER slots_within_raters ON annotation_slot;
CREATE OR REPLACE FUNCTION concord_check_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_campaign WHERE id = NEW.campaign_id AND NEW.number BETWEEN 1 AND raters_per_item;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'slot % of task %: the campaign has fewer raters per item', NEW.number, NEW.task_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER slots_within_raters BEFORE INSERT OR UPDATE OF number, campaign_id ON annotation_slot
  FOR EACH ROW EXECUTE FUNCTION concord_check_slot();
"""

SAMPLE = """
CREATE FUNCTION concord_keep_sample() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_campaign c JOIN annotation_dialogue d ON d.corpus_id = c.corpus_id
    WHERE c.id = NEW.campaign_id AND c.state = 'draft' AND d.id = NEW.dialogue_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'sample of campaign %: it is drawn once, before the campaign opens, from its corpus',
      NEW.campaign_id USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER sample_drawn_once BEFORE INSERT OR UPDATE ON annotation_sampleddialogue
  FOR EACH ROW EXECUTE FUNCTION concord_keep_sample();
"""

SAMPLE_BACK = """
DROP TRIGGER sample_drawn_once ON annotation_sampleddialogue;
DROP FUNCTION concord_keep_sample;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0012_own_schemes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SampledDialogue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stratum', models.TextField(blank=True, default='')),
            ],
        ),
        migrations.AddField(
            model_name='campaign',
            name='archived_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='campaign',
            name='deadline',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='campaign',
            name='most_tasks',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='campaign',
            name='most_tasks_a_day',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='campaign',
            name='overlap_raters',
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='campaign',
            name='overlap_share',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='campaign',
            name='overlap_tasks',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='campaign',
            name='sample_by',
            field=models.CharField(blank=True, db_default='', default='', max_length=120),
        ),
        migrations.AddField(
            model_name='campaign',
            name='sample_dialogues',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='campaign',
            name='task_order',
            field=models.CharField(choices=[('drawn', 'The same for everybody, drawn from the seed'), ('own', 'Everybody in an order of their own'), ('fixed', 'As the dialogues lie in the corpus')], db_default='drawn', default='drawn', max_length=10),
        ),
        migrations.AddField(
            model_name='campaignmember',
            name='done_on',
            field=models.DateField(null=True),
        ),
        migrations.AddField(
            model_name='campaignmember',
            name='done_today',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='task',
            name='raters',
            field=models.PositiveSmallIntegerField(db_default=1, default=1),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(('archived_at__isnull', True), ('state__in', ['draft', 'closed']), _connector='OR'), name='campaign_archived_is_at_rest'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('overlap_raters__isnull', True), ('overlap_share__isnull', True), ('overlap_tasks__isnull', True)), models.Q(('overlap_raters__gt', models.F('raters_per_item')), ('overlap_raters__isnull', False), models.Q(models.Q(('overlap_share__gt', 0), ('overlap_share__isnull', False), ('overlap_share__lte', 1), ('overlap_tasks__isnull', True)), models.Q(('overlap_share__isnull', True), ('overlap_tasks__gte', 1), ('overlap_tasks__isnull', False)), _connector='OR')), _connector='OR'), name='campaign_overlap_whole'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(('task_order__in', ['drawn', 'own', 'fixed'])), name='campaign_order_known'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('sample_by', ''), ('sample_dialogues__isnull', True)), models.Q(('sample_dialogues__gte', 1), ('sample_dialogues__isnull', False)), _connector='OR'), name='campaign_sample_whole'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('most_tasks__isnull', True), ('most_tasks__gte', 1), _connector='OR'), models.Q(('most_tasks_a_day__isnull', True), ('most_tasks_a_day__gte', 1), _connector='OR')), name='campaign_limits_allow_work'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('raters__gte', 1)), name='task_has_raters'),
        ),
        migrations.AddField(
            model_name='sampleddialogue',
            name='campaign',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='sampled', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='sampleddialogue',
            name='dialogue',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.dialogue'),
        ),
        migrations.AddConstraint(
            model_name='sampleddialogue',
            constraint=models.UniqueConstraint(fields=('campaign', 'dialogue'), name='dialogue_drawn_once'),
        ),
        migrations.RunSQL(RATERS_OF_TASKS, migrations.RunSQL.noop),
        migrations.RunSQL(RATERS, RATERS_BACK),
        migrations.RunSQL(SAMPLE, SAMPLE_BACK),
    ]
