"""Facts, questions and question sets of imported scripts: written once; conflicts are reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from annotation import script_records as scripts
from annotation.corpora.import_staging import ImportResult, copy_rows, execute, reserve_ids
from annotation.formats import Faults, ImportProblem
from annotation.models import Corpus, Import, QuestionSet, Record, Use
from annotation.records import Dialogue
from annotation.script_records import fact_json, parted, question_json

# Records and question sets of an import: new ones are written, conflicts with existing ones are reported.

RECORD_COLUMNS = {
    "id": "int8",
    "corpus_id": "int8",
    "dialogue_id": "int8",
    "kind": "text",
    "key": "text",
    "content": "jsonb",
    "provenance": "jsonb",
    "status": "text",
    "set_id": "int8",
    "created_at": "timestamptz",
}
USE_COLUMNS = {
    "set_id": "int8",
    "question_id": "int8",
    "session": "int4",
    "answerable": "bool",
    "key": "text",
    "type": "text",
    "order": "text",
    "since": "int4",
    "why": "jsonb",
    "rule": "text",
}
ITEMS = """
INSERT INTO annotation_item (corpus_id, kind, continuation_id, record_id, cluster, training)
WITH dated AS MATERIALIZED (
  SELECT d.id, s->>'id' AS session, d.key || '/' || coalesce(s->>'season', s->>'id') AS cluster
    FROM annotation_dialogue d, jsonb_array_elements(d.script->'sessions') AS s
   WHERE d.script IS NOT NULL AND d.id IN (SELECT dialogue_id FROM annotation_record WHERE id = ANY(%(ids)s)))
SELECT r.corpus_id, r.kind, c.id, r.id, dated.cluster, d.part = 'training'
  FROM annotation_record r
  JOIN annotation_dialogue d ON d.id = r.dialogue_id
  JOIN annotation_continuation c ON c.dialogue_id = r.dialogue_id AND c.key = 'self'
  LEFT JOIN dated ON dated.id = r.dialogue_id
   AND dated.session = coalesce(r.content->>'session', r.content->'evidence'->>0)
 WHERE r.id = ANY(%(ids)s) ORDER BY r.id
"""
"""Items of records: their cluster is the session of the fact, or the first session of the evidence."""

SUPERSEDE = """
UPDATE annotation_record r SET superseded_by_id = n.id
  FROM unnest(%(ids)s::bigint[], %(dialogues)s::bigint[], %(kinds)s::text[], %(keys)s::text[])
       AS o (id, dialogue, kind, key)
  JOIN annotation_record n ON n.dialogue_id = o.dialogue AND n.kind = o.kind AND n.key = o.key
 WHERE r.id = o.id
"""

Placed = tuple[int, Dialogue]
"""A dialogue's id in the database, and its record."""
Stored = tuple[dict[str, Any], str, str]
"""A record's content, status, and the key of its successor, '' for a current record."""


