-- Comparisons: members of an item fit and stay, an assignment draws the order in which they are shown,
-- and a ranking names each of them once.

CREATE FUNCTION concord_is_order(shown smallint[], item bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT array_agg(n ORDER BY n) FROM unnest(shown) AS n)
    = (SELECT array_agg(number ORDER BY number) FROM annotation_itemmember WHERE item_id = item), false) $$;

CREATE FUNCTION concord_is_ranking(ranking text, item bigint) RETURNS boolean LANGUAGE sql STABLE AS $_$
  SELECT coalesce(ranking ~ '^[0-9]([>=][0-9])*$'
    AND concord_is_order(string_to_array(translate(ranking, '>=', ',,'), ',')::smallint[], item)
    AND NOT EXISTS (SELECT 1 FROM generate_series(1, length(ranking) - 2, 2) AS k
      WHERE substr(ranking, k + 1, 1) = '=' AND substr(ranking, k, 1) > substr(ranking, k + 2, 1)), false) $_$;

CREATE FUNCTION concord_member_rank(dialogue text, continuation text, "position" integer) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN md5(dialogue || '/' || continuation || coalesce('/' || "position"::text, '')) COLLATE "C";

CREATE FUNCTION concord_renumbered(ranking text, own integer[]) RETURNS text LANGUAGE sql IMMUTABLE AS $_$
  SELECT CASE WHEN ranking ~ '^[0-9]([>=][0-9])*$' THEN coalesce((
    SELECT string_agg(alike.members, '>' ORDER BY place)
      FROM unnest(string_to_array(ranking, '>')) WITH ORDINALITY AS parts (part, place)
     CROSS JOIN LATERAL (SELECT string_agg(own[n::int + 1]::text, '=' ORDER BY own[n::int + 1]) AS members
                           FROM unnest(string_to_array(part, '=')) AS n) AS alike), ranking)
    ELSE ranking END $_$;

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

CREATE FUNCTION concord_keep_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('concord.purge', true) = 'on' THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'item %: what it compares never changes',
    CASE TG_TABLE_NAME WHEN 'annotation_item' THEN OLD.id ELSE (to_jsonb(OLD)->>'item_id')::bigint END
    USING ERRCODE = '23514';
END $$;
CREATE TRIGGER items_keep_members BEFORE UPDATE OF kind, continuation_id, corpus_id, compared ON annotation_item
  FOR EACH ROW WHEN (OLD.compared IS NOT NULL OR NEW.compared IS NOT NULL)
  EXECUTE FUNCTION concord_keep_members();
CREATE TRIGGER members_kept BEFORE DELETE OR UPDATE ON annotation_itemmember
  FOR EACH ROW EXECUTE FUNCTION concord_keep_members();

CREATE FUNCTION concord_draw_order() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE drawn smallint[];
BEGIN
  IF TG_OP = 'UPDATE' THEN
    NEW.shown := OLD.shown;
    RETURN NEW;
  END IF;
  SELECT array_agg(m.number
           ORDER BY md5(k.seed || ':shown:' || concord_member_rank(d.key, c.key, u.position)) COLLATE "C")
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
