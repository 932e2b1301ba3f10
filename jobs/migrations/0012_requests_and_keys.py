"""How many requests were sent, kept by the triggers that count calls; which workers lack which keys."""

from django.db import migrations, models

COLUMNS = (
    "run_id, state, error_kind, n, flagged, troubled, tokens_in, tokens_out, costed, cost, timed, latency_ms, "
    "asked, cached, saved, sent"
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
         coalesce(sum(c.sign * c.saved), 0), coalesce(sum(c.sign * c.sent), 0)
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
                                       ms, asked, cached, saved, sent)
   WHERE (n, flagged, troubled, t_in, t_out, costed, cost, timed, ms, asked, cached, saved, sent)
      <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION concord_count_gone_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO jobs_callcount ({COLUMNS})
  {summed("(SELECT -1 AS sign, o.* FROM gone o JOIN jobs_run r ON r.id = o.run_id) c")};
  RETURN NULL;
END $$;
"""
EARLIER = """
UPDATE jobs_call SET sent = asked WHERE asked > 0;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0011_served_where'),
    ]

    operations = [
        migrations.AddField(
            model_name='call',
            name='sent',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='callcount',
            name='sent',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='run',
            name='unserved_since',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='worker',
            name='lacks',
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list),
        ),
        migrations.RunSQL(FUNCTIONS, migrations.RunSQL.noop),
        migrations.RunSQL(EARLIER, migrations.RunSQL.noop),
    ]
