-- Nobody is assigned what they wrote: a task about a continuation with turns of theirs, or one that compares it.

-- The people of a conversation do answer about it in its own campaign, and nobody writes twice for a dialogue.
CREATE FUNCTION concord_own_tasks(which bigint, person bigint) RETURNS bigint[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(DISTINCT own.id), '{}') FROM (
    SELECT t.id FROM annotation_continuationauthor w
      JOIN annotation_task t ON t.campaign_id = which AND t.continuation_id = w.continuation_id
      JOIN annotation_continuation c ON c.id = w.continuation_id
     WHERE w.user_id = person AND c.key <> 'chat-' || which
    UNION ALL
    SELECT t.id FROM annotation_continuationauthor w
      JOIN annotation_itemmember m ON m.continuation_id = w.continuation_id
      JOIN annotation_task t ON t.item_id = m.item_id AND t.campaign_id = which
     WHERE w.user_id = person
    UNION ALL
    SELECT t.id FROM annotation_campaign k
      JOIN annotation_continuationauthor w ON w.user_id = person
      JOIN annotation_continuation c ON c.id = w.continuation_id
      JOIN annotation_continuation o ON o.dialogue_id = c.dialogue_id AND o.key = 'write-' || which
      JOIN annotation_task t ON t.campaign_id = which AND t.continuation_id = o.id
     WHERE k.id = which AND k.form = 'write') own
$$;

CREATE FUNCTION concord_refuse_own() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_continuationauthor WHERE user_id = NEW.user_id LIMIT 1;
  IF FOUND AND NEW.task_id = ANY(concord_own_tasks(NEW.campaign_id, NEW.user_id)) THEN
    RAISE EXCEPTION 'assignment of task %: user % wrote what it is about', NEW.task_id, NEW.user_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER assignments_of_others AFTER INSERT OR UPDATE OF task_id, user_id ON annotation_assignment
  FOR EACH ROW EXECUTE FUNCTION concord_refuse_own();
