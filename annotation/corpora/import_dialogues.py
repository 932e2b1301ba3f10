"""Writing imported dialogues: new ones completely, to existing ones only what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.corpora.import_staging import (
    ImportResult,
    copy_rows,
    execute,
    fetch,
    fresh_table,
    reserve_ids,
)
from annotation.corpora.rows import TurnRow, agenda_json, participants_json, turn_row
from annotation.corpora.splits import part_in
from annotation.formats import Faults, SourceRecord
from annotation.formats.fields import check_speakers, check_static, refuse_other_turns
from annotation.formats.source import ImportProblem
from annotation.hooks import WRITE_RECORDS
from annotation.kinds import ANSWER, DECISION, KINDS
from annotation.models import Continuation as StoredContinuation
from annotation.models import Dialogue as StoredDialogue
from annotation.models import Import, System, Turn
from annotation.models.corpora import Corpus
from annotation.records import SELF, Continuation, Dialogue, Participant
from annotation.scenario_records import scenario_json
from annotation.script_records import script_json

# Writing a batch of dialogues: new ones completely, to existing ones only what is missing.

# Stored data of a batch's dialogues, and the additions of a record.


@dataclass(slots=True)
class Existing:
    """Stored dialogues by key, with the continuations that a batch names and their turns."""

    ids: dict[str, int] = field(default_factory=dict)
    dialogues: dict[str, StoredDialogue] = field(default_factory=dict)
    continuations: dict[tuple[str, str], StoredContinuation] = field(default_factory=dict)
    turns: dict[int, list[TurnRow]] = field(default_factory=dict)

    @classmethod
    def load(cls, corpus: Corpus, records: list[Dialogue]) -> Existing:
        """Load the stored data of these dialogues, in three queries."""
        keys = [record.id for record in records]
        dialogues = {stored.key: stored for stored in corpus.dialogues.filter(key__in=keys)}
        continuation_keys = {SELF} | {
            part.id for record in records if record.id in dialogues for part in record.continuations
        }
        parts = StoredContinuation.objects.filter(
            dialogue__in=[stored.pk for stored in dialogues.values()], key__in=continuation_keys
        ).select_related("system", "dialogue")
        continuations = {(part.dialogue.key, part.key): part for part in parts}
        turns: dict[int, list[TurnRow]] = {part.pk: [] for part in continuations.values()}
        rows = Turn.objects.filter(continuation__in=turns).order_by("continuation", "position")
        for turn in rows:
            row = TurnRow(turn.speaker, turn.text, turn.given, turn.at, turn.extra)
            turns[turn.continuation_id].append(row)
        return cls({key: stored.pk for key, stored in dialogues.items()}, dialogues, continuations, turns)

    def stored_turns(self, dialogue: str, continuation: str) -> list[TurnRow] | None:
        """Return the turns of a stored continuation, None where there is no such continuation."""
        part = self.continuations.get((dialogue, continuation))
        return None if part is None else self.turns[part.pk]


def additions(existing: Existing, record: Dialogue, *, exact: bool = False) -> list[Continuation]:
    """Return the continuations that a record adds to its stored dialogue; refuse contradictions.

    A record without turns leaves them open, unless it is `exact`.
    """
    stored = existing.dialogues[record.id]
    _refuse_contradiction(stored, record)
    history = existing.stored_turns(record.id, SELF)
    own = record.own()
    if history is not None and exact and not own:
        _refuse_turns(record, history)
    if own and history is not None and [turn_row(turn) for turn in own.turns] != history:
        _refuse_turns(record, history)
        raise ImportProblem("differ from those that the corpus has for this dialogue", field="turns")
    if own and history is not None and existing.continuations[record.id, SELF].system.name != own.system:
        raise ImportProblem("differs from what the corpus has for this dialogue", field="system")
    if own and history is None:
        raise ImportProblem("the corpus has this dialogue without turns of its own", field="turns")
    check_speakers(replace(record, participants=_participants(stored)))
    check_static(record, len(history or ()))
    return [part for index, part in enumerate(record.continuations) if _is_new(existing, record, part, index)]


def _refuse_turns(record: Dialogue, history: list[TurnRow]) -> None:
    ours = [(turn.speaker, turn.text) for turn in record.turns]
    refuse_other_turns(ours, [(row.speaker, row.text) for row in history], f"of {record.id!r} in the corpus")


def _participants(stored: StoredDialogue) -> tuple[Participant, ...]:
    return tuple(Participant(id=participant["id"]) for participant in stored.participants)


def _is_new(existing: Existing, record: Dialogue, part: Continuation, index: int) -> bool:
    stored = existing.continuations.get((record.id, part.id))
    if stored is None:
        return True
    same = (stored.system.name, stored.mode, stored.trial, stored.condition) == (
        part.system,
        part.mode,
        part.trial,
        dict(part.condition),
    )
    if same and existing.turns[stored.pk] == [turn_row(turn) for turn in part.turns]:
        return False
    raise ImportProblem(
        f"the dialogue has another continuation {part.id!r} already", field=f"continuations[{index}].id"
    )


def _refuse_contradiction(stored: StoredDialogue, record: Dialogue) -> None:
    """Refuse a given field that differs from the corpus; fields that are not given are not compared."""
    values: dict[str, Any] = {
        "cluster": record.cluster,
        "language": record.language,
        "summary": record.summary,
        "participants": participants_json(record.participants),
        "metadata": dict(record.metadata),
        "agenda": agenda_json(record.agenda),
        "scenario": scenario_json(record.scenario),
        "script": script_json(record.script),
    }
    for name, value in values.items():
        if value and getattr(stored, name) != value:
            raise ImportProblem("differs from what the corpus has for this dialogue", field=name)


DIALOGUE_COLUMNS = {
    "id": "int8",
    "corpus_id": "int8",
    "key": "text",
    "cluster": "text",
    "language": "text",
    "summary": "text",
    "participants": "jsonb",
    "metadata": "jsonb",
    "agenda": "jsonb",
    "scenario": "jsonb",
    "script": "jsonb",
    "part": "text",
    "imported_id": "int8",
}
CONTINUATION_COLUMNS = {
    "id": "int8",
    "dialogue_id": "int8",
    "key": "text",
    "system_id": "int8",
    "mode": "text",
    "trial": "int4",
    "condition": "jsonb",
}
TURN_COLUMNS = {
    "continuation_id": "int8",
    "position": "int4",
    "speaker": "text",
    "text": "text",
    "given": "bool",
    "at": "int4",
    "extra": "jsonb",
}

Placed = tuple[int, Continuation]
"""Id of a dialogue in the database, and a continuation to add to it."""

OF_CONTINUATIONS = """
INSERT INTO annotation_item (corpus_id, kind, continuation_id, turn_id, training)
SELECT %(corpus)s, %(kind)s, c.id, NULL, d.part = 'training'
  FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS o (id, n)
  JOIN annotation_continuation c ON c.id = o.id JOIN annotation_dialogue d ON d.id = c.dialogue_id
 WHERE d.script IS NULL ORDER BY n
