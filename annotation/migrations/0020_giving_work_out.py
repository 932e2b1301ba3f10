"""How work is given out: by researchers, in an order that is read from answers, and where a judge differs."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


TRIGGERS = """
CREATE FUNCTION concord_keep_sampled_items() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_campaign c JOIN annotation_item i ON i.corpus_id = c.corpus_id
    WHERE c.id = NEW.campaign_id AND c.state = 'draft' AND i.id = NEW.item_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'items of campaign %: they are drawn once, before the campaign opens, from its corpus',
      NEW.campaign_id USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER sampled_items_drawn_once BEFORE INSERT OR UPDATE ON annotation_sampleditem
  FOR EACH ROW EXECUTE FUNCTION concord_keep_sampled_items();

CREATE FUNCTION concord_check_batch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_campaign c
    WHERE c.id = NEW.campaign_id AND NEW.position >= c.batch_size::bigint * c.batches_open;
  IF FOUND THEN
    RAISE EXCEPTION 'slot % of task %: its batch is not open', NEW.number, NEW.task_id USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER slots_of_open_batches BEFORE UPDATE OF taken ON annotation_slot
  FOR EACH ROW WHEN (NEW.taken AND NOT OLD.taken) EXECUTE FUNCTION concord_check_batch();

CREATE FUNCTION concord_count_stratum() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE before bigint; after bigint;
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.state IN ('leased', 'submitted', 'returned') THEN
    SELECT stratum_id INTO before FROM annotation_slot WHERE id = OLD.slot_id;
  END IF;
  IF NEW.state IN ('leased', 'submitted', 'returned') THEN
    SELECT stratum_id INTO after FROM annotation_slot WHERE id = NEW.slot_id;
  END IF;
  IF before IS NOT DISTINCT FROM after THEN RETURN NULL; END IF;
  IF before IS NOT NULL THEN
    UPDATE annotation_stratumshare SET done = done - 1 WHERE user_id = OLD.user_id AND stratum_id = before;
  END IF;
  IF after IS NOT NULL THEN
    INSERT INTO annotation_stratumshare AS share (user_id, stratum_id, done) VALUES (NEW.user_id, after, 1)
      ON CONFLICT (user_id, stratum_id) DO UPDATE SET done = share.done + 1;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER strata_counted_first AFTER INSERT ON annotation_assignment FOR EACH ROW
  WHEN (NEW.slot_id IS NOT NULL AND NEW.state IN ('leased', 'submitted', 'returned'))
  EXECUTE FUNCTION concord_count_stratum();
CREATE TRIGGER strata_counted AFTER UPDATE OF state, slot_id ON annotation_assignment FOR EACH ROW
  WHEN (OLD.slot_id IS DISTINCT FROM NEW.slot_id OR (OLD.state IN ('leased', 'submitted', 'returned'))
    IS DISTINCT FROM (NEW.state IN ('leased', 'submitted', 'returned')))
  EXECUTE FUNCTION concord_count_stratum();
