"""Comparisons: items with members, the order in which each rater saw them, and answers about them."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


MEMBERS = """
CREATE FUNCTION concord_member_rank(dialogue text, continuation text, "position" int) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN md5(dialogue || '/' || continuation || coalesce('/' || "position"::text, '')) COLLATE "C";

CREATE FUNCTION concord_check_members() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
  SELECT i.id, CASE
         WHEN i.kind = 'pair' AND m.n <> 2 OR i.kind = 'ranking' AND m.n NOT BETWEEN 3 AND 10
              OR i.kind NOT IN ('pair', 'ranking') THEN 'it has ' || m.n || ' members'
         WHEN m.n > m.fresh THEN 'its members are all there already'
         WHEN m.turned NOT IN (0, m.n) THEN 'some of its members are turns and some are whole'
         WHEN m.elsewhere THEN 'its members are of several dialogues'
         WHEN m.unfit THEN 'a turn of its members is given, or of another continuation'
         WHEN m.points > 1 THEN 'its members answer several points'
         WHEN m.numbers <> m.wanted THEN 'its members are not in their order'
         WHEN m.compared IS DISTINCT FROM i.compared THEN 'its members are others than it says'
         WHEN m.first <> i.continuation_id THEN 'its continuation is not its first member''s' END AS why
    INTO bad
    FROM (SELECT item_id, count(*) AS n FROM fresh GROUP BY item_id) f
    JOIN annotation_item i ON i.id = f.item_id
    JOIN annotation_continuation own ON own.id = i.continuation_id
    CROSS JOIN LATERAL (
      SELECT count(*) AS n, f.n AS fresh, count(m.turn_id) AS turned,
             bool_or(c.dialogue_id <> own.dialogue_id) AS elsewhere,
             coalesce(bool_or(u.given OR u.continuation_id <> m.continuation_id), false) AS unfit,
             count(DISTINCT coalesce(u.at, -1)) AS points,
             array_agg(m.number::int ORDER BY concord_member_rank(d.key, c.key, u.position), m.id) AS numbers,
             array_agg(m.number::int ORDER BY m.number) AS wanted,
             string_agg(m.continuation_id || coalesce('.' || m.turn_id, ''), '+'
                        ORDER BY m.continuation_id, m.turn_id) AS compared,
             min(m.continuation_id) FILTER (WHERE m.number = 0) AS first, max(m.number) AS last
        FROM annotation_itemmember m
        JOIN annotation_continuation c ON c.id = m.continuation_id
        JOIN annotation_dialogue d ON d.id = c.dialogue_id
        LEFT JOIN annotation_turn u ON u.id = m.turn_id
       WHERE m.item_id = i.id) m
   WHERE NOT coalesce(
         (i.kind = 'pair' AND m.n = 2 OR i.kind = 'ranking' AND m.n BETWEEN 3 AND 10)
         AND m.n = m.fresh AND m.turned IN (0, m.n) AND NOT m.elsewhere AND NOT m.unfit AND m.points = 1
         AND m.numbers = m.wanted AND m.last = m.n - 1 AND m.compared = i.compared
         AND m.first = i.continuation_id, false)
   LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'item %: %', bad.id, coalesce(bad.why, 'its members are not numbered from 0')
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER members_fit AFTER INSERT ON annotation_itemmember
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_check_members();

CREATE FUNCTION concord_keep_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('concord.purge', true) = 'on' THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'item %: what it compares never changes',
    CASE TG_TABLE_NAME WHEN 'annotation_item' THEN OLD.id ELSE (to_jsonb(OLD)->>'item_id')::bigint END
    USING ERRCODE = '23514';
END $$;
CREATE TRIGGER members_kept BEFORE UPDATE OR DELETE ON annotation_itemmember
  FOR EACH ROW EXECUTE FUNCTION concord_keep_members();
CREATE TRIGGER items_keep_members BEFORE UPDATE OF kind, continuation_id, corpus_id, compared ON annotation_item
  FOR EACH ROW WHEN (OLD.compared IS NOT NULL OR NEW.compared IS NOT NULL)
  EXECUTE FUNCTION concord_keep_members();

