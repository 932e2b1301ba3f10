-- People: what they agreed to and wrote stays as it was, and is theirs to write.

CREATE FUNCTION concord_keep_consent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('concord.purge', true) = 'on' AND TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  PERFORM 1 FROM annotation_consentgiven WHERE consent_id = OLD.id LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'consent %: somebody agreed to it, so it stays as it is', OLD.id USING ERRCODE = '23514';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER consents_kept BEFORE DELETE OR UPDATE ON annotation_consent
  FOR EACH ROW EXECUTE FUNCTION concord_keep_consent();

CREATE FUNCTION concord_keep_agreement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('concord.purge', true) = 'on' AND TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RAISE EXCEPTION '% %: it is never changed or deleted', TG_TABLE_NAME, OLD.id USING ERRCODE = '23514';
END $$;
CREATE TRIGGER consents_given_kept BEFORE DELETE OR UPDATE ON annotation_consentgiven
  FOR EACH ROW EXECUTE FUNCTION concord_keep_agreement();
CREATE TRIGGER guidelines_read_kept BEFORE DELETE OR UPDATE ON annotation_guidelinesread
  FOR EACH ROW EXECUTE FUNCTION concord_keep_agreement();

CREATE FUNCTION concord_keep_participant_in() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_participant WHERE user_id = NEW.user_id AND campaign_id <> NEW.campaign_id;
  IF FOUND THEN
    RAISE EXCEPTION 'person %: they joined another campaign by a link, and are let into no other', NEW.user_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER participants_stay_members AFTER INSERT OR UPDATE OF user_id, campaign_id ON annotation_campaignmember
  FOR EACH ROW EXECUTE FUNCTION concord_keep_participant_in();

CREATE FUNCTION concord_check_thread() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.assignment_id IS NULL THEN RETURN NEW; END IF;
  PERFORM 1 FROM annotation_assignment
    WHERE id = NEW.assignment_id AND campaign_id = NEW.campaign_id AND user_id = NEW.annotator_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'thread %: assignment % is not one of its annotator', NEW.id, NEW.assignment_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER threads_with_holder
  BEFORE INSERT OR UPDATE OF campaign_id, annotator_id, assignment_id ON annotation_thread
  FOR EACH ROW EXECUTE FUNCTION concord_check_thread();

CREATE FUNCTION concord_keep_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM 1 FROM annotation_thread WHERE id = NEW.thread_id AND closed_at IS NULL;
    IF FOUND THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'thread %: it is closed, nothing more is said in it', NEW.thread_id USING ERRCODE = '23514';
  END IF;
  IF current_setting('concord.purge', true) = 'on' THEN
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'message %: what was said is never changed or deleted', OLD.id USING ERRCODE = '23514';
END $$;
CREATE TRIGGER messages_kept BEFORE INSERT OR DELETE OR UPDATE ON annotation_message
  FOR EACH ROW EXECUTE FUNCTION concord_keep_message();

CREATE FUNCTION concord_check_turn_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_assignment
    WHERE id = NEW.assignment_id AND campaign_id = NEW.campaign_id AND user_id = NEW.user_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION '% on assignment %: it is not one of its writer', TG_TABLE_NAME, NEW.assignment_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER bookmarks_by_holder BEFORE INSERT OR UPDATE ON annotation_bookmark
  FOR EACH ROW EXECUTE FUNCTION concord_check_turn_note();
CREATE TRIGGER turn_notes_by_holder BEFORE INSERT ON annotation_turnnote
  FOR EACH ROW EXECUTE FUNCTION concord_check_turn_note();

CREATE FUNCTION concord_keep_turn_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('concord.purge', true) = 'on' THEN
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
  END IF;
  IF TG_OP = 'UPDATE' AND OLD.superseded_at IS NULL AND NEW.superseded_at IS NOT NULL
     AND (to_jsonb(NEW) - 'superseded_at') = (to_jsonb(OLD) - 'superseded_at') THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'note %: a note is replaced by a new one, never changed or deleted', OLD.id
    USING ERRCODE = '23514';
END $$;
CREATE TRIGGER turn_notes_kept BEFORE DELETE OR UPDATE ON annotation_turnnote
  FOR EACH ROW EXECUTE FUNCTION concord_keep_turn_note();
