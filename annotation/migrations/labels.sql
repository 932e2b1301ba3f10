-- Labels: on their scale, never changed or deleted but superseded, counted as they come; what they answer is
-- frozen. `SET LOCAL concord.purge = 'on'` lets an administrator's deletion remove labels; nothing else does.

ALTER TABLE annotation_label ADD CONSTRAINT label_number_finite
  CHECK (number IS NULL OR (number <> 'NaN' AND number <> 'Infinity' AND number <> '-Infinity'));
ALTER TABLE annotation_labelcount ADD CONSTRAINT label_count_corpus FOREIGN KEY (corpus_id)
  REFERENCES annotation_corpus(id) ON DELETE CASCADE;
ALTER TABLE annotation_labelcount ADD CONSTRAINT label_count_campaign FOREIGN KEY (campaign_id)
  REFERENCES annotation_campaign(id) ON DELETE CASCADE;
ALTER TABLE annotation_labelcount ADD CONSTRAINT label_count_question FOREIGN KEY (question_id)
  REFERENCES annotation_question(id) ON DELETE CASCADE;
ALTER TABLE annotation_labelcount ADD CONSTRAINT label_count_rater FOREIGN KEY (rater_id)
  REFERENCES annotation_rater(id) ON DELETE CASCADE;

CREATE FUNCTION concord_check_labels() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
  SELECT l.item_id, q.key, l.number, l.text,
         CASE WHEN coalesce(nullif(q.item_kind, ''), v.item_kind) <> i.kind
                THEN 'the question is made for ' || coalesce(nullif(q.item_kind, ''), v.item_kind) || ' items'
              WHEN r.corpus_id IS NOT NULL AND r.corpus_id <> i.corpus_id THEN 'the rater is of another corpus'
              WHEN c.id IS NOT NULL AND c.corpus_id <> i.corpus_id THEN 'the campaign is of another corpus'
              WHEN l.assignment_id IS NOT NULL AND (a.campaign_id IS DISTINCT FROM l.campaign_id
                   OR (t.continuation_id <> i.continuation_id OR t.item_id <> i.id) AND NOT EXISTS (
            SELECT 1 FROM annotation_itemmember m WHERE m.item_id = t.item_id AND m.turn_id = i.turn_id)
                   OR r.user_id IS DISTINCT FROM a.user_id)
                THEN 'the assignment is about something else'
              WHEN l.shown IS NOT NULL AND NOT concord_is_order(l.shown, l.item_id)
                OR l.assignment_id IS NOT NULL
                   AND l.shown IS DISTINCT FROM CASE WHEN i.compared IS NOT NULL THEN a.shown END
                THEN 'it was not shown in this order'
              ELSE 'the value is not on the scale' END AS why
    INTO bad
    FROM fresh l
    JOIN annotation_item i ON i.id = l.item_id
    JOIN annotation_question q ON q.id = l.question_id
    JOIN annotation_schemeversion v ON v.id = q.version_id
    JOIN annotation_rater r ON r.id = l.rater_id
    LEFT JOIN annotation_campaign c ON c.id = l.campaign_id
    LEFT JOIN annotation_assignment a ON a.id = l.assignment_id
    LEFT JOIN annotation_task t ON t.id = a.task_id
   WHERE coalesce(nullif(q.item_kind, ''), v.item_kind) <> i.kind
      OR (r.corpus_id IS NOT NULL AND r.corpus_id <> i.corpus_id)
      OR (c.id IS NOT NULL AND c.corpus_id <> i.corpus_id)
      OR (l.assignment_id IS NOT NULL AND (a.campaign_id IS DISTINCT FROM l.campaign_id
          OR (t.continuation_id <> i.continuation_id OR t.item_id <> i.id) AND NOT EXISTS (
            SELECT 1 FROM annotation_itemmember m WHERE m.item_id = t.item_id AND m.turn_id = i.turn_id)
                   OR r.user_id IS DISTINCT FROM a.user_id))
      OR (l.number IS NOT NULL AND (q.level IN ('nominal', 'text', 'ranking')
          OR (jsonb_array_length(q.values) > 0 AND NOT q.values @> to_jsonb(l.number))))
      OR (l.text IS NOT NULL AND (q.level NOT IN ('nominal', 'text', 'ranking')
          OR (q.level = 'nominal' AND jsonb_array_length(q.values) > 0 AND NOT q.values @> to_jsonb(l.text))))
      OR (l.number IS NOT NULL AND (l.number < q.minimum OR l.number > q.maximum
          OR (q.whole AND l.number <> trunc(l.number))))
      OR (q.level = 'ranking' AND l.text IS NOT NULL AND NOT concord_is_ranking(l.text, l.item_id))
      OR (l.shown IS NOT NULL AND NOT concord_is_order(l.shown, l.item_id))
      OR (l.assignment_id IS NOT NULL AND l.shown IS DISTINCT FROM CASE WHEN i.compared IS NOT NULL THEN a.shown END)
   LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'label of item %, question %, value %: %', bad.item_id, bad.key,
      coalesce(bad.number::text, bad.text, 'missing'), bad.why USING ERRCODE = '23514';
  END IF;
  UPDATE annotation_schemeversion SET frozen_at = now() WHERE frozen_at IS NULL AND id IN
    (SELECT q.version_id FROM fresh l JOIN annotation_question q ON q.id = l.question_id);
  UPDATE annotation_guidelines SET frozen_at = now() WHERE frozen_at IS NULL AND id IN
    (SELECT a.guidelines_id FROM fresh l JOIN annotation_assignment a ON a.id = l.assignment_id);
  RETURN NULL;
