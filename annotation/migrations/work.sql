-- Work: each task has as many places as it wants raters, a place is taken and given back with its assignment,
-- and only who passed the gate of a campaign gets one.

ALTER TABLE annotation_slot ADD CONSTRAINT slot_of_its_task FOREIGN KEY (task_id, campaign_id, "position")
  REFERENCES annotation_task(id, campaign_id, "position") DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE annotation_assignment ADD CONSTRAINT assignment_slot_of_task FOREIGN KEY (slot_id, task_id)
  REFERENCES annotation_slot(id, task_id) DEFERRABLE INITIALLY DEFERRED;

CREATE FUNCTION concord_mark_slot() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE door bigint; other bigint;
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.state IN ('leased', 'submitted', 'returned')
     AND (TG_OP = 'DELETE' OR NEW.slot_id <> OLD.slot_id OR NEW.state NOT IN ('leased', 'submitted', 'returned')) THEN
    UPDATE annotation_slot SET taken = false WHERE id = OLD.slot_id RETURNING gate_id INTO door;
    -- A reserved slot that is free goes to somebody of its group who has an open one, so that this one is free.
    IF door IS NOT NULL AND EXISTS (SELECT 1 FROM annotation_gate WHERE id = door AND reserved_id IS NOT NULL) THEN
      SELECT a.id INTO other FROM annotation_assignment a JOIN annotation_slot s ON s.id = a.slot_id
        LEFT JOIN annotation_gate g ON g.id = s.gate_id
       WHERE a.task_id = OLD.task_id AND a.id <> OLD.id AND a.state IN ('leased', 'submitted', 'returned')
         AND g.reserved_id IS NULL AND concord_passes(door, a.user_id) AND NOT concord_wrote(a.task_id, a.user_id)
       ORDER BY a.state <> 'submitted', a.id LIMIT 1 FOR UPDATE OF a SKIP LOCKED;
      IF FOUND THEN
        UPDATE annotation_assignment SET slot_id = OLD.slot_id WHERE id = other;
      END IF;
    END IF;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.state IN ('leased', 'submitted', 'returned')
     AND (TG_OP = 'INSERT' OR NEW.slot_id <> OLD.slot_id OR OLD.state NOT IN ('leased', 'submitted', 'returned')) THEN
    UPDATE annotation_slot SET taken = true WHERE id = NEW.slot_id RETURNING gate_id INTO door;
    IF door IS NOT NULL AND NOT (concord_passes(door, NEW.user_id) AND NOT concord_wrote(NEW.task_id, NEW.user_id)) THEN
      RAISE EXCEPTION 'slot %: not for person %, by the rules of its campaign', NEW.slot_id, NEW.user_id
        USING ERRCODE = '23514';
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER assignments_mark_slots AFTER INSERT OR DELETE OR UPDATE ON annotation_assignment
  FOR EACH ROW EXECUTE FUNCTION concord_mark_slot();

CREATE FUNCTION concord_check_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_task WHERE id = NEW.task_id AND NEW.number BETWEEN 1 AND raters;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'slot % of task %: the task has fewer raters', NEW.number, NEW.task_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER slots_within_raters BEFORE INSERT OR UPDATE OF number, task_id ON annotation_slot
  FOR EACH ROW EXECUTE FUNCTION concord_check_slot();

CREATE FUNCTION concord_check_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_gate WHERE id = NEW.gate_id AND campaign_id = NEW.campaign_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'slot %: its gate is of another campaign', NEW.id USING ERRCODE = '23514';
  END IF;
  PERFORM 1 FROM annotation_campaign WHERE id = NEW.campaign_id AND ruled;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'slot %: its campaign has no rules', NEW.id USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER slots_have_gates AFTER INSERT OR UPDATE OF gate_id ON annotation_slot
  FOR EACH ROW WHEN (NEW.gate_id IS NOT NULL) EXECUTE FUNCTION concord_check_gate();

CREATE FUNCTION concord_check_batch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_campaign c
    WHERE c.id = NEW.campaign_id AND NEW.position >= c.batch_size::bigint * c.batches_open;
  IF FOUND THEN
    RAISE EXCEPTION 'slot % of task %: its batch is not open', NEW.number, NEW.task_id USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER slots_of_open_batches BEFORE UPDATE OF taken ON annotation_slot
  FOR EACH ROW WHEN (NEW.taken AND NOT OLD.taken) EXECUTE FUNCTION concord_check_batch();

CREATE FUNCTION concord_check_task_raters() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
  PERFORM 1 FROM annotation_campaign WHERE id IN (SELECT campaign_id FROM fresh) ORDER BY id FOR SHARE;
  SELECT t.id, t.raters INTO bad FROM fresh t JOIN annotation_campaign c ON c.id = t.campaign_id
   WHERE t.position >= 0 AND t.raters <> c.raters_per_item AND t.raters IS DISTINCT FROM c.overlap_raters LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'task %: % raters are not what its campaign asks for', bad.id, bad.raters
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER tasks_change_raters AFTER UPDATE ON annotation_task
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_check_task_raters();
CREATE TRIGGER tasks_have_raters AFTER INSERT ON annotation_task
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_check_task_raters();

CREATE FUNCTION concord_refuse_fewer_raters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'annotation_campaign' THEN
    PERFORM 1 FROM annotation_task WHERE campaign_id = OLD.id AND position >= 0 LIMIT 1;
    IF NOT FOUND THEN RETURN NULL; END IF;
  END IF;
  RAISE EXCEPTION '% %: its raters never become fewer', TG_TABLE_NAME, OLD.id USING ERRCODE = '23514';
