"""Chats of assistants and messengers, in the forms in which other programs export them."""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.formats.chat_records import (
    ASSISTANT,
    CALL,
    EVENTS,
    SKIPPED_PARTS,
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
    placeholders,
    records,
    text_of,
    time_of,
)
from annotation.formats.corpus_format import Head
from annotation.formats.fields import decode_python
from annotation.formats.header_words import OWNERS, names_answers
from annotation.formats.source import ImportProblem, Source
from annotation.records import HUMAN, SELF, LabelRecord

# Lists of messages with roles: OpenAI's form, ShareGPT and its relatives, LMSYS-Chat-1M, WildChat, UltraChat.

CHAT_NAMES = ("data", "chats", "conversations")
TIMES = ("timestamp", "created_at", "create_time", "created", "time")
CHAT_LISTS = ("", "rows[].row.", *(f"{name}[]." for name in CHAT_NAMES))
"""Where chats are in a file: in its lines or its list, in the rows of a hub, or in a list with a name."""


UNRATED = frozenset({"openai_moderation"})
"""Fields that look like answers of a judge, and are a moderation filter's."""


def _has_answers(paths: frozenset[str]) -> bool:
    """Whether chats have labels beside them: they are read as a table, which has them, too."""
    outer = {path for path in paths if "[]" not in path and "." not in path}
    nested = {re.split(r"\[]|\.", path)[0] for path in paths - outer}
    beside = {name for name in nested if name.casefold() in OWNERS and f"{name}[].role" not in paths}
    return bool(beside) or any(map(names_answers, outer - nested - UNRATED))


MESSAGES = Form(
    key="messages",
    title="Chats as lists of messages",
    hint='OpenAI\'s form, one chat a line or a list: {"id", "messages": [{"role", "content"}], "metadata"}.',
    looks_like=lambda head: (
        any(f"{place}messages[].role" in paths_of(head) for place in CHAT_LISTS)
        and not _has_answers(paths_of(head))
    ),
    turns=("messages",),
    speaker=("name", "role"),
    role=("role",),
    text=("content", "refusal"),
    time=TIMES,
    id=("id", "prompt_id", "conversation_id"),
    model=("metadata.model", "model"),
    scene=("system",),
    metadata=("metadata.*",),
    inside=CHAT_NAMES,
    strict=True,
)

LISTS = ("conversations", "conversation", "items")


def _looks_like_sharegpt(head: Head) -> bool:
    """Whether a file has such chats; pairs of a better and a worse reply are preferences."""
    if has_fields(head, "chosen", "rejected") or _has_answers(paths_of(head)):
        return False
    return any(has_paths(head, f"{name}[].from", f"{name}[].value") for name in LISTS) or any(
        has_paths(head, f"conversations[].{role}", f"conversations[].{text}")
        for role, text in (("role", "content"), ("role", "value"), ("from", "content"))
    )


SHAREGPT = Form(
    key="sharegpt",
    title="ShareGPT",
    hint='{"conversations": [{"from", "value"}]}, one chat a line or a list; also `items`.',
    looks_like=_looks_like_sharegpt,
    turns=LISTS,
    speaker=("from", "role"),
    text=("value", "content", "text"),
    time=TIMES,
    id=("id", "conversation_id", "idx"),
    model=("model", "source_model"),
    scene=("system", "system_prompt"),
    language=("lang", "language"),
    metadata=("source", "category", "title"),
    inside=("data",),
)

LMSYS_CHAT = Form(
    key="lmsys-chat",
    title="LMSYS-Chat-1M",
    hint='{"conversation_id", "model", "conversation": [{"role", "content"}]}, one chat a line or a list.',
    looks_like=lambda head: (
        has_paths(head, "conversation[].role", "conversation[].content") and not _has_answers(paths_of(head))
    ),
    turns=("conversation",),
    speaker=("role",),
    text=("content",),
    id=("conversation_id", "id", "question_id"),
    metadata=("language", "redacted", "openai_moderation"),
)

