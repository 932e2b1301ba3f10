"""Facts and questions drafted by generators of records, without duplicates, ready for review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Record
from annotation.models.corpora import Dialogue
from annotation.script_records import FACT
from annotation.text.words import fold
from suites.continuation.generators.generator import MadeRecord
from suites.continuation.models import Production
from suites.long_dialogue.agent.quiz import DialsimFacts, DialsimQuiz
from suites.long_dialogue.editing.import_records import NewRecord, make_records

IDENTITY_FIELDS = ("head", "relation", "tail", "session")
"""Fields by which two facts are the same, whoever drew them."""
DRAFT = "draft"


def write(production: Production, drafts: Sequence[MadeRecord], text: Any) -> dict[str, Any]:
    """Write drafts in the current transaction, with their items; return the production's result.

    Records that the dialogue already has are not drafted again, and records that are no longer open drafts
    are not superseded: the result has the number `made`, their `keys`, and the numbers of these skipped
    drafts, `there` and `decided`.
    """
    dialogue = Dialogue.objects.select_for_update().select_related("corpus").get(pk=production.dialogue_id)
    stored = {(row.kind, row.key): row for row in Record.objects.filter(dialogue=dialogue)}
    identities = {_identity(row.kind, row.content) for row in stored.values() if row.superseded_by_id is None}
    used_keys, new, old = set(stored), [], []
    counts = {"there": 0, "decided": 0}
    for draft in drafts:
        before = stored.get((draft.kind, draft.supersedes)) if draft.supersedes else None
        if draft.supersedes and (before is None or before.superseded_by_id or before.status != DRAFT):
            counts["decided"] += 1
        elif (identity := _identity(draft.kind, draft.content)) in identities:
            counts["there"] += 1
        else:
            identities.add(identity)
            key = _free(draft.kind, draft.key, used_keys)
            new.append(NewRecord(dialogue.pk, draft.kind, key, dict(draft.content), DRAFT))
            old.append(before)
    ids = make_records(
        corpus=dialogue.corpus, rows=new, provenance={"by": "production", "production": production.pk}
    )
    _supersede(old, ids)
    return {"made": len(new), "keys": [record.key for record in new], **counts}


def _supersede(old: Sequence[Record | None], ids: Sequence[int]) -> None:
    changed = []
    for row, pk in zip(old, ids, strict=True):
        if row is not None:
            row.superseded_by_id = pk
            changed.append(row)
    Record.objects.bulk_update(changed, ["superseded_by"], batch_size=500)


def _identity(kind: str, content: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a key that is equal for records with the same content."""
    if kind == FACT:
        return (kind, *(fold(str(content[name])) for name in IDENTITY_FIELDS))
    return (kind, *(f"{name}: {content[name]}" for name in sorted(content)))


def _free(kind: str, key: str, used_keys: set[tuple[str, str]]) -> str:
    """Reserve a key, with a numeric suffix if it is taken, and return it."""
    number, free = 1, key
    while (kind, free) in used_keys:
        number += 1
        free = f"{key}.{number}"
    used_keys.add((kind, free))
    return free


RESULTS = {DialsimFacts.key: write, DialsimQuiz.key: write}