END $$;
CREATE TRIGGER campaigns_keep_raters AFTER UPDATE OF raters_per_item, overlap_raters ON annotation_campaign
  FOR EACH ROW WHEN (NEW.raters_per_item < OLD.raters_per_item
    OR coalesce(NEW.overlap_raters, 0) < coalesce(OLD.overlap_raters, 0))
  EXECUTE FUNCTION concord_refuse_fewer_raters();
CREATE TRIGGER tasks_keep_raters AFTER UPDATE OF raters ON annotation_task
  FOR EACH ROW WHEN (NEW.raters < OLD.raters) EXECUTE FUNCTION concord_refuse_fewer_raters();

CREATE FUNCTION concord_passes(which bigint, person bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT (g.language = '' OR EXISTS (SELECT 1 FROM annotation_personlanguage l
                                      WHERE l.user_id = person AND l.language = g.language))
     AND (g.group_id IS NULL OR EXISTS (SELECT 1 FROM annotation_peoplegroup_people p
                                         WHERE p.user_id = person AND p.peoplegroup_id = g.group_id))
     AND (g.reserved_id IS NULL OR EXISTS (SELECT 1 FROM annotation_peoplegroup_people p
                                            WHERE p.user_id = person AND p.peoplegroup_id = g.reserved_id))
    FROM annotation_gate g WHERE g.id = which
$$;

CREATE FUNCTION concord_wrote(which bigint, person bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM annotation_taskauthor w WHERE w.task_id = which AND w.name IN (
    SELECT u.folded FROM annotation_username u WHERE u.user_id = person
    UNION ALL SELECT n.folded FROM annotation_writingname n WHERE n.user_id = person))
$$;


SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE FUNCTION concord_check_admitted() RETURNS trigger LANGUAGE plpgsql AS $$
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
  RETURN NULL;
END $$;
CREATE TRIGGER assignments_admitted AFTER INSERT OR UPDATE OF state ON annotation_assignment
  FOR EACH ROW WHEN (NEW.slot_id IS NOT NULL AND NEW.state = 'leased')
  EXECUTE FUNCTION concord_check_admitted();

CREATE FUNCTION concord_check_aside() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.occasion = 'repeat' THEN
    PERFORM 1 FROM annotation_assignment a WHERE a.task_id = NEW.task_id AND a.user_id = NEW.user_id
       AND a.slot_id IS NOT NULL AND a.campaign_id = NEW.campaign_id AND a.state = 'submitted';
  ELSE
    PERFORM 1 FROM annotation_keytask k WHERE k.task_id = NEW.task_id AND k.campaign_id = NEW.campaign_id
       AND k.occasion = NEW.occasion;
  END IF;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'assignment of task %: it is nothing for a %', NEW.task_id, NEW.occasion
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER assignments_aside AFTER INSERT ON annotation_assignment
  FOR EACH ROW WHEN (NEW.slot_id IS NULL) EXECUTE FUNCTION concord_check_aside();

CREATE FUNCTION concord_check_key_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_task t WHERE t.id = NEW.task_id AND t.campaign_id = NEW.campaign_id AND t.position < 0;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'key of task %: the task is main work, or of another campaign', NEW.task_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER key_tasks_stand_aside BEFORE INSERT OR UPDATE OF task_id, campaign_id ON annotation_keytask
  FOR EACH ROW EXECUTE FUNCTION concord_check_key_task();

CREATE FUNCTION concord_check_withdrawn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_label WHERE assignment_id = NEW.id AND superseded_at IS NULL LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'assignment %: its labels are live, so it cannot be %', NEW.id, NEW.state
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER assignments_withdrawn AFTER UPDATE OF state ON annotation_assignment
  FOR EACH ROW WHEN (OLD.state = 'submitted' AND NEW.state <> 'submitted')
  EXECUTE FUNCTION concord_check_withdrawn();

CREATE FUNCTION concord_count_stratum() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE before bigint; after bigint;
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.state IN ('leased', 'submitted', 'returned') THEN
    SELECT stratum_id INTO before FROM annotation_slot WHERE id = OLD.slot_id;
  END IF;
  IF NEW.state IN ('leased', 'submitted', 'returned') THEN
    SELECT stratum_id INTO after FROM annotation_slot WHERE id = NEW.slot_id;
  END IF;
  IF before IS NOT DISTINCT FROM after THEN RETURN NULL; END IF;
  IF before IS NOT NULL THEN
    UPDATE annotation_stratumshare SET done = done - 1 WHERE user_id = OLD.user_id AND stratum_id = before;
  END IF;
  IF after IS NOT NULL THEN
    INSERT INTO annotation_stratumshare AS share (user_id, stratum_id, done) VALUES (NEW.user_id, after, 1)
      ON CONFLICT (user_id, stratum_id) DO UPDATE SET done = share.done + 1;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER strata_counted AFTER UPDATE OF state, slot_id ON annotation_assignment
  FOR EACH ROW WHEN (OLD.slot_id IS DISTINCT FROM NEW.slot_id
    OR (OLD.state IN ('leased', 'submitted', 'returned'))
      IS DISTINCT FROM (NEW.state IN ('leased', 'submitted', 'returned')))
  EXECUTE FUNCTION concord_count_stratum();
CREATE TRIGGER strata_counted_first AFTER INSERT ON annotation_assignment
  FOR EACH ROW WHEN (NEW.slot_id IS NOT NULL AND NEW.state IN ('leased', 'submitted', 'returned'))
  EXECUTE FUNCTION concord_count_stratum();

CREATE FUNCTION concord_tell_submit() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER submits_are_told AFTER UPDATE OF state ON annotation_assignment
  FOR EACH ROW WHEN (NEW.state = 'submitted' AND OLD.state <> 'submitted')
  EXECUTE FUNCTION concord_tell_submit();
