"""Reader of chats that other programs write: a form is a table of field paths over the records of a file.

A file is one JSON document or a record a line. A path names a field of a record (`author.name`); where a form
names several, the first that has a value counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from annotation.formats.arrow_tables import read_objects
from annotation.formats.corpus_format import Format, Head, SourceRecord
from annotation.formats.fields import ID_LIMIT, MAX_DEPTH, NAME_LIMIT, decode_python, plain
from annotation.formats.source import BINARY_TABLES, ImportProblem, Source
from annotation.formats.table_reader import divided_by, is_json_lines, json_lines
from annotation.records import HUMAN, Dialogue, LabelRecord, Participant, Turn

Raw = dict[str, Any]
Paths = tuple[str, ...]

# Paths in the beginning of a file: what its form is recognised by.

TOKEN = re.compile(r'"((?:[^"\\]|\\.)*+)(?:"|\\?\Z)|([{}\[\]:,])|[^\s"{}\[\]:,]+', re.DOTALL)


def has_paths(head: Head, *paths: str) -> bool:
    """Whether the beginning of a file has all these paths, in its records or anywhere inside them."""
    present = paths_of(head)
    return all(any(name == path or name.endswith(f".{path}") for name in present) for path in paths)


def has_fields(head: Head, *names: str) -> bool:
    """Whether the beginning of a file has fields of all these names, at any depth."""
    present = {name.removesuffix("[]") for path in paths_of(head) for name in path.split(".")}
    return present.issuperset(names)


def paths_of(head: Head) -> frozenset[str]:
    """Return the paths of all fields in the beginning of a JSON, Parquet or Arrow file."""
    if head.is_json:
        return paths_of_text(head.text)
    return head.paths if head.content.startswith(tuple(BINARY_TABLES)) else frozenset()


@lru_cache(maxsize=8)
def paths_of_text(text: str) -> frozenset[str]:
    """Return the paths of all fields in the beginning of a JSON text, which may end anywhere.

    `messages[].role` is a field of the objects in a list; objects in a list of the whole file have no prefix.
    """
    paths: set[str] = set()
    stack: list[str] = []
    key, last = "", ""
    for match in TOKEN.finditer(text):
        string, mark = match.group(1), match.group(2)
        if len(stack) > MAX_DEPTH:
            break
        if string is not None:
            last = string[:NAME_LIMIT]
        elif mark == ":":
            key = f"{stack[-1]}.{last}".lstrip(".") if stack else last
            paths.add(key)
        elif mark == "{":
            stack.append(key)
        elif mark == "[":
            key = f"{key}[]" if stack else ""
            stack.append(key)
        elif mark in ("}", "]") and stack:
            stack.pop()
            key = stack[-1] if stack else ""
        elif mark == "," and stack:
            key = stack[-1]
    return frozenset(paths)


# Records of a file.


@dataclass(frozen=True, slots=True)
class Record:
    """One object of a file, with its line or its path in a document."""

    raw: Raw
    line: int | None = None
    path: str = ""
    file: str = ""


def records(source: Source, inside: Paths = (), by_id: bool = False) -> Iterator[Record]:
    """Yield the records of a file: its lines, the rows of Parquet and Arrow, or those of one document.

    In a document they are the entries of its list, of the first list at a path of `inside`, or with `by_id`
    the values of its object, each with its key as `id`; else the document is one record.
    """
    if source.binary_start().startswith(tuple(BINARY_TABLES)):
        for number, raw in read_objects(source):
            yield Record(raw, number)
        return
    if is_json_lines(source):
        for number, raw in json_lines(source):
            yield Record(raw, number)
        return
    document = decode_python(source.document(source.path))
    for path, raw in _entries(document, inside, by_id):
        with source.report_problems(path=path):
            yield Record(_object(raw), None if path else 1, path)


def _entries(document: Any, inside: Paths, by_id: bool) -> Iterator[tuple[str, Any]]:
    if isinstance(document, dict):
        hub = document.get("rows")
        if isinstance(hub, list) and hub and isinstance(hub[0], dict) and "row" in hub[0]:
            document = [row.get("row") for row in hub]
        elif path := next((path for path in inside if isinstance(at(document, path), list)), ""):
            document = at(document, path)
        elif by_id and all(isinstance(value, dict) for value in document.values()):
            for key, value in document.items():
                yield key[:60], {"id": key, **value}
            return
        else:
            yield "", document
            return
    if not isinstance(document, list):
        raise ImportProblem("must be a list of chats, or one chat a line")
    for number, raw in enumerate(document, start=1):
        yield f"chat {number}", raw


def _object(raw: Any) -> Raw:
    if not isinstance(raw, dict):
        raise ImportProblem("must be an object")
    return raw


def at(raw: Any, path: str) -> Any:
    """Return the value at a path, None where there is none."""
    if "." not in path:
        return raw.get(path) if isinstance(raw, dict) else None
    for name in path.split("."):
        if not isinstance(raw, dict):
            return None
        raw = raw.get(name)
    return raw


def objects_at(raw: Raw, key: str, path: str = "") -> list[Raw]:
    """Return a field's list of objects, empty where it is absent; `path` is that of the record."""
    value = raw.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise ImportProblem("must be a list of objects", field=f"{path}.{key}" if path else key)
    return value


