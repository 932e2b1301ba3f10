"""A question that a used question set asks keeps its text, whether or not the set made it."""

from django.db import migrations

BEFORE = """
CREATE OR REPLACE FUNCTION concord_check_records() RETURNS trigger LANGUAGE plpgsql AS $$
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
  END IF;
  RETURN NEW;
END $$;
"""
AFTER = """
CREATE OR REPLACE FUNCTION concord_check_records() RETURNS trigger LANGUAGE plpgsql AS $$
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
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0026_record_campaigns'),
    ]

    operations = [
        migrations.RunSQL(AFTER, BEFORE),
    ]
