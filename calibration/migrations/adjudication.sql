-- Decisions are about their case and counted; cases and marks stay as they were.

CREATE FUNCTION concord_check_decision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND (NEW.case_id, NEW.round_id, NEW.adjudicator_id)
     IS DISTINCT FROM (OLD.case_id, OLD.round_id, OLD.adjudicator_id) THEN
    RAISE EXCEPTION 'decision %: it stays with its case and its adjudicator', OLD.id USING ERRCODE = '23514';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM calibration_adjudicationcase c
                  WHERE c.id = NEW.case_id AND c.round_id = NEW.round_id) THEN
    RAISE EXCEPTION 'decision %: its case is of another round', NEW.id USING ERRCODE = '23514';
  END IF;
  IF NEW.state = 'decided' AND NOT EXISTS (
      SELECT 1 FROM annotation_label l
        JOIN calibration_adjudicationcase c ON c.id = NEW.case_id
        JOIN annotation_rater r ON r.id = l.rater_id
       WHERE l.id = NEW.label_id AND l.item_id = c.item_id AND l.question_id = c.question_id
         AND l.occasion = 'adjudication' AND r.user_id = NEW.adjudicator_id) THEN
    RAISE EXCEPTION 'decision %: its label is no adjudication of this case by this person', NEW.id
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER decision_is_of_its_case BEFORE INSERT OR UPDATE ON calibration_adjudicationdecision
  FOR EACH ROW EXECUTE FUNCTION concord_check_decision();

CREATE FUNCTION concord_count_decisions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  taken_more int := 0;
  decided_more int := 0;
  of_case bigint;
BEGIN
  IF TG_OP IN ('UPDATE', 'DELETE') THEN
    of_case := OLD.case_id;
    taken_more := taken_more - (OLD.state IN ('held', 'decided'))::int;
    decided_more := decided_more - (OLD.state = 'decided')::int;
  END IF;
  IF TG_OP IN ('INSERT', 'UPDATE') THEN
    of_case := NEW.case_id;
    taken_more := taken_more + (NEW.state IN ('held', 'decided'))::int;
    decided_more := decided_more + (NEW.state = 'decided')::int;
  END IF;
  IF taken_more <> 0 OR decided_more <> 0 THEN
    UPDATE calibration_adjudicationcase c
       SET taken = c.taken + taken_more, decided = c.decided + decided_more,
           settled_at = CASE WHEN decided_more < 0 THEN NULL ELSE c.settled_at END
     WHERE c.id = of_case;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER decisions_counted AFTER INSERT OR DELETE OR UPDATE OF state ON calibration_adjudicationdecision
  FOR EACH ROW EXECUTE FUNCTION concord_count_decisions();

CREATE FUNCTION concord_keep_case() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF current_setting('concord.purge', true) = 'on' THEN RETURN OLD; END IF;
    RAISE EXCEPTION 'case %: what was drawn for adjudication stays drawn', OLD.id USING ERRCODE = '23514';
  END IF;
  IF (NEW.round_id, NEW.draw_id, NEW.item_id, NEW.question_id, NEW.position, NEW.picked, NEW.places)
     IS DISTINCT FROM
     (OLD.round_id, OLD.draw_id, OLD.item_id, OLD.question_id, OLD.position, OLD.picked, OLD.places) THEN
    RAISE EXCEPTION 'case %: what was drawn for adjudication never changes', OLD.id USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER cases_kept BEFORE DELETE OR UPDATE ON calibration_adjudicationcase
  FOR EACH ROW EXECUTE FUNCTION concord_keep_case();

CREATE FUNCTION concord_keep_marks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF current_setting('concord.purge', true) = 'on' THEN RETURN OLD; END IF;
    RAISE EXCEPTION 'mark %: marks are never deleted, only withdrawn', OLD.id USING ERRCODE = '23514';
  END IF;
  IF NEW.created_by_id IS NULL THEN
    NEW.created_by_id := OLD.created_by_id;
    IF NEW IS NOT DISTINCT FROM OLD THEN NEW.created_by_id := NULL; RETURN NEW; END IF;
  END IF;
  RAISE EXCEPTION 'mark %: marks are never changed, only withdrawn', OLD.id USING ERRCODE = '23514';
END $$;
CREATE TRIGGER marks_kept BEFORE DELETE OR UPDATE ON calibration_mark
  FOR EACH ROW EXECUTE FUNCTION concord_keep_marks();
