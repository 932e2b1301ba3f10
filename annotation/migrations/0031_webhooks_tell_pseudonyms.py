"""Webhooks call an annotator by the pseudonym that exports and pages of answers have."""

from django.db import migrations

# The pseudonym is that of annotation.labels.pseudonyms.
TOLD = """
CREATE OR REPLACE FUNCTION concord_tell_submit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE name text; pseudonym text;
BEGIN
  PERFORM 1 FROM jobs_webhook w
   WHERE w.active AND (w.campaign_id IS NULL OR w.campaign_id = NEW.campaign_id);
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT c.name INTO name FROM annotation_campaign c WHERE c.id = NEW.campaign_id;
  SELECT 'person-' || left(encode(sha256(convert_to(r.secret::text || ':' || c.corpus_id, 'UTF8')), 'hex'), 8)
    INTO pseudonym FROM annotation_rater r, annotation_campaign c
   WHERE r.user_id = NEW.user_id AND c.id = NEW.campaign_id;
  PERFORM concord_tell('task.submitted', NEW.campaign_id, jsonb_build_object(
    'campaign', NEW.campaign_id, 'campaign_name', name, 'task', NEW.task_id, 'assignment', NEW.id,
    'annotator', pseudonym, 'occasion', NEW.occasion, 'flagged', NEW.flagged));
  PERFORM 1 FROM annotation_slot s WHERE s.campaign_id = NEW.campaign_id AND NOT s.taken LIMIT 1;
  IF FOUND THEN RETURN NULL; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('concord campaign completed', NEW.campaign_id));
  PERFORM 1 FROM annotation_slot s WHERE s.campaign_id = NEW.campaign_id AND NOT s.taken LIMIT 1;
  IF FOUND THEN RETURN NULL; END IF;
  PERFORM 1 FROM annotation_assignment a
   WHERE a.campaign_id = NEW.campaign_id AND a.state IN ('leased', 'returned') LIMIT 1;
  IF FOUND THEN RETURN NULL; END IF;
  PERFORM concord_tell('campaign.completed', NEW.campaign_id, jsonb_build_object(
    'campaign', NEW.campaign_id, 'campaign_name', name,
    'ratings', (SELECT count(*) FROM annotation_slot s WHERE s.campaign_id = NEW.campaign_id)));
  RETURN NULL;
END $$;
"""

TOLD_BACK = """
CREATE OR REPLACE FUNCTION concord_tell_submit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE name text;
BEGIN
  PERFORM 1 FROM jobs_webhook w
   WHERE w.active AND (w.campaign_id IS NULL OR w.campaign_id = NEW.campaign_id);
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT c.name INTO name FROM annotation_campaign c WHERE c.id = NEW.campaign_id;
  PERFORM concord_tell('task.submitted', NEW.campaign_id, jsonb_build_object(
    'campaign', NEW.campaign_id, 'campaign_name', name, 'task', NEW.task_id, 'assignment', NEW.id,
    'annotator', NEW.user_id, 'occasion', NEW.occasion, 'flagged', NEW.flagged));
  PERFORM 1 FROM annotation_slot s WHERE s.campaign_id = NEW.campaign_id AND NOT s.taken LIMIT 1;
  IF FOUND THEN RETURN NULL; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('concord campaign completed', NEW.campaign_id));
  PERFORM 1 FROM annotation_slot s WHERE s.campaign_id = NEW.campaign_id AND NOT s.taken LIMIT 1;
  IF FOUND THEN RETURN NULL; END IF;
  PERFORM 1 FROM annotation_assignment a
   WHERE a.campaign_id = NEW.campaign_id AND a.state IN ('leased', 'returned') LIMIT 1;
  IF FOUND THEN RETURN NULL; END IF;
  PERFORM concord_tell('campaign.completed', NEW.campaign_id, jsonb_build_object(
    'campaign', NEW.campaign_id, 'campaign_name', name,
    'ratings', (SELECT count(*) FROM annotation_slot s WHERE s.campaign_id = NEW.campaign_id)));
  RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0030_marks_due"),
    ]

    operations = [migrations.RunSQL(TOLD, TOLD_BACK)]