def first_at(raw: Raw, paths: Paths) -> Any:
    """Return the first value at these paths that is neither missing nor empty, else None."""
    return first_path(raw, paths)[1]


def first_path(raw: Raw, paths: Paths) -> tuple[str, Any]:
    """Return the first of these paths whose value is neither missing nor empty, with it."""
    for path in paths:
        value = at(raw, path)
        if value is not None and value != "" and value != [] and value != {}:
            return path, value
    return (paths[0] if paths else ""), None


# Values of a record.

SKIPPED_PARTS = ("thinking", "redacted_thinking", "reasoning", "think")
"""Parts with a model's reasoning, which are no turns."""


def text_of(value: Any, path: str, joint: str = "\n") -> str:
    """Return the text of a message: plain, or in parts, with a placeholder for each that is not text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return str(plain(value, path))
    if not isinstance(value, list):
        raise ImportProblem("must be a text, or a list of parts", field=path)
    parts = (_part(part, f"{path}[{number}]") for number, part in enumerate(value))
    return joint.join(part for part in parts if part is not None)


def _part(part: Any, path: str) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise ImportProblem("must be a text, or an object with a type", field=path)
    kind = part.get("type") or part.get("content_type") or "part"
    if kind in SKIPPED_PARTS:
        return None
    text = part.get("text")
    text = text.get("value") if isinstance(text, dict) else text
    return text if isinstance(text, str) else f"[{kind}]"


def placeholders(parts: Iterable[Any], name: str, *keys: str) -> list[str]:
    """Return a placeholder for each attachment: `[file: list.txt]`."""
    labels = (first_at(part, keys) if isinstance(part, dict) else None for part in parts)
    return [f"[{name}: {label}]" if isinstance(label, str) else f"[{name}]" for label in labels]


def name_of(value: Any, path: str, limit: int = NAME_LIMIT) -> str:
    """Return a name or an id: a text or a whole number, without space around it."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str):
        raise ImportProblem("must be a name", field=path)
    if len(text.strip()) > limit:
        raise ImportProblem(f"is longer than {limit} characters", field=path)
    return str(plain(text.strip(), path))


EPOCH, IN_MS, IN_US, LATEST = 1e8, 1e11, 1e14, 1e16
"""From which number a time counts seconds since 1970, from which milli- and microseconds, and up to which."""


def time_of(value: Any) -> str:
    """Return a time as text: seconds, or parts of them, since 1970 as ISO 8601, anything else as it is."""
    try:
        seconds = 0.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return value if isinstance(value, str) else ""
    if not EPOCH <= seconds < LATEST:
        return "" if isinstance(value, bool) else str(value)
    unit = 1e6 if seconds >= IN_US else 1e3 if seconds >= IN_MS else 1
    moment = datetime.fromtimestamp(seconds / unit, UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


# Roles of speakers: assistants are rated, the turns of all others are context.

ASSISTANT, USER, TOOL, SCENE = "assistant", "user", "tool", "system"
ROLES: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        ("assistant", "gpt", "chatgpt", "bot", "model", "ai", "llm", "bing", "bard", "claude", "chatbot"),
        ASSISTANT,
    )
    | dict.fromkeys(("user", "human", "prompter", "person", "customer", "client"), USER)
    | dict.fromkeys(("system", "developer", "system_prompt"), SCENE)
    | dict.fromkeys(
        (
            *("tool", "function", "observation", "function_call", "function_response", "function_resp"),
            *("tool_call", "tool_calls", "tool_response", "tool_result", "tool_results", "tools", "ipython"),
        ),
        TOOL,
    )
)
KNOWN_ROLES = frozenset(ROLES.values())
UNNAMED = "assistant"
CALLS = ("tool_calls", "function_call", "tool_call_id")
CALL = "[tool call]"