"""
"""Items of whole continuations; a script is not rated as a whole."""
OF_TURNS = f"""
INSERT INTO annotation_item (corpus_id, kind, continuation_id, turn_id, cluster, training)
WITH dated AS MATERIALIZED (
  SELECT d.id, s->>'id' AS session, d.key || '/' || coalesce(s->>'season', s->>'id') AS cluster
    FROM annotation_dialogue d, jsonb_array_elements(d.script->'sessions') AS s
   WHERE d.script IS NOT NULL
     AND d.id IN (SELECT dialogue_id FROM annotation_continuation WHERE id = ANY(%(ids)s)))
SELECT %(corpus)s,
       CASE WHEN c.mode = 'static' AND d.scenario IS NOT NULL THEN '{DECISION.key}'
            WHEN c.mode = 'static' AND d.script IS NOT NULL THEN '{ANSWER.key}' ELSE %(kind)s END,
       t.continuation_id, t.id, dated.cluster, d.part = 'training'
  FROM annotation_turn t
  JOIN annotation_continuation c ON c.id = t.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
  LEFT JOIN dated ON dated.id = d.id AND dated.session = t.extra->>'session'
 WHERE t.continuation_id = ANY(%(ids)s) AND NOT t.given ORDER BY t.continuation_id, t.position
