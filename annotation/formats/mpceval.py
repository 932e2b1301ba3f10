"""MPCEval's prediction files: systems' next messages, or complete conversations, as continuations.

The predicting system is given by the setting `system`, or by the record's own field of that name. Records
of several systems about one dialogue make one dialogue, in one import or in several: their contexts must
be equal. A record without an id is identified by its context: the same context has the same id in every
file.

Where a system was given one half of the turn, its continuation has the condition {"speaker": "given"} or
{"content": "given"}: the setting `given` declares it for the whole file, the field `given` for one record.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from annotation.formats import jsonl
from annotation.formats.corpus_format import Format, Head, SourceRecord
from annotation.formats.fields import (
    ID_LIMIT,
    NAME_LIMIT,
    Fields,
    check_speakers,
    decode,
    refuse_other_turns,
    require,
)
from annotation.formats.source import ImportProblem, Source
from annotation.records import SELF, Continuation, Dialogue, Participant, Turn

# One record of MPCEval's prediction files: a context, and a system's prediction after it.
#
# `next_message` (with `next_speaker` and `context`) is a predicted turn, and becomes a static continuation
# whose one turn answers the whole context. `prediction`, `conversation` or a field that the caller names
# (with `context`) is a whole conversation, and becomes a rollout. Turns are {"speaker", "utterance"}.
# Fields of other names are ignored. Imports and the command `score` share this function.

PREDICTION = "prediction"
"""Continuation id of MPCEval's predictions, and their system where none is named."""

TARGETS = (PREDICTION, "conversation")
IDS = ("dialogue_id", "conversation_id", "id")
NATIVE = ("participants", "agenda", "metadata")
"""Fields with the same meaning as in the native format."""
FIELDS = frozenset(
    [
        *(*TARGETS, *IDS, *NATIVE),
        *("context", "next_speaker", "next_message", "system", "given", "condition", "cluster", "language"),
    ]
)
"""All fields that are read."""


def is_pair(raw: Mapping[str, Any]) -> bool:
    """Whether a record is a predicted turn."""
    return "next_message" in raw


def target_of(raw: Mapping[str, Any], target: str = "") -> str | None:
    """Return the field of a record that holds a whole conversation, None where there is none."""
    return next((field for field in ((target,) if target else TARGETS) if field in raw), None)


def dialogue(raw: dict[str, Any], name: str, target: str = "") -> Dialogue | None:
    """Parse a record into a dialogue with its one continuation; None for a record of another form.

    `name` is the id of a record that has none. Raises ImportProblem by the path of the field.
    """
    fields, cast = Fields(raw), _Cast()
    if is_pair(raw):
        context = _turns(fields, "context", cast)
        turn = Turn(cast.id(fields.text("next_speaker", "")), fields.text("next_message"), at=len(context))
        part = Continuation(PREDICTION, _system(fields), (turn,), mode="static")
    elif field := target_of(raw, target):
        context = _turns(fields, "context", cast)
        continuation_turns = _turns(fields, field, cast)
        if not continuation_turns:
            raise ImportProblem("has no turns", field=field)
        part = Continuation(PREDICTION, _system(fields), continuation_turns)
    else:
        return None
    key = _id(fields) or name
    extra = {field: raw[field] for field in NATIVE if raw.get(field)}
    native = jsonl.dialogue({"id": key, "turns": [], "labels": [], **extra})
    return Dialogue(
        id=key,
        turns=context,
        participants=native.participants or cast.participants(),
        continuations=(part,),
        metadata=native.metadata,
        agenda=native.agenda,
    )


def _id(fields: Fields) -> str:
    """Return a record's dialogue id, empty where it has none."""
    return next((fields.text(name) for name in IDS if fields.has(name)), "")


def _system(fields: Fields) -> str:
    return fields.text("system", "") or PREDICTION


