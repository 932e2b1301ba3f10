"""Where a model is served is part of who a judge is: revisions of endpoints, and runs that never change theirs."""

from django.db import migrations, models

FIXED = """
CREATE OR REPLACE FUNCTION concord_run_keeps_endpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'run % never changes its endpoint', OLD.id USING ERRCODE = 'check_violation',
    CONSTRAINT = 'run_keeps_endpoint';
END $$;
CREATE TRIGGER run_keeps_endpoint BEFORE UPDATE OF endpoint_id ON jobs_run FOR EACH ROW
  WHEN (OLD.endpoint_id IS DISTINCT FROM NEW.endpoint_id) EXECUTE FUNCTION concord_run_keeps_endpoint();
"""
FREE = """
DROP TRIGGER run_keeps_endpoint ON jobs_run;
DROP FUNCTION concord_run_keeps_endpoint();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0010_runs_that_write'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='run',
            name='run_scope_once',
        ),
        migrations.RemoveConstraint(
            model_name='run',
            name='run_written_scope_once',
        ),
        migrations.AddField(
            model_name='endpoint',
            name='revision',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('rater__isnull', False)), fields=('rater', 'scope_hash', 'endpoint'), name='run_scope_once', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('rater__isnull', True)), fields=('kind', 'scope_hash', 'endpoint'), name='run_written_scope_once', nulls_distinct=False),
        ),
        migrations.RunSQL(FIXED, FREE),
    ]
