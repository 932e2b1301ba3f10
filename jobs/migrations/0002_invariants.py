"""Calls are counted as they come, change and go; a run keeps its endpoint; events wait for webhooks."""

from django.db import migrations

COLUMNS = (
    "run_id, state, error_kind, n, flagged, troubled, tokens_in, tokens_out, costed, cost, timed, latency_ms, "
    "asked, cached, saved, sent, lost"
)


def summed(rows: str) -> str:
    """Sum rows `c`, each with the `sign` that it counts with, by run, state and error kind."""
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


COUNTED = f"""
ALTER TABLE jobs_callcount ADD CONSTRAINT call_count_run FOREIGN KEY (run_id)
  REFERENCES jobs_run(id) ON DELETE CASCADE;

CREATE FUNCTION concord_count_new_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO jobs_callcount ({COLUMNS}) {summed("(SELECT 1 AS sign, f.* FROM fresh f) c")};
  RETURN NULL;
END $$;
CREATE TRIGGER calls_counted_new AFTER INSERT ON jobs_call
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_count_new_calls();

CREATE FUNCTION concord_count_gone_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO jobs_callcount ({COLUMNS})
  {summed("(SELECT -1 AS sign, o.* FROM gone o JOIN jobs_run r ON r.id = o.run_id) c")};
  RETURN NULL;
END $$;
CREATE TRIGGER calls_counted_gone AFTER DELETE ON jobs_call
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION concord_count_gone_calls();

CREATE FUNCTION concord_count_changed_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO jobs_callcount ({COLUMNS})
  SELECT * FROM ({summed("(SELECT -1 AS sign, o.* FROM gone o UNION ALL SELECT 1, f.* FROM fresh f) c")})
      AS d (run_id, state, kind, n, flagged, troubled, t_in, t_out, costed, cost, timed,
            ms, asked, cached, saved, sent, lost)
   WHERE (n, flagged, troubled, t_in, t_out, costed, cost, timed, ms, asked, cached, saved, sent, lost)
      <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  RETURN NULL;
END $$;
CREATE TRIGGER calls_counted_changed AFTER UPDATE ON jobs_call
  REFERENCING OLD TABLE AS gone NEW TABLE AS fresh FOR EACH STATEMENT
  EXECUTE FUNCTION concord_count_changed_calls();
"""

RUNS_AND_EVENTS = """
CREATE FUNCTION concord_run_keeps_endpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'run % never changes its endpoint', OLD.id USING ERRCODE = 'check_violation',
    CONSTRAINT = 'run_keeps_endpoint';
END $$;
CREATE TRIGGER run_keeps_endpoint BEFORE UPDATE OF endpoint_id ON jobs_run
  FOR EACH ROW WHEN (OLD.endpoint_id IS DISTINCT FROM NEW.endpoint_id)
  EXECUTE FUNCTION concord_run_keeps_endpoint();

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


class Migration(migrations.Migration):
    dependencies = [("jobs", "0001_initial")]
    operations = [migrations.RunSQL(COUNTED), migrations.RunSQL(RUNS_AND_EVENTS)]