END $$;
CREATE TRIGGER labels_inserted AFTER INSERT ON annotation_label
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_check_labels();

CREATE FUNCTION concord_keep_labels() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF current_setting('concord.purge', true) = 'on' THEN RETURN OLD; END IF;
    RAISE EXCEPTION 'label %: labels are never deleted', OLD.id USING ERRCODE = '23514';
  END IF;
  IF OLD.superseded_at IS NULL AND NEW.superseded_at IS NOT NULL THEN
    NEW.superseded_at := OLD.superseded_at;
    IF NEW IS NOT DISTINCT FROM OLD THEN NEW.superseded_at := now(); RETURN NEW; END IF;
  END IF;
  RAISE EXCEPTION 'label %: labels are never changed, only superseded', OLD.id USING ERRCODE = '23514';
END $$;
CREATE TRIGGER labels_kept BEFORE DELETE OR UPDATE ON annotation_label
  FOR EACH ROW EXECUTE FUNCTION concord_keep_labels();

CREATE FUNCTION concord_check_successor() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_label o WHERE o.id = NEW.supersedes_id AND o.superseded_at IS NOT NULL
    AND (o.item_id, o.question_id, o.rater_id, o.occasion, o.sample)
      = (NEW.item_id, NEW.question_id, NEW.rater_id, NEW.occasion, NEW.sample)
    AND o.campaign_id IS NOT DISTINCT FROM NEW.campaign_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'label %: it supersedes a label that is live or about something else', NEW.id
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER labels_succeed AFTER INSERT ON annotation_label
  FOR EACH ROW WHEN (NEW.supersedes_id IS NOT NULL) EXECUTE FUNCTION concord_check_successor();

