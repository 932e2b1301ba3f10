"""Label Studio's JSON for chat annotation: tasks with messages, annotations and predictions.

A task is a dialogue, whose messages are one list in its data, with authors and texts. Both of Label Studio's
exports are read: the full one (`annotations`, or `completions`, and `predictions` with their results) and
the short one (JSON-MIN, an annotation an entry), also as CSV and TSV. A task without messages is a dialogue
of its texts: of one text a turn, or the turns of its lines like `Ana: hello`. Choices, ratings, taxonomies,
numbers, text areas, preferences and labels of words are read, each about the whole or about one message;
marked words are the answer's evidence. Concord's own exports name their dialogues, continuations and
questions in `data.concord`, and are restored unchanged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.formats import jsonl
from annotation.formats.annotated_texts import text_of_turns, value_of_cell
from annotation.formats.chat_records import paths_of
from annotation.formats.corpus_format import MISSING, Format, Head, SourceRecord
from annotation.formats.fields import ID_LIMIT, decode, require
from annotation.formats.label_studio_results import (
    BESIDE,
    EVIDENCE,
    Answered,
    Controls,
    Voice,
    of_annotation,
    of_prediction,
    own_labels,
    short_form,
)
from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_reader import open_table
from annotation.records import SELF, Dialogue, LabelRecord

ROLES = ("messages", "author", "text", "dialogue")
AUTHORS = ("author", "speaker", "role", "name", "user", "from")
TEXTS = ("text", "content", "utterance", "message", "body", "value")
FIELD = re.compile(
    r"(?:my_?|full_?)?(?:text|prompt|question|instruction|input|context|query|passage|sentence|utterance|"
    r"dialogue|dialog|conversation|transcript|chat|message|comment|post|review|tweet|response|answer|reply|"
    r"output|completion|generation)[_ -]?(?:text|\d|[a-d]|left|right)?",
    re.IGNORECASE,
)
"""Fields of a task's data that are shown as text."""
NAMES = ("dialogue", "dialogue_id", "conversation_id", "id")
VOICES = {"annotations": of_annotation, "completions": of_annotation, "predictions": of_prediction}
"""Fields of a task's answers; before Label Studio 1.0 annotations were `completions`."""
OWN = "concord"
"""Field of a task's data in which Concord's own export describes the task."""


@dataclass(slots=True)
class _Task:
    """A task: its place in the file, its dialogue as far as known, and the answers about it.

    `starts` are where the turns of a task without messages begin in its text.
    """

    path: str
    dialogue: dict[str, Any]
    continuation: str
    controls: Mapping[str, Any] | None
    history: int = 0
    starts: tuple[int, ...] = ()
    voices: list[Voice] = field(default_factory=list)


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues of the tasks, in the file's order."""
    if source.begins_with(b"[") or source.begins_with(b"{"):
        content = decode(source.document(source.path))
        entries = content if isinstance(content, list) else [content]
    else:
        entries = list(_table_entries(source))
    if not entries:
        raise ImportProblem("holds no task")
    reader = _Reader(source)
    for number, entry in enumerate(entries, start=1):
        reader.add(entry, f"task {number}")
    yield from reader.records()


def _table_entries(source: Source) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as entries of JSON-MIN: its data, `id`, answers, and who annotated."""
    table = open_table(source)
    if not {"id", "annotator"} <= set(table.columns):
        raise ImportProblem("has no columns id and annotator, as CSV of Label Studio has", line=1)
    place = table.columns.index("id")
    names = [*table.columns[: place + 1]]
    names += [name for name in table.columns[place + 1 :] if name not in BESIDE]
    for _, row in table.rows():
        entry = {name: value_of_cell(row[name]) for name in names if row.get(name)}
        number = entry.get("id")
        if isinstance(number, str) and number.isdecimal():
            entry["id"] = int(number)
        yield {**entry, "annotator": row.get("annotator") or ""}


class _Reader:
    """Gathers tasks by dialogue: the questions of a foreign file are known only once all of it is read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tasks: dict[tuple[str, str], _Task] = {}
        self.passed: Counter[str] = Counter()

    def add(self, entry: Any, path: str) -> None:
        """Add a task, or one annotation of the short form."""
        data = require(entry, dict, path).get("data")
        controls: list[str] = []
        if data is None:
            data, controls = short_form(entry, path)
        task = self._task(require(data, dict, f"{path}.data"), entry, path)
        texts = [str(turn.get("text", "")) for turn in _turns_of(task)]
        if controls:
            number = len(task.voices)
            task.voices.append(of_annotation(entry, path, texts, number, short=controls, starts=task.starts))
            return
        drafts = entry.get("drafts")
        self.passed["drafts"] += len(drafts) if isinstance(drafts, list) else 0
        for kind, read_voice in VOICES.items():
            raw_voices = entry.get(kind)
            voices = [] if raw_voices is None else require(raw_voices, list, f"{path}.{kind}")
            for index, voice in enumerate(voices):
                place = f"{path}.{kind}[{index}]"
                task.voices.append(read_voice(voice, place, texts, index, starts=task.starts))

    def _task(self, data: dict[str, Any], entry: dict[str, Any], path: str) -> _Task:
        own = data.get(OWN)
        task = _own(data, own, path) if isinstance(own, dict) else _foreign(data, entry, path, self.source)
        key = (task.dialogue["id"], task.continuation)
        stored = self.tasks.setdefault(key, task)
        if stored is not task and stored.dialogue != task.dialogue:
            raise ImportProblem(f"{key[0]!r} has other messages in {stored.path}", field=f"{path}.data")
        return stored

    def records(self) -> Iterator[SourceRecord]:
        """Yield one record for each dialogue."""
        inferred = Controls(v for t in self.tasks.values() if t.controls is None for v in t.voices)
        dialogues: dict[str, tuple[dict[str, Any], list[LabelRecord]]] = {}
        keys = 0
        for task in self.tasks.values():
            raw, labels = dialogues.setdefault(task.dialogue["id"], (task.dialogue, []))
            _merge(raw, task)
            for voice in task.voices:
                if voice.cancelled:
                    self.passed["cancelled annotations"] += 1
                    continue
                self.passed.update(voice.passed)
                voice.answers = [_within(answer, task) for answer in voice.answers]
                keys += voice.kind == "key" and task.controls is None
                voice_labels = (
                    inferred.labels(voice)
                    if task.controls is None
                    else own_labels(voice, task.controls, task.continuation)
                )
                labels += [replace(label, continuation=task.continuation) for label in voice_labels]
        if keys:
            self.source.notes.append(f"Annotations marked as ground truth are an answer key's: {keys}.")
        if passed := +self.passed:
            listing = ", ".join(f"{kind} ({count})" for kind, count in sorted(passed.items()))
            self.source.notes.append(f"Passed over: {listing}.")
        for raw, labels in dialogues.values():
            yield SourceRecord(_record(raw, labels))


