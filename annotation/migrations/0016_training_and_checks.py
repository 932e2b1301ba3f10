"""Training, tests, hidden checks and repeats, whose tasks stand aside from the main work."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


SUBMISSIONS = """
CREATE OR REPLACE FUNCTION concord_refuse_withdrawn_labels() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
  SELECT a.id, a.state, a.occasion, l.occasion AS given INTO bad
    FROM fresh l JOIN annotation_assignment a ON a.id = l.assignment_id
   WHERE l.superseded_at IS NULL
     AND (a.state IN ('returned', 'voided') OR a.occasion <> l.occasion) LIMIT 1;
  IF FOUND AND bad.occasion <> bad.given THEN
    RAISE EXCEPTION 'label of assignment %: its occasion is %, not %', bad.id, bad.occasion, bad.given
      USING ERRCODE = '23514';
  ELSIF FOUND THEN
    RAISE EXCEPTION 'label of assignment %: it is %', bad.id, bad.state USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
"""

SUBMISSIONS_BACK = """
CREATE OR REPLACE FUNCTION concord_refuse_withdrawn_labels() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
  SELECT a.id, a.state INTO bad FROM fresh l JOIN annotation_assignment a ON a.id = l.assignment_id
   WHERE l.superseded_at IS NULL AND a.state IN ('returned', 'voided') LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'label of assignment %: it is %', bad.id, bad.state USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
"""

# Tasks that stand aside have no slots, so how many raters a campaign has is nothing to them.
RATERS = """
CREATE OR REPLACE FUNCTION concord_check_task_raters() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
  PERFORM 1 FROM annotation_campaign WHERE id IN (SELECT campaign_id FROM fresh) ORDER BY id FOR SHARE;
  SELECT t.id, t.raters INTO bad FROM fresh t JOIN annotation_campaign c ON c.id = t.campaign_id
   WHERE {aside}t.raters <> c.raters_per_item AND t.raters IS DISTINCT FROM c.overlap_raters LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'task %: % raters are not what its campaign asks for', bad.id, bad.raters
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION concord_refuse_fewer_raters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'annotation_campaign' THEN
    PERFORM 1 FROM annotation_task WHERE campaign_id = OLD.id{too} LIMIT 1;
    IF NOT FOUND THEN RETURN NULL; END IF;
  END IF;
  RAISE EXCEPTION '% %: its raters never become fewer', TG_TABLE_NAME, OLD.id USING ERRCODE = '23514';
END $$;
"""

ASIDE = """
CREATE FUNCTION concord_check_key_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_task t WHERE t.id = NEW.task_id AND t.campaign_id = NEW.campaign_id AND t.position < 0;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'key of task %: the task is main work, or of another campaign', NEW.task_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER key_tasks_stand_aside BEFORE INSERT OR UPDATE OF task_id, campaign_id ON annotation_keytask
  FOR EACH ROW EXECUTE FUNCTION concord_check_key_task();

CREATE FUNCTION concord_check_aside() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.occasion = 'repeat' THEN
    PERFORM 1 FROM annotation_assignment a WHERE a.task_id = NEW.task_id AND a.user_id = NEW.user_id
       AND a.slot_id IS NOT NULL AND a.campaign_id = NEW.campaign_id AND a.state = 'submitted';
  ELSE
    PERFORM 1 FROM annotation_keytask k WHERE k.task_id = NEW.task_id AND k.campaign_id = NEW.campaign_id
       AND k.occasion = NEW.occasion;
  END IF;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'assignment of task %: it is nothing for a %', NEW.task_id, NEW.occasion
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER assignments_aside AFTER INSERT ON annotation_assignment
  FOR EACH ROW WHEN (NEW.slot_id IS NULL) EXECUTE FUNCTION concord_check_aside();

CREATE FUNCTION concord_check_admitted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_keytask k WHERE k.campaign_id = NEW.campaign_id AND k.retired_at IS NULL
     AND k.occasion IN ('training', 'qualification') LIMIT 1;
  IF FOUND THEN
    PERFORM 1 FROM annotation_standing s WHERE s.campaign_id = NEW.campaign_id AND s.user_id = NEW.user_id
       AND s.admitted_at IS NOT NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'assignment of task %: user % is not admitted to the main work', NEW.task_id, NEW.user_id
        USING ERRCODE = '23514';
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER assignments_admitted AFTER INSERT OR UPDATE OF state ON annotation_assignment
  FOR EACH ROW WHEN (NEW.slot_id IS NOT NULL AND NEW.state = 'leased') EXECUTE FUNCTION concord_check_admitted();