@dataclass(frozen=True, slots=True)
class ImportedRecord:
    """A fact or question of a script, with the names of its question set and of its successor."""

    kind: str
    key: str
    content: dict[str, Any]
    status: str
    set_name: str
    superseded_by: str


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to write; `dialogue` and `question_set`, the set that made it, if any, are ids."""

    dialogue: int
    kind: str
    key: str
    content: dict[str, Any]
    status: str
    question_set: int | None = None


@dataclass(slots=True)
class RecordWriter:
    """Writes the records and question sets of one batch of an import."""

    corpus: Corpus
    imported: Import
    result: ImportResult
    faults: Faults
    sets: dict[str, QuestionSet] = field(default_factory=dict)

    def write(self, placed: Sequence[Placed]) -> None:
        """Write new records and sets of the dialogues; record conflicts with the corpus as problems."""
        placed = [entry for entry in placed if entry[1].facts or entry[1].questions or entry[1].question_sets]
        if not placed:
            return
        before = self._stored([number for number, _ in placed])
        self._know_sets(placed)
        new = [
            (number, row)
            for number, record in placed
            for row in _rows(record)
            if self._is_new(record, row, before.get((number, row.kind, row.key)))
        ]
        record_ids = make_records(
            corpus=self.corpus,
            rows=[
                NewRecord(number, row.kind, row.key, row.content, row.status, self._set_of(row.set_name))
                for number, row in new
            ],
            provenance={"by": "import", "import": self.imported.pk},
        )
        _supersede(record_ids, new)
        self.result.items += len(record_ids)
        for number, record in placed:
            self._write_uses(number, record)

    def _stored(self, dialogues: Sequence[int]) -> dict[tuple[int, str, str], Stored]:
        rows = Record.objects.filter(dialogue__in=dialogues)
        columns = ("dialogue", "kind", "key", "content", "status", "superseded_by__key")
        return {
            (dialogue, kind, key): (content, status, instead or "")
            for dialogue, kind, key, content, status, instead in rows.values_list(*columns)
        }

    def _is_new(self, record: Dialogue, row: ImportedRecord, stored: Stored | None) -> bool:
        if stored is None:
            return True
        if stored != (row.content, row.status, row.superseded_by):
            reason = f"the dialogue {record.id!r} has another {row.kind} {row.key!r} already"
            self.faults.add(ImportProblem(reason, field=f"{row.kind}s"))
        return False

    def _know_sets(self, placed: Sequence[Placed]) -> None:
        """Find or create the question sets named by the dialogues: those of this import, or equal ones."""
        for _, record in placed:
            for imported_set in record.question_sets:
                if imported_set.name in self.sets:
                    continue
                options = {
                    "seed": imported_set.seed,
                    "policy": imported_set.policy,
                    "presence": imported_set.presence,
                }
                name, version = parted(imported_set.name)
                stored = self.corpus.question_sets.filter(name=name, version=version or 1).first()
                if stored is None:
                    stored, _ = QuestionSet.objects.get_or_create(
                        corpus=self.corpus,
                        name=imported_set.name,
                        version=1,
                        defaults={"imported": imported_set.imported, "options": options},
                    )
                self.sets[imported_set.name] = stored

    def _set_of(self, name: str) -> int | None:
        return self.sets[name].pk if name in self.sets else None

    def _write_uses(self, dialogue: int, record: Dialogue) -> None:
        for imported_set in record.question_sets:
            stored = self.sets[imported_set.name]
            before = set(uses_of(stored, dialogue))
            if before == set(imported_set.uses):
                continue
            if before or stored.used_at is not None:
                reason = f"the corpus has another question set {imported_set.name!r} already"
                self.faults.add(ImportProblem(reason, field="question_sets"))
                continue
            write_uses(stored=stored, dialogue=dialogue, record=record, uses=imported_set.uses)


def _rows(record: Dialogue) -> Iterator[ImportedRecord]:
    for fact in record.facts:
        yield ImportedRecord(scripts.FACT, fact.id, fact_json(fact), fact.status, "", fact.superseded_by)
    for question in record.questions:
        yield ImportedRecord(
            kind=scripts.QUESTION,
            key=question.id,
            content=question_json(question),
            status=question.status,
            set_name=question.origin,
            superseded_by=question.superseded_by,
        )


def _supersede(record_ids: Sequence[int], rows: Sequence[tuple[int, ImportedRecord]]) -> None:
    """Link the new records to their successors."""
    superseded = [
        (pk, number, row) for pk, (number, row) in zip(record_ids, rows, strict=True) if row.superseded_by
    ]
    if not superseded:
        return
    columns: dict[str, Any] = {
        "ids": [pk for pk, _, _ in superseded],
        "dialogues": [number for _, number, _ in superseded],
        "kinds": [row.kind for _, _, row in superseded],
        "keys": [row.superseded_by for _, _, row in superseded],
    }
    execute(SUPERSEDE, columns)


def make_records(
    *,
    corpus: Corpus,
    rows: Sequence[NewRecord],
    provenance: dict[str, Any],
) -> list[int]:
    """Create records with their items, in the current transaction; return the records' ids in order.

    Raises IntegrityError if the dialogue already has a record of the same kind and key.
    """
    now = timezone.now()
    ids = reserve_ids("annotation_record", len(rows))
    table_rows = (
        (
            pk,
            corpus.pk,
            row.dialogue,
            row.kind,
            row.key,
            row.content,
            provenance,
            row.status,
            row.question_set,
            now,
        )
        for pk, row in zip(ids, rows, strict=True)
    )
    copy_rows("annotation_record", RECORD_COLUMNS, table_rows)
    execute(ITEMS, {"ids": ids})
    return ids


def uses_of(stored: QuestionSet, dialogue: int) -> Iterator[scripts.Use]:
    """Yield the uses of a set in one dialogue, with sessions by id."""
    rows = Use.objects.filter(set=stored, question__dialogue=dialogue)
    columns = ("question__key", "session", "answerable", "key", "type", "order", "since", "why", "rule")
    script = Record.objects.filter(dialogue=dialogue).values_list("dialogue__script", flat=True).first()
    names = [session["id"] for session in (script or {}).get("sessions", ())]
    for question, session, answerable, key, kind, order, since, why, rule in (
        rows.order_by("session", "id").values_list(*columns).iterator(10_000)
    ):
        yield scripts.Use(
            question=question,
            session=names[session - 1],
            answerable=answerable,
            key=key,
            type=kind,
            order=order,
            since=since,
            sessions=tuple(names[number - 1] for number in why),
            rule=rule,
        )


def write_uses(*, stored: QuestionSet, dialogue: int, record: Dialogue, uses: Sequence[scripts.Use]) -> None:
    """Write a set's uses in one dialogue, in the current transaction; its questions must exist."""
    assert record.script is not None
    numbers = {session.id: place for place, session in enumerate(record.script.sessions, start=1)}
    questions = dict(Record.objects.filter(dialogue=dialogue, kind=scripts.QUESTION).values_list("key", "pk"))
    rows = (
        (
            stored.pk,
            questions[use.question],
            numbers[use.session],
            use.answerable,
            use.key,
            use.type,
            use.order,
            use.since,
            [numbers[session] for session in use.sessions],
            use.rule,
        )
        for use in uses
    )
    copy_rows("annotation_use", USE_COLUMNS, rows)


def write_records(
    corpus: Corpus, imported: Import, result: ImportResult, faults: Faults, placed: Sequence[Placed]
) -> None:
    """Write the facts, questions and question sets of an import's batch."""
    RecordWriter(corpus, imported, result, faults).write(placed)
