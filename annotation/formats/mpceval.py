"""MPCEval's prediction files: what systems said next, or whole conversations, as continuations.

A record is read by `annotation.formats.mpceval_records`. Who predicted is told by the setting `system`, or by
the record's own field of that name. Records of several systems about one dialogue make one dialogue, in one
import or in several: their contexts must be equal. A record without an id is known by its context: the same
context has the same id in every file.

Where a system was told one half of the turn, its continuation has the condition {"speaker": "given"} or
{"content": "given"}: the setting `given` says so of the whole file, the field `given` of one record.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.formats.checks import check_speakers, refuse_other_turns
from annotation.formats.decoding import decode, kind_of
from annotation.formats.entry import Format, SourceRecord
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT, Fields
from annotation.formats.head import Head
from annotation.formats.mpceval_records import FIELDS, PREDICTION, TARGETS, dialogue, id_of, is_pair
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import SELF, Continuation, Dialogue

HALVES = ("speaker", "content")
GIVEN = "given"


@dataclass(slots=True)
class _Gathered:
    """A dialogue as its first record told it, with where that stood, and all that was predicted for it."""

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
        """Add a record, by its number among several; raise ImportProblem for one that is wrong."""
        if not isinstance(raw, dict):
            raise ImportProblem(f"must be an object, not {kind_of(raw)}")
        record = dialogue(raw, self._name(raw, number, file))
        if record is None:
            raise ImportProblem(f"has neither next_message nor {' nor '.join(TARGETS)}")
        self.source.pass_over(name for name in raw if name not in FIELDS)
        fields = Fields(raw, "", frozenset(raw))
        if not fields.has("participants"):
            record = replace(record, participants=())
        record = replace(
            record, cluster=fields.id("cluster", ""), language=fields.id("language", "", limit=40)
        )
        part = self._predicted(fields, record.continuations[0])
        record = replace(record, continuations=(part,))
        _check_names(record)
        check_speakers(record)
        known = self.dialogues.setdefault(
            record.id, _Gathered(record, line, file.name if self.source.path.is_dir() else "")
        )
        _join(known, record, part)

    def _name(self, raw: dict[str, Any], number: int | None, file: Path) -> str:
        """Return the id of a record that has none: by its context; by its place, where that is empty."""
        if id_of(raw):
            return ""
        self.nameless += 1
        if number is None:
            return Path(self.source.called(file)).stem
        context = raw.get("context")
        if not context:
            return f"record-{number + 1}"
        told = json.dumps(context, sort_keys=True, ensure_ascii=True).encode()
        key = f"context-{hashlib.sha256(told).hexdigest()[:16]}"
        place = f"{file.name} {key}"
        self.unnamed[place] += 1
        return key if self.unnamed[place] == 1 else f"{key}-{self.unnamed[place]}"

    def _predicted(self, fields: Fields, part: Continuation) -> Continuation:
        """Return the continuation by its system, with the condition under which it was made."""
        system = self._told(fields, "system", PREDICTION)
        if not system or len(system) > NAME_LIMIT:
            raise fields.problem("system", f"must be a name of 1 to {NAME_LIMIT} characters")
        half = self._told(fields, GIVEN, "")
        condition = dict(fields.object("condition"))
        if half:
            if half not in HALVES:
                raise fields.problem(GIVEN, f"must be {' or '.join(HALVES)}")
            if not is_pair(fields.raw):
                raise fields.problem(GIVEN, "is about a predicted turn; this is a whole conversation")
            condition[half] = GIVEN
        given = [name for name in HALVES if condition.get(name) == GIVEN]
        if len(given) > 1:
            raise fields.problem(GIVEN, "leaves nothing that was predicted: speaker and content were given")
        key = f"{system} ({given[0]} given)" if given else system
        if key == SELF:
            raise fields.problem("system", f"{SELF!r} names the dialogue's own turns: choose another name")
        return replace(part, id=key, system=system, condition=condition)

    def _told(self, fields: Fields, key: str, default: str) -> str:
        """Return what the record or the import says; refuse a record that contradicts the import."""
        said = str(self.source.settings.get(key, ""))
        own = fields.text(key, "")
        if said and own and own != said:
            raise fields.problem(key, f"is {own[:60]!r}, but the import says {said[:60]!r}")
        return said or own or default

    def entries(self) -> Iterator[SourceRecord]:
        """Yield what was gathered, in the order in which it came."""
        for known in self.dialogues.values():
            record = replace(known.record, continuations=tuple(known.parts.values()))
            yield SourceRecord(record, known.line, known.file)


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each that records are about, with all that was predicted for it."""
    reader = _Reader(source)
    for file in source.files():
        for number, (line, content, path) in enumerate(_contents(source, file)):
            try:
                reader.add(content(), number if line or path else None, line, file)
            except ImportProblem as problem:
                if path:
                    problem.field = f"{path}.{problem.field}" if problem.field else path
                place = file.name if source.path.is_dir() else ""
                source.report(problem.placed(line=line, file=place))
    if reader.nameless:
        source.notes.append(f"{reader.nameless} records without an id are known by their file or context")
    yield from reader.entries()


def _contents(source: Source, file: Path) -> Iterator[tuple[int | None, Callable[[], Any], str]]:
    """Yield (line, what reads the record, path): lines, or the document or the elements of its list."""
    if not source.called(file).endswith(".json"):
        for line, content in source.lines(file):
            yield line, lambda content=content: decode(content), ""  # type: ignore[misc]
        return
    document = decode(source.document(file))
    if not isinstance(document, list):
        yield None, lambda: document, ""
        return
    if not document:
        raise ImportProblem("holds no records", file=file.name if source.path.is_dir() else "")
    for index, raw in enumerate(document):
        yield None, lambda raw=raw: raw, f"[{index}]"  # type: ignore[misc]


def _check_names(record: Dialogue) -> None:
    for path, turns in (("context", record.turns), ("prediction", record.continuations[0].turns)):
        for index, turn in enumerate(turns):
            if not turn.speaker or len(turn.speaker) > ID_LIMIT:
                reason = f"must be a name of 1 to {ID_LIMIT} characters"
                where = "next_speaker" if turn.at is not None else f"{path}[{index}].speaker"
                raise ImportProblem(reason, field=where)


def _join(known: _Gathered, record: Dialogue, part: Continuation) -> None:
    """Add what was predicted to its dialogue; refuse another context, and a second prediction."""
    where = f"line {known.line}" if known.line else known.file or "the record before"
    refuse_other_turns(_said(record), _said(known.record), f"of {record.id!r} on {where}", field="context")
    for name in ("participants", "metadata", "agenda", "cluster", "language"):
        if getattr(known.record, name) != getattr(record, name):
            raise ImportProblem(f"differs from that of {record.id!r} on {where}", field=name)
    if part.id in known.parts:
        raise ImportProblem(f"the dialogue {record.id!r} has a prediction of {part.id!r} already, on {where}")
    known.parts[part.id] = part


def _said(record: Dialogue) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in record.turns]


def _looks_like(head: Head) -> bool:
    predicted = {"next_message", *TARGETS}
    return head.text.startswith(("{", "[")) and "context" in head.keys and bool(predicted & head.keys)


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
