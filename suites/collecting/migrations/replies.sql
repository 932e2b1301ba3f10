-- Replies of systems: asked for while a conversation is open, for its next turn, and by a system of the conversation;
-- what came stays as it came, and what was picked stays picked.

CREATE FUNCTION collecting_check_reply() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE state text; turns int;
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF current_setting('concord.purge', true) = 'on' THEN RETURN OLD; END IF;
    RAISE EXCEPTION 'reply % of chat %: replies are never deleted', OLD.number, OLD.chat_id USING ERRCODE = '23514';
  END IF;
  IF TG_OP = 'UPDATE' AND (
       (NEW.chat_id, NEW.number, NEW.place, NEW.system_id, NEW.call_id)
         IS DISTINCT FROM (OLD.chat_id, OLD.number, OLD.place, OLD.system_id, OLD.call_id)
       OR OLD.text <> '' AND NEW.text <> OLD.text OR OLD.is_picked AND NOT NEW.is_picked) THEN
    RAISE EXCEPTION 'reply % of chat %: what came stays as it is', OLD.number, OLD.chat_id USING ERRCODE = '23514';
  END IF;
  SELECT c.state INTO state FROM collecting_chat c WHERE c.id = NEW.chat_id FOR NO KEY UPDATE;
  SELECT count(*) INTO turns FROM collecting_chatmessage WHERE chat_id = NEW.chat_id;
  IF state <> 'open' OR NEW.number <> turns + 1 THEN
    RAISE EXCEPTION 'reply % of chat %: it is % and has % turns', NEW.number, NEW.chat_id, state, turns
      USING ERRCODE = '23514';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM collecting_chat_systems s
                  WHERE s.chat_id = NEW.chat_id AND s.chatsystem_id = NEW.system_id) THEN
    RAISE EXCEPTION 'reply % of chat %: by a system of another chat', NEW.number, NEW.chat_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER chat_replies_kept BEFORE INSERT OR UPDATE OR DELETE ON collecting_chatreply
  FOR EACH ROW EXECUTE FUNCTION collecting_check_reply();
