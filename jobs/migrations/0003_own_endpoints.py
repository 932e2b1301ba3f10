"""Endpoints of researchers, stored keys, and the reply to a test."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

USE = """
CREATE FUNCTION concord_run_may_use_endpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM jobs_endpoint e
              WHERE e.id = NEW.endpoint_id AND e.owner_id <> NEW.created_by_id AND NOT e.shared
                AND NOT EXISTS (SELECT 1 FROM auth_user u WHERE u.id = NEW.created_by_id AND u.is_superuser))
  THEN
    RAISE EXCEPTION 'endpoint % belongs to another account and is not shared', NEW.endpoint_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'run_may_use_endpoint';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER run_may_use_endpoint BEFORE INSERT ON jobs_run
  FOR EACH ROW WHEN (NEW.endpoint_id IS NOT NULL AND NEW.created_by_id IS NOT NULL)
  EXECUTE FUNCTION concord_run_may_use_endpoint();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0002_invariants'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='endpoint',
            name='owner',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='endpoints', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='shared',
            field=models.BooleanField(db_default=False, default=False, help_text='Its calls are then paid with your key, whoever starts them. The key itself stays hidden.', verbose_name='Everybody may use it'),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='stored_key',
            field=models.TextField(blank=True, db_default='', default='', editable=False),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='test_reply',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=200),
        ),
        migrations.AlterField(
            model_name='endpoint',
            name='key_env',
            field=models.CharField(blank=True, help_text='Instead of a stored key: the environment variable that holds it where the workers run, from CONCORD_KEY_VARIABLES.', max_length=100, verbose_name='Variable of the key'),
        ),
        migrations.AddConstraint(
            model_name='endpoint',
            constraint=models.CheckConstraint(condition=models.Q(('key_env', ''), ('stored_key', ''), _connector='OR'), name='endpoint_has_one_key'),
        ),
        migrations.AddConstraint(
            model_name='endpoint',
            constraint=models.CheckConstraint(condition=models.Q(('owner__isnull', True), models.Q(('allow_private', False), ('from_environment', False), ('key_env', ''), ('tokenizer', '')), _connector='OR'), name='own_endpoint_takes_nothing_of_the_server'),
        ),
        migrations.RunSQL(USE),
    ]