def _within(answer: Answered, task: _Task) -> Answered:
    """Return an answer whose message is counted within the task's continuation.

    Where Concord's export marks a whole message, the answer is about it, without evidence in it. Evidence may
    be in the messages before the continuation.
    """
    message = answer.message
    if message is None:
        return answer
    is_before = message < task.history
    if is_before and answer.control != EVIDENCE:
        raise ImportProblem(
            f"message {message} is not rated: it comes before the continuation", field=answer.path
        )
    spans = dict(answer.spans)
    if task.controls is not None:
        all_of_it = (0, len(_turns_of(task)[message].get("text", "")))
        spans = {
            option: tuple(s for s in option_spans if s != all_of_it) for option, option_spans in spans.items()
        }
    if is_before:
        return replace(answer, spans=spans)
    return replace(answer, message=message - task.history, continuation=task.continuation, spans=spans)


def _record(raw: dict[str, Any], labels: list[LabelRecord]) -> Dialogue:
    try:
        record = jsonl.dialogue(raw, any_size=True)
    except ImportProblem as problem:
        problem.field = f"dialogue {raw['id']!r}, {problem.field}" if problem.field else raw["id"]
        raise
    return replace(record, labels=tuple(labels))


def _turns_of(task: _Task) -> list[Any]:
    """Return the messages of a task that can be rated or precede rated ones."""
    parts = task.dialogue.get("continuations") or [{"turns": []}]
    return [*task.dialogue.get("turns", ()), *parts[0]["turns"]]


def _merge(raw: dict[str, Any], task: _Task) -> None:
    """Add the continuation of a task to its dialogue; the history is the same in all of them."""
    other = task.dialogue
    if other is raw:
        return
    mine, theirs = raw.get("turns", []), other.get("turns", [])
    if mine and theirs and mine != theirs:
        raise ImportProblem(
            f"{raw['id']!r} has other messages before it elsewhere", field=f"{task.path}.data"
        )
    raw["turns"] = mine or theirs
    raw.setdefault("continuations", []).extend(other.get("continuations", ()))


def _own(data: dict[str, Any], own: dict[str, Any], path: str) -> _Task:
    """Parse a task written by Concord: its dialogue in the native format."""
    where = f"{path}.data.{OWN}"
    messages, history = data.get("messages"), own.get("history")
    dialogue, controls = own.get("dialogue"), own.get("controls")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise ImportProblem("must be a list of objects", field=f"{path}.data.messages")
    if not (
        isinstance(dialogue, dict) and isinstance(dialogue.get("id"), str) and isinstance(controls, dict)
    ):
        raise ImportProblem("must hold a dialogue with an id, and controls", field=where)
    if type(history) is not int or not 0 <= history <= len(messages):
        raise ImportProblem("must be a number of messages", field=f"{where}.history")
    turns = [_native(message) for message in messages]
    part = own.get("continuation")
    if part is None:
        return _Task(path, {**dialogue, "turns": turns}, SELF, controls)
    if not isinstance(part, dict) or not isinstance(part.get("id"), str):
        raise ImportProblem("must be an object with an id", field=f"{where}.continuation")
    raw = {**dialogue, "turns": turns[:history], "continuations": [{**part, "turns": turns[history:]}]}
    return _Task(path, raw, part["id"], controls, history)