"""

TRIGGERS_BACK = """
DROP TRIGGER strata_counted ON annotation_assignment;
DROP TRIGGER strata_counted_first ON annotation_assignment;
DROP FUNCTION concord_count_stratum;
DROP TRIGGER slots_of_open_batches ON annotation_slot;
DROP FUNCTION concord_check_batch;
DROP TRIGGER sampled_items_drawn_once ON annotation_sampleditem;
DROP FUNCTION concord_keep_sampled_items;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0019_webhook_events'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='BalanceStratum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.TextField(blank=True)),
            ],
        ),
        migrations.CreateModel(
            name='SampledItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ],
        ),
        migrations.CreateModel(
            name='StratumShare',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('cursor', models.IntegerField(db_default=-1, default=-1)),
                ('done', models.IntegerField(db_default=0, default=0)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='assignment',
            name='assignment_state_known',
        ),
        migrations.RemoveConstraint(
            model_name='assignment',
            name='assignment_withdrawal_has_reason',
        ),
        migrations.RemoveConstraint(
            model_name='campaign',
            name='campaign_order_known',
        ),
        migrations.AddField(
            model_name='assignment',
            name='given_reason',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='campaign',
            name='apart_judge',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.AddField(
            model_name='campaign',
            name='balance_by',
            field=models.CharField(blank=True, db_default='', default='', max_length=120),
        ),
        migrations.AddField(
            model_name='campaign',
            name='batch_size',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='campaign',
            name='batches_open',
            field=models.PositiveIntegerField(db_default=1, default=1),
        ),
        migrations.AddField(
            model_name='campaign',
            name='next_batch',
            field=models.CharField(choices=[('hand', 'A researcher opens the next batch'), ('complete', 'The next batch opens when the last one is complete')], db_default='hand', default='hand', max_length=10),
        ),
        migrations.AddField(
            model_name='campaign',
            name='order_by',
            field=models.CharField(blank=True, db_default='', default='', max_length=120),
        ),
        migrations.AddField(
            model_name='campaign',
            name='sample_apart',
            field=models.FloatField(null=True),
        ),
        migrations.AlterField(
            model_name='assignment',
            name='state',
            field=models.CharField(choices=[('leased', 'Leased'), ('submitted', 'Submitted'), ('skipped', 'Skipped'), ('expired', 'Expired'), ('returned', 'Returned'), ('voided', 'Voided'), ('taken', 'Taken')], default='leased', max_length=10),
        ),
        migrations.AlterField(
            model_name='campaign',
            name='task_order',
            field=models.CharField(choices=[('drawn', 'The same for everybody, drawn from the seed'), ('own', 'Everybody in an order of their own'), ('fixed', 'As the dialogues lie in the corpus'), ('priority', 'By a number that the dialogues carry, the highest first'), ('informative', 'What a judge and people, or judges, are furthest apart on first')], db_default='drawn', default='drawn', max_length=20),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['leased', 'submitted', 'skipped', 'expired', 'returned', 'voided', 'taken'])), name='assignment_state_known'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['returned', 'voided', 'taken']), _negated=True), models.Q(('withdrawn_reason', ''), _negated=True), _connector='OR'), name='assignment_withdrawal_has_reason'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(('task_order__in', ['drawn', 'own', 'fixed', 'priority', 'informative'])), name='campaign_order_known'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('task_order', 'priority'), models.Q(('order_by', ''), _negated=True)), models.Q(models.Q(('task_order', 'priority'), _negated=True), ('order_by', '')), _connector='OR'), name='campaign_priority_has_field'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(('sample_apart__isnull', True), models.Q(('sample_apart__gt', 0), ('sample_apart__lte', 1), models.Q(('apart_judge', ''), _negated=True)), _connector='OR'), name='campaign_apart_from_a_judge'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('batch_size__isnull', True), ('batch_size__gte', 1), _connector='OR'), ('batches_open__gte', 1), ('next_batch__in', ['hand', 'complete'])), name='campaign_batches_known'),
        ),
        migrations.AddField(
            model_name='balancestratum',
            name='campaign',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='balanced', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='slot',
            name='stratum',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='slots', to='annotation.balancestratum'),
        ),
        migrations.AddIndex(
            model_name='slot',
            index=models.Index(condition=models.Q(('stratum__isnull', False), ('taken', False)), fields=['stratum', 'position'], name='slot_free_by_stratum'),
        ),
        migrations.AddField(
            model_name='sampleditem',
            name='campaign',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='sampled_items', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='sampleditem',
            name='item',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.item'),
        ),
        migrations.AddField(
            model_name='stratumshare',
            name='stratum',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='annotation.balancestratum'),
        ),
        migrations.AddField(
            model_name='stratumshare',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='balancestratum',
            constraint=models.UniqueConstraint(fields=('campaign', 'name'), name='balanced_stratum_once'),
        ),
        migrations.AddConstraint(
            model_name='sampleditem',
            constraint=models.UniqueConstraint(fields=('campaign', 'item'), name='item_drawn_once'),
        ),
        migrations.AddConstraint(
            model_name='stratumshare',
            constraint=models.UniqueConstraint(fields=('user', 'stratum'), name='stratum_share_once'),
        ),
        migrations.RunSQL(TRIGGERS, TRIGGERS_BACK),
    ]
