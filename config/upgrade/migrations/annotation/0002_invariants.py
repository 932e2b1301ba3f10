"""The invariants that plain constraints cannot say, as triggers and composite foreign keys.

`SET LOCAL concord.purge = 'on'` lets an administrator's explicit deletion remove labels; nothing else does.
"""

from django.db import migrations

COMPOSITE_KEYS = """
ALTER TABLE annotation_slot ADD CONSTRAINT slot_of_its_task
  FOREIGN KEY (task_id, campaign_id, position) REFERENCES annotation_task (id, campaign_id, position)
  DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE annotation_assignment ADD CONSTRAINT assignment_slot_of_task
  FOREIGN KEY (slot_id, task_id) REFERENCES annotation_slot (id, task_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE annotation_label ADD CONSTRAINT label_number_finite
  CHECK (number IS NULL OR (number <> 'NaN' AND number <> 'Infinity' AND number <> '-Infinity'));
"""

COMPOSITE_KEYS_BACK = """
ALTER TABLE annotation_slot DROP CONSTRAINT slot_of_its_task;
ALTER TABLE annotation_assignment DROP CONSTRAINT assignment_slot_of_task;
ALTER TABLE annotation_label DROP CONSTRAINT label_number_finite;
"""

ITEMS = """
CREATE FUNCTION concord_check_items() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad bigint;
BEGIN
  SELECT i.id INTO bad FROM changed i JOIN annotation_turn t ON t.id = i.turn_id
   WHERE t.given OR t.continuation_id <> i.continuation_id LIMIT 1;
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION 'item %: its turn is given or of another continuation', bad USING ERRCODE = '23514';
  END IF;
  SELECT i.id INTO bad FROM changed i JOIN annotation_continuation c ON c.id = i.continuation_id
    JOIN annotation_dialogue d ON d.id = c.dialogue_id WHERE d.corpus_id <> i.corpus_id LIMIT 1;
  IF bad IS NOT NULL THEN
    RAISE EXCEPTION 'item %: its continuation is of another corpus', bad USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER items_inserted AFTER INSERT ON annotation_item
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION concord_check_items();
CREATE TRIGGER items_updated AFTER UPDATE ON annotation_item
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION concord_check_items();
"""

LABELS = """
CREATE FUNCTION concord_check_labels() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
  SELECT l.item_id, q.key, l.number, l.text,
         CASE WHEN v.item_kind <> i.kind THEN 'the question is made for ' || v.item_kind || ' items'
              WHEN r.corpus_id IS NOT NULL AND r.corpus_id <> i.corpus_id THEN 'the rater is of another corpus'
              WHEN c.id IS NOT NULL AND c.corpus_id <> i.corpus_id THEN 'the campaign is of another corpus'
              WHEN l.assignment_id IS NOT NULL AND (a.campaign_id IS DISTINCT FROM l.campaign_id
                   OR t.continuation_id <> i.continuation_id OR r.user_id IS DISTINCT FROM a.user_id)
                THEN 'the assignment is about something else'
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
   WHERE v.item_kind <> i.kind
      OR (r.corpus_id IS NOT NULL AND r.corpus_id <> i.corpus_id)
      OR (c.id IS NOT NULL AND c.corpus_id <> i.corpus_id)
      OR (l.assignment_id IS NOT NULL AND (a.campaign_id IS DISTINCT FROM l.campaign_id
          OR t.continuation_id <> i.continuation_id OR r.user_id IS DISTINCT FROM a.user_id))
      OR (l.number IS NOT NULL AND (q.level IN ('nominal', 'text')
          OR (jsonb_array_length(q.values) > 0 AND NOT q.values @> to_jsonb(l.number))))
      OR (l.text IS NOT NULL AND (q.level NOT IN ('nominal', 'text')
          OR (q.level = 'nominal' AND jsonb_array_length(q.values) > 0 AND NOT q.values @> to_jsonb(l.text))))
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
CREATE TRIGGER labels_kept BEFORE UPDATE OR DELETE ON annotation_label
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
"""

