import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


FIXED = """
CREATE FUNCTION concord_fixed_anchors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' OR EXISTS (SELECT 1 FROM calibration_recheck r WHERE r.anchors_id = NEW.anchors_id) THEN
    RAISE EXCEPTION 'the items of an anchor set never change' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER fixed_anchors BEFORE INSERT OR UPDATE ON calibration_anchoritem
  FOR EACH ROW EXECUTE FUNCTION concord_fixed_anchors();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0008_review_queue'),
        ('calibration', '0003_report_shares'),
        ('jobs', '0003_own_endpoints'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AnchorSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('seed', models.PositiveIntegerField(default=0)),
                ('margin', models.FloatField(default=0.1)),
                ('every_days', models.PositiveSmallIntegerField(null=True)),
                ('next_due', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('campaign', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='anchor_sets', to='annotation.campaign')),
                ('corpus', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='anchor_sets', to='annotation.corpus')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('gold', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='anchor_sets', to='calibration.gold')),
                ('scheduled', models.ManyToManyField(related_name='+', to='annotation.rater')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='AnchorItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.item')),
                ('anchors', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='calibration.anchorset')),
            ],
        ),
        migrations.CreateModel(
            name='Recheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('due', models.DateTimeField(null=True)),
                ('state', models.CharField(blank=True, choices=[('stable', 'Stable'), ('moved', 'Moved'), ('cannot say', 'Cannot Say')], default='', max_length=10)),
                ('result', models.JSONField(default=dict)),
                ('compared_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('anchors', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rechecks', to='calibration.anchorset')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rechecks', to='annotation.rater')),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='recheck', to='jobs.run')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.AddIndex(
            model_name='anchorset',
            index=models.Index(condition=models.Q(('next_due__isnull', False)), fields=['next_due'], name='anchors_due'),
        ),
        migrations.AddConstraint(
            model_name='anchorset',
            constraint=models.CheckConstraint(condition=models.Q(('margin__gt', 0), ('margin__lte', 1)), name='anchors_have_a_margin'),
        ),
        migrations.AddConstraint(
            model_name='anchorset',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('every_days', None), ('next_due', None)), models.Q(('every_days__gte', 1), ('every_days__isnull', False), ('next_due__isnull', False)), _connector='OR'), name='anchors_schedule_complete'),
        ),
        migrations.AddConstraint(
            model_name='anchoritem',
            constraint=models.UniqueConstraint(fields=('anchors', 'item'), name='anchor_item_once'),
        ),
        migrations.AddConstraint(
            model_name='recheck',
            constraint=models.UniqueConstraint(fields=('rater', 'number'), name='recheck_number_once'),
        ),
        migrations.AddConstraint(
            model_name='recheck',
            constraint=models.UniqueConstraint(fields=('anchors', 'rater', 'due'), name='recheck_due_once'),
        ),
        migrations.AddConstraint(
            model_name='recheck',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='recheck_number_from_one'),
        ),
        migrations.AddConstraint(
            model_name='recheck',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('compared_at', None), ('state', '')), models.Q(('compared_at__isnull', False), ('state__in', ['stable', 'moved', 'cannot say'])), _connector='OR'), name='recheck_state_known'),
        ),
        migrations.RunSQL(FIXED),
    ]