CREATE FUNCTION concord_check_evidence() RETURNS trigger LANGUAGE plpgsql AS $_$
DECLARE why text; place text;
BEGIN
  IF NEW.missing <> '' THEN
    RAISE EXCEPTION 'evidence of a label of item %: a missing answer points at nothing', NEW.item_id
      USING ERRCODE = '23514';
  END IF;
  IF jsonb_typeof(NEW.evidence) <> 'array' OR jsonb_array_length(NEW.evidence) NOT BETWEEN 1 AND 100 THEN
    RAISE EXCEPTION 'evidence of a label of item %: from 1 to 100 passages', NEW.item_id USING ERRCODE = '23514';
  END IF;
  SELECT e.passage::text,
         CASE WHEN u.id IS NULL THEN 'there is no such turn in its dialogue'
              WHEN p.first IS NOT NULL OR p.last IS NOT NULL THEN 'it is not within the text of its turn'
              ELSE 'the rater was not shown this turn' END
    INTO place, why
    FROM jsonb_array_elements(NEW.evidence) AS e(passage)
   CROSS JOIN LATERAL (SELECT (e.passage->>'turn')::int AS position, (e.passage->>'start')::int AS first,
                              (e.passage->>'end')::int AS last) AS p
    JOIN annotation_item i ON i.id = NEW.item_id
    JOIN annotation_continuation c ON c.id = i.continuation_id
    JOIN annotation_question q ON q.id = NEW.question_id
    JOIN annotation_schemeversion v ON v.id = q.version_id
    LEFT JOIN annotation_turn rated ON rated.id = i.turn_id
    LEFT JOIN annotation_continuation w ON w.dialogue_id = c.dialogue_id
     AND w.key = e.passage->>'continuation' AND w.key IN (c.key, 'self')
    LEFT JOIN annotation_turn u ON u.continuation_id = w.id AND u.position = p.position
   WHERE u.id IS NULL
      OR (p.first IS NULL) <> (p.last IS NULL)
      OR p.first < 0 OR p.first >= p.last OR p.last > char_length(u.text)
      OR (NEW.imported_id IS NULL AND v.unit = 'item' AND rated.id IS NOT NULL
          AND ((w.id = c.id AND u.position > rated.position)
               OR (w.id <> c.id AND u.position >= rated.at)
               OR (w.id = c.id AND c.mode = 'static' AND u.id <> rated.id
                   AND NOT (u.given AND u.at IS NOT DISTINCT FROM rated.at))))
   LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'evidence % of a label of item %: %', place, NEW.item_id, why USING ERRCODE = '23514';
  END IF;
  PERFORM 1 FROM annotation_question q WHERE q.id = NEW.question_id AND (q.evidence = 'spans'
    OR (q.evidence = 'turns' AND NOT jsonb_path_exists(NEW.evidence, '$[*] ? (@.start != null)')));
  IF NOT FOUND AND NEW.imported_id IS NULL THEN
    RAISE EXCEPTION 'evidence of a label of item %: its question does not ask for it', NEW.item_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $_$;
CREATE TRIGGER labels_with_evidence AFTER INSERT ON annotation_label
  FOR EACH ROW WHEN (NEW.evidence IS NOT NULL) EXECUTE FUNCTION concord_check_evidence();

CREATE FUNCTION concord_refuse_withdrawn_labels() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
  SELECT a.id, a.state, a.occasion, l.occasion AS given INTO bad
    FROM fresh l JOIN annotation_assignment a ON a.id = l.assignment_id
   WHERE l.superseded_at IS NULL
     AND (a.state IN ('returned', 'voided') OR a.occasion <> l.occasion) LIMIT 1;
  IF FOUND AND bad.occasion <> bad.given THEN
    RAISE EXCEPTION 'label of assignment %: its occasion is %, not %', bad.id, bad.occasion, bad.given
      USING ERRCODE = '23514';
  ELSIF FOUND THEN
    RAISE EXCEPTION 'label of assignment %: it is %', bad.id, bad.state USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER labels_of_submissions AFTER INSERT ON annotation_label
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_refuse_withdrawn_labels();

CREATE FUNCTION concord_count_new_labels() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO annotation_labelcount
    (corpus_id, question_id, rater_id, campaign_id, occasion, training, n, missing, changes, last)
  SELECT i.corpus_id, l.question_id, l.rater_id, l.campaign_id, l.occasion, i.training,
         count(*), count(*) FILTER (WHERE l.missing <> ''), count(*), max(l.id)
    FROM fresh l JOIN annotation_item i ON i.id = l.item_id
   WHERE l.superseded_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6;
  RETURN NULL;
END $$;
CREATE TRIGGER labels_counted_new AFTER INSERT ON annotation_label
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_count_new_labels();

