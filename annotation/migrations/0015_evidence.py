"""Evidence: what an answer points at, kept with its label, and what a question asks to be pointed at."""

from django.db import migrations, models

EVIDENCE = """
CREATE FUNCTION concord_check_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;
CREATE TRIGGER labels_with_evidence AFTER INSERT ON annotation_label
  FOR EACH ROW WHEN (NEW.evidence IS NOT NULL) EXECUTE FUNCTION concord_check_evidence();
"""

BACK = """
DROP TRIGGER labels_with_evidence ON annotation_label;
DROP FUNCTION concord_check_evidence;
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0014_comparisons")]

    operations = [
        migrations.AddField(
            "question", "evidence", models.CharField(blank=True, db_default="", default="", max_length=10)
        ),
        migrations.AddField("question", "evidence_for", models.JSONField(db_default=[], default=list)),
        migrations.AddField("question", "evidence_required", models.BooleanField(db_default=False, default=False)),
        migrations.AddConstraint(
            "question",
            models.CheckConstraint(
                condition=models.Q(("evidence__in", ["", "turns", "spans"])), name="question_evidence_known"
            ),
        ),
        migrations.AddField("label", "evidence", models.JSONField(null=True)),
        migrations.RunSQL(EVIDENCE, BACK),
    ]