@dataclass(frozen=True)
class Form:
    """A form of chats: where the fields of a dialogue are in a record, and those of a turn in its list.

    `roles` are the roles of speakers, in lower case; None where all are people, and all turns are rated. A
    speaker with another role is refused by a `strict` form. `metadata` are kept with the dialogue, `extra`
    with a turn, by the last name of their paths; of `metadata.*` all fields are kept. Entries of the list of
    turns without the values of `only` are no messages, and are counted; `is_by_time` puts the oldest first.
    Values at the paths of `attached` become placeholders. Where the records are messages themselves,
    `group` is the path of their dialogue's id. The only chat of a file may be named after it. `prepare`
    brings a record into this shape first, as none, one or several; it counts what it leaves out. `read` finds
    the records where they are not one by one in the file.
    """

    key: str
    title: str
    hint: str
    looks_like: Callable[[Head], bool]
    turns: Paths = ("turns",)
    speaker: Paths = ("speaker",)
    role: Paths = ()
    text: Paths = ("text",)
    time: Paths = ()
    id: Paths = ("id",)
    model: Paths = ("model",)
    scene: Paths = ()
    language: Paths = ()
    cluster: Paths = ()
    metadata: Paths = ()
    extra: Paths = ()
    inside: Paths = ()
    by_id: bool = False
    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    is_by_time: bool = False
    attached: Paths = ()
    plain_text: Callable[[str], str] | None = None
    group: str = ""
    is_named_by_file: bool = False
    roles: Mapping[str, str] | None = field(default_factory=lambda: ROLES)
    strict: bool = False
    system: str = UNNAMED
    joint: str = "\n"
    prepare: Callable[[Raw, Counter[str]], Iterable[Raw]] | None = None
    labels: Callable[[Raw, list[Raw]], Iterator[LabelRecord]] | None = None
    read: Callable[[Source, Counter[str]], Iterator[Record]] | None = None

    def format(self, *, folder: bool = False) -> Format:
        """Return the entry of this form in the table of formats."""
        return Format(
            key=self.key,
            title=self.title,
            hint=self.hint,
            read=lambda source: read_form(self, source),
            looks_like=self.looks_like,
            folder=folder,
            rated=() if self.roles is None else (ASSISTANT,),
            own_questions=self.labels is not None,
        )

    @property
    def is_plain(self) -> bool:
        """Whether its paths alone say what is read of a record."""
        return self.prepare is None and self.read is None and self.labels is None

    @cached_property
    def fields(self) -> frozenset[str]:
        """First names of the paths of a record: its fields that are read."""
        paths = (
            *self.turns,
            *self.id,
            *self.model,
            *self.scene,
            *self.language,
            *self.cluster,
            *self.metadata,
        )
        return frozenset(path.partition(".")[0] for path in paths)

    @cached_property
    def turn_fields(self) -> frozenset[str]:
        """First names of the paths of a turn."""
        paths = (
            *self.speaker,
            *self.role,
            *self.text,
            *self.time,
            *self.model,
            *self.extra,
            *self.only,
            *self.attached,
            *CALLS,
            "tool_call_id",
        )
        return frozenset(path.partition(".")[0] for path in paths)


