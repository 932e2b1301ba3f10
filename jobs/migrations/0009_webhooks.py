"""Webhooks, the events that they are told of, and the function that writes an event down for them."""

import django.contrib.postgres.functions
import django.db.models.deletion
import django.db.models.functions.datetime
import jobs.models.webhook
from django.conf import settings
from django.db import migrations, models

TELL = """
CREATE FUNCTION concord_tell(kind text, about bigint, told jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE event bigint;
BEGIN
  PERFORM 1 FROM jobs_webhook w
   WHERE w.active AND w.events ? kind AND (w.campaign_id IS NULL OR w.campaign_id = about);
  IF NOT FOUND THEN RETURN; END IF;
  INSERT INTO jobs_webhookevent (kind, data) VALUES (kind, told) RETURNING id INTO event;
  INSERT INTO jobs_delivery (webhook_id, event_id)
  SELECT w.id, event FROM jobs_webhook w
   WHERE w.active AND w.events ? kind AND (w.campaign_id IS NULL OR w.campaign_id = about);
  PERFORM pg_notify('concord_work', 'calls');
END $$;
"""

TELL_BACK = "DROP FUNCTION concord_tell(text, bigint, jsonb)"


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0013_assigning_work'),
        ('jobs', '0008_paused_at_cap'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='WebhookEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(db_default=django.contrib.postgres.functions.RandomUUID(), editable=False, unique=True)),
                ('kind', models.CharField(max_length=30)),
                ('data', models.JSONField(default=dict)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.URLField(max_length=500)),
                ('events', models.JSONField(default=list)),
                ('active', models.BooleanField(default=True)),
                ('allow_private', models.BooleanField(default=False)),
                ('salt', models.CharField(default=jobs.models.webhook.new_salt, max_length=32)),
                ('old_salt', models.CharField(blank=True, max_length=32)),
                ('old_until', models.DateTimeField(null=True)),
                ('failing_since', models.DateTimeField(null=True)),
                ('off_reason', models.CharField(blank=True, max_length=300)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('campaign', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='annotation.campaign')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='webhooks', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.UUIDField(db_default=django.contrib.postgres.functions.RandomUUID(), editable=False, unique=True)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('leased', 'Leased'), ('delivered', 'Delivered'), ('failed', 'Failed')], db_default='pending', default='pending', max_length=10)),
                ('asked', models.BooleanField(db_default=False, default=False)),
                ('attempts', models.PositiveSmallIntegerField(db_default=0, default=0)),
                ('max_attempts', models.PositiveSmallIntegerField(db_default=8, default=8)),
                ('not_before', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('lease_expires', models.DateTimeField(null=True)),
                ('code', models.PositiveSmallIntegerField(null=True)),
                ('said', models.TextField(blank=True, db_default='', default='')),
                ('error', models.TextField(blank=True, db_default='', default='')),
                ('ms', models.PositiveIntegerField(null=True)),
                ('tried_at', models.DateTimeField(null=True)),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='jobs.webhook')),
                ('event', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='jobs.webhookevent')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'ordering': ['-id'],
            },
        ),
        migrations.AddConstraint(
            model_name='webhook',
            constraint=models.UniqueConstraint(fields=('campaign', 'url'), name='webhook_once_per_address', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='webhook',
            constraint=models.CheckConstraint(condition=models.Q(('events', []), _negated=True), name='webhook_is_told_something'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('state__in', ['pending', 'leased'])), fields=['webhook', 'id'], name='delivery_open'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(fields=('webhook', 'event'), name='delivery_once'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'leased', 'delivered', 'failed'])), name='delivery_state_known'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'leased'), _negated=True), ('lease_expires__isnull', False), _connector='OR'), name='delivery_lease_has_end'),
        ),
        migrations.RunSQL(TELL, TELL_BACK),
    ]
