"""Messages with models as programs log them, scores of their graders, and the documents that hold both."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.formats.fields import ID_LIMIT, NAME_LIMIT, decode_python, is_number, kind_of, require
from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_reader import is_json_lines, json_lines, open_table
from annotation.records import LabelRecord, RaterKind, Turn
from annotation.text.table_cells import number

# Messages: whatever stands as the input or the output of a model becomes messages with roles.

USER, ASSISTANT, SYSTEM, TOOL = "user", "assistant", "system", "tool"
ROLES = {
    **dict.fromkeys(("user", "human", "usermessage", "humanmessage", "customer", "prompter"), USER),
    **dict.fromkeys(("assistant", "ai", "aimessage", "aimessagechunk", "model", "bot", "gpt"), ASSISTANT),
    **dict.fromkeys(("system", "developer", "systemmessage"), SYSTEM),
    **dict.fromkeys(("tool", "function", "toolmessage", "functionmessage", "ipython"), TOOL),
}
"""Roles by the words that programs write."""
TEXT_KEYS = ("content", "text", "value", "output_text", "data", "parts", "message")
INPUT_KEYS = ("messages", "input", "question", "query", "prompt", "user_input", "inputs", "content", "text")
OUTPUT_KEYS = (
    *("messages", "output", "answer", "response", "result", "outputs", "choices", "generations"),
    *("completion", "generated_text", "message", "content", "text"),
)
CALLS = ("tool_calls", "function_call", "toolCalls")
UNREAD_PARTS = ("reasoning", "thinking", "redacted_thinking")


@dataclass(frozen=True, slots=True)
class Message:
    """A message to or from a model. `role` is user, assistant, system, tool, or another speaker."""

    role: str
    text: str


def input_messages(value: Any) -> list[Message]:
    """Return the messages sent to a model or an application; a plain text is by the user."""
    return _messages(value, USER, INPUT_KEYS)


def output_messages(value: Any) -> list[Message]:
    """Return the messages that a model or an application answered; a plain text is by the assistant."""
    return _messages(value, ASSISTANT, OUTPUT_KEYS)


def _messages(value: Any, role: str, keys: Sequence[str]) -> list[Message]:
    if isinstance(value, str) and _holds_messages(content := unpacked(value)):
        value = content
    if value is None or value == "" or value == [] or value == {}:
        return []
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list):
            return _messages(value[0], role, keys)
        if all(isinstance(part, dict) and _is_message(part) for part in value):
            return [message for part in value for message in _message(part, role)]
        if all(_is_pair(part) for part in value):
            return [Message(_role(speaker), content_text(text)) for speaker, text in value]
        if len(value) == 1 and isinstance(value[0], dict):
            return _messages(value[0], role, keys)
        return [Message(role, content_text(value))]
    if isinstance(value, dict):
        if _is_message(value):
            return _message(value, role)
        for key in keys:
            if value.get(key) not in (None, "", [], {}):
                return _messages(value[key], role, keys)
        if len(value) == 1:
            return _messages(next(iter(value.values())), role, keys)
    return [Message(role, content_text(value))]


def _holds_messages(value: Any) -> bool:
    """Whether the JSON in a text is messages; any other JSON is what somebody wrote."""
    if isinstance(value, dict):
        return _is_message(value) or any(isinstance(value.get(key), list) for key in ("messages", "choices"))
    return isinstance(value, list) and all(isinstance(part, dict) and _is_message(part) for part in value)


def unpacked(value: Any) -> Any:
    """Return the value of a text that is a JSON object or list, any other value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            content = decode_python(value.encode())
        except ImportProblem:
            return value
        is_message_list = isinstance(content, dict) or any(isinstance(part, dict | list) for part in content)
        return content if is_message_list else value
    return value


