"""Adding a continuation to an existing dialogue, with all its turns and items, or not at all."""

from __future__ import annotations

from django.db import connection, transaction

from annotation import records
from annotation.corpora.import_dialogues import IMPORTED_KINDS, OF_CONTINUATIONS, OF_TURNS
from annotation.corpora.rows import turn_row
from annotation.hooks import LABEL_CONTINUATIONS
from annotation.models import Continuation, Dialogue, System, Turn


@transaction.atomic
def add(
    *, dialogue: Dialogue, system: System, record: records.Continuation, keyed: bool = True
) -> Continuation:
    """Add a system's continuation of a dialogue, with its turns and items; return it.

    `record.system` is not read. Decisions get labels from the answer key, and answers those of key and
    scores, unless `keyed` is false because the caller writes them in bulk. Raises IntegrityError where the
    dialogue has a continuation of that id.
    """
    continuation = Continuation.objects.create(
        dialogue=dialogue,
        key=record.id,
        system=system,
        mode=record.mode,
        trial=record.trial,
        condition=dict(record.condition),
    )
    Turn.objects.bulk_create(
        Turn(continuation=continuation, position=position, **turn_row(turn)._asdict())
        for position, turn in enumerate(record.turns)
    )
    with connection.cursor() as cursor:
        for kind in IMPORTED_KINDS:
            statement = OF_TURNS if kind.has_turn else OF_CONTINUATIONS
            cursor.execute(
                statement, {"corpus": dialogue.corpus_id, "ids": [continuation.pk], "kind": kind.key}
            )
    if keyed and record.mode == "static" and (dialogue.scenario or dialogue.script):
        for label in LABEL_CONTINUATIONS:
            label(dialogue.corpus, [continuation.pk])
    return continuation