"""  # noqa: S608  (a key of ours)
"""Items of turns: decisions where a system answers the points of a scenario, answers where it does so in a
script. Those of a script have the session, or its season, as their cluster.
"""


IMPORTED_KINDS = sorted((kind for kind in KINDS.values() if kind.imported), key=lambda kind: kind.has_turn)
"""Kinds of items that an import creates, those of continuations first."""


@dataclass(slots=True)
class Writer:
    """Writes the dialogues of one import and counts them in its result.

    With `exact`, dialogues without turns of their own add only to stored ones that have none either.
    """

    corpus: Corpus
    imported: Import
    result: ImportResult
    into: bool
    systems: dict[str, int]
    faults: Faults
    exact: bool = False

    @classmethod
    def open(
        cls, *, corpus: Corpus, imported: Import, result: ImportResult, into: bool, faults: Faults
    ) -> Writer:
        """Open a writer for a corpus, inside the import's transaction."""
        fresh_table("import_seen", "(key text PRIMARY KEY, line bigint)")
        systems = dict(corpus.systems.values_list("name", "id"))
        return cls(corpus, imported, result, into, systems, faults)

    def write(self, entries: Sequence[SourceRecord]) -> list[SourceRecord]:
        """Write the dialogues of a batch, report those that cannot be stored, return the other entries."""
        entries = self._first_ones(entries)
        dialogues = [entry.record for entry in entries if isinstance(entry.record, Dialogue)]
        existing = Existing.load(self.corpus, dialogues) if self.into else Existing()
        valid_entries: list[SourceRecord] = []
        new: list[Dialogue] = []
        placed: list[Placed] = []
        existing_records: list[Dialogue] = []
        for entry in entries:
            record = entry.record
            try:
                if isinstance(record, Dialogue) and record.id in existing.ids:
                    placed.extend(
                        (existing.ids[record.id], part)
                        for part in additions(existing, record, exact=self.exact)
                    )
                    existing_records.append(record)
                elif isinstance(record, Dialogue):
                    new.append(_require_content(record))
            except ImportProblem as problem:
                self.faults.add(problem.placed(line=entry.line, file=entry.file))
            else:
                valid_entries.append(entry)
        ids = self._write_dialogues(new)
        placed.extend(
            (key, part) for key, record in zip(ids, new, strict=True) for part in record.all_continuations()
        )
        self._write_continuations(placed)
        numbers = dict(zip((record.id for record in new), ids, strict=True)) | existing.ids
        stored = [(numbers[record.id], record) for record in (*new, *existing_records)]
        for write in WRITE_RECORDS:
            write(self.corpus, self.imported, self.result, self.faults, stored)
        return valid_entries

    def _first_ones(self, entries: Sequence[SourceRecord]) -> list[SourceRecord]:
        """Return the entries whose dialogues did not occur before; report the others."""
        keys = [entry.record.id for entry in entries if isinstance(entry.record, Dialogue)]
        seen = dict(fetch("SELECT key, line FROM import_seen WHERE key = ANY(%s)", [keys]))
        before = set(seen)
        new_entries: list[SourceRecord] = []
        for entry in entries:
            if isinstance(entry.record, Dialogue):
                if entry.record.id in seen:
                    self.faults.add(_twice(entry, seen[entry.record.id]))
                    continue
                seen[entry.record.id] = entry.line
            new_entries.append(entry)
        fresh = ((key, line) for key, line in seen.items() if key not in before)
        copy_rows("import_seen", {"key": "text", "line": "int8"}, fresh)
        return new_entries

    def _write_dialogues(self, records: list[Dialogue]) -> list[int]:
        ids = reserve_ids("annotation_dialogue", len(records))
        rows = (self._dialogue_row(key, record) for key, record in zip(ids, records, strict=True))
        copy_rows("annotation_dialogue", DIALOGUE_COLUMNS, rows)
        self.result.dialogues += len(records)
        return ids

    def _dialogue_row(self, key: int, record: Dialogue) -> tuple[Any, ...]:
        return (
            key,
            self.corpus.pk,
            record.id,
            record.cluster or record.id,
            record.language,
            record.summary,
            participants_json(record.participants),
            dict(record.metadata),
            agenda_json(record.agenda),
            scenario_json(record.scenario),
            script_json(record.script),
            part_in(record.metadata),
            self.imported.pk,
        )

    def _write_continuations(self, placed: list[Placed]) -> None:
        ids = reserve_ids("annotation_continuation", len(placed))
        self._know_systems({part.system for _, part in placed})
        rows = (
            (key, dialogue, part.id, self.systems[part.system], part.mode, part.trial, dict(part.condition))
            for key, (dialogue, part) in zip(ids, placed, strict=True)
        )
        copy_rows("annotation_continuation", CONTINUATION_COLUMNS, rows)
        parts = [part for _, part in placed]
        copy_rows("annotation_turn", TURN_COLUMNS, _turn_rows(ids, parts))
        for kind in IMPORTED_KINDS:
            statement = OF_TURNS if kind.has_turn else OF_CONTINUATIONS
            self.result.items += execute(statement, {"corpus": self.corpus.pk, "ids": ids, "kind": kind.key})
        self.result.continuations += len(ids)
        self.result.turns += sum(len(part.turns) for part in parts)

    def _know_systems(self, names: set[str]) -> None:
        for name in sorted(names - self.systems.keys()):
            self.systems[name] = System.objects.create(corpus=self.corpus, name=name).pk


def _turn_rows(ids: list[int], parts: list[Continuation]) -> Iterator[tuple[Any, ...]]:
    for key, part in zip(ids, parts, strict=True):
        for position, turn in enumerate(part.turns):
            yield key, position, *turn_row(turn)


def _require_content(record: Dialogue) -> Dialogue:
    """Return a new dialogue that is complete by itself: with turns, or at least with possible speakers."""
    if not record.all_continuations() and (record.labels or not record.participants):
        raise ImportProblem(
            "has neither turns nor continuations nor participants, and the corpus has no such dialogue",
            field="turns",
        )
    check_static(record, len(record.turns))
    return record


def _twice(entry: SourceRecord, first: int | None) -> ImportProblem:
    assert isinstance(entry.record, Dialogue)
    where = "" if first is None else f", first on line {first}"
    return ImportProblem(
        f"the dialogue {entry.record.id!r} is there twice{where}",
        field="id",
        line=entry.line,
        file=entry.file,
    )
