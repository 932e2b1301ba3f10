-- Written responses stay as they were sent, come in order, and only while their writer holds the task.

CREATE FUNCTION collecting_check_written() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE task record; before int; most int; last int;
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('concord.purge', true) = 'on' THEN RETURN OLD; END IF;
  IF TG_OP <> 'INSERT' THEN
    RAISE EXCEPTION 'response % of assignment %: what was sent is never changed or deleted', OLD.number,
      OLD.assignment_id USING ERRCODE = '23514';
  END IF;
  SELECT a.state, a.slot_id, a.campaign_id INTO task FROM annotation_assignment a
   WHERE a.id = NEW.assignment_id FOR NO KEY UPDATE;
  SELECT p.most_characters INTO most FROM collecting_writingplan p WHERE p.campaign_id = task.campaign_id;
  IF task.state <> 'leased' OR task.slot_id IS NULL OR most IS NULL THEN
    RAISE EXCEPTION 'response % of assignment %: nobody writes it now', NEW.number, NEW.assignment_id
      USING ERRCODE = '23514';
  END IF;
  SELECT count(*), max(point) INTO before, last FROM collecting_writtenresponse WHERE assignment_id = NEW.assignment_id;
  IF NEW.number <> before + 1 OR NEW.point <= last THEN
    RAISE EXCEPTION 'response % of assignment %: not the next one', NEW.number, NEW.assignment_id
      USING ERRCODE = '23514';
  END IF;
  IF NEW.text <> btrim(NEW.text, E' \t\n') OR char_length(NEW.text) NOT BETWEEN 1 AND most THEN
    RAISE EXCEPTION 'response % of assignment %: a text of 1 to % characters', NEW.number, NEW.assignment_id, most
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER written_kept BEFORE INSERT OR UPDATE OR DELETE ON collecting_writtenresponse
  FOR EACH ROW EXECUTE FUNCTION collecting_check_written();

CREATE FUNCTION collecting_keep_writing_plan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM collecting_writtenresponse r JOIN annotation_assignment a ON a.id = r.assignment_id
   WHERE a.campaign_id = OLD.campaign_id LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'plan of campaign %: people have written by it', OLD.campaign_id USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER writing_plans_kept BEFORE UPDATE ON collecting_writingplan
  FOR EACH ROW EXECUTE FUNCTION collecting_keep_writing_plan();
