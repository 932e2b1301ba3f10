"""How many calls of a run are in which state, kept by triggers; indexes for the lists that a run's page shows."""

import django.db.models.deletion
from django.db import migrations, models

REFERENCE = """
ALTER TABLE jobs_callcount
  ADD CONSTRAINT call_count_run FOREIGN KEY (run_id) REFERENCES jobs_run ON DELETE CASCADE
"""

COLUMNS = "run_id, state, n, flagged, troubled, tokens_in, tokens_out, costed, cost, timed, latency_ms"


def summed(rows: str) -> str:
    """Return what rows `c`, each with the `sign` that it counts with, come to by run and state."""
    return f"""
  SELECT c.run_id, c.state, sum(c.sign),
         coalesce(sum(c.sign) FILTER (WHERE c.flags <> '[]'), 0),
         coalesce(sum(c.sign) FILTER (WHERE c.state = 'failed' OR c.error <> ''), 0),
         coalesce(sum(c.sign * c.tokens_in), 0), coalesce(sum(c.sign * c.tokens_out), 0),
         coalesce(sum(c.sign) FILTER (WHERE c.cost IS NOT NULL), 0), coalesce(sum(c.sign * c.cost), 0),
         coalesce(sum(c.sign) FILTER (WHERE c.latency_ms IS NOT NULL), 0),
         coalesce(sum(c.sign * c.latency_ms::bigint), 0)
    FROM {rows} GROUP BY 1, 2
"""


BOTH = "(SELECT -1 AS sign, o.* FROM gone o UNION ALL SELECT 1, f.* FROM fresh f) c"
TRIGGERS = f"""
CREATE FUNCTION concord_count_new_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO jobs_callcount ({COLUMNS}) {summed("(SELECT 1 AS sign, f.* FROM fresh f) c")};
  RETURN NULL;
END $$;
CREATE TRIGGER calls_counted_new AFTER INSERT ON jobs_call
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_count_new_calls();

CREATE FUNCTION concord_count_changed_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO jobs_callcount ({COLUMNS})
  SELECT * FROM ({summed(BOTH)}) AS d (run_id, state, n, flagged, troubled, t_in, t_out, costed, cost, timed, ms)
   WHERE (n, flagged, troubled, t_in, t_out, costed, cost, timed, ms) <> (0, 0, 0, 0, 0, 0, 0, 0, 0);
  RETURN NULL;
END $$;
CREATE TRIGGER calls_counted_changed AFTER UPDATE ON jobs_call
  REFERENCING OLD TABLE AS gone NEW TABLE AS fresh FOR EACH STATEMENT
  EXECUTE FUNCTION concord_count_changed_calls();

CREATE FUNCTION concord_count_gone_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO jobs_callcount ({COLUMNS})
  {summed("(SELECT -1 AS sign, o.* FROM gone o JOIN jobs_run r ON r.id = o.run_id) c")};
  RETURN NULL;
END $$;
CREATE TRIGGER calls_counted_gone AFTER DELETE ON jobs_call
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION concord_count_gone_calls();
"""

TRIGGERS_BACK = """
DROP TRIGGER calls_counted_new ON jobs_call;
DROP TRIGGER calls_counted_changed ON jobs_call;
DROP TRIGGER calls_counted_gone ON jobs_call;
DROP FUNCTION concord_count_new_calls, concord_count_changed_calls, concord_count_gone_calls;
"""

FILL = f"INSERT INTO jobs_callcount ({COLUMNS}) {summed('(SELECT 1 AS sign, o.* FROM jobs_call o) c')}"


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0001_tables'),
    ]

    operations = [
        migrations.CreateModel(
            name='CallCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='jobs.run')),
                ('state', models.CharField(max_length=10)),
                ('n', models.BigIntegerField()),
                ('flagged', models.BigIntegerField()),
                ('troubled', models.BigIntegerField()),
                ('tokens_in', models.BigIntegerField()),
                ('tokens_out', models.BigIntegerField()),
                ('costed', models.BigIntegerField()),
                ('cost', models.DecimalField(decimal_places=8, max_digits=20)),
                ('timed', models.BigIntegerField()),
                ('latency_ms', models.BigIntegerField()),
            ],
        ),
        migrations.AlterField(
            model_name='call',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='jobs.run'),
        ),
        migrations.AddIndex(
            model_name='call',
            index=models.Index(fields=['run', 'id'], name='call_in_order'),
        ),
        migrations.AddIndex(
            model_name='call',
            index=models.Index(condition=models.Q(('state', 'failed'), models.Q(('error', ''), _negated=True), _connector='OR'), fields=['run', 'id'], name='call_troubled'),
        ),
        migrations.AddIndex(
            model_name='call',
            index=models.Index(condition=models.Q(('flags', []), _negated=True), fields=['run', 'id'], name='call_flagged'),
        ),
        migrations.AddIndex(
            model_name='call',
            index=models.Index(condition=models.Q(('finished_at__isnull', False)), fields=['run', 'finished_at'], name='call_finished'),
        ),
        migrations.RunSQL(REFERENCE, migrations.RunSQL.noop),
        migrations.RunSQL(TRIGGERS, TRIGGERS_BACK),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