CREATE FUNCTION concord_count_gone_labels() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO annotation_labelcount
    (corpus_id, question_id, rater_id, campaign_id, occasion, training, n, missing, changes, last)
  SELECT i.corpus_id, l.question_id, l.rater_id, l.campaign_id, l.occasion, i.training,
         -count(*), -count(*) FILTER (WHERE l.missing <> ''), count(*), max(l.id)
    FROM gone l JOIN annotation_item i ON i.id = l.item_id
    JOIN annotation_corpus c ON c.id = i.corpus_id
    JOIN annotation_question q ON q.id = l.question_id
    JOIN annotation_rater r ON r.id = l.rater_id
    LEFT JOIN annotation_campaign g ON g.id = l.campaign_id
   WHERE l.superseded_at IS NULL AND (l.campaign_id IS NULL OR g.id IS NOT NULL) GROUP BY 1, 2, 3, 4, 5, 6;
  RETURN NULL;
END $$;
CREATE TRIGGER labels_counted_gone AFTER DELETE ON annotation_label
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION concord_count_gone_labels();

CREATE FUNCTION concord_count_changed_labels() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO annotation_labelcount
    (corpus_id, question_id, rater_id, campaign_id, occasion, training, n, missing, changes, last)
  SELECT i.corpus_id, l.question_id, l.rater_id, l.campaign_id, l.occasion, i.training, sum(l.sign),
         coalesce(sum(l.sign) FILTER (WHERE l.missing <> ''), 0), count(*), max(l.id)
    FROM (SELECT -1 AS sign, o.* FROM gone o WHERE o.superseded_at IS NULL
          UNION ALL SELECT 1, f.* FROM fresh f WHERE f.superseded_at IS NULL) l
    JOIN annotation_item i ON i.id = l.item_id GROUP BY 1, 2, 3, 4, 5, 6;
  RETURN NULL;
END $$;
CREATE TRIGGER labels_counted_changed AFTER UPDATE ON annotation_label
  REFERENCING OLD TABLE AS gone NEW TABLE AS fresh FOR EACH STATEMENT
  EXECUTE FUNCTION concord_count_changed_labels();

CREATE FUNCTION concord_refuse_frozen_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('concord.purge', true) = 'on' AND TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  IF OLD.frozen_at IS NOT NULL THEN
    RAISE EXCEPTION '% %: frozen, because it was used', TG_TABLE_NAME, OLD.id USING ERRCODE = '23514';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guidelines_frozen BEFORE DELETE OR UPDATE ON annotation_guidelines
  FOR EACH ROW EXECUTE FUNCTION concord_refuse_frozen_version();
CREATE TRIGGER scheme_versions_frozen BEFORE DELETE OR UPDATE ON annotation_schemeversion
  FOR EACH ROW EXECUTE FUNCTION concord_refuse_frozen_version();

CREATE FUNCTION concord_refuse_frozen_question() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE parent bigint := CASE WHEN TG_OP = 'INSERT' THEN NEW.version_id ELSE OLD.version_id END;
BEGIN
  IF current_setting('concord.purge', true) = 'on' AND TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  IF TG_OP = 'UPDATE' AND to_jsonb(NEW) - 'short_name' = to_jsonb(OLD) - 'short_name' THEN RETURN NEW; END IF;
  PERFORM 1 FROM annotation_schemeversion WHERE id = parent AND frozen_at IS NOT NULL;
  IF FOUND THEN
    RAISE EXCEPTION 'question of scheme version %: frozen, because it was used', parent USING ERRCODE = '23514';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER questions_frozen BEFORE INSERT OR DELETE OR UPDATE ON annotation_question
  FOR EACH ROW EXECUTE FUNCTION concord_refuse_frozen_question();

CREATE FUNCTION concord_refuse_used_rater() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.kind, NEW.name, NEW.spec, NEW.fingerprint, NEW.identified) IS NOT DISTINCT FROM
     (OLD.kind, OLD.name, OLD.spec, OLD.fingerprint, OLD.identified)
     AND NEW.corpus_id IS NOT DISTINCT FROM OLD.corpus_id AND NEW.user_id IS NOT DISTINCT FROM OLD.user_id
  THEN RETURN NEW; END IF;
  PERFORM 1 FROM annotation_label WHERE rater_id = OLD.id LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'rater %: it has labels and cannot change', OLD.id USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER raters_frozen BEFORE UPDATE ON annotation_rater
  FOR EACH ROW EXECUTE FUNCTION concord_refuse_used_rater();
