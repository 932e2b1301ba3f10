-- Corpora: items are of their turns and continuations, a part and a split stay, samples are drawn once.

CREATE FUNCTION concord_check_items() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad bigint;
BEGIN
  SELECT i.id INTO bad FROM changed i JOIN annotation_turn t ON t.id = i.turn_id
   WHERE t.given OR t.continuation_id <> i.continuation_id LIMIT 1;
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION 'item %: its turn is given or of another continuation', bad USING ERRCODE = '23514';
  END IF;
  SELECT i.id INTO bad FROM changed i JOIN annotation_continuation c ON c.id = i.continuation_id
    JOIN annotation_dialogue d ON d.id = c.dialogue_id
   WHERE d.corpus_id <> i.corpus_id OR i.training <> (d.part = 'training') LIMIT 1;
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION 'item %: its continuation is of another corpus, or one of the two is in training', bad
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER items_inserted AFTER INSERT ON annotation_item
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION concord_check_items();
CREATE TRIGGER items_updated AFTER UPDATE ON annotation_item
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION concord_check_items();

CREATE FUNCTION concord_check_decisions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad bigint;
BEGIN
  SELECT i.id INTO bad FROM changed i
    JOIN annotation_continuation c ON c.id = i.continuation_id
    JOIN annotation_dialogue d ON d.id = c.dialogue_id
   WHERE i.turn_id IS NOT NULL
     AND (i.kind = 'decision') <> (c.mode = 'static' AND d.scenario IS NOT NULL) LIMIT 1;
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION 'item %: decisions are the turns of static continuations of scenarios, and those alone', bad
      USING ERRCODE = '23514';
  END IF;
  SELECT i.id INTO bad FROM changed i
    JOIN annotation_continuation c ON c.id = i.continuation_id
    JOIN annotation_dialogue d ON d.id = c.dialogue_id
   WHERE i.turn_id IS NOT NULL
     AND (i.kind = 'answer') <> (c.mode = 'static' AND d.script IS NOT NULL) LIMIT 1;
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION 'item %: answers are the turns of static continuations of scripts, and those alone', bad
      USING ERRCODE = '23514';
  END IF;
  SELECT i.id INTO bad FROM changed i
    JOIN annotation_continuation c ON c.id = i.continuation_id
    JOIN annotation_record r ON r.id = i.record_id
   WHERE r.dialogue_id <> c.dialogue_id OR r.kind <> i.kind OR c.key <> 'self' LIMIT 1;
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION 'item %: its record is of another dialogue or another kind', bad USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER decisions_inserted AFTER INSERT ON annotation_item
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION concord_check_decisions();
CREATE TRIGGER decisions_updated AFTER UPDATE ON annotation_item
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION concord_check_decisions();

CREATE FUNCTION concord_keep_part() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'dialogue %: its part is the one that it came with', OLD.id USING ERRCODE = '23514';
END $$;
CREATE TRIGGER dialogue_keeps_part BEFORE UPDATE OF part ON annotation_dialogue
  FOR EACH ROW WHEN (OLD.part IS DISTINCT FROM NEW.part) EXECUTE FUNCTION concord_keep_part();

CREATE FUNCTION concord_refuse_fixed_split() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('concord.purge', true) = 'on' AND TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  IF OLD.fixed_at IS NOT NULL THEN
    RAISE EXCEPTION 'split %: fixed at its first use', OLD.id USING ERRCODE = '23514';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER splits_fixed BEFORE DELETE OR UPDATE ON annotation_split
  FOR EACH ROW EXECUTE FUNCTION concord_refuse_fixed_split();

CREATE FUNCTION concord_refuse_fixed_cluster() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE parent bigint := CASE WHEN TG_OP = 'INSERT' THEN NEW.split_id ELSE OLD.split_id END;
BEGIN
  IF current_setting('concord.purge', true) = 'on' AND TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  PERFORM 1 FROM annotation_split WHERE id = parent AND fixed_at IS NOT NULL;
  IF FOUND AND TG_OP <> 'INSERT' THEN
    RAISE EXCEPTION 'split %: fixed at its first use', parent USING ERRCODE = '23514';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER split_clusters_fixed BEFORE INSERT OR DELETE OR UPDATE ON annotation_splitcluster
  FOR EACH ROW EXECUTE FUNCTION concord_refuse_fixed_cluster();