def _native(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message as a turn of the native format: `author` is only the displayed name of the speaker."""
    turn = {key: value for key, value in message.items() if key != "author"}
    turn.setdefault("speaker", message.get("author"))
    return turn


def _foreign(data: dict[str, Any], entry: dict[str, Any], path: str, source: Source) -> _Task:
    """Parse a task of another project: a dialogue whose messages can all be rated."""
    where = f"{path}.data"
    key = source.mapping.get("messages") or _messages_key(data, where)
    if not key:
        return _of_texts(data, entry, path, source)
    messages = data.get(key)
    if not isinstance(messages, list) or not messages:
        raise ImportProblem("must be a list of messages", field=f"{where}.{key}")
    turns = [_turn(message, f"{where}.{key}[{n}]", source, key) for n, message in enumerate(messages)]
    rest = {name: value for name, value in data.items() if name != key}
    raw = {"id": _name(data, entry, path, source), "turns": turns, "metadata": rest}
    return _Task(path, raw, SELF, None)


def _of_texts(data: dict[str, Any], entry: dict[str, Any], path: str, source: Source) -> _Task:
    """Parse a task without messages: its texts are the turns."""
    text_field = source.mapping.get("text")
    texts = {
        key: data[key] for key in data if key == text_field or (not text_field and _is_text(key, data[key]))
    }
    text = text_of_turns(next(iter(texts.values())) if len(texts) == 1 else list(texts.items()))
    turns = [{"speaker": turn.speaker, "text": turn.text} for turn in text.turns]
    rest = {name: value for name, value in data.items() if name not in texts}
    return _Task(
        path,
        {"id": _name(data, entry, path, source), "turns": turns, "metadata": rest},
        SELF,
        None,
        starts=text.starts if len(texts) == 1 else (0,) * len(turns),
    )


def _is_text(key: str, value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and FIELD.fullmatch(key) is not None


def _messages_key(data: dict[str, Any], where: str) -> str:
    """Return the field with the messages, empty where the task has texts alone."""
    lists = [key for key, value in data.items() if isinstance(value, list) and value]
    candidates = [
        key
        for key in lists
        if all(isinstance(element, dict) and _first(element, TEXTS) for element in data[key])
    ]
    if not candidates and any(_is_text(key, value) for key, value in data.items()):
        return ""
    if len(candidates) != 1:
        hint = (
            f"there are {', '.join(candidates)}"
            if candidates
            else f"there are {', '.join(data) or 'no fields'}"
        )
        raise ImportProblem(
            f"one field must be the list of messages, each an object with its text; {hint}: "
            "say which with --map messages=FIELD",
            field=where,
        )
    return candidates[0]


def _turn(message: Any, path: str, source: Source, key: str) -> dict[str, Any]:
    message = require(message, dict, path)
    text_key = source.mapping.get("text") or _first(message, TEXTS) or "text"
    author_key = source.mapping.get("author") or _first(message, AUTHORS) or "author"
    text, speaker = require(message.get(text_key), str, f"{path}.{text_key}"), message.get(author_key)
    if not isinstance(speaker, str) or not speaker.strip():
        raise ImportProblem("must say who spoke", field=f"{path}.{author_key}")
    source.pass_over(f"{key}[].{name}" for name in message if name not in (text_key, author_key))
    return {"speaker": speaker, "text": text}


def _first(message: dict[str, Any], names: tuple[str, ...]) -> str:
    """Return the first non-empty text of a message under these names, empty where there is none."""
    return next((name for name in names if isinstance(message.get(name), str)), "")


def _name(data: dict[str, Any], entry: dict[str, Any], path: str, source: Source) -> str:
    """Return the dialogue's id: its name in the data, else the task's number."""
    if theirs := source.mapping.get("dialogue"):
        name = data.get(theirs)
        if not isinstance(name, str | int) or isinstance(name, bool) or not str(name):
            raise ImportProblem("must name the dialogue", field=f"{path}.data.{theirs}")
        return str(name)[:ID_LIMIT]
    for key in NAMES:
        if isinstance(data.get(key), str) and 0 < len(data[key]) <= ID_LIMIT:
            return str(data[key])
    number = entry.get("id")
    return f"task-{number}" if type(number) is int else path.replace(" ", "-")


def _looks_like(head: Head) -> bool:
    if not head.is_json:
        return {"id", "annotator", "annotation_id"} <= head.header
    answers, about = set(VOICES), {"result", "completed_by"}
    has_tasks = bool(about & head.keys) or any(path.startswith("data.") for path in paths_of(head))
    is_full_export = bool(answers & head.keys) and has_tasks
    return is_full_export or {"annotator", "annotation_id"} <= head.keys


FORMAT = Format(
    key="label-studio",
    title="Label Studio, chats with annotations",
    hint="Label Studio's JSON, JSON-MIN, CSV or TSV: tasks with messages or texts, annotations, predictions.",
    read=read,
    looks_like=_looks_like,
    roles=ROLES,
    settings=(MISSING,),
)