def _is_pair(value: Any) -> bool:
    """Whether a value is a role and a text, as LangChain writes short prompts."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and isinstance(value[0], str)
        and value[0].lower() in ROLES
        and isinstance(value[1], str)
    )


def _is_message(value: Mapping[str, Any]) -> bool:
    if {"message.role", "message.content"} & value.keys() or "kwargs" in value or "message" in value:
        return True
    kinds = (value.get("role"), value.get("type"), value.get("from"))
    is_spoken = any(isinstance(kind, str) and kind.lower() in ROLES for kind in kinds) or "role" in value
    return is_spoken and any(key in value for key in (*TEXT_KEYS, *CALLS))


def _message(value: Mapping[str, Any], role: str) -> list[Message]:
    """Return the message of an object in one of the usual shapes; a part that says nothing is left out."""
    if isinstance(value.get("kwargs"), dict):  # LangChain's serialised messages
        kinds = value.get("id")
        last = kinds[-1] if isinstance(kinds, list) and kinds else ""
        return _message({"role": last or role, **value["kwargs"]}, role)
    if isinstance(value.get("message"), dict) and "role" not in value:  # a choice, or OpenInference nested
        return _message(value["message"], role)
    if isinstance(value.get("data"), dict):  # LangChain's dictionaries
        return _message({"role": value.get("type", role), **value["data"]}, role)
    spoken = value.get("message.role") or value.get("role") or value.get("from") or value.get("type")
    own_role = _role(spoken) if isinstance(spoken, str) and spoken.strip() else role
    content = value.get("message.content")
    if content is None:
        content = next((value[key] for key in TEXT_KEYS if value.get(key) not in (None, "")), None)
    text = content_text(content) if content is not None else ""
    if not text:
        calls = value.get("message.tool_calls") or next((value[key] for key in CALLS if value.get(key)), None)
        if not calls and own_role != ASSISTANT:
            return []
        text = "[tool call]" if calls else ""
    return [Message(own_role, text)] if text else []


def _role(word: str) -> str:
    return ROLES.get(word.strip().lower(), word.strip()[:NAME_LIMIT])


def content_text(content: Any) -> str:
    """Return the text of a content: plain, in parts (a placeholder for what is no text), JSON for others."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and content and all(isinstance(part, dict | str) for part in content):
        parts = [part if isinstance(part, str) else _part_text(part) for part in content]
        return "\n".join(part for part in parts if part)
    if isinstance(content, dict):
        for key in ("text", "content", "value"):
            if isinstance(content.get(key), str):
                return str(content[key])
    return json.dumps(content, ensure_ascii=False)


def _part_text(part: Mapping[str, Any]) -> str:
    kind = str(part.get("type", ""))
    if kind in UNREAD_PARTS:
        return ""
    for key in ("text", "content", "message_content.text"):
        if isinstance(part.get(key), str):
            return str(part[key])
    return f"[{kind}]" if kind else json.dumps(part, ensure_ascii=False)


def split_prompts(messages: Iterable[Message]) -> tuple[str, list[Message]]:
    """Split messages into the leading system prompts and all others."""
    prompts: list[str] = []
    spoken: list[Message] = []
    for message in messages:
        if message.role == SYSTEM and not spoken:
            prompts.append(message.text)
        else:
            spoken.append(message)
    return "\n\n".join(prompts), spoken


def turn_of(message: Message, *, given: bool, **fields: Any) -> Turn:
    """Return a message as a turn."""
    return Turn(message.role or USER, message.text, given=given, **fields)


# Scores: the verdict of a grader becomes a label.

PASS_FAIL = ("fail", "pass")


@dataclass(frozen=True, slots=True)
class Score:
    """A grader's verdict: its question, who graded, the answer and the reason; `missing` if there is none."""

    question: str
    rater: str
    kind: RaterKind
    value: float | str | None
    explanation: str = ""
    missing: str = ""
    level: str = ""
    values: tuple[float | str, ...] = ()

    def label(self, continuation: str, turn: int | None) -> LabelRecord:
        """Return the score as a label of an item."""
        return LabelRecord(
            rater=self.rater[:NAME_LIMIT],
            kind=self.kind,
            continuation=continuation,
            turn=turn,
            question=self.question[:120],
            value=self.value,
            missing="" if self.value is not None else self.missing or "no score",
            explanation=self.explanation,
            level=self.level,
            values=self.values,
        )


def score_of(question: str, rater: str, kind: RaterKind, value: Any, explanation: Any = "") -> Score:
    """Return a verdict with a value of JSON: true and false are yes and no, an empty one is missing."""
    reason = explanation if isinstance(explanation, str) else "" if explanation is None else str(explanation)
    score = Score(question.strip() or "score", rater.strip() or "unnamed", kind, None, reason)
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        value = value.strip().lower() == "true"
    if isinstance(value, bool):
        answer = "yes" if value else "no"
        return replace(score, value=answer, level="nominal", values=("no", "yes"))
    if is_number(value):
        return replace(score, value=float(value))
    if isinstance(value, str) and value.strip():
        as_number = number(value.strip())
        return replace(score, value=value.strip() if as_number is None else as_number)
    if value is None or isinstance(value, str | float):
        return score
    raise ImportProblem(f"must be a number, a text, true or false, not {kind_of(value)}", field=question)


def verdict(question: str, rater: str, kind: RaterKind, passed: Any, explanation: str = "") -> Score:
    """Return whether something passed, as `pass` or `fail`."""
    if not isinstance(passed, bool):
        return score_of(question, rater, kind, passed, explanation)
    value = PASS_FAIL[passed]
    return Score(question, rater, kind, value, explanation, level="nominal", values=PASS_FAIL)


def numbered(labels: Iterable[LabelRecord]) -> tuple[LabelRecord, ...]:
    """Number a rater's repeated answers to one question about one item."""
    answered: Counter[Any] = Counter()
    records = []
    for label in labels:
        about = (label.rater, label.kind, label.question, label.continuation, label.turn)
        records.append(replace(label, sample=answered[about]) if answered[about] else label)
        answered[about] += 1
    return tuple(records)


