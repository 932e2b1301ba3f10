"""Chats as chatbot frameworks, support desks, local assistants and team messengers log and export them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from annotation.formats.chat_forms import OTHER_BRANCHES, branch_to, pairs_of, plain_html, turns_of_pairs
from annotation.formats.chat_records import (
    ASSISTANT,
    EVENTS,
    USER,
    Form,
    Raw,
    Record,
    at,
    first_at,
    has_fields,
    has_paths,
    objects_at,
    paths_of,
    records,
    text_of,
)
from annotation.formats.fields import require
from annotation.formats.source import ImportProblem, Source
from annotation.records import SELF, LabelRecord

SIDES: Mapping[str, str] = {
    **dict.fromkeys(
        ("bot", "assistant", "agent", "admin", "team", "operator", "trigger", "outgoing", "skill", "0"),
        ASSISTANT,
    ),
    **dict.fromkeys(
        (
            "user",
            "customer",
            "consumer",
            "visitor",
            "end-user",
            "end_user",
            "lead",
            "contact",
            "incoming",
            "1",
        ),
        USER,
    ),
}
"""The side that answers, a program or a person, and the side that asks."""
AGENT = "agent"
"""System of chats that nobody says a program or a person answered."""
NOTES = "internal notes"


def _rating(
    value: Any, question: str, values: tuple[float | str, ...], turn: int | None = None, reason: Any = None
) -> Iterator[LabelRecord]:
    """Yield the answer of the person who was asked to rate a chat, if it is one of its scale."""
    number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    if isinstance(number, float | str) and number in values:
        yield LabelRecord(
            rater=USER,
            kind="human",
            continuation=SELF,
            turn=turn,
            question=question,
            value=number,
            level="nominal" if isinstance(number, str) else "ordinal",
            values=values,
            explanation=reason if isinstance(reason, str) else "",
            identified=False,
        )


# Chatbot frameworks.

RASA = Form(
    key="rasa",
    title="Rasa's trackers",
    hint='Trackers or events: {"sender_id", "events": [{"event": "user", "text"}]}, one a line or a list.',
    looks_like=lambda head: (
        has_paths(head, "sender_id", "events[].event") or has_paths(head, "sender_id", "event", "timestamp")
    ),
    turns=("events",),
    speaker=("event",),
    text=("text",),
    time=("timestamp",),
    id=("sender_id", "id"),
    extra=("parse_data.intent", "metadata.utter_action"),
    only={"event": ("user", "bot")},
    attached=("data.buttons", "data.image", "data.attachment"),
    group="sender_id",
    system="rasa",
)

BOT_FRAMEWORK = Form(
    key="bot-framework",
    title="Microsoft's Bot Framework and Copilot Studio",
    hint='A .transcript file, or other lists of activities: {"type": "message", "from", "text"}.',
    looks_like=lambda head: (
        has_paths(head, "channelId", "from.id", "type")
        or has_paths(head, "activities[].from.role", "activities[].type")
    ),
    turns=("activities",),
    speaker=("from.name", "from.role", "from.id"),
    role=("from.role",),
    text=("text", "speak"),
    time=("timestamp",),
    extra=("id", "replyToId"),
    only={"type": ("message",)},
    attached=("attachments",),
    group="conversation.id",
    roles=SIDES,
    system="bot",
)

BOTPRESS = Form(
    key="botpress",
    title="Botpress",
    hint='Messages: {"conversationId", "direction", "payload": {"text"}}, of one conversation or several.',
    looks_like=lambda head: has_paths(head, "conversationId", "direction", "payload.type"),
    speaker=("direction",),
    text=("payload.text", "payload.markdown", "payload.value"),
    time=("createdAt",),
    extra=("id", "payload.type"),
    inside=("messages",),
    is_by_time=True,
    attached=("payload.options",),
    group="conversationId",
    roles=SIDES,
    system="bot",
)


def _prepare_voiceflow(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    turns = []
    for number, trace in enumerate(objects_at(raw, "turns")):
        text = first_at(trace, ("payload.payload.message", "payload.payload.query", "payload.payload.label"))
        text = at(trace, "payload.payload") if text is None else text
        if trace.get("type") in ("text", "speak", "request") and isinstance(text, str):
            speaker = USER if trace["type"] == "request" else ASSISTANT
            turns.append(
                {
                    "speaker": speaker,
                    "text": text_of(text, f"[{number}].payload"),
                    "time": trace.get("startTime"),
                }
            )
        else:
            left_out[EVENTS] += 1
    yield {**raw, "turns": turns}


def _read_voiceflow(source: Source, left_out: Counter[str]) -> Iterator[Record]:
    yield Record({"turns": [record.raw for record in records(source)]})


VOICEFLOW = Form(
    key="voiceflow",
    title="Voiceflow",
    hint='The list of one transcript\'s traces: {"turnID", "type", "payload", "startTime"}.',
    looks_like=lambda head: has_paths(head, "turnID", "payload.type", "startTime"),
    time=("time",),
    system="voiceflow",
    is_named_by_file=True,
    read=_read_voiceflow,
    prepare=_prepare_voiceflow,
)


def _exchanges(
    key: str,
    title: str,
    hint: str,
    *,
    marks: tuple[str, ...],
    ask: str,
    replies: str,
    session: str,
    time: str,
    inside: tuple[str, ...] = (),
    turns: str = "",
) -> Form:
    """Return the form of a log with what the user asked and what the bot replied in each of its entries.

    Entries are in the list `turns` of a conversation, or are those of a file, with the id of their `session`.
    """

    def prepare(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
        messages: list[Raw] = []
        for number, entry in enumerate(objects_at(raw, turns or "turns")):
            moment, path = at(entry, time), f"{turns or 'turns'}[{number}]"
            question, *_ = [*_texts(at(entry, ask), f"{path}.{ask}"), ""]
            messages += [{"speaker": USER, "text": question, "time": moment}] if question else []
            reply = list(_texts(at(entry, replies), f"{path}.{replies}"))
            messages += [{"speaker": ASSISTANT, "text": "\n".join(reply), "time": moment}] if reply else []
        yield {**raw, "turns": messages}

    return Form(
        key=key,
        title=title,
        hint=hint,
        looks_like=lambda head: has_paths(head, *marks),
        turns=("turns",),
        time=("time",),
        id=("id", "name", session),
        inside=inside,
        group="" if turns else session,
        system=key,
        prepare=prepare,
    )


TEXTS = ("text", "content", "title", "message")


def _texts(value: Any, path: str) -> Iterator[str]:
    """Yield the texts of a reply: a text, or objects and lists that hold it at any depth."""
    if isinstance(value, str) and value.strip():
        yield text_of(value, path)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part, path)
    elif isinstance(value, dict):
        yield from _texts(first_at(value, TEXTS), path)


DIALOGFLOW = _exchanges(
    "dialogflow",
    "Dialogflow CX",
    '{"interactions": [{"request": {"queryInput"}, "response": {"queryResult"}}]}, of an agent.',
    marks=("interactions[].request.queryInput", "interactions[].response.queryResult"),
    ask="request.queryInput.text",
    replies="response.queryResult.responseMessages",
    session="name",
    time="createTime",
    inside=("conversations",),
    turns="interactions",
)
LEX = _exchanges(
    "lex",
    "Amazon Lex",
    'Conversation logs: {"sessionId", "inputTranscript", "messages": [{"content"}]}, one exchange a line.',
    marks=("sessionId", "inputTranscript"),
    ask="inputTranscript",
    replies="messages",
    session="sessionId",
    time="timestamp",
)
WATSON = _exchanges(
    "watson",
    "Watson Assistant",
    'Logs: {"request": {"input"}, "response": {"output", "context": {"conversation_id"}}}.',
    marks=("request.input", "response.output", "request_timestamp"),
    ask="request.input",
    replies="response.output.generic",
    session="response.context.conversation_id",
    time="request_timestamp",
    inside=("logs",),
)


def _labels_of_chainlit(raw: Raw, turns: list[Raw]) -> Iterator[LabelRecord]:
    for number, turn in enumerate(turns):
        yield from _rating(
            at(turn, "feedback.value"), "feedback", (0.0, 1.0), number, at(turn, "feedback.comment")
        )


CHAINLIT = Form(
    key="chainlit",
    title="Chainlit",
    hint='Threads: {"id", "steps": [{"type": "user_message", "output", "feedback"}]}.',
    looks_like=lambda head: has_paths(head, "steps[].type", "steps[].output", "steps[].parentId"),
    turns=("steps",),
    speaker=("name", "type"),
    role=("type",),
    text=("output", "input"),
    time=("createdAt",),
    metadata=("name", "tags"),
    extra=("id",),
    inside=("threads", "data"),
    only={"type": ("user_message", "assistant_message")},
    is_by_time=True,
    roles={"user_message": USER, "assistant_message": ASSISTANT},
    labels=_labels_of_chainlit,
)

OPENAI_THREAD = Form(
    key="openai-thread",
    title="Messages of an OpenAI thread",
    hint='{"object": "list", "data": [{"thread_id", "role", "content": [{"text": {"value"}}]}]}.',
    looks_like=lambda head: has_paths(head, "thread_id", "role", "content[].text"),
    turns=("messages",),
    speaker=("role",),
    text=("content",),
    time=("created_at",),
    id=("id", "thread_id"),
    model=("assistant_id",),
    extra=("id",),
    inside=("data",),
    is_by_time=True,
    group="thread_id",
)


# Support desks: the agent's side is rated.


def _prepare_intercom(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    """Yield a conversation with its opening message and the parts with a text that the customer saw."""
    inner = require(raw.get("conversation_parts") or {}, dict, "conversation_parts")
    parts = objects_at(inner, "conversation_parts", "conversation_parts")
    notes = [part for part in parts if first_at(part, ("part_type", "type")) == "note"]
    visible = [part for part in parts if part.get("body") and part not in notes]
    left_out[NOTES] += len(notes)
    left_out[EVENTS] += len(parts) - len(notes) - len(visible)
    source = raw.get("source")
    about = {"created_at": raw.get("created_at"), "author": {"type": USER}}
    first = [{**about, **source}] if isinstance(source, dict) and source.get("body") else []
    yield {**raw, "turns": [*first, *visible]}


INTERCOM = Form(
    key="intercom",
    title="Intercom",
    hint='Conversations of the API: {"source": {"body"}, "conversation_parts": {"conversation_parts"}}.',
    looks_like=lambda head: has_fields(head, "conversation_parts", "source", "body"),
    speaker=("author.name", "author.email", "author.id", "author.type"),
    role=("author.type",),
    text=("body",),
    time=("created_at",),
    metadata=("title", "tags"),
    inside=("conversations", "data"),
    attached=("attachments",),
    plain_text=plain_html,
    roles=SIDES,
    system=AGENT,
    prepare=_prepare_intercom,
    labels=lambda raw, turns: _rating(
        at(raw, "conversation_rating.rating"),
        "rating",
        (1.0, 2.0, 3.0, 4.0, 5.0),
        reason=at(raw, "conversation_rating.remark"),
    ),
)


def _prepare_zendesk(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    """Yield a ticket with its public comments; its requester is the customer, all others are agents."""
    comments = objects_at(raw, "comments")
    people = {str(user.get("id")): user for user in objects_at(raw, "users")}
    requester = first_at(raw, ("requester_id", "submitter_id")) or at(
        comments[0] if comments else {}, "author_id"
    )
    turns = []
    for comment in comments:
        author = comment.get("author_id")
        if comment.get("public") is False:
            left_out[NOTES] += 1
            continue
        role = "user" if author == requester else "agent"
        turns.append(
            {
                **comment,
                "speaker": at(people.get(str(author)), "name") or author,
                "role": role,
                "given": False,
            }
        )
    yield {**raw, "turns": turns}


ZENDESK = Form(
    key="zendesk",
    title="Zendesk, tickets",
    hint='{"comments": [{"author_id", "plain_body", "public"}]}: a ticket\'s comments, or tickets with them.',
    looks_like=lambda head: has_paths(head, "comments[].author_id", "comments[].body", "comments[].public"),
    role=("role",),
    text=("plain_body", "body"),
    time=("created_at",),
    metadata=("subject", "status", "tags"),
    extra=("id",),
    inside=("tickets",),
    is_named_by_file=True,
    attached=("attachments",),
    roles=SIDES,
    system=AGENT,
    prepare=_prepare_zendesk,
    labels=lambda raw, turns: _rating(
        at(raw, "satisfaction_rating.score"),
        "satisfaction",
        ("bad", "good"),
        reason=at(raw, "satisfaction_rating.comment"),
    ),
)
ZENDESK_CHAT = Form(
    key="zendesk-chat",
    title="Zendesk, chats",
    hint='{"history": [{"name", "msg", "type": "chat.msg", "sender_type"}]}, one chat or {"chats": [...]}.',
    looks_like=lambda head: has_paths(head, "history[].msg", "history[].sender_type"),
    turns=("history",),
    speaker=("name", "nick"),
    role=("sender_type",),
    text=("msg",),
    time=("timestamp",),
    metadata=("department_name", "tags"),
    inside=("chats",),
    only={"type": ("chat.msg",)},
    roles=SIDES,
    system=AGENT,
    labels=lambda raw, turns: _rating(
        raw.get("rating"), "satisfaction", ("bad", "good"), reason=raw.get("comment")
    ),
)
LIVEPERSON = Form(
    key="liveperson",
    title="LivePerson",
    hint='{"conversationHistoryRecords": [{"info", "messageRecords": [{"messageData", "sentBy"}]}]}.',
    looks_like=lambda head: has_paths(head, "messageRecords[].messageData", "messageRecords[].sentBy"),
    turns=("messageRecords",),
    speaker=("sentBy",),
    text=("messageData.msg.text", "messageData.file.caption", "messageData.richContent.content"),
    time=("timeL", "time"),
    id=("info.conversationId",),
    metadata=("info.skillName", "info.latestAgentFullName"),
    inside=("conversationHistoryRecords",),
    roles=SIDES,
    system=AGENT,
)
CONTACT_CENTER = Form(
    key="contact-center",
    title="Google's Contact Center AI",
    hint='{"entries": [{"role": "AGENT", "text", "start_timestamp_usec"}], "conversation_info"}.',
    looks_like=lambda head: has_paths(head, "entries[].role", "entries[].text", "entries[].user_id"),
    turns=("entries",),
    speaker=("role",),
    time=("start_timestamp_usec",),
    metadata=("conversation_info.categories",),
    roles=SIDES,
    system=AGENT,
    is_named_by_file=True,
)


# Assistants on one's own machine, and characters.


def _read_sillytavern(source: Source, left_out: Counter[str]) -> Iterator[Record]:
    """Yield the one chat of a file, whose first line is about it."""
    rows = [record.raw for record in records(source)]
    about = rows[0] if rows and "mes" not in rows[0] else {}
    turns = [
        {**row, "role": USER if row.get("is_user") is True else ASSISTANT}
        for row in rows
        if "mes" in row and row.get("is_system") is not True
    ]
    if others := len(rows) - len(turns) - bool(about):
        left_out[EVENTS] += others
    yield Record({**about, "turns": turns})


SILLYTAVERN = Form(
    key="sillytavern",
    title="SillyTavern",
    hint='A chat\'s .jsonl: {"name", "is_user", "mes"}, one message a line.',
    looks_like=lambda head: has_paths(head, "mes", "is_user", "name"),
    speaker=("name",),
    role=("role",),
    text=("mes",),
    time=("send_date",),
    model=("extra.model",),
    metadata=("character_name", "user_name", "create_date"),
    is_named_by_file=True,
    read=_read_sillytavern,
)


def _prepare_character_ai(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    """Yield a chat with the reply of each turn that was chosen; newer files have the newest turn first."""
    turns = []
    for number, message in enumerate(objects_at(raw, "msgs")):
        turns.append(
            {
                "speaker": at(message, "src.name"),
                "text": text_of(message.get("text"), f"msgs[{number}].text"),
                "role": USER if at(message, "src.is_human") is True else ASSISTANT,
            }
        )
    for number, turn in reversed(list(enumerate(objects_at(raw, "turns")))):
        replies = objects_at(turn, "candidates", f"turns[{number}]")
        best = next(
            (reply for reply in replies if reply.get("candidate_id") == turn.get("primary_candidate_id")),
            replies[0] if replies else {},
        )
        left_out["replies that were not chosen"] += max(0, len(replies) - 1)
        turns.append(
            {
                "speaker": at(turn, "author.name"),
                "text": text_of(best.get("raw_content"), f"turns[{number}].candidates[].raw_content"),
                "role": USER if at(turn, "author.is_human") is True else ASSISTANT,
                "time": turn.get("create_time"),
                "chat": at(turn, "turn_key.chat_id"),
            }
        )
    yield {
        "id": first_at(raw, ("external_id", "chat_id")) or at(turns[0] if turns else {}, "chat"),
        "turns": turns,
    }


CHARACTER_AI = Form(
    key="character-ai",
    title="Character.AI",
    hint='{"turns": [{"author", "candidates": [{"raw_content"}]}]}, or {"histories": [{"msgs"}]}.',
    looks_like=lambda head: (
        has_paths(head, "turns[].candidates[].raw_content", "turns[].author.name")
        or has_paths(head, "msgs[].src.is_human", "msgs[].text")
    ),
    role=("role",),
    time=("time",),
    inside=("histories.histories", "histories", "chats"),
    system="character",
    prepare=_prepare_character_ai,
)

OPENING = "<|BEGIN-VISIBLE-CHAT|>"


def _prepare_text_generation(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    turns = turns_of_pairs(pairs_of(raw.get("internal"), "internal"))
    turns = [turn for turn in turns if turn["text"] not in ("", OPENING)]
    models = [value for key, value in (raw.get("metadata") or {}).items() if str(key).startswith(ASSISTANT)]
    yield {"turns": turns, "model": next((name for part in models if (name := at(part, "model_name"))), None)}


TEXT_GENERATION = Form(
    key="text-generation-webui",
    title="Text generation web UI (oobabooga)",
    hint='{"internal": [[user, reply], ...], "visible": [...]}, a chat a file.',
    looks_like=lambda head: {"internal", "visible"} <= paths_of(head),
    is_named_by_file=True,
    prepare=_prepare_text_generation,
)


def _prepare_librechat(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    messages = _with_children(objects_at(raw, "messages"))
    if not all("messageId" in message for message in messages):
        raise ImportProblem("is missing from a message", field="messageId")
    parents = {str(message.get("messageId")): message.get("parentMessageId") for message in messages}
    branch = branch_to(str(messages[-1].get("messageId")) if messages else "", parents)
    by_id = {str(message.get("messageId")): message for message in messages}
    left_out[OTHER_BRANCHES] += len(by_id) - len(branch)
    turns = [
        {**message, "role": USER if message.get("isCreatedByUser") is True else ASSISTANT}
        for key in branch
        for message in (by_id[key],)
    ]
    yield {**raw, "messages": turns}


def _with_children(messages: list[Raw]) -> list[Raw]:
    """Return messages and those nested below them, the last branch last."""
    waiting, all_messages = list(reversed(messages)), []
    while waiting:
        message = waiting.pop()
        all_messages.append(message)
        waiting += reversed(objects_at(message, "children"))
    return all_messages


LIBRECHAT = Form(
    key="librechat",
    title="LibreChat",
    hint='{"conversationId", "messages": [{"messageId", "parentMessageId", "isCreatedByUser", "text"}]}.',
    looks_like=lambda head: has_paths(head, "messageId", "isCreatedByUser", "parentMessageId"),
    turns=("messages",),
    speaker=("sender", "role"),
    role=("role",),
    text=("text", "content"),
    time=("createdAt",),
    id=("conversationId", "id"),
    model=("options.model", "model"),
    group="conversationId",
    metadata=("title", "endpoint"),
    extra=("messageId",),
    prepare=_prepare_librechat,
)


def _prepare_lm_studio(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    turns = []
    for number, message in enumerate(objects_at(raw, "messages")):
        path = f"messages[{number}].versions"
        versions = objects_at(message, "versions", f"messages[{number}]")
        selected = message.get("currentlySelected")
        is_place = isinstance(selected, int) and 0 <= selected < len(versions)
        version = versions[selected] if is_place and isinstance(selected, int) else (versions or [{}])[0]
        left_out["replies that were not chosen"] += max(0, len(versions) - 1)
        steps = [step for step in objects_at(version, "steps", path) if _is_visible(step)]
        texts = [text_of(part.get("content"), f"{path}.content") for part in steps or [version]]
        turns.append(
            {
                "speaker": version.get("role"),
                "text": "\n".join(filter(None, texts)),
                "model": at(version, "senderInfo.senderName"),
            }
        )
    yield {**raw, "turns": turns}


def _is_visible(step: Raw) -> bool:
    """Whether a step of a reply has text for the user: no reasoning, and no work of the program."""
    return step.get("type") == "contentBlock" and at(step, "style.type") != "thinking"


LM_STUDIO = Form(
    key="lm-studio",
    title="LM Studio",
    hint='A conversation.json: {"messages": [{"versions": [{"role", "content"}], "currentlySelected"}]}.',
    looks_like=lambda head: has_paths(head, "messages[].versions[].role", "messages[].currentlySelected"),
    model=("model", "lastUsedModel.identifier"),
    scene=("systemPrompt",),
    is_named_by_file=True,
    metadata=("name",),
    prepare=_prepare_lm_studio,
)


# Team messengers and messages by telephone: all are people.

TWILIO = Form(
    key="twilio",
    title="Twilio's conversations",
    hint='Messages of the API: {"conversation_sid", "author", "body", "index"}.',
    looks_like=lambda head: has_paths(head, "conversation_sid", "author", "body"),
    turns=("messages",),
    speaker=("author",),
    text=("body",),
    time=("date_created",),
    extra=("sid", "index"),
    inside=("messages",),
    is_by_time=True,
    attached=("media",),
    group="conversation_sid",
    roles=None,
)


def _prepare_matrix(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    turns = []
    for message in objects_at(raw, "messages"):
        body, kind = at(message, "content.body"), str(at(message, "content.msgtype") or "")
        is_file = kind in ("m.image", "m.file", "m.audio", "m.video")
        turns.append({**message, "text": f"[{kind[2:]}: {body}]" if is_file else body})
    yield {**raw, "turns": turns}


MATRIX = Form(
    key="matrix",
    title="Matrix, exported by Element",
    hint='The JSON of a room: {"room_name", "messages": [{"type": "m.room.message", "sender", "content"}]}.',
    looks_like=lambda head: has_paths(head, "origin_server_ts", "sender", "content.msgtype"),
    turns=("turns", "messages"),
    speaker=("sender",),
    time=("origin_server_ts",),
    id=("room_name", "id"),
    metadata=("topic",),
    extra=("event_id",),
    only={"type": ("m.room.message",)},
    group="room_id",
    roles=None,
    prepare=_prepare_matrix,
)


def _read_mattermost(source: Source, left_out: Counter[str]) -> Iterator[Record]:
    """Yield the posts of each channel: of a bulk export's lines, or of one answer of the API."""
    channels: dict[str, list[Raw]] = {}
    for record in records(source):
        posts = record.raw.get("posts")
        post = record.raw.get("post")
        if isinstance(posts, dict):
            messages = [entry for entry in posts.values() if isinstance(entry, dict)]
        elif isinstance(post, dict):
            messages = [post, *objects_at(post, "replies", "post")]
        else:
            continue
        for message in messages:
            first = messages[0]
            channel = first_at(first, ("channel_id", "channel")) or first_at(message, ("channel_id",))
            channels.setdefault(str(channel or "channel"), []).append(message)
    for channel, messages in channels.items():
        yield Record({"id": channel, "turns": messages})


