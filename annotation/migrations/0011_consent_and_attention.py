"""Consent texts and who agreed to them, guidelines read, and the attention that a task was given."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


KEPT = """
CREATE FUNCTION concord_keep_consent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('concord.purge', true) = 'on' AND TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  PERFORM 1 FROM annotation_consentgiven WHERE consent_id = OLD.id LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'consent %: somebody agreed to it, so it stays as it is', OLD.id USING ERRCODE = '23514';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER consents_kept BEFORE UPDATE OR DELETE ON annotation_consent
  FOR EACH ROW EXECUTE FUNCTION concord_keep_consent();

CREATE FUNCTION concord_keep_agreement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('concord.purge', true) = 'on' AND TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RAISE EXCEPTION '% %: it is never changed or deleted', TG_TABLE_NAME, OLD.id USING ERRCODE = '23514';
END $$;
CREATE TRIGGER consents_given_kept BEFORE UPDATE OR DELETE ON annotation_consentgiven
  FOR EACH ROW EXECUTE FUNCTION concord_keep_agreement();
CREATE TRIGGER guidelines_read_kept BEFORE UPDATE OR DELETE ON annotation_guidelinesread
  FOR EACH ROW EXECUTE FUNCTION concord_keep_agreement();
"""
KEPT_BACK = """
DROP TRIGGER consents_kept ON annotation_consent;
DROP TRIGGER consents_given_kept ON annotation_consentgiven;
DROP TRIGGER guidelines_read_kept ON annotation_guidelinesread;
DROP FUNCTION concord_keep_consent, concord_keep_agreement;
"""

# Who has worked under a version of guidelines has read it.
READ = """
INSERT INTO annotation_guidelinesread (guidelines_id, user_id, at)
SELECT guidelines_id, user_id, min(leased_at) FROM annotation_assignment
 WHERE guidelines_id IS NOT NULL GROUP BY 1, 2
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0010_system_families'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='assignment',
            name='attention',
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.CreateModel(
            name='Consent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=1)),
                ('text', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='consents', to='annotation.campaign')),
            ],
            options={
                'ordering': ['campaign', 'version'],
            },
        ),
        migrations.CreateModel(
            name='ConsentGiven',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('consent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='given', to='annotation.consent')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='consents_given', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'consents given',
            },
        ),
        migrations.CreateModel(
            name='GuidelinesRead',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('guidelines', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='read', to='annotation.guidelines')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='guidelines_read', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'guidelines read',
            },
        ),
        migrations.AddConstraint(
            model_name='consent',
            constraint=models.UniqueConstraint(fields=('campaign', 'version'), name='consent_version_once'),
        ),
        migrations.AddConstraint(
            model_name='consentgiven',
            constraint=models.UniqueConstraint(fields=('consent', 'user'), name='consent_given_once'),
        ),
        migrations.AddConstraint(
            model_name='guidelinesread',
            constraint=models.UniqueConstraint(fields=('guidelines', 'user'), name='guidelines_read_once'),
        ),
        migrations.RunSQL(KEPT, KEPT_BACK),
        migrations.RunSQL(READ, migrations.RunSQL.noop),
    ]
