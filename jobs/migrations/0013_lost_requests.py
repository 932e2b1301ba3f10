"""Requests under way are noted, and those whose worker is lost are counted."""

import django.db.models.deletion
from django.db import migrations, models

COLUMNS = (
    "run_id, state, error_kind, n, flagged, troubled, tokens_in, tokens_out, costed, cost, timed, latency_ms, "
    "asked, cached, saved, sent, lost"
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
         coalesce(sum(c.sign * c.saved), 0), coalesce(sum(c.sign * c.sent), 0),
         coalesce(sum(c.sign * c.lost), 0)
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
                                       ms, asked, cached, saved, sent, lost)
   WHERE (n, flagged, troubled, t_in, t_out, costed, cost, timed, ms, asked, cached, saved, sent, lost)
      <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
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
        ('jobs', '0012_requests_and_keys'),
    ]

    operations = [
        migrations.CreateModel(
            name='OpenRequest',
            fields=[
                ('call', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='+', serialize=False, to='jobs.call')),
                ('requests', models.PositiveIntegerField(default=1)),
                ('tokens_in', models.PositiveIntegerField()),
                ('tokens_out', models.PositiveIntegerField()),
            ],
        ),
        migrations.AddField(
            model_name='call',
            name='lost',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='callcount',
            name='lost',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.RunSQL(FUNCTIONS, migrations.RunSQL.noop),
    ]
