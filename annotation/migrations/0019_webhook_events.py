"""What webhooks are told of the work: a task that was submitted, a campaign that has all its ratings."""

from django.db import migrations

# Two who submit the last two tasks at once must not both miss the end, each seeing the other still at work:
# where no slot is free, they go through here one after the other (the lock ends with the transaction), and
# every statement of this function sees what the one before has committed.
TOLD = """
CREATE FUNCTION concord_tell_submit() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER submits_are_told AFTER UPDATE OF state ON annotation_assignment
  FOR EACH ROW WHEN (NEW.state = 'submitted' AND OLD.state <> 'submitted')
  EXECUTE FUNCTION concord_tell_submit();
"""

TOLD_BACK = """
DROP TRIGGER submits_are_told ON annotation_assignment;
DROP FUNCTION concord_tell_submit();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0018_notes_and_comfort"),
        ("jobs", "0009_webhooks"),
    ]

    operations = [migrations.RunSQL(TOLD, TOLD_BACK)]
