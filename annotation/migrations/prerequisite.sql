-- Main work is for people who passed the test of the campaign that comes first, too, or were let in by hand.

CREATE OR REPLACE FUNCTION concord_check_admitted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_keytask k WHERE k.campaign_id = NEW.campaign_id AND k.retired_at IS NULL
     AND k.occasion IN ('training', 'qualification') LIMIT 1;
  IF FOUND THEN
    PERFORM 1 FROM annotation_standing s WHERE s.campaign_id = NEW.campaign_id AND s.user_id = NEW.user_id
       AND s.admitted_at IS NOT NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'assignment of task %: user % is not admitted to the main work', NEW.task_id, NEW.user_id
        USING ERRCODE = '23514';
    END IF;
  END IF;
  PERFORM 1 FROM annotation_checkplan p
    WHERE p.campaign_id = NEW.campaign_id AND p.prerequisite_id IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM annotation_standing s WHERE s.user_id = NEW.user_id AND s.admitted_at IS NOT NULL
         AND (s.campaign_id = p.prerequisite_id OR s.campaign_id = p.campaign_id AND s.admitted_why <> ''));
  IF FOUND THEN
    RAISE EXCEPTION 'assignment of task %: user % has not passed the test that comes first', NEW.task_id,
      NEW.user_id USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