def read_form(form: Form, source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each chat of a file; chats without any turn are left out, and counted."""
    reading = _Reading(form, source)
    chats = form.read(source, reading.left_out) if form.read else records(source, form.inside, form.by_id)
    chats = _grouped(form, chats) if form.group else _divided(form, chats)
    for number, record in enumerate(chats):
        if number == source.first_rows:
            source.is_cut = True
            break
        file = Path(record.file) if record.file else None
        with source.report_problems(file, record.line, record.path):
            for raw in form.prepare(record.raw, reading.left_out) if form.prepare else (record.raw,):
                if dialogue := reading.dialogue(raw):
                    yield SourceRecord(dialogue, record.line, record.file)
    reading.note()


def _grouped(form: Form, messages: Iterable[Record]) -> Iterator[Record]:
    """Yield a record for each dialogue of a file of messages; records that have messages are dialogues."""
    groups: dict[str, Record] = {}
    for record in messages:
        if any(isinstance(at(record.raw, path), list) for path in form.turns):
            yield record
            continue
        key = at(record.raw, form.group)
        name = name_of("" if key is None else key, form.group, ID_LIMIT)
        group = groups.setdefault(name, Record({"id": name or None, form.turns[0]: []}, record.line))
        group.raw[form.turns[0]].append(record.raw)
    yield from groups.values()


def _divided(form: Form, chats: Iterable[Record]) -> Iterator[Record]:
    """Yield the chats; one without an id whose messages name several conversations becomes several."""
    for record in chats:
        path = next((path for path in form.turns if isinstance(at(record.raw, path), list)), "")
        messages = at(record.raw, path) if path and "." not in path else []
        key = divided_by(messages) if first_at(record.raw, form.id) is None else ""
        if not key:
            yield record
            continue
        groups: dict[str, list[Raw]] = {}
        for message in messages:
            groups.setdefault(str(at(message, key)), []).append(message)
        for name, group in groups.items():
            yield replace(record, raw={**record.raw, form.id[0]: name, path: group})


EVENTS = "entries of the program itself (joins, calls, topics)"


class _Reading:
    """Reads the chats of one file by a form; counts omissions and collects notes."""

    def __init__(self, form: Form, source: Source) -> None:
        self.form = form
        self.source = source
        self.number = 0
        self.left_out: Counter[str] = Counter()
        self.n_blank = 0
        self.others: dict[str, None] = {}

    def note(self) -> None:
        """Add remarks on the file to its notes."""
        notes = [f"{name}, left out: {count}" for name, count in self.left_out.items() if count]
        if self.n_blank:
            notes.append(f"turns without text, kept as they are: {self.n_blank}")
        if self.others:
            names = ", ".join(name[:40] for name in list(self.others)[:5])
            notes.append(f"turns of {names} are context, not rated: these are neither assistants nor users")
        self.source.notes += notes

    def dialogue(self, raw: Raw) -> Dialogue | None:
        """Return a record as a dialogue, None where it has no turns."""
        self.number += 1
        form = self.form
        if form.is_plain:
            self.source.pass_over(name for name in raw if name not in form.fields)
        path, entries = self._entries(raw)
        messages = [self._message(entry, f"{path}[{number}]") for number, entry in enumerate(entries)]
        prompts = [text_of(value, name) for name in form.scene if (value := at(raw, name)) not in (None, "")]
        while messages and messages[0].role == SCENE:
            prompts.append(messages.pop(0).turn.text)
        if not messages:
            self.left_out["chats without any turn"] += 1
            return None
        self.n_blank += sum(not message.turn.text.strip() for message in messages)
        metadata = _values(raw, form.metadata)
        if prompt := "\n\n".join(filter(None, prompts)):
            metadata.setdefault("system_prompt", prompt)
        roles = _answering({message.turn.speaker: message.role for message in messages})
        is_by_people = form.roles is None or not {ASSISTANT, USER} & {*roles.values()}
        turns = tuple(message.turn for message in messages)
        if ASSISTANT in roles.values():
            self.others |= {name: None for name, role in roles.items() if role not in KNOWN_ROLES}
        elif not is_by_people:
            turns = tuple(replace(turn, given=True) for turn in turns)
        return Dialogue(
            id=self._id(raw),
            turns=turns,
            participants=tuple(Participant(name, role=role) for name, role in roles.items()),
            labels=tuple(form.labels(raw, entries)) if form.labels else (),
            cluster=name_of(first_at(raw, form.cluster) or "", "cluster"),
            language=self._language(raw),
            system=HUMAN if is_by_people else self._system(raw, messages),
            metadata=metadata,
        )

    def _entries(self, raw: Raw) -> tuple[str, list[Any]]:
        """Return the list of turns, with its path."""
        for path in self.form.turns:
            if (value := at(raw, path)) is not None:
                if not isinstance(value, list):
                    raise ImportProblem("must be a list", field=path)
                return path, self._messages_in(value)
        raise ImportProblem("is missing", field=self.form.turns[0])

    def _messages_in(self, entries: list[Any]) -> list[Any]:
        """Return the entries that are messages, in the order of their times where the form says so."""
        form = self.form
        messages = [
            entry
            for entry in entries
            if not isinstance(entry, dict) or all(at(entry, path) in form.only[path] for path in form.only)
        ]
        if others := len(entries) - len(messages):
            self.left_out[EVENTS] += others
        if form.is_by_time:
            messages.sort(key=lambda entry: _place_in_time(first_at(entry, form.time)))
        return messages

    def _id(self, raw: Raw) -> str:
        path, value = first_path(raw, self.form.id)
        if value is not None:
            return name_of(value, path, ID_LIMIT)
        stem = Path(self.source.name).stem
        is_first = self.form.is_named_by_file and self.number == 1 and stem
        return stem[:ID_LIMIT] if is_first else f"chat-{self.number}"

    def _message(self, entry: Any, path: str) -> _Message:
        form = self.form
        if not isinstance(entry, dict):
            raise ImportProblem("must be an object", field=path)
        if form.is_plain and not form.turn_fields.issuperset(entry):
            unread = (name for name in entry if name not in form.turn_fields)
            self.source.pass_over(f"{form.turns[0]}[].{name}" for name in unread)
        speaker_path, speaker = first_path(entry, form.speaker)
        if speaker is None:
            raise ImportProblem("is missing", field=f"{path}.{form.speaker[-1]}")
        name = name_of(speaker, f"{path}.{speaker_path}")
        role = self._role(first_at(entry, form.role) or name, f"{path}.{(form.role or form.speaker)[0]}")
        text_path, value = first_path(entry, form.text)
        text = text_of(value, f"{path}.{text_path}", form.joint)
        if form.plain_text:
            text = form.plain_text(text)
        text = "\n".join(filter(None, [text, *_attachments(entry, form.attached)]))
        is_call = not text and any(entry.get(call) for call in CALLS[:2])
        turn = Turn(
            name,
            CALL if is_call else text,
            given=is_call or role in (TOOL, SCENE) or entry.get("given") is True,
            time=time_of(first_at(entry, form.time)),
            extra=_values(entry, form.extra),
        )
        model = first_at(entry, form.model) if role == ASSISTANT else None
        return _Message(turn, role, model if isinstance(model, str) else "")

    def _role(self, value: Any, path: str) -> str:
        """Return the role of a speaker, which a form without its name calls by the speaker's own."""
        form = self.form
        if form.roles is None:
            return ""
        role = str(value).strip().lower()
        if form.strict and role not in form.roles:
            raise ImportProblem(f"must be one of {', '.join(form.roles)}", field=path)
        return form.roles.get(role, role[:NAME_LIMIT])

    def _language(self, raw: Raw) -> str:
        value = first_at(raw, self.form.language)
        return value if isinstance(value, str) and len(value) <= 20 else ""

    def _system(self, raw: Raw, messages: list[_Message]) -> str:
        """Return the model that produced a chat; of several, all by name."""
        for path in self.form.model:
            if (value := at(raw, path)) not in (None, ""):
                if not isinstance(value, str):
                    raise ImportProblem("must be the name of a model", field=path)
                return name_of(value, path)
        models = dict.fromkeys(message.model for message in messages if message.model)
        return name_of(" + ".join(models), "model") if models else self.form.system


def _answering(roles: dict[str, str]) -> dict[str, str]:
    """Return the roles of speakers; the only one beside the user is the assistant, whatever its name."""
    others = [name for name, role in roles.items() if role not in KNOWN_ROLES]
    if len(others) == 1 and USER in roles.values() and ASSISTANT not in roles.values():
        return roles | {others[0]: ASSISTANT}
    return roles


def _place_in_time(value: Any) -> tuple[bool, float, str]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return (not is_number, value if is_number else 0.0, str(value))


def _attachments(entry: Raw, paths: Paths) -> Iterator[str]:
    for path in paths:
        if value := at(entry, path):
            kind = path.rsplit(".", 1)[-1].removesuffix("s")
            yield from placeholders(value if isinstance(value, list) else [value], kind, *ATTACHMENT_NAMES)


ATTACHMENT_NAMES = ("name", "filename", "file_name", "fileName", "title", "content.title")


@dataclass(frozen=True, slots=True)
class _Message:
    """A turn with the role of its speaker, and the model that wrote it."""

    turn: Turn
    role: str
    model: str


def _values(raw: Raw, paths: Paths) -> dict[str, Any]:
    """Return the values at these paths by their last names; of `path.*` each field of the object there."""
    values: dict[str, Any] = {}
    for path in paths:
        value = at(raw, path.removesuffix(".*"))
        if value in (None, "", [], {}):
            continue
        if not path.endswith(".*"):
            values[path.rsplit(".", 1)[-1]] = plain(value, path)
        elif isinstance(value, dict):
            values |= plain(value, path)
        else:
            raise ImportProblem("must be an object", field=path.removesuffix(".*"))
    return values