def _turns(fields: Fields, key: str, cast: _Cast) -> tuple[Turn, ...]:
    """Return a list of {"speaker", "utterance"} (or "text") as turns."""
    turns = []
    for path, part in fields.items(key) if fields.raw.get(key) else ():
        turn = Fields(part, path)
        name = "utterance" if "utterance" in part or "text" not in part else "text"
        turns.append(Turn(cast.id(turn.text("speaker", "")), turn.text(name)))
    return tuple(turns)


def records(source: Source, file: Path) -> Iterator[tuple[int | None, str, Callable[[], Any]]]:
    """Yield (line, path, reader of the JSON value): lines, else the document or the elements of its list."""
    if not source.called(file).endswith(".json"):
        for line, content in source.lines(file):
            yield line, "", partial(decode, content)
        return
    document = decode(source.document(file))
    if not isinstance(document, list):
        yield None, "", lambda: document
        return
    if not document:
        raise ImportProblem("holds no records", file=source.name_in_folder(file))
    for index, raw in enumerate(document):
        yield None, f"[{index}]", lambda raw=raw: raw  # type: ignore[misc]


class _Cast:
    """Speakers of a record. Spellings that differ in case, width or outer spaces are one speaker."""

    def __init__(self) -> None:
        self._spellings: dict[str, list[str]] = {}

    def id(self, name: str) -> str:
        """Return the speaker's first spelling; empty where nobody is named."""
        spellings = self._spellings.setdefault(unicodedata.normalize("NFKC", name).strip().casefold(), [])
        if name not in spellings:
            spellings.append(name)
        return spellings[0] if name.strip() else ""

    def participants(self) -> tuple[Participant, ...]:
        """Return the named speakers, with the other spellings as aliases."""
        spellings = (names for key, names in self._spellings.items() if key)
        return tuple(Participant(names[0], names[0].strip(), aliases=tuple(names[1:])) for names in spellings)


HALVES = ("speaker", "content")
GIVEN_FIELD = "given"


@dataclass(slots=True)
class _Gathered:
    """A dialogue as given by its first record, with that record's place, and all its predictions."""

    record: Dialogue
    line: int | None
    file: str
    parts: dict[str, Continuation] = field(default_factory=dict)