CREATE FUNCTION concord_keep_sample() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_campaign c JOIN annotation_dialogue d ON d.corpus_id = c.corpus_id
    WHERE c.id = NEW.campaign_id AND c.state = 'draft' AND d.id = NEW.dialogue_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'sample of campaign %: it is drawn once, before the campaign opens, from its corpus',
      NEW.campaign_id USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER sample_drawn_once BEFORE INSERT OR UPDATE ON annotation_sampleddialogue
  FOR EACH ROW EXECUTE FUNCTION concord_keep_sample();

CREATE FUNCTION concord_keep_sampled_items() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_campaign c JOIN annotation_item i ON i.corpus_id = c.corpus_id
    WHERE c.id = NEW.campaign_id AND c.state = 'draft' AND i.id = NEW.item_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'items of campaign %: they are drawn once, before the campaign opens, from its corpus',
      NEW.campaign_id USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER sampled_items_drawn_once BEFORE INSERT OR UPDATE ON annotation_sampleditem
  FOR EACH ROW EXECUTE FUNCTION concord_keep_sampled_items();

CREATE FUNCTION concord_check_records() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_dialogue WHERE id = NEW.dialogue_id AND corpus_id = NEW.corpus_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'record %: its dialogue is of another corpus', NEW.id USING ERRCODE = '23514';
  END IF;
  IF TG_OP = 'UPDATE' AND (OLD.content, OLD.key, OLD.kind, OLD.dialogue_id)
       IS DISTINCT FROM (NEW.content, NEW.key, NEW.kind, NEW.dialogue_id) THEN
    PERFORM 1 FROM annotation_label l JOIN annotation_item i ON i.id = l.item_id WHERE i.record_id = OLD.id;
    IF FOUND THEN
      RAISE EXCEPTION 'record %: it has labels, so it is superseded, never changed', OLD.id
        USING ERRCODE = '23514';
    END IF;
    PERFORM 1 FROM annotation_questionset WHERE id = OLD.set_id AND used_at IS NOT NULL;
    IF FOUND THEN
      RAISE EXCEPTION 'record %: its question set was used', OLD.id USING ERRCODE = '23514';
    END IF;
    PERFORM 1 FROM annotation_use u JOIN annotation_questionset s ON s.id = u.set_id
      WHERE u.question_id = OLD.id AND s.used_at IS NOT NULL;
    IF FOUND THEN
      RAISE EXCEPTION 'record %: a question set that was used asks it, so it is superseded, never changed', OLD.id
        USING ERRCODE = '23514';
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER records_kept BEFORE INSERT OR UPDATE ON annotation_record
  FOR EACH ROW EXECUTE FUNCTION concord_check_records();

CREATE FUNCTION concord_check_uses() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad bigint;
BEGIN
  SELECT s.id INTO bad FROM annotation_questionset s
   WHERE s.used_at IS NOT NULL AND s.id IN (SELECT DISTINCT set_id FROM changed) LIMIT 1;
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION 'question set %: it was used, so its uses never change', bad USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER uses_inserted AFTER INSERT ON annotation_use
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION concord_check_uses();
CREATE TRIGGER uses_updated AFTER UPDATE ON annotation_use
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION concord_check_uses();

CREATE FUNCTION concord_keep_sets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.used_at IS NULL OR current_setting('concord.purge', true) = 'on' THEN RETURN OLD; END IF;
    RAISE EXCEPTION 'question set %: it was used, so it stays', OLD.id USING ERRCODE = '23514';
  END IF;
  IF OLD.used_at IS NOT NULL AND (OLD.name, OLD.version, OLD.options, OLD.digest, OLD.used_at)
       IS DISTINCT FROM (NEW.name, NEW.version, NEW.options, NEW.digest, NEW.used_at) THEN
    RAISE EXCEPTION 'question set %: it was used, so it never changes', OLD.id USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER sets_kept BEFORE DELETE OR UPDATE ON annotation_questionset
  FOR EACH ROW EXECUTE FUNCTION concord_keep_sets();