# Records of a document: a JSON list, a list under a key, JSON lines, or the rows of a table.

LISTS = ("data", "traces", "runs", "spans", "items", "results", "test_results", "testResults")


def log_records(source: Source, lists: Sequence[str] = LISTS) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """Yield the objects of a file with their lines; cells of a table that hold JSON are read as such."""
    if source.is_text and source.begins_with(b"["):
        yield from _objects(decode_python(source.document(source.path)))
    elif source.is_text and source.begins_with(b"{"):
        if not is_json_lines(source):
            document = require(decode_python(source.document(source.path)), dict)
            yield from _objects(
                next((document[key] for key in lists if isinstance(document.get(key), list)), [document])
            )
            return
        yield from json_lines(source)
    else:
        for line, row in open_table(source).rows():
            yield line, _unflattened({name: _cell(cell) for name, cell in row.items()})


def _unflattened(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the objects of its lists: `messages[].role` and `messages[].content` are messages."""
    record: dict[str, Any] = {}
    for name, cell in row.items():
        _put(record, name, cell)
    return record


def _put(target: dict[str, Any], path: str, cell: Any, *, is_inner: bool = False) -> None:
    """Put a cell into an object by its path; within lists, dots are objects, and lists are JSON."""
    stem, mark, key = path.partition("[].")
    if is_inner and "." in stem:
        outer, _, rest = path.partition(".")
        inner = target.setdefault(outer, {})
        if isinstance(inner, dict):
            _put(inner, rest, cell, is_inner=True)
        return
    values = unpacked_list(cell) if mark else cell
    if not mark:
        if cell is not None:
            target[path.removesuffix("[]")] = unpacked_list(cell) if path.endswith("[]") else cell
    elif isinstance(values, list):
        elements = target.setdefault(stem, [])
        elements += [{} for _ in range(len(values) - len(elements))]
        for element, value in zip(elements, values, strict=False):
            if value is not None:
                _put(element, key, value, is_inner=True)


def unpacked_list(cell: Any) -> Any:
    """Return the list of a text that is a JSON list, any other value unchanged."""
    if isinstance(cell, str) and cell.startswith("["):
        try:
            return decode_python(cell.encode())
        except ImportProblem:
            return cell
    return cell


def _objects(values: Any) -> Iterator[tuple[None, dict[str, Any]]]:
    if not isinstance(values, list) or not values:
        raise ImportProblem("holds no records")
    for place, value in enumerate(values, start=1):
        yield None, require(value, dict, f"record {place}")


def _cell(cell: Any) -> Any:
    value = unpacked(cell)
    return None if value == "" else value


def nested(record: Mapping[str, Any], *path: str) -> Any:
    """Return a value by its path, in objects or in flattened keys such as `context.trace_id`."""
    if not path:
        return None
    flat = ".".join(path)
    if record.get(flat) is not None:
        return record[flat]
    for length in range(len(path) - 1, 0, -1):
        inner = unpacked(record.get(".".join(path[:length])))
        if isinstance(inner, Mapping):
            value = nested(inner, *path[length:])
            if value is not None:
                return value
    return None


def top_names(paths: Iterable[str]) -> frozenset[str]:
    """Return the top-level names of paths: `messages` of `messages[].role`."""
    return frozenset(path.partition("[]")[0].partition(".")[0] for path in paths)


def names_in(paths: Iterable[str]) -> frozenset[str]:
    """Return all names in paths: `messages` and `role` of `messages[].role`."""
    return frozenset(name.removesuffix("[]") for path in paths for name in path.split("."))


def first_text(record: Mapping[str, Any], *paths: tuple[str, ...] | str) -> str:
    """Return the first of some values that is a text or a number, without space around it."""
    for path in paths:
        value = nested(record, *((path,) if isinstance(path, str) else path))
        if isinstance(value, str) and value.strip():
            return value.strip()
        if is_number(value):
            return f"{value:g}" if isinstance(value, float) else str(value)
    return ""


def objects_in(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, [] for anything else."""
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def id_of(text: str, field: str = "id") -> str:
    """Return a text as an id; raises ImportProblem for one that is empty or too long."""
    key = text.strip()
    if not 0 < len(key) <= ID_LIMIT:
        raise ImportProblem(f"must have 1 to {ID_LIMIT} characters", field=field)
    return key


@dataclass(slots=True)
class Omissions:
    """What was left out of a file, with the reasons counted."""

    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, reason: str, count: int = 1) -> None:
        """Count something that is left out."""
        self.reasons[reason] += count

    def note(self, source: Source) -> None:
        """Add a note for each reason."""
        source.notes += [f"{reason}: {count}" for reason, count in self.reasons.items()]