WILDCHAT = Form(
    key="wildchat",
    title="WildChat",
    hint='{"conversation_hash", "model", "conversation": [{"role", "content", "toxic"}]}, one chat a line.',
    looks_like=lambda head: has_paths(head, "conversation[].role", "conversation[].turn_identifier"),
    turns=("conversation",),
    speaker=("role",),
    text=("content",),
    time=("timestamp",),
    id=("conversation_id", "conversation_hash"),
    metadata=("timestamp", "language", "toxic", "redacted", "openai_moderation", "detoxify_moderation"),
    extra=("turn_identifier", "language", "toxic"),
)


def _prepare_ultrachat(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    texts = raw.get("data")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ImportProblem("must be a list of texts, the user's and the assistant's by turns", field="data")
    turns = [{"speaker": (USER, ASSISTANT)[n % 2], "text": text} for n, text in enumerate(texts)]
    yield {**raw, "turns": turns}


ULTRACHAT = Form(
    key="ultrachat",
    title="UltraChat",
    hint='{"id", "data": [user, assistant, user, ...]}, one chat a line.',
    looks_like=lambda head: (
        re.match(r'\[?\s*\{\s*("id"\s*:[^,{\[]+,\s*)?"data"\s*:\s*\[\s*"', head.text) is not None
        or {"data[]"} <= paths_of(head) <= {"id", "data[]"}
    ),
    prepare=_prepare_ultrachat,
)


# Instructions with their responses: Alpaca, Dolly, prompts with completions. Files with further columns, such
# as ratings, are tables.

PAIRS = (
    ("instruction", "output"),
    ("instruction", "response"),
    ("prompt", "completion"),
    ("prompt", "response"),
)
BESIDE = {"input", "context", "system", "category", "id", "source", "history"}


def _pair_of(names: Iterable[str]) -> tuple[str, str] | None:
    return next((pair for pair in PAIRS if set(pair) <= set(names) <= {*pair, *BESIDE}), None)


def pairs_of(value: Any, path: str) -> list[tuple[str, str]]:
    """Return a list of pairs of texts, the user's and the reply."""
    pairs = value if isinstance(value, list) else []
    for number, pair in enumerate(pairs):
        if not isinstance(pair, list) or len(pair) != 2:
            raise ImportProblem(
                "must be a pair of texts: the user's and the reply", field=f"{path}[{number}]"
            )
    return [(text_of(user, path), text_of(reply, path)) for user, reply in pairs]


def turns_of_pairs(pairs: Iterable[tuple[str, Any]]) -> list[Raw]:
    """Return the turns of user and assistant in these pairs."""
    return [
        {"speaker": speaker, "text": text}
        for pair in pairs
        for speaker, text in zip((USER, ASSISTANT), pair, strict=True)
    ]


def _prepare_instructions(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    pair = _pair_of(raw)
    if pair is None:
        raise ImportProblem(
            f"must have {' or '.join(f'`{prompt}` and `{reply}`' for prompt, reply in PAIRS)}"
        )
    before = [text_of(raw.get(name), name) for name in (pair[0], "input", "context")]
    exchanges = [*pairs_of(raw.get("history"), "history"), ("\n\n".join(filter(None, before)), raw[pair[1]])]
    yield {**raw, "turns": turns_of_pairs(exchanges)}


INSTRUCTIONS = Form(
    key="instructions",
    title="Instructions with responses",
    hint='{"instruction", "input", "output"} as Alpaca and Dolly have it, or {"prompt", "completion"}.',
    looks_like=lambda head: bool(paths_of(head)) and _pair_of(paths_of(head)) is not None,
    scene=("system",),
    metadata=("category", "source"),
    prepare=_prepare_instructions,
)

GEMINI = Form(
    key="gemini",
    title="Gemini's requests and tuning examples",
    hint='{"contents": [{"role", "parts": [{"text"}]}]}, one chat a line or a list.',
    looks_like=lambda head: (
        has_paths(head, "contents[].role", "contents[].parts") and not _has_answers(paths_of(head))
    ),
    turns=("contents",),
    speaker=("role",),
    text=("parts",),
    scene=("systemInstruction.parts", "system_instruction.parts"),
)


def _labels_of_open_webui(raw: Raw, turns: list[Raw]) -> Iterator[LabelRecord]:
    """Yield the thumbs of the user whose chat it is, with their reasons."""
    for n, turn in enumerate(turns):
        rating, user = at(turn, "annotation.rating"), raw.get("user_id")
        if rating in (1, -1) and not isinstance(rating, bool):
            reason, comment = at(turn, "annotation.reason"), at(turn, "annotation.comment")
            yield LabelRecord(
                rater=user if isinstance(user, str) and user else "user",
                kind="human",
                continuation=SELF,
                turn=n,
                question="thumbs",
                value=float(rating),
                level="ordinal",
                values=(-1.0, 1.0),
                explanation=": ".join(part for part in (reason, comment) if isinstance(part, str) and part),
            )


OPEN_WEBUI = Form(
    key="open-webui",
    title="Open WebUI's export",
    hint="chat-export.json of one chat, or of all.",
    looks_like=lambda head: has_paths(head, "chat.messages[].role", "chat.history"),
    turns=("chat.messages",),
    speaker=("role",),
    text=("content",),
    time=TIMES,
    model=("model",),
    scene=("chat.system", "chat.params.system"),
    metadata=("title", "chat.tags"),
    extra=("id",),
    labels=_labels_of_open_webui,
)


# ChatGPT's export: a chat is a tree of messages, and its turns are those from the root to `current_node`.

HIDDEN_CONTENT = (
    "thoughts", "reasoning_recap", "user_editable_context", "model_editable_context", "app_pairing_content",
)  # fmt: skip
OTHER_BRANCHES = "messages outside the current branch"


def _prepare_chatgpt(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    nodes = raw.get("mapping")
    if not isinstance(nodes, dict):
        raise ImportProblem("must be an object", field="mapping")
    branch = branch_to(
        raw.get("current_node") or _last_leaf(nodes), {key: at(node, "parent") for key, node in nodes.items()}
    )
    turns = [turn for key in branch if (turn := _chatgpt_turn(nodes[key]))]
    if others := sum(1 for key in nodes.keys() - set(branch) if _chatgpt_turn(nodes[key])):
        left_out[OTHER_BRANCHES] += others
    yield {**raw, "turns": turns}


def branch_to(leaf: Any, parents: Mapping[str, Any]) -> list[str]:
    """Return the keys from the root of a tree to a leaf."""
    branch: dict[str, None] = {}
    key = leaf
    while isinstance(key, str) and key in parents and key not in branch:
        branch[key] = None
        key = parents[key]
    return list(reversed(branch))


def _last_leaf(nodes: Raw) -> str:
    """Return the newest node without children."""
    leaves = [key for key, node in nodes.items() if not at(node, "children")]
    return max(leaves, key=lambda key: time_of(at(nodes[key], "message.create_time")), default="")


def _chatgpt_turn(node: Any) -> Raw | None:
    """Return a node as a turn, None for one that nobody sees."""
    message = at(node, "message")
    role = at(message, "author.role")
    kind = at(message, "content.content_type")
    if role is None or kind in HIDDEN_CONTENT or at(message, "metadata.is_visually_hidden_from_conversation"):
        return None
    parts = first_at(message, ("content.parts", "content.text", "content.result"))
    text = text_of(parts, "message.content.parts")
    is_call = role == ASSISTANT and at(message, "recipient") not in (None, "all")
    if not text.strip():
        return None
    return {
        "speaker": role,
        "text": CALL if is_call else text,
        "given": is_call,
        "time": message.get("create_time"),
        "model": at(message, "metadata.model_slug"),
        "id": message.get("id"),
    }


CHATGPT = Form(
    key="chatgpt",
    title="ChatGPT's export",
    hint="conversations.json of ChatGPT's data export, or one conversation of it.",
    looks_like=lambda head: (
        "mapping" in head.inner and bool({"current_node", "author", "parent"} & head.inner)
    ),
    time=("time",),
    id=("conversation_id", "id"),
    model=("model",),
    metadata=("title", "create_time", "gizmo_id"),
    extra=("id",),
    prepare=_prepare_chatgpt,
    inside=("conversations",),
)


# Claude's export. Where messages name their parents, a chat is a tree as in ChatGPT's.


def _prepare_claude(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    messages = objects_at(raw, "chat_messages")
    keys = [str(message.get("uuid") or number) for number, message in enumerate(messages)]
    before = ["", *keys]
    parents = {
        key: message.get("parent_message_uuid", before[number])
        for number, (key, message) in enumerate(zip(keys, messages, strict=True))
    }
    branch = set(branch_to(raw.get("current_leaf_message_uuid") or before[-1], parents))
    if others := len(messages) - len(branch):
        left_out[OTHER_BRANCHES] += others
    turns = []
    for number, (key, message) in enumerate(zip(keys, messages, strict=True)):
        if key not in branch:
            continue
        path = f"chat_messages[{number}]"
        parts = [
            part for part in objects_at(message, "content", path) if part.get("type") not in SKIPPED_PARTS
        ]
        is_call = bool(parts) and not any(part.get("type") == "text" for part in parts)
        text = text_of(parts, f"{path}.content") or text_of(message.get("text"), f"{path}.text")
        files = placeholders(
            [*objects_at(message, "attachments", path), *objects_at(message, "files", path)],
            "file",
            "file_name",
        )
        turns.append({**message, "text": "\n".join(filter(None, [text, *files])), "given": is_call})
    yield {**raw, "turns": turns}


CLAUDE = Form(
    key="claude",
    title="Claude's export",
    hint="conversations.json of Claude's data export, or one conversation of it.",
    looks_like=lambda head: (
        has_paths(head, "chat_messages[].sender") or {"chat_messages", "uuid"} <= head.keys
    ),
    speaker=("sender", "role"),
    time=("created_at",),
    id=("uuid", "id"),
    metadata=("name", "summary", "created_at"),
    extra=("uuid",),
    system="claude",
    prepare=_prepare_claude,
    inside=("conversations",),
)


# OpenAssistant: trees of messages by volunteers. A tree's turns are its best-ranked branch.

OTHER_REPLIES = "replies outside the best-ranked branch of a tree"


def _read_oasst(source: Source, left_out: Counter[str]) -> Iterator[Record]:
    """Yield each tree: of a file of trees at once, of a file of messages once all are read."""
    roots: dict[str, Record] = {}
    replies: dict[str, list[Raw]] = defaultdict(list)
    for record in records(source):
        raw = record.raw
        if isinstance(raw.get("prompt"), dict):
            yield record
        elif isinstance(raw.get("message_id"), str):
            if isinstance(raw.get("parent_id"), str):
                replies[raw["parent_id"]].append(raw)
            else:
                roots[raw["message_id"]] = record
        else:
            raise ImportProblem("has neither `prompt` nor `message_id`", line=record.line)
    for key, record in roots.items():
        tree = _with_replies(record.raw, replies)
        yield Record({"message_tree_id": key, "prompt": tree}, record.line, record.path)
    if replies:
        left_out["replies without the message that they answer"] += sum(map(len, replies.values()))


def _with_replies(root: Raw, replies: dict[str, list[Raw]]) -> Raw:
    """Return a message with its replies below it, taking them out of `replies`."""
    root = {**root}
    waiting = [root]
    while waiting:
        message = waiting.pop()
        message["replies"] = [{**reply} for reply in replies.pop(str(message["message_id"]), [])]
        waiting += message["replies"]
    return root


def _prepare_oasst(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    turns: list[Raw] = []
    level = [raw["prompt"]]
    while level:
        best = min(level, key=lambda message: rank if isinstance(rank := message.get("rank"), int) else 99)
        if others := sum(_size(message) for message in level if message is not best):
            left_out[OTHER_REPLIES] += others
        turns.append(best)
        level = [reply for reply in objects_at(best, "replies") if reply.get("deleted") is not True]
    yield {**raw, "turns": turns, "lang": raw["prompt"].get("lang")}


def _size(message: Raw) -> int:
    """Count a message and all replies below it."""
    waiting, count = [message], 0
    while waiting:
        count += 1
        waiting += objects_at(waiting.pop(), "replies")
    return count


OASST = Form(
    key="oasst",
    title="OpenAssistant",
    hint="Trees or messages of OpenAssistant (oasst1, oasst2), one a line.",
    looks_like=lambda head: has_fields(head, "message_id", "message_tree_id", "text", "role"),
    speaker=("role",),
    time=("created_date",),
    id=("message_tree_id",),
    model=("model_name",),
    language=("lang",),
    metadata=("tree_state",),
    extra=("message_id", "rank", "review_count", "labels", "synthetic"),
    system=HUMAN,
    read=_read_oasst,
    prepare=_prepare_oasst,
)


# Slack: a file is one day of a channel, a folder the whole export.

SLACK_MESSAGES = ("bot_message", "thread_broadcast", "me_message", "file_share", "file_comment")
SLACK_LISTS = {"users", "channels", "groups", "dms", "mpims", "integration_logs", "canvases"}
SLACK_LINK = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")


def _read_slack(source: Source, left_out: Counter[str]) -> Iterator[Record]:
    """Yield a record for each day of each channel, with the names of people by their ids."""
    names: dict[str, str] = {}
    files = source.files()
    for file in files:
        if source.path.is_dir() and file.stem == "users" and file.parent == source.path:
            names = {
                str(user.get("id")): name
                for user in _objects_of_file(source, file)
                if isinstance(name := first_at(user, USER_NAMES), str)
            }
    for file in files:
        if file.parent == source.path and file.stem in SLACK_LISTS:
            continue
        place = source.name_in_folder(file)
        with source.report_problems(file):
            messages = _objects_of_file(source, file)
            channel = file.parent.name if place and file.parent != source.path else ""
            key = f"{channel}/{file.stem}" if channel else Path(source.called(file)).stem
            yield Record({"id": key, "channel": channel, "names": names, "turns": messages}, file=place)


def _objects_of_file(source: Source, file: Path) -> list[Raw]:
    """Return the objects of a file's list; raises ImportProblem for a file with anything else."""
    with source.report_problems(file):
        value = decode_python(source.document(file))
        if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
            raise ImportProblem("must be a list of objects")
        return value


USER_NAMES = ("profile.display_name", "real_name", "profile.real_name", "name")


def _prepare_slack(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    names = dict(raw["names"])
    for message in objects_at(raw, "turns"):
        name = first_at(message, ("user_profile.display_name", "user_profile.real_name"))
        if isinstance(name, str) and isinstance(message.get("user"), str):
            names.setdefault(message["user"], name)
    turns = []
    for number, message in enumerate(objects_at(raw, "turns")):
        if message.get("subtype") not in (None, *SLACK_MESSAGES):
            left_out[EVENTS] += 1
            continue
        user = first_at(message, ("user", "username", "bot_profile.name", "bot_id"))
        text = text_of(message.get("text"), f"[{number}].text")
        text = html.unescape(SLACK_LINK.sub(lambda link: _slack_link(link, names), text))
        files = placeholders(objects_at(message, "files", f"[{number}]"), "file", "name", "title")
        turns.append(
            {
                **message,
                "speaker": names.get(str(user), user),
                "text": "\n".join(filter(None, [text, *files])),
            }
        )
    yield {**raw, "turns": turns}


def _slack_link(link: re.Match[str], names: dict[str, str]) -> str:
    mark, target, label = link.groups()
    if mark == "@":
        return f"@{names.get(target, label or target)}"
    if mark in ("#", "!"):
        return f"{'#' if mark == '#' else '@'}{label or target}"
    return f"{label} ({target})" if label and label not in target else target


def _looks_like_slack(head: Head) -> bool:
    channels = has_paths(head, "is_archived", "members", "purpose.value", "created")
    users = has_paths(head, "team_id", "profile.real_name")
    messages = head.text.startswith("[") and {"type", "ts", "text"} <= head.inner
    return channels or users or (messages and not {"messages", "turns"} & head.inner)


SLACK = Form(
    key="slack",
    title="Slack's export",
    hint="The unpacked folder of an export, or one day of a channel.",
    looks_like=_looks_like_slack,
    time=("ts",),
    cluster=("channel",),
    metadata=("channel",),
    extra=("ts", "thread_ts"),
    roles=None,
    read=_read_slack,
    prepare=_prepare_slack,
)


# Discord (DiscordChatExporter), Telegram, Messenger and Instagram, Microsoft Teams, Google Chat.

DISCORD_MESSAGES = ("Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "0", "19", "20", "23")


def _prepare_discord(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    turns = []
    for number, message in enumerate(objects_at(raw, "messages")):
        if str(message.get("type", "Default")) not in DISCORD_MESSAGES:
            left_out[EVENTS] += 1
            continue
        parts = [
            text_of(message.get("content"), f"messages[{number}].content"),
            *placeholders(objects_at(message, "attachments", f"messages[{number}]"), "file", "fileName"),
            *placeholders(objects_at(message, "stickers", f"messages[{number}]"), "sticker", "name"),
        ]
        if not any(parts):
            parts = placeholders(objects_at(message, "embeds", f"messages[{number}]"), "embed", "title")
        turns.append({**message, "text": "\n".join(filter(None, parts))})
    yield {**raw, "turns": turns}


DISCORD = Form(
    key="discord",
    title="Discord, by DiscordChatExporter",
    hint="The JSON of one channel.",
    looks_like=lambda head: has_paths(head, "guild.id", "channel.id"),
    speaker=("author.name", "author.id"),
    time=("timestamp",),
    id=("channel.id",),
    metadata=("guild.name", "channel.category", "channel.topic"),
    extra=("id", "reference.messageId", "author.isBot"),
    roles=None,
    prepare=_prepare_discord,
)

MEDIA = ("photo", "file", "location_information", "contact_information", "poll")


def _prepare_telegram(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    turns = []
    for number, message in enumerate(objects_at(raw, "messages")):
        if message.get("type") != "message":
            left_out[EVENTS] += 1
            continue
        text = text_of(message.get("text"), f"messages[{number}].text", "")
        kind = message.get("media_type") or next((name for name in MEDIA if message.get(name)), "")
        label = first_at(message, ("sticker_emoji", "poll.question", "file_name"))
        media = (f"[{kind}: {label}]" if isinstance(label, str) else f"[{kind}]") if kind else ""
        turns.append({**message, "text": "\n".join(filter(None, [text, media]))})
    yield {
        **raw,
        "id": f"{raw.get('name') or raw.get('type') or 'chat'}-{raw.get('id', '')}".strip("-"),
        "turns": turns,
    }


TELEGRAM = Form(
    key="telegram",
    title="Telegram's export",
    hint="result.json of one chat, or of all chats.",
    looks_like=lambda head: {"messages", "date"} <= head.inner and bool({"from_id", "actor_id"} & head.inner),
    speaker=("from", "from_id"),
    time=("date",),
    metadata=("name", "type"),
    extra=("id", "reply_to_message_id"),
    roles=None,
    inside=("chats.list",),
    prepare=_prepare_telegram,
)

MESSENGER_MEDIA = ("photos", "videos", "audio_files", "gifs", "files", "sticker", "share", "media")


def _prepare_messenger(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    """Yield a thread with its oldest message first, and its texts as UTF-8."""
    turns = []
    for message in reversed(objects_at(raw, "messages")):
        text = first_at(message, ("content", "text"))
        media = [
            f"[{name.removesuffix('s').removesuffix('_file')}]"
            for name in MESSENGER_MEDIA
            if message.get(name)
        ]
        if text is None and not media:
            left_out["messages without any text or file"] += 1
            continue
        speaker = first_at(message, ("sender_name", "senderName"))
        turns.append(
            {
                "speaker": _utf8(speaker),
                "text": "\n".join(filter(None, [_utf8(text_of(text, "messages[].content")), *media])),
                "time": first_at(message, ("timestamp_ms", "timestamp")),
            }
        )
    turns.sort(key=lambda turn: turn["time"] if isinstance(turn["time"], int | float) else 0)
    yield {
        "id": first_at(raw, ("thread_path", "threadName", "title")),
        "title": _utf8(first_at(raw, ("title", "threadName"))),
        "turns": turns,
    }


def _utf8(text: Any) -> Any:
    """Return a text of Meta's exports, which write each byte of its UTF-8 as a character."""
    try:
        return text.encode("latin-1").decode() if isinstance(text, str) else text
    except UnicodeError:
        return text


MESSENGER = Form(
    key="messenger",
    title="Messenger and Instagram",
    hint="message_1.json of one thread in Meta's export.",
    looks_like=lambda head: (
        {"participants", "messages"} <= head.inner and bool({"sender_name", "senderName"} & head.inner)
    ),
    time=("time",),
    metadata=("title",),
    roles=None,
    prepare=_prepare_messenger,
)

BREAK = re.compile(r"<br\s*/?>|</(?:p|div|li)>(?=.)", re.IGNORECASE | re.DOTALL)
FILE_TAG, TAG = re.compile(r"<attachment[^<>]*>|<img[^<>]*>", re.IGNORECASE), re.compile(r"<[a-zA-Z/][^<>]*>")


def plain_html(text: str) -> str:
    """Return the text of a message in HTML."""
    return html.unescape(TAG.sub("", FILE_TAG.sub("[file]", BREAK.sub("\n", text)))).strip()


def _prepare_teams(raw: Raw, left_out: Counter[str]) -> Iterator[Raw]:
    """Yield a chat with its oldest message first: of Graph's API, or of Skype's and Teams' own export."""
    messages = objects_at(raw, "value") or objects_at(raw, "MessageList")
    messages = [part for message in messages for part in (message, *objects_at(message, "replies"))]
    turns = []
    for message in messages:
        kind = first_at(message, ("messageType", "messagetype"))
        speaker = first_at(message, ("from.user.displayName", "from.application.displayName", "displayName"))
        if speaker is None and isinstance(message.get("from"), str):
            speaker = message["from"].rpartition(":")[2]
        if speaker is None or kind not in ("message", "Text", "RichText", "RichText/Html"):
            left_out[EVENTS] += 1
            continue
        body = text_of(first_at(message, ("body.content", "content")), "body.content")
        is_html = at(message, "body.contentType") != "text" and kind != "Text"
        turns.append(
            {
                "speaker": speaker,
                "text": plain_html(body) if is_html else body,
                "time": first_at(message, ("createdDateTime", "originalarrivaltime")),
                "id": message.get("id"),
            }
        )
    turns.sort(key=lambda turn: str(turn["time"]))
    chat = first_at(messages[0], ("chatId", "channelIdentity.channelId")) if messages else None
    yield {"id": raw.get("id") or chat, "title": raw.get("displayName"), "turns": turns}


TEAMS = Form(
    key="teams",
    title="Microsoft Teams and Skype",
    hint="Messages of a chat as Microsoft Graph lists them, or messages.json of Skype's export.",
    looks_like=lambda head: (
        {"messageType", "createdDateTime", "body"} <= head.inner or "MessageList" in head.inner
    ),
    time=("time",),
    metadata=("title",),
    extra=("id",),
    roles=None,
    inside=("conversations",),
    prepare=_prepare_teams,
)

GOOGLE_CHAT = Form(
    key="google-chat",
    title="Google Chat",
    hint="messages.json of one group in Google Takeout.",
    looks_like=lambda head: has_paths(head, "messages[].creator.name", "messages[].created_date"),
    turns=("messages",),
    speaker=("creator.name", "creator.email"),
    time=("created_date",),
    extra=("message_id", "topic_id"),
    roles=None,
)

FORMS = (
    WILDCHAT,
    LMSYS_CHAT,
    SHAREGPT,
    ULTRACHAT,
    INSTRUCTIONS,
    GEMINI,
    OPEN_WEBUI,
    CHATGPT,
    CLAUDE,
    OASST,
    DISCORD,
    TELEGRAM,
    MESSENGER,
    TEAMS,
    GOOGLE_CHAT,
    MESSAGES,
)