@dataclass(slots=True)
class _Reader:
    """Gathers the records of a source by dialogue."""

    source: Source
    dialogues: dict[str, _Gathered] = field(default_factory=dict)
    unnamed: Counter[str] = field(default_factory=Counter)
    nameless: int = 0

    def add(self, raw: Any, number: int | None, line: int | None, file: Path) -> None:
        """Add a record, by its number among several; raise ImportProblem for an invalid one."""
        raw = require(raw, dict)
        record = dialogue(raw, self._name(raw, number, file))
        if record is None:
            raise ImportProblem(f"has neither next_message nor {' nor '.join(TARGETS)}")
        self.source.pass_over(name for name in raw if name not in FIELDS)
        fields = Fields(raw)
        if not fields.has("participants"):
            record = replace(record, participants=())
        record = replace(
            record, cluster=fields.id("cluster", ""), language=fields.id("language", "", limit=40)
        )
        part = self._predicted(fields, record.continuations[0])
        record = replace(record, continuations=(part,))
        _check_names(record)
        check_speakers(record)
        gathered = self.dialogues.setdefault(
            record.id, _Gathered(record, line, self.source.name_in_folder(file))
        )
        _join(gathered, record, part)

    def _name(self, raw: dict[str, Any], number: int | None, file: Path) -> str:
        """Return the id of a record without one: from its context; from its place, where that is empty."""
        if _id(Fields(raw)):
            return ""
        self.nameless += 1
        if number is None:
            return Path(self.source.called(file)).stem
        context = raw.get("context")
        if not context:
            return f"record-{number + 1}"
        encoded_context = json.dumps(context, sort_keys=True, ensure_ascii=True).encode()
        key = f"context-{hashlib.sha256(encoded_context).hexdigest()[:16]}"
        place = f"{file.name} {key}"
        self.unnamed[place] += 1
        return key if self.unnamed[place] == 1 else f"{key}-{self.unnamed[place]}"

    def _predicted(self, fields: Fields, part: Continuation) -> Continuation:
        """Return the continuation by its system, with its condition."""
        system = self._stated_text(fields, "system", PREDICTION)
        if not system or len(system) > NAME_LIMIT:
            raise fields.problem("system", f"must be a name of 1 to {NAME_LIMIT} characters")
        half = self._stated_text(fields, GIVEN_FIELD, "")
        condition = dict(fields.object("condition"))
        if half:
            if half not in HALVES:
                raise fields.problem(GIVEN_FIELD, f"must be {' or '.join(HALVES)}")
            if not is_pair(fields.raw):
                raise fields.problem(GIVEN_FIELD, "is about a predicted turn; this is a whole conversation")
            condition[half] = GIVEN_FIELD
        given_halves = [name for name in HALVES if condition.get(name) == GIVEN_FIELD]
        if len(given_halves) > 1:
            raise fields.problem(
                GIVEN_FIELD, "leaves nothing that was predicted: speaker and content were given"
            )
        key = f"{system} ({given_halves[0]} given)" if given_halves else system
        if key == SELF:
            raise fields.problem("system", f"{SELF!r} names the dialogue's own turns: choose another name")
        return replace(part, id=key, system=system, condition=condition)

    def _stated_text(self, fields: Fields, key: str, default: str) -> str:
        """Return a text from the record or from the import's settings; refuse a contradiction."""
        setting = str(self.source.settings.get(key, ""))
        own = fields.text(key, "")
        if setting and own and own != setting:
            raise fields.problem(key, f"is {own[:60]!r}, but the import says {setting[:60]!r}")
        return setting or own or default

    def entries(self) -> Iterator[SourceRecord]:
        """Yield the gathered dialogues, in input order."""
        for gathered in self.dialogues.values():
            record = replace(gathered.record, continuations=tuple(gathered.parts.values()))
            yield SourceRecord(record, gathered.line, gathered.file)


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield each dialogue that records are about, with all its predictions."""
    reader = _Reader(source)
    for file in source.files():
        for number, (line, path, content) in enumerate(records(source, file)):
            with source.report_problems(file, line, path):
                reader.add(content(), number if line or path else None, line, file)
    if reader.nameless:
        source.notes.append(f"{reader.nameless} records without an id are known by their file or context")
    yield from reader.entries()


def _check_names(record: Dialogue) -> None:
    for path, turns in (("context", record.turns), ("prediction", record.continuations[0].turns)):
        for index, turn in enumerate(turns):
            if not turn.speaker or len(turn.speaker) > ID_LIMIT:
                reason = f"must be a name of 1 to {ID_LIMIT} characters"
                where = "next_speaker" if turn.at is not None else f"{path}[{index}].speaker"
                raise ImportProblem(reason, field=where)


def _join(gathered: _Gathered, record: Dialogue, part: Continuation) -> None:
    """Add a prediction to its dialogue; refuse another context, and a second prediction."""
    where = f"line {gathered.line}" if gathered.line else gathered.file or "the record before"
    refuse_other_turns(
        _spoken_turns(record), _spoken_turns(gathered.record), f"of {record.id!r} on {where}", field="context"
    )
    for name in ("participants", "metadata", "agenda", "cluster", "language"):
        if getattr(gathered.record, name) != getattr(record, name):
            raise ImportProblem(f"differs from that of {record.id!r} on {where}", field=name)
    if part.id in gathered.parts:
        raise ImportProblem(f"the dialogue {record.id!r} has a prediction of {part.id!r} already, on {where}")
    gathered.parts[part.id] = part


def _spoken_turns(record: Dialogue) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in record.turns]


def _looks_like(head: Head) -> bool:
    predicted = {"next_message", *TARGETS}
    return head.is_json and "context" in head.keys and bool(predicted & head.keys)


FORMAT = Format(
    key="mpceval",
    title="Predictions in MPCEval's form",
    hint='{"context", "next_speaker", "next_message"} or {"context", "prediction"} a line, '
    "or JSON; one system a file, named by System.",
    read=read,
    looks_like=_looks_like,
    folder=True,
    settings=("system", "given"),
    exact=True,
)