FROZEN = """
CREATE FUNCTION concord_refuse_frozen_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('concord.purge', true) = 'on' AND TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  IF OLD.frozen_at IS NOT NULL THEN
    RAISE EXCEPTION '% %: frozen, because it was used', TG_TABLE_NAME, OLD.id USING ERRCODE = '23514';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER scheme_versions_frozen BEFORE UPDATE OR DELETE ON annotation_schemeversion
  FOR EACH ROW EXECUTE FUNCTION concord_refuse_frozen_version();
CREATE TRIGGER guidelines_frozen BEFORE UPDATE OR DELETE ON annotation_guidelines
  FOR EACH ROW EXECUTE FUNCTION concord_refuse_frozen_version();

CREATE FUNCTION concord_refuse_frozen_question() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE parent bigint := CASE WHEN TG_OP = 'INSERT' THEN NEW.version_id ELSE OLD.version_id END;
BEGIN
  IF current_setting('concord.purge', true) = 'on' AND TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  PERFORM 1 FROM annotation_schemeversion WHERE id = parent AND frozen_at IS NOT NULL;
  IF FOUND THEN
    RAISE EXCEPTION 'question of scheme version %: frozen, because it was used', parent USING ERRCODE = '23514';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER questions_frozen BEFORE INSERT OR UPDATE OR DELETE ON annotation_question
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
"""

SPLITS = """
CREATE FUNCTION concord_refuse_fixed_split() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('concord.purge', true) = 'on' AND TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  IF OLD.fixed_at IS NOT NULL THEN
    RAISE EXCEPTION 'split %: fixed at its first use', OLD.id USING ERRCODE = '23514';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER splits_fixed BEFORE UPDATE OR DELETE ON annotation_split
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
CREATE TRIGGER split_clusters_fixed BEFORE INSERT OR UPDATE OR DELETE ON annotation_splitcluster
  FOR EACH ROW EXECUTE FUNCTION concord_refuse_fixed_cluster();
"""

SLOTS = """
CREATE FUNCTION concord_check_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_campaign WHERE id = NEW.campaign_id AND NEW.number BETWEEN 1 AND raters_per_item;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'slot % of task %: the campaign has fewer raters per item', NEW.number, NEW.task_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER slots_within_raters BEFORE INSERT OR UPDATE OF number, campaign_id ON annotation_slot
  FOR EACH ROW EXECUTE FUNCTION concord_check_slot();

CREATE FUNCTION concord_mark_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.state IN ('leased', 'submitted')
     AND (TG_OP = 'DELETE' OR NEW.slot_id <> OLD.slot_id OR NEW.state NOT IN ('leased', 'submitted')) THEN
    UPDATE annotation_slot SET taken = false WHERE id = OLD.slot_id;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.state IN ('leased', 'submitted')
     AND (TG_OP = 'INSERT' OR NEW.slot_id <> OLD.slot_id OR OLD.state NOT IN ('leased', 'submitted')) THEN
    UPDATE annotation_slot SET taken = true WHERE id = NEW.slot_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER assignments_mark_slots AFTER INSERT OR UPDATE OR DELETE ON annotation_assignment
  FOR EACH ROW EXECUTE FUNCTION concord_mark_slot();
"""

BACK = """
DROP TRIGGER items_inserted ON annotation_item;
DROP TRIGGER items_updated ON annotation_item;
DROP TRIGGER labels_inserted ON annotation_label;
DROP TRIGGER labels_kept ON annotation_label;
DROP TRIGGER labels_succeed ON annotation_label;
DROP TRIGGER scheme_versions_frozen ON annotation_schemeversion;
DROP TRIGGER guidelines_frozen ON annotation_guidelines;
DROP TRIGGER questions_frozen ON annotation_question;
DROP TRIGGER raters_frozen ON annotation_rater;
DROP TRIGGER splits_fixed ON annotation_split;
DROP TRIGGER split_clusters_fixed ON annotation_splitcluster;
DROP TRIGGER assignments_mark_slots ON annotation_assignment;
DROP TRIGGER slots_within_raters ON annotation_slot;
DROP FUNCTION concord_check_items, concord_check_labels, concord_keep_labels, concord_check_successor,
  concord_refuse_frozen_version, concord_refuse_frozen_question, concord_refuse_used_rater,
  concord_refuse_fixed_split, concord_refuse_fixed_cluster, concord_mark_slot, concord_check_slot;
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial")]

    operations = [
        migrations.RunSQL(COMPOSITE_KEYS, COMPOSITE_KEYS_BACK),
        migrations.RunSQL(ITEMS + LABELS + FROZEN + SPLITS + SLOTS, BACK),
    ]
