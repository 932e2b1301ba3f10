"""Adding continuations to existing dialogues, with all their turns and items, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection, transaction

from annotation import records
from annotation.corpora.import_dialogues import IMPORTED_KINDS, OF_CONTINUATIONS, OF_TURNS
from annotation.corpora.rows import turn_row
from annotation.hooks import LABEL_CONTINUATIONS
from annotation.kinds import DIALOGUE
from annotation.models import Continuation, Corpus, Dialogue, System, Turn
from annotation.records import HUMAN, SELF


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
    fill(continuation=continuation, turns=record.turns)
    if keyed and record.mode == "static" and (dialogue.scenario or dialogue.script):
        for label in LABEL_CONTINUATIONS:
            label(dialogue.corpus, [continuation.pk])
    return continuation


@transaction.atomic
def fill(*, continuation: Continuation, turns: Sequence[records.Turn]) -> None:
    """Write the turns and items of a continuation that has none."""
    Turn.objects.bulk_create(
        Turn(continuation=continuation, position=position, **turn_row(turn)._asdict())
        for position, turn in enumerate(turns)
    )
    values: dict[str, Any] = {"corpus": continuation.dialogue.corpus_id, "ids": [continuation.pk]}
    with connection.cursor() as cursor:
        for kind in IMPORTED_KINDS:
            statement = OF_TURNS if kind.has_turn else OF_CONTINUATIONS
            cursor.execute(statement, values | {"kind": kind.key})


@transaction.atomic
def add_without_turns(*, corpus: Corpus) -> int:
    """Make the dialogues of a corpus without any turns ratable; return the number of new ones.

    Each gets the continuation `self` without turns, and its dialogue item: what is rated is the dialogue's
    participants, summary and metadata. Scenarios and scripts are left as they are. So is a corpus in which
    something has turns or is to be continued: what has none there is not rated, as it waits for a system.
    """
    if Continuation.objects.filter(dialogue__corpus=corpus).exclude(key=SELF, turns=None).exists():
        return 0
    bare = Dialogue.objects.filter(
        corpus=corpus, continuations=None, scenario__isnull=True, script__isnull=True
    )
    if not bare.exists():
        return 0
    Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
    system, _ = System.objects.get_or_create(corpus=corpus, name=HUMAN)
    rows = [
        Continuation(dialogue_id=dialogue, key=SELF, system=system, mode="rollout")
        for dialogue in bare.order_by("pk").values_list("pk", flat=True)
    ]
    ids = [row.pk for row in Continuation.objects.bulk_create(rows, batch_size=5_000)]
    with connection.cursor() as cursor:
        cursor.execute(OF_CONTINUATIONS, {"corpus": corpus.pk, "ids": ids, "kind": DIALOGUE.key})
    return len(ids)
