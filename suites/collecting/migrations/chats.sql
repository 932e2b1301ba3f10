-- Conversations: turns stay as they were sent, come in order from the person whose turn it is, and only while the
-- conversation is open; the last one finishes it, and its end is final. Nobody is in two open ones. A system's turn is
-- a reply that was picked.

CREATE FUNCTION collecting_check_message() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE plan record; before int; author int; by_system boolean;
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('concord.purge', true) = 'on' THEN RETURN OLD; END IF;
  IF TG_OP <> 'INSERT' THEN
    RAISE EXCEPTION 'message % of chat %: what was sent is never changed or deleted', OLD.number, OLD.chat_id
      USING ERRCODE = '23514';
  END IF;
  SELECT c.state, c.last_at, p.participants, p.turn_order, p.most_characters INTO plan
    FROM collecting_chat c JOIN collecting_chatplan p ON p.campaign_id = c.campaign_id
   WHERE c.id = NEW.chat_id FOR NO KEY UPDATE OF c;
  IF plan.state <> 'open' THEN
    RAISE EXCEPTION 'message % of chat %: the chat is %', NEW.number, NEW.chat_id, plan.state USING ERRCODE = '23514';
  END IF;
  SELECT count(*) INTO before FROM collecting_chatmessage WHERE chat_id = NEW.chat_id;
  SELECT number, is_system INTO author, by_system FROM collecting_chatseat WHERE id = NEW.seat_id AND chat_id = NEW.chat_id;
  IF author IS NULL OR NEW.number <> before + 1 THEN
    RAISE EXCEPTION 'message % of chat %: not the next one of this chat', NEW.number, NEW.chat_id
      USING ERRCODE = '23514';
  END IF;
  IF NEW.at < plan.last_at THEN
    RAISE EXCEPTION 'message % of chat %: earlier than the one before', NEW.number, NEW.chat_id
      USING ERRCODE = '23514';
  END IF;
  IF plan.turn_order = 'alternate' AND author <> before % plan.participants + 1 THEN
    RAISE EXCEPTION 'message % of chat %: not the turn of person %', NEW.number, NEW.chat_id, author
      USING ERRCODE = '23514';
  END IF;
  IF by_system AND NOT EXISTS (SELECT 1 FROM collecting_chatreply r
       WHERE r.chat_id = NEW.chat_id AND r.number = NEW.number AND r.is_picked AND r.text = NEW.text) THEN
    RAISE EXCEPTION 'message % of chat %: no reply of a system', NEW.number, NEW.chat_id USING ERRCODE = '23514';
  END IF;
  IF NEW.text <> btrim(NEW.text, E' \t\n') OR NEW.text = ''
     OR NOT by_system AND char_length(NEW.text) > plan.most_characters THEN
    RAISE EXCEPTION 'message % of chat %: a text of 1 to % characters', NEW.number, NEW.chat_id, plan.most_characters
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER chat_messages_kept BEFORE INSERT OR UPDATE OR DELETE ON collecting_chatmessage
  FOR EACH ROW EXECUTE FUNCTION collecting_check_message();

CREATE FUNCTION collecting_count_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE collecting_chat c
     SET last_at = NEW.at,
         state = CASE WHEN NEW.number >= p.participants * p.exchanges THEN 'finished' ELSE c.state END,
         ended_at = CASE WHEN NEW.number >= p.participants * p.exchanges THEN NEW.at END
    FROM collecting_chatplan p WHERE p.campaign_id = c.campaign_id AND c.id = NEW.chat_id;
  RETURN NULL;
END $$;
CREATE TRIGGER chat_messages_counted AFTER INSERT ON collecting_chatmessage
  FOR EACH ROW EXECUTE FUNCTION collecting_count_message();

CREATE FUNCTION collecting_keep_chat() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF current_setting('concord.purge', true) = 'on' THEN RETURN OLD; END IF;
    RAISE EXCEPTION 'chat %: conversations are never deleted', OLD.id USING ERRCODE = '23514';
  END IF;
  IF TG_OP = 'INSERT' AND NEW.state <> 'open' OR TG_OP = 'UPDATE' AND (
       OLD.state <> 'open' OR NEW.campaign_id <> OLD.campaign_id OR NEW.task_id <> OLD.task_id) THEN
    RAISE EXCEPTION 'chat %: it starts open, and its end is final', NEW.id USING ERRCODE = '23514';
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.state = 'finished' AND NOT EXISTS (
       SELECT 1 FROM collecting_chatplan p WHERE p.campaign_id = NEW.campaign_id AND p.participants * p.exchanges
         = (SELECT count(*) FROM collecting_chatmessage m WHERE m.chat_id = NEW.id)) THEN
    RAISE EXCEPTION 'chat %: turns are missing', NEW.id USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER chats_kept BEFORE INSERT OR UPDATE OR DELETE ON collecting_chat
  FOR EACH ROW EXECUTE FUNCTION collecting_keep_chat();

CREATE FUNCTION collecting_open_seat() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.is_open := (SELECT state = 'open' FROM collecting_chat WHERE id = NEW.chat_id);
  RETURN NEW;
END $$;
CREATE TRIGGER chat_seats_open BEFORE INSERT OR UPDATE OF is_open ON collecting_chatseat
  FOR EACH ROW EXECUTE FUNCTION collecting_open_seat();

CREATE FUNCTION collecting_close_seats() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE collecting_chatseat SET is_open = false WHERE chat_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER chats_close_seats AFTER UPDATE OF state ON collecting_chat
  FOR EACH ROW WHEN (OLD.state = 'open' AND NEW.state <> 'open') EXECUTE FUNCTION collecting_close_seats();

CREATE FUNCTION collecting_keep_plan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM collecting_chat WHERE campaign_id = OLD.campaign_id LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'plan of campaign %: people have talked by it', OLD.campaign_id USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER chat_plans_kept BEFORE UPDATE ON collecting_chatplan
  FOR EACH ROW EXECUTE FUNCTION collecting_keep_plan();