MATTERMOST = Form(
    key="mattermost",
    title="Mattermost",
    hint='A bulk export ({"type": "post", "post": {...}} a line), or posts of a channel from the API.',
    looks_like=lambda head: (
        has_paths(head, "post.channel", "post.user", "post.message")
        or has_fields(head, "order", "posts", "user_id", "channel_id", "message")
    ),
    speaker=("user", "user_id"),
    text=("message",),
    time=("create_at",),
    extra=("id", "root_id"),
    only={"type": (None, "")},
    is_by_time=True,
    roles=None,
    read=_read_mattermost,
)
ROCKET_CHAT = Form(
    key="rocket-chat",
    title="Rocket.Chat",
    hint='Messages: {"rid", "msg", "u": {"username"}, "ts"}, of one room or several.',
    looks_like=lambda head: has_paths(head, "rid", "msg", "u.username"),
    turns=("messages",),
    speaker=("u.name", "u.username"),
    text=("msg",),
    time=("ts.$date", "ts"),
    extra=("_id", "tmid"),
    inside=("messages",),
    only={"t": (None,)},
    is_by_time=True,
    attached=("attachments",),
    group="rid",
    roles=None,
)

FORMS = (
    RASA,
    BOT_FRAMEWORK,
    BOTPRESS,
    VOICEFLOW,
    DIALOGFLOW,
    LEX,
    WATSON,
    CHAINLIT,
    OPENAI_THREAD,
    INTERCOM,
    ZENDESK,
    ZENDESK_CHAT,
    LIVEPERSON,
    CONTACT_CENTER,
    SILLYTAVERN,
    CHARACTER_AI,
    TEXT_GENERATION,
    LIBRECHAT,
    LM_STUDIO,
    TWILIO,
    MATRIX,
    MATTERMOST,
    ROCKET_CHAT,
)
