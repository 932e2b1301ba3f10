"""From the database to scenarios: the script and its keys, without what systems wrote."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable

from annotation import records
from annotation.importing.rows import agenda_record, participant_record, turn_record
from annotation.models import Continuation, Corpus, Dialogue, Turn
from annotation.scenarios.stored import scenario_record


def scenarios(rows: Iterable[Dialogue]) -> dict[int, records.Dialogue]:
    """Return the records of stored scenarios by id, each with its script alone; two queries."""
    found = {row.pk: row for row in rows}
    turns: dict[int, list[records.Turn]] = defaultdict(list)
    said = Turn.objects.filter(continuation__dialogue__in=found, continuation__key=records.SELF).order_by(
        "continuation", "position"
    )
    for turn in said.select_related("continuation"):
        made = turn_record(turn.speaker, turn.text, turn.given, turn.at, turn.extra)
        turns[turn.continuation.dialogue_id].append(made)
    return {
        pk: records.Dialogue(
            id=row.key,
            turns=tuple(turns[pk]),
            participants=tuple(map(participant_record, row.participants)),
            cluster=row.cluster,
            language=row.language,
            summary=row.summary,
            metadata=row.metadata,
            agenda=agenda_record(row.agenda),
            scenario=scenario_record(row.scenario),
        )
        for pk, row in found.items()
    }


def of_corpus(corpus: Corpus) -> list[Dialogue]:
    """Return the dialogues of a corpus that are scenarios, in the order of their keys."""
    return list(corpus.dialogues.filter(scenario__isnull=False).order_by("key"))


def keys_hash(corpus: Corpus) -> str:
    """Return the SHA-256 of all keys of a corpus: what its answer key is known by."""
    told = [
        [key, (scenario := stored or {}).get("points"), scenario.get("probes"), scenario.get("keys")]
        for key, stored in corpus.dialogues.filter(scenario__isnull=False)
        .order_by("key")
        .values_list("key", "scenario")
    ]
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def decided(corpus: Corpus) -> bool:
    """Whether a corpus has decisions at the points of its scenarios."""
    return Continuation.objects.filter(
        dialogue__corpus=corpus, dialogue__scenario__isnull=False, mode=Continuation.Mode.STATIC
    ).exists()
