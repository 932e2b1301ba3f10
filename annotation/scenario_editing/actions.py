"""Saving a scenario: as a new dialogue, over one on which nothing was decided, or as a correction of keys."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from typing import Literal, NamedTuple

from django.contrib.auth.models import User
from django.db import connection, transaction

from annotation import records
from annotation.answer_keys import actions as answer_keys
from annotation.corpora import splits
from annotation.formats import ImportProblem
from annotation.importing.engine import import_path, lock_corpus
from annotation.importing.rows import agenda_json, participants_json, turn_row
from annotation.importing.writer import OF_TURNS
from annotation.models import Continuation, Corpus, Dialogue, System, Turn
from annotation.records import SELF
from annotation.scenario_editing.native import native
from annotation.scenario_editing.reading import is_decided, record_of, state_of
from annotation.scenarios.points import points_of
from annotation.scenarios.stored import OWN_FIELDS, scenario_json
from config.models import Event

Became = Literal["created", "rewritten", "corrected", "unchanged"]
KEPT = (
    "agents or people have answered to this script, so it stays as it is. Its keys can be corrected; "
    "with another id it is saved as another scenario of the family"
)


class Saved(NamedTuple):
    """A saved scenario, and what became of it."""

    dialogue: Dialogue
    became: Became


def save(
    *,
    corpus: Corpus,
    record: records.Dialogue,
    by: User | None,
    opened: Dialogue | None = None,
    seen: str = "",
    any_size: bool = False,
) -> Saved:
    """Save a scenario that the strict reader has read; `opened` is the stored one that it was made from.

    With the id of `opened` it takes its place while nothing was decided on it; afterwards a change of keys
    alone is a correction (`annotation.answer_keys`). With any other id it is a new dialogue of the corpus.
    `seen` is the state (`reading.state_of`) of the stored one that whoever saves has seen, '' for any.

    Raises ImportProblem, and keeps nothing, for an id that is taken, a script that must stay, or where
    somebody else saved meanwhile.
    """
    if record.scenario is None:
        raise ImportProblem("must be 'scenario'", field="kind")
    with transaction.atomic():
        lock_corpus(corpus.name)
        if opened is not None and opened.key == record.id:
            return _over(opened.pk, record, by, seen)
        if corpus.dialogues.filter(key=record.id).exists():
            raise ImportProblem(f"the corpus has a dialogue {record.id!r} already", field="id")
        return Saved(_new(corpus, record, by, any_size), "created")


def _new(corpus: Corpus, record: records.Dialogue, by: User | None, any_size: bool) -> Dialogue:
    """Import a scenario into the corpus, with all that an import checks and remembers."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as stored:
        stored.write(json.dumps(native(record), ensure_ascii=False) + "\n")
        stored.flush()
        import_path(
            path=stored.name,
            name=f"{record.id}, written here",
            format="jsonl",
            corpus=corpus.name,
            into=True,
            by=by,
            settings={"any_size": "yes"} if any_size else {},
        )
    return corpus.dialogues.get(key=record.id)


def _over(pk: int, record: records.Dialogue, by: User | None, seen: str) -> Saved:
    row = Dialogue.objects.select_for_update().select_related("corpus").get(pk=pk)
    before = record_of(row)
    if seen and seen != state_of(before):
        raise ImportProblem("somebody else saved this scenario meanwhile: saving again puts yours on top")
    if native(before) == native(record):
        return Saved(row, "unchanged")
    if not is_decided(row):
        _rewrite(row, before, record)
        detail = {"turns": len(record.turns)}
        subject = f"{row.key} in {row.corpus.name}"[:300]
        Event.objects.create(by=by, verb="rewrite scenario", subject=subject, detail=detail)
        return Saved(row, "rewritten")
    if replace(before, scenario=None) != replace(record, scenario=None) or points_of(before) != points_of(
        record
    ):
        raise ImportProblem(KEPT, field="turns")
    told = native(record)
    answer_keys.correct(dialogue=row, changes={name: told.get(name) for name in OWN_FIELDS}, by=by)
    return Saved(row, "corrected")


def _rewrite(row: Dialogue, before: records.Dialogue, record: records.Dialogue) -> None:
    """Put a scenario in the place of one that nothing points at."""
    row.cluster = record.cluster or record.id
    row.language, row.summary, row.metadata = record.language, record.summary, dict(record.metadata)
    row.participants = participants_json(record.participants)
    row.agenda, row.scenario = agenda_json(record.agenda), scenario_json(record.scenario)
    row.save()
    own = row.continuations.get(key=SELF)
    if own.system.name != record.system:
        own.system, _ = System.objects.get_or_create(corpus=row.corpus, name=record.system)
        own.save(update_fields=["system"])
    if before.turns != record.turns:
        _rewrite_turns(row, own, record)
    splits.grow(corpus=row.corpus)


def _rewrite_turns(row: Dialogue, own: Continuation, record: records.Dialogue) -> None:
    """Replace the script's turns and their items; what its import brought is counted anew."""
    items, turns = own.items.filter(turn__isnull=False), own.turns.all()
    less = {"items": items.count(), "turns": turns.count()}
    items.delete()
    turns.delete()
    rows = []
    for position, turn in enumerate(record.turns):
        speaker, text, given, at, extra = turn_row(turn)
        rows.append(Turn(continuation=own, position=position, speaker=speaker, text=text, given=given, at=at))
        rows[-1].extra = extra
    Turn.objects.bulk_create(rows)
    with connection.cursor() as cursor:
        cursor.execute(OF_TURNS, {"corpus": row.corpus_id, "ids": [own.pk], "kind": "turn"})
    if row.imported is not None:
        more = {"items": own.items.filter(turn__isnull=False).count(), "turns": len(rows)}
        counts = row.imported.counts
        row.imported.counts = counts | {name: counts.get(name, 0) - less[name] + more[name] for name in more}
        row.imported.save(update_fields=["counts"])