"""

ASIDE_BACK = """
DROP TRIGGER key_tasks_stand_aside ON annotation_keytask;
DROP TRIGGER assignments_aside ON annotation_assignment;
DROP TRIGGER assignments_admitted ON annotation_assignment;
DROP FUNCTION concord_check_key_task, concord_check_aside, concord_check_admitted;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0015_evidence'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('occasion', models.CharField(choices=[('imported', 'Imported'), ('main', 'Main'), ('training', 'Training'), ('qualification', 'Qualification'), ('check', 'Check'), ('repeat', 'Repeat'), ('adjudication', 'Adjudication')], max_length=20)),
                ('number', models.PositiveSmallIntegerField()),
                ('started_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('right', models.PositiveIntegerField(default=0)),
                ('asked', models.PositiveIntegerField(default=0)),
                ('score', models.FloatField(null=True)),
                ('passed', models.BooleanField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='CheckPlan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('training_again', models.BooleanField(default=True)),
                ('test_mark', models.FloatField(default=0.8)),
                ('test_measure', models.CharField(choices=[('share', 'The share of answers that are right'), ('corrected', 'The share that is right beyond what guessing would give')], default='share', max_length=10)),
                ('test_tries', models.PositiveSmallIntegerField(default=2)),
                ('test_tells', models.CharField(choices=[('outcome', 'Whether the test is passed'), ('score', 'Whether it is passed, and the score'), ('answers', 'The score, and each answer beside the key')], default='score', max_length=10)),
                ('check_every', models.PositiveSmallIntegerField(null=True)),
                ('repeat_every', models.PositiveSmallIntegerField(null=True)),
                ('repeat_after', models.PositiveSmallIntegerField(default=20)),
                ('window', models.PositiveSmallIntegerField(default=20)),
                ('least', models.PositiveSmallIntegerField(default=5)),
                ('warn_below', models.FloatField(null=True)),
                ('pause_below', models.FloatField(null=True)),
                ('leave_out_below', models.FloatField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='CheckResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('occasion', models.CharField(choices=[('imported', 'Imported'), ('main', 'Main'), ('training', 'Training'), ('qualification', 'Qualification'), ('check', 'Check'), ('repeat', 'Repeat'), ('adjudication', 'Adjudication')], max_length=20)),
                ('right', models.PositiveIntegerField()),
                ('asked', models.PositiveIntegerField()),
                ('chance', models.FloatField(default=0)),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='KeyAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('values', models.JSONField()),
                ('tolerance', models.FloatField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='KeyTask',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('occasion', models.CharField(choices=[('imported', 'Imported'), ('main', 'Main'), ('training', 'Training'), ('qualification', 'Qualification'), ('check', 'Check'), ('repeat', 'Repeat'), ('adjudication', 'Adjudication')], max_length=20)),
                ('explanation', models.TextField(blank=True)),
                ('source', models.CharField(blank=True, max_length=200)),
                ('retired_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Standing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('trained_at', models.DateTimeField(null=True)),
                ('admitted_at', models.DateTimeField(null=True)),
                ('admitted_why', models.TextField(blank=True)),
                ('told_at', models.DateTimeField(null=True)),
                ('steps', models.PositiveIntegerField(default=0)),
                ('hidden_at', models.PositiveIntegerField(null=True)),
                ('window_from', models.DateTimeField(null=True)),
                ('warned_at', models.DateTimeField(null=True)),
                ('warning_read_at', models.DateTimeField(null=True)),
                ('paused_at', models.DateTimeField(null=True)),
                ('paused_why', models.TextField(blank=True)),
                ('left_out_at', models.DateTimeField(null=True)),
                ('left_out_why', models.TextField(blank=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='assignment',
            name='assignment_user_once_per_task',
        ),
        migrations.AddField(
            model_name='assignment',
            name='round',
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name='assignment',
            name='slot',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotation.slot'),
        ),
        migrations.AlterField(
            model_name='task',
            name='position',
            field=models.IntegerField(),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(fields=('task', 'user', 'occasion', 'round'), name='assignment_user_once_per_task'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('round', 0), ('slot__isnull', False)), models.Q(('occasion__in', ['training', 'qualification']), ('round__gte', 1), ('slot__isnull', True)), models.Q(('occasion__in', ['check', 'repeat']), ('round', 0), ('slot__isnull', True)), _connector='OR'), name='assignment_slot_or_aside'),
        ),
        migrations.AddField(
            model_name='attempt',
            name='campaign',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='attempt',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='checkplan',
            name='campaign',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='checks', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='checkresult',
            name='assignment',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='check_result', to='annotation.assignment'),
        ),
        migrations.AddField(
            model_name='checkresult',
            name='campaign',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='check_results', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='checkresult',
            name='user',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='keyanswer',
            name='item',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.item'),
        ),
        migrations.AddField(
            model_name='keyanswer',
            name='question',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.question'),
        ),
        migrations.AddField(
            model_name='keytask',
            name='campaign',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='key_tasks', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='keytask',
            name='created_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='keytask',
            name='task',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='key', to='annotation.task'),
        ),
        migrations.AddField(
            model_name='keyanswer',
            name='key',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='annotation.keytask'),
        ),
        migrations.AddField(
            model_name='standing',
            name='admitted_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='standing',
            name='campaign',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='standings', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='standing',
            name='feedback',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotation.assignment'),
        ),
        migrations.AddField(
            model_name='standing',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.UniqueConstraint(fields=('campaign', 'user', 'occasion', 'number'), name='attempt_once'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.UniqueConstraint(condition=models.Q(('finished_at__isnull', True)), fields=('campaign', 'user'), name='attempt_one_at_a_time'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.CheckConstraint(condition=models.Q(('occasion__in', ['training', 'qualification'])), name='attempt_occasion'),
        ),
        migrations.AddConstraint(
            model_name='checkplan',
            constraint=models.CheckConstraint(condition=models.Q(('test_mark__gte', 0), ('test_mark__lte', 1), ('test_tries__gte', 1)), name='check_plan_test'),
        ),
        migrations.AddConstraint(
            model_name='checkplan',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('check_every__isnull', True), ('check_every__gte', 2), _connector='OR'), models.Q(('repeat_every__isnull', True), ('repeat_every__gte', 2), _connector='OR'), ('repeat_after__gte', 1)), name='check_plan_rates'),
        ),
        migrations.AddConstraint(
            model_name='checkplan',
            constraint=models.CheckConstraint(condition=models.Q(('least__gte', 1), ('window__gte', models.F('least')), models.Q(('warn_below__isnull', True), models.Q(('warn_below__gte', 0), ('warn_below__lte', 1)), _connector='OR'), models.Q(('pause_below__isnull', True), models.Q(('pause_below__gte', 0), ('pause_below__lte', 1)), _connector='OR'), models.Q(('leave_out_below__isnull', True), models.Q(('leave_out_below__gte', 0), ('leave_out_below__lte', 1)), _connector='OR')), name='check_plan_marks'),
        ),
        migrations.AddIndex(
            model_name='checkresult',
            index=models.Index(fields=['campaign', 'user', 'occasion', 'at'], name='check_result_of_user'),
        ),
        migrations.AddConstraint(
            model_name='checkresult',
            constraint=models.CheckConstraint(condition=models.Q(('asked__gte', 1), ('right__lte', models.F('asked'))), name='check_result_counts'),
        ),
        migrations.AddConstraint(
            model_name='keytask',
            constraint=models.CheckConstraint(condition=models.Q(('occasion__in', ['training', 'qualification', 'check'])), name='key_task_occasion'),
        ),
        migrations.AddConstraint(
            model_name='keyanswer',
            constraint=models.UniqueConstraint(fields=('key', 'item', 'question'), name='key_answer_once'),
        ),
        migrations.AddConstraint(
            model_name='keyanswer',
            constraint=models.CheckConstraint(condition=models.Q(('tolerance__gte', 0)), name='key_tolerance'),
        ),
        migrations.AddConstraint(
            model_name='keyanswer',
            constraint=models.CheckConstraint(condition=models.Q(('values', []), _negated=True), name='key_answer_not_empty'),
        ),
        migrations.AddConstraint(
            model_name='standing',
            constraint=models.UniqueConstraint(fields=('campaign', 'user'), name='standing_once'),
        ),
        migrations.AddConstraint(
            model_name='standing',
            constraint=models.CheckConstraint(condition=models.Q(('paused_at__isnull', True), models.Q(('paused_why', ''), _negated=True), _connector='OR'), name='standing_pause_has_reason'),
        ),
        migrations.AddConstraint(
            model_name='standing',
            constraint=models.CheckConstraint(condition=models.Q(('left_out_at__isnull', True), models.Q(('left_out_why', ''), _negated=True), _connector='OR'), name='standing_out_has_reason'),
        ),
        migrations.RunSQL(SUBMISSIONS, SUBMISSIONS_BACK),
        migrations.RunSQL(
            RATERS.format(aside="t.position >= 0 AND ", too=" AND position >= 0"),
            RATERS.format(aside="", too=""),
        ),
        migrations.RunSQL(ASIDE, ASIDE_BACK),
    ]
