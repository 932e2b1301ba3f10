"""Limits of endpoints, budgets and pauses of runs, kinds of errors, the cache of replies; counts of them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


COLUMNS = (
    "run_id, state, error_kind, n, flagged, troubled, tokens_in, tokens_out, costed, cost, timed, latency_ms, "
    "asked, cached, saved"
)


def summed(rows: str) -> str:
    """Return what rows `c`, each with the `sign` that it counts with, come to by run, state and error kind."""
    return f"""
  SELECT c.run_id, c.state, c.error_kind, sum(c.sign),
         coalesce(sum(c.sign) FILTER (WHERE c.flags <> '[]'), 0),
         coalesce(sum(c.sign) FILTER (WHERE c.state = 'failed' OR c.error <> ''), 0),
         coalesce(sum(c.sign * c.tokens_in), 0), coalesce(sum(c.sign * c.tokens_out), 0),
         coalesce(sum(c.sign) FILTER (WHERE c.cost IS NOT NULL), 0), coalesce(sum(c.sign * c.cost), 0),
         coalesce(sum(c.sign) FILTER (WHERE c.latency_ms IS NOT NULL), 0),
         coalesce(sum(c.sign * c.latency_ms::bigint), 0),
         coalesce(sum(c.sign * c.asked), 0), coalesce(sum(c.sign) FILTER (WHERE c.cached), 0),
         coalesce(sum(c.sign * c.saved), 0)
    FROM {rows} GROUP BY 1, 2, 3
"""


BOTH = "(SELECT -1 AS sign, o.* FROM gone o UNION ALL SELECT 1, f.* FROM fresh f) c"
FUNCTIONS = f"""
CREATE OR REPLACE FUNCTION concord_count_new_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO jobs_callcount ({COLUMNS}) {summed("(SELECT 1 AS sign, f.* FROM fresh f) c")};
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION concord_count_changed_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO jobs_callcount ({COLUMNS})
  SELECT * FROM ({summed(BOTH)}) AS d (run_id, state, kind, n, flagged, troubled, t_in, t_out, costed, cost, timed,
                                       ms, asked, cached, saved)
   WHERE (n, flagged, troubled, t_in, t_out, costed, cost, timed, ms, asked, cached, saved)
      <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION concord_count_gone_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO jobs_callcount ({COLUMNS})
  {summed("(SELECT -1 AS sign, o.* FROM gone o JOIN jobs_run r ON r.id = o.run_id) c")};
  RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0007_fewer_indexes'),
        ('jobs', '0003_call_parts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Pace',
            fields=[
                ('endpoint', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='pace', serialize=False, to='jobs.endpoint')),
                ('width', models.FloatField(null=True)),
                ('shrunk_at', models.DateTimeField(null=True)),
                ('next_request', models.DateTimeField(null=True)),
                ('next_tokens', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Share',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker', models.CharField(max_length=200)),
                ('slots', models.PositiveIntegerField(default=0)),
                ('wanted', models.PositiveIntegerField(default=0)),
                ('expires', models.DateTimeField()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='run',
            name='run_state_known',
        ),
        migrations.AddField(
            model_name='call',
            name='asked',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='call',
            name='cached',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='call',
            name='error_kind',
            field=models.CharField(blank=True, max_length=20),
        ),
        migrations.AddField(
            model_name='call',
            name='logprobs',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='call',
            name='reasoning',
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name='call',
            name='reply_form',
            field=models.CharField(blank=True, max_length=10),
        ),
        migrations.AddField(
            model_name='call',
            name='request_hash',
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name='call',
            name='reserved_cost',
            field=models.DecimalField(decimal_places=8, max_digits=14, null=True),
        ),
        migrations.AddField(
            model_name='call',
            name='reserved_tokens',
            field=models.PositiveBigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='call',
            name='saved',
            field=models.DecimalField(decimal_places=8, max_digits=14, null=True),
        ),
        migrations.AddField(
            model_name='callcount',
            name='asked',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='callcount',
            name='cached',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='callcount',
            name='error_kind',
            field=models.CharField(default='', max_length=20),
        ),
        migrations.AddField(
            model_name='callcount',
            name='saved',
            field=models.DecimalField(decimal_places=8, default=0, max_digits=20),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='reply_form',
            field=models.CharField(blank=True, max_length=10),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='requests_per_minute',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='tokens_per_minute',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='cap_calls',
            field=models.PositiveBigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='cap_cost',
            field=models.DecimalField(decimal_places=6, max_digits=14, null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='cap_tokens',
            field=models.PositiveBigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='pause_reason',
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name='run',
            name='paused_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='paused_runs', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='run',
            name='use_cache',
            field=models.BooleanField(default=True),
        ),
        migrations.AlterField(
            model_name='run',
            name='state',
            field=models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled'), ('paused', 'Paused')], default='queued', max_length=10),
        ),
        migrations.AddIndex(
            model_name='call',
            index=models.Index(condition=models.Q(('cached', False), ('state', 'done'), models.Q(('request_hash', ''), _negated=True)), fields=['request_hash'], name='call_reusable'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed', 'cancelled', 'paused'])), name='run_state_known'),
        ),
        migrations.AddField(
            model_name='share',
            name='endpoint',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='jobs.endpoint'),
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.UniqueConstraint(fields=('endpoint', 'worker'), name='share_once'),
        ),
        migrations.RunSQL(FUNCTIONS, migrations.RunSQL.noop),
    ]
