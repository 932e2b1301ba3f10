-- Prompts that were used stay; benches are about dev; labels are never of drafts.

CREATE FUNCTION concord_refuse_changed_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    RAISE EXCEPTION 'text % of a prompt: it never changes', OLD.id USING ERRCODE = '23514';
  END IF;
  PERFORM 1 FROM annotation_rater WHERE spec->>'wording' = OLD.digest LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'text % of a prompt: a judge has used it', OLD.id USING ERRCODE = '23514';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER prompt_texts_frozen BEFORE DELETE OR UPDATE ON judges_prompttext
  FOR EACH ROW EXECUTE FUNCTION concord_refuse_changed_text();

CREATE FUNCTION concord_refuse_changed_prompt_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF (NEW.prompt_id, NEW.number, NEW.text_id, NEW.parent, NEW.origin)
       IS NOT DISTINCT FROM (OLD.prompt_id, OLD.number, OLD.text_id, OLD.parent, OLD.origin)
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'version % of prompt %: it never changes', OLD.number, OLD.prompt_id
      USING ERRCODE = '23514';
  END IF;
  PERFORM 1 FROM annotation_rater r JOIN judges_prompttext t ON r.spec->>'wording' = t.digest
   WHERE t.id = OLD.text_id LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'version % of prompt %: a judge has used it', OLD.number, OLD.prompt_id
      USING ERRCODE = '23514';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER prompt_versions_frozen BEFORE DELETE OR UPDATE ON judges_promptversion
  FOR EACH ROW EXECUTE FUNCTION concord_refuse_changed_prompt_version();

CREATE FUNCTION concord_check_bench_targets() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad bigint;
BEGIN
  SELECT f.id INTO bad FROM fresh f
    JOIN judges_bench b ON b.id = f.bench_id
    JOIN annotation_continuation c ON c.id = f.continuation_id
    JOIN annotation_dialogue d ON d.id = c.dialogue_id
    LEFT JOIN annotation_item i ON i.id = f.item_id
    LEFT JOIN annotation_splitcluster s ON s.split_id = b.split_id AND s.cluster = d.cluster
   WHERE s.part IS DISTINCT FROM 'dev' OR d.corpus_id <> b.corpus_id
      OR (i.id IS NOT NULL AND i.continuation_id <> f.continuation_id) LIMIT 1;
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION 'target % of a bench: drafts are tried on dev items alone', bad USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER bench_targets_of_dev AFTER INSERT ON judges_benchtarget
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_check_bench_targets();
CREATE TRIGGER bench_targets_stay_dev AFTER UPDATE ON judges_benchtarget
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_check_bench_targets();

CREATE FUNCTION concord_check_draft_answers() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad bigint;
BEGIN
  SELECT f.id INTO bad FROM fresh f
    JOIN judges_draft r ON r.id = f.draft_id
    JOIN annotation_item i ON i.id = f.item_id
   WHERE NOT EXISTS (SELECT 1 FROM judges_benchtarget t WHERE t.bench_id = r.bench_id
     AND t.continuation_id = i.continuation_id AND (t.item_id IS NULL OR t.item_id = i.id)) LIMIT 1;
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION 'answer % of a draft: it is about no target of its bench', bad USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER draft_answers_of_targets AFTER INSERT ON judges_draftanswer
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_check_draft_answers();

CREATE FUNCTION concord_keep_trials() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('concord.purge', true) = 'on' THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'trial %: what was tried stays counted', OLD.id USING ERRCODE = '23514';
END $$;
CREATE TRIGGER trials_kept BEFORE DELETE OR UPDATE ON judges_trial
  FOR EACH ROW EXECUTE FUNCTION concord_keep_trials();

CREATE FUNCTION concord_refuse_labels_of_drafts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad bigint;
BEGIN
  SELECT f.id INTO bad FROM fresh f JOIN judges_draft d ON d.rater_id = f.rater_id LIMIT 1;
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION 'label %: a draft has none before it is kept as a version', bad USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER labels_not_of_drafts AFTER INSERT ON annotation_label
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_refuse_labels_of_drafts();