CREATE FUNCTION concord_check_has_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_itemmember WHERE item_id = NEW.id LIMIT 1;
  IF NOT FOUND AND EXISTS (SELECT 1 FROM annotation_item WHERE id = NEW.id) THEN
    RAISE EXCEPTION 'item %: it has no members', NEW.id USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER items_have_members AFTER INSERT ON annotation_item DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.compared IS NOT NULL) EXECUTE FUNCTION concord_check_has_members();
"""

MEMBERS_BACK = """
DROP TRIGGER items_have_members ON annotation_item;
DROP TRIGGER items_keep_members ON annotation_item;
DROP TRIGGER members_kept ON annotation_itemmember;
DROP TRIGGER members_fit ON annotation_itemmember;
DROP FUNCTION concord_check_has_members, concord_keep_members, concord_check_members, concord_member_rank;
"""

ORDERS = """
CREATE FUNCTION concord_is_order(shown smallint[], item bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT array_agg(n ORDER BY n) FROM unnest(shown) AS n)
    = (SELECT array_agg(number ORDER BY number) FROM annotation_itemmember WHERE item_id = item), false) $$;

CREATE FUNCTION concord_is_ranking(ranking text, item bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(ranking ~ '^[0-9]([>=][0-9])*$'
    AND concord_is_order(string_to_array(translate(ranking, '>=', ',,'), ',')::smallint[], item)
    AND NOT EXISTS (SELECT 1 FROM generate_series(1, length(ranking) - 2, 2) AS k
      WHERE substr(ranking, k + 1, 1) = '=' AND substr(ranking, k, 1) > substr(ranking, k + 2, 1)), false) $$;

CREATE FUNCTION concord_renumbered(ranking text, own int[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN ranking ~ '^[0-9]([>=][0-9])*$' THEN coalesce((
    SELECT string_agg(alike.members, '>' ORDER BY place)
      FROM unnest(string_to_array(ranking, '>')) WITH ORDINALITY AS parts (part, place)
     CROSS JOIN LATERAL (SELECT string_agg(own[n::int + 1]::text, '=' ORDER BY own[n::int + 1]) AS members
                           FROM unnest(string_to_array(part, '=')) AS n) AS alike), ranking)
    ELSE ranking END $$;

CREATE FUNCTION concord_draw_order() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE drawn smallint[];
BEGIN
  IF TG_OP = 'UPDATE' THEN
    NEW.shown := OLD.shown;
    RETURN NEW;
  END IF;
  SELECT array_agg(m.number ORDER BY md5(k.seed || ':shown:' || concord_member_rank(d.key, c.key, u.position)) COLLATE "C")
    INTO drawn
    FROM annotation_task t
    JOIN annotation_campaign k ON k.id = t.campaign_id
    JOIN annotation_itemmember m ON m.item_id = t.item_id
    JOIN annotation_continuation c ON c.id = m.continuation_id
    JOIN annotation_dialogue d ON d.id = c.dialogue_id
    LEFT JOIN annotation_turn u ON u.id = m.turn_id
   WHERE t.id = NEW.task_id;
  -- Whoever holds no slot (training, tests, checks, repeats) is told apart by who they are.
  SELECT array_agg(drawn[1 + ((place - 1 + turned) % array_length(drawn, 1))::int] ORDER BY place) INTO NEW.shown
    FROM coalesce((SELECT s.number - 1 FROM annotation_slot s WHERE s.id = NEW.slot_id), NEW.user_id) AS turned,
         generate_series(1, array_length(drawn, 1)) AS place;
  RETURN NEW;
END $$;
CREATE TRIGGER assignments_draw_order BEFORE INSERT OR UPDATE OF slot_id, shown ON annotation_assignment
  FOR EACH ROW EXECUTE FUNCTION concord_draw_order();
"""

ORDERS_BACK = """
DROP TRIGGER assignments_draw_order ON annotation_assignment;
DROP FUNCTION concord_draw_order, concord_renumbered, concord_is_ranking, concord_is_order;
"""

LABELS_BEFORE = """
CREATE OR REPLACE FUNCTION concord_check_labels() RETURNS trigger LANGUAGE plpgsql AS $$
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
      OR (l.number IS NOT NULL AND (l.number < q.minimum OR l.number > q.maximum
          OR (q.whole AND l.number <> trunc(l.number))))
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
"""

LABELS = """
CREATE OR REPLACE FUNCTION concord_check_labels() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
  SELECT l.item_id, q.key, l.number, l.text,
         CASE WHEN v.item_kind <> i.kind THEN 'the question is made for ' || v.item_kind || ' items'
              WHEN r.corpus_id IS NOT NULL AND r.corpus_id <> i.corpus_id THEN 'the rater is of another corpus'
              WHEN c.id IS NOT NULL AND c.corpus_id <> i.corpus_id THEN 'the campaign is of another corpus'
              WHEN l.assignment_id IS NOT NULL AND (a.campaign_id IS DISTINCT FROM l.campaign_id
                   OR t.continuation_id <> i.continuation_id OR t.item_id <> i.id
                   OR r.user_id IS DISTINCT FROM a.user_id)
                THEN 'the assignment is about something else'
              WHEN l.shown IS NOT NULL AND NOT concord_is_order(l.shown, l.item_id)
                OR l.assignment_id IS NOT NULL AND l.shown IS DISTINCT FROM a.shown
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
   WHERE v.item_kind <> i.kind
      OR (r.corpus_id IS NOT NULL AND r.corpus_id <> i.corpus_id)
      OR (c.id IS NOT NULL AND c.corpus_id <> i.corpus_id)
      OR (l.assignment_id IS NOT NULL AND (a.campaign_id IS DISTINCT FROM l.campaign_id
          OR t.continuation_id <> i.continuation_id OR t.item_id <> i.id
                   OR r.user_id IS DISTINCT FROM a.user_id))
      OR (l.number IS NOT NULL AND (q.level IN ('nominal', 'text', 'ranking')
          OR (jsonb_array_length(q.values) > 0 AND NOT q.values @> to_jsonb(l.number))))
      OR (l.text IS NOT NULL AND (q.level NOT IN ('nominal', 'text', 'ranking')
          OR (q.level = 'nominal' AND jsonb_array_length(q.values) > 0 AND NOT q.values @> to_jsonb(l.text))))
      OR (l.number IS NOT NULL AND (l.number < q.minimum OR l.number > q.maximum
          OR (q.whole AND l.number <> trunc(l.number))))
      OR (q.level = 'ranking' AND l.text IS NOT NULL AND NOT concord_is_ranking(l.text, l.item_id))
      OR (l.shown IS NOT NULL AND NOT concord_is_order(l.shown, l.item_id))
      OR (l.assignment_id IS NOT NULL AND l.shown IS DISTINCT FROM a.shown)
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
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0013_assigning_work'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ComparedItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ],
        ),
        migrations.CreateModel(
            name='ItemMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
            ],
            options={
                'ordering': ['item', 'number'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='item',
            name='item_kind_fits_turn',
        ),
        migrations.RemoveConstraint(
            model_name='question',
            name='question_level_known',
        ),
        migrations.RemoveConstraint(
            model_name='schemeversion',
            name='scheme_kind_known',
        ),
        migrations.AddField(
            model_name='assignment',
            name='shown',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.SmallIntegerField(), null=True, size=None),
        ),
        migrations.AddField(
            model_name='campaign',
            name='baseline',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotation.system'),
        ),
        migrations.AddField(
            model_name='campaign',
            name='compared',
            field=models.CharField(choices=[('auto', 'Responses to one point where there are any, else whole continuations'), ('turns', 'Responses to one point'), ('whole', 'Whole continuations')], db_default='auto', default='auto', max_length=10),
        ),
        migrations.AddField(
            model_name='campaign',
            name='compares',
            field=models.CharField(choices=[('all', 'Every choice of the systems'), ('baseline', 'Each system with one of them'), ('there', 'Those that the corpus has already')], db_default='all', default='all', max_length=10),
        ),
        migrations.AddField(
            model_name='campaign',
            name='most_comparisons',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='campaign',
            name='ranked',
            field=models.PositiveSmallIntegerField(db_default=3, default=3),
        ),
        migrations.AddField(
            model_name='item',
            name='compared',
            field=models.TextField(null=True),
        ),
        migrations.AddField(
            model_name='label',
            name='shown',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.SmallIntegerField(), null=True, size=None),
        ),
        migrations.AlterField(
            model_name='item',
            name='kind',
            field=models.CharField(choices=[('turn', 'Turn'), ('dialogue', 'Dialogue'), ('pair', 'Pair'), ('ranking', 'Ranking')], max_length=10),
        ),
        migrations.AlterField(
            model_name='question',
            name='level',
            field=models.CharField(choices=[('binary', 'Binary'), ('nominal', 'Nominal'), ('ordinal', 'Ordinal'), ('interval', 'Interval'), ('ratio', 'Ratio'), ('text', 'Text'), ('ranking', 'Ranking')], max_length=10),
        ),
        migrations.AlterField(
            model_name='schemeversion',
            name='item_kind',
            field=models.CharField(choices=[('turn', 'turn'), ('dialogue', 'dialogue'), ('pair', 'pair'), ('ranking', 'ranking')], max_length=10),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(('compares__in', ['all', 'baseline', 'there']), ('compared__in', ['auto', 'turns', 'whole']), ('ranked__gte', 3), ('ranked__lte', 10), models.Q(('most_comparisons__isnull', True), ('most_comparisons__gte', 1), _connector='OR')), name='campaign_comparisons_known'),
        ),
        migrations.AddConstraint(
            model_name='item',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'turn'), ('turn__isnull', False)), models.Q(('kind', 'dialogue'), ('turn__isnull', True)), models.Q(('kind', 'pair'), ('turn__isnull', True)), models.Q(('kind', 'ranking'), ('turn__isnull', True)), _connector='OR'), name='item_kind_fits_turn'),
        ),
        migrations.AddConstraint(
            model_name='item',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('compared__isnull', False), ('kind__in', ('pair', 'ranking'))), models.Q(models.Q(('kind__in', ('pair', 'ranking')), _negated=True), ('compared__isnull', True)), _connector='OR'), name='item_kind_fits_members'),
        ),
        migrations.AddConstraint(
            model_name='item',
            constraint=models.UniqueConstraint(condition=models.Q(('compared__isnull', False)), fields=('compared',), name='item_compares_once'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.CheckConstraint(condition=models.Q(('level__in', ['binary', 'nominal', 'ordinal', 'interval', 'ratio', 'text', 'ranking'])), name='question_level_known'),
        ),
        migrations.AddConstraint(
            model_name='schemeversion',
            constraint=models.CheckConstraint(condition=models.Q(('item_kind__in', ['turn', 'dialogue', 'pair', 'ranking'])), name='scheme_kind_known'),
        ),
        migrations.AddField(
            model_name='compareditem',
            name='campaign',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='compared_items', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='compareditem',
            name='item',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.item'),
        ),
        migrations.AddField(
            model_name='itemmember',
            name='continuation',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='compared_in', to='annotation.continuation'),
        ),
        migrations.AddField(
            model_name='itemmember',
            name='item',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='members', to='annotation.item'),
        ),
        migrations.AddField(
            model_name='itemmember',
            name='turn',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='compared_in', to='annotation.turn'),
        ),
        migrations.AddConstraint(
            model_name='compareditem',
            constraint=models.UniqueConstraint(fields=('campaign', 'item'), name='compared_item_once'),
        ),
        migrations.AddConstraint(
            model_name='itemmember',
            constraint=models.UniqueConstraint(fields=('item', 'number'), name='item_member_number_once'),
        ),
        migrations.AddConstraint(
            model_name='itemmember',
            constraint=models.UniqueConstraint(fields=('item', 'continuation', 'turn'), name='item_member_once', nulls_distinct=False),
        ),
        migrations.RunSQL(MEMBERS, MEMBERS_BACK),
        migrations.RunSQL(ORDERS, ORDERS_BACK),
        migrations.RunSQL(LABELS, LABELS_BEFORE),
    ]
