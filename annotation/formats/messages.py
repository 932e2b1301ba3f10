"""Chats in OpenAI's form: {"id", "messages": [{"role", "content"}], "metadata"}, one a line or all in a list.

Roles are the participants. What the assistant said is by the model that the metadata names (`model`), and
is rated; what users, tools and the system prompt said is given. A system prompt at the start sets the scene
and is not a turn: it is kept as `system_prompt` in the metadata. A chat without an id is called after its
number in the file. Other fields are passed over, and named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.formats.entry import Format, SourceRecord, entries
from annotation.formats.fields import NAME_LIMIT, Fields, decode, kind_of
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import Dialogue, Participant, Turn

CHAT = frozenset({"id", "messages", "metadata"})
MESSAGE = frozenset({"role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal"})
CALLS = ("tool_calls", "function_call")
SCENE = ("system", "developer")
ROLES = (*SCENE, "user", "assistant", "tool", "function")
UNNAMED = "assistant"


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the chat of each line, or of each entry of a list."""
    if source.begins_with(b"["):
        chats = decode(source.document(source.path))
        if not chats:
            raise ImportProblem("holds no chat")
        for number, raw in enumerate(chats, start=1):
            try:
                yield SourceRecord(chat(raw, number, source))
            except ImportProblem as problem:
                problem.field = f"chat {number}.{problem.field}".rstrip(".")
                source.report(problem)
        return
    numbered = ((line, (n, content)) for n, (line, content) in enumerate(source.objects(), start=1))
    yield from entries(source, numbered, lambda one: chat(decode(one[1]), one[0], source))


def chat(raw: Any, number: int, source: Source) -> Dialogue:
    """Return the dialogue that a JSON object with messages describes, the chat of this number in the file."""
    if isinstance(raw, list):
        raise ImportProblem("must be an object, one chat a line, not a list of them")
    fields = _fields(raw, "", CHAT, source)
    messages = [(path, _fields(part, path, MESSAGE, source)) for path, part in fields.items("messages")]
    scene, turns = _scene(messages)
    if not turns:
        raise fields.problem("messages", "holds nothing that was said")
    metadata = dict(fields.object("metadata"))
    if scene:
        metadata.setdefault("system_prompt", scene)
    return Dialogue(
        id=fields.id("id", "") or f"chat-{number}",
        turns=turns,
        participants=_participants(turns, messages),
        system=_system(fields),
        metadata=metadata,
    )


def _fields(raw: Any, path: str, known: frozenset[str], source: Source) -> Fields:
    """Return the fields of an object; those that are not known are passed over, and named."""
    if isinstance(raw, dict):
        source.pass_over(f"messages[].{name}" if path else name for name in raw.keys() - known)
        raw = {name: value for name, value in raw.items() if name in known}
    return Fields(raw, path, known)


def _scene(messages: list[tuple[str, Fields]]) -> tuple[str, tuple[Turn, ...]]:
    """Split a chat into the system prompts that it begins with, and its turns."""
    prompts: list[str] = []
    turns: list[Turn] = []
    for _, message in messages:
        role = message.choice("role", ROLES, "")
        text = _content(message)
        if role in SCENE and not turns:
            prompts.append(text)
        else:
            turns.append(Turn(message.id("name", role), text, given=role != "assistant"))
    return "\n\n".join(prompts), tuple(turns)


def _content(message: Fields) -> str:
    """Return a message's text: plain, or in parts of which those that are not text are named."""
    content = message.raw.get("content")
    if content is None and (message.has("refusal") or any(map(message.has, CALLS))):
        return message.text("refusal", "[tool call]")
    if not isinstance(content, list):
        return message.text("content")
    return "\n".join(_part(part, path) for path, part in message.items("content"))


def _part(part: Any, path: str) -> str:
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        raise ImportProblem("must be an object with a type", field=path)
    if part["type"] not in ("text", "input_text", "output_text"):
        return f"[{part['type']}]"
    if not isinstance(part.get("text"), str):
        raise ImportProblem(f"must be a text, not {kind_of(part.get('text'))}", field=f"{path}.text")
    return str(part["text"])


def _participants(turns: tuple[Turn, ...], messages: list[tuple[str, Fields]]) -> tuple[Participant, ...]:
    roles = {message.raw.get("name") or message.raw["role"]: message.raw["role"] for _, message in messages}
    return tuple(
        Participant(speaker, role=roles[speaker]) for speaker in dict.fromkeys(turn.speaker for turn in turns)
    )


def _system(fields: Fields) -> str:
    model = fields.object("metadata").get("model", UNNAMED)
    if not isinstance(model, str) or not 0 < len(model) <= NAME_LIMIT:
        raise ImportProblem(f"must be a name of up to {NAME_LIMIT} characters", field="metadata.model")
    return model


FORMAT = Format(
    key="messages",
    title="Chats as lists of messages",
    hint='OpenAI style, one chat a line or a list: {"id", "messages": [{"role", "content"}], "metadata"}.',
    read=read,
    looks_like=lambda head: head.text.startswith(("{", "[")) and "messages" in head.keys,
)
