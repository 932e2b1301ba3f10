"""What came of a production becomes visible at once: its continuation with turns and items, its text, or its
records."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from annotation import records
from annotation.corpora import continuing
from annotation.models import Continuation, Dialogue, System
from jobs.fake_models import EMBEDDING_MODEL
from systems.generators import GENERATORS, Done
from systems.long_dialogue.settings import EMBEDDER
from systems.models import Production
from systems.producing import drafting, embedders, wordings
from systems.producing.plans import continuation_id

LONGEST_KEY = 300


def finish(production: Production, done: Done) -> None:
    """Write what came of a production, in the current transaction, and mark it done; the caller saves it."""
    system = production.writer.system
    if GENERATORS[production.generator].produces == "record":
        production.result = drafting.write(production, done.records)
    elif system is None:
        production.result = _storable(done.text)
        if production.generator == wordings.GENERATOR:
            wordings.take_one(production, production.run.created_by)
    else:
        production.continuation = continuing.add(
            dialogue=production.dialogue, system=system, made=_record(production, system, done)
        )
        if done.people:
            _keep_people(production.dialogue, done.people)
    production.status, production.error, production.finished_at = Production.Status.DONE, "", timezone.now()
    production.flags = list(dict.fromkeys([*production.flags, *map(_line, done.flags)]))
    production.memory = {}


def _record(production: Production, system: System, done: Done) -> records.Continuation:
    static = any(turn.at is not None for turn in done.turns)
    return records.Continuation(
        id=continuation_id(system.name, production.condition_hash, production.trial),
        system=system.name,
        turns=tuple(map(_clean, done.turns)),
        mode="static" if static else "rollout",
        trial=production.trial,
        condition=production.condition | _embedded_by(production.condition),
    )


def _embedded_by(condition: Mapping[str, Any]) -> dict[str, str]:
    """Return the model of the endpoint whose vectors were looked up, as a condition names it."""
    model = embedders.model_of(str(condition.get(EMBEDDER, "")))
    return {EMBEDDING_MODEL: model} if model else {}


def _keep_people(dialogue: Dialogue, turns: Sequence[records.Turn]) -> None:
    """Keep people's own turns at some points as a static continuation, once for all who wrote there."""
    Dialogue.objects.select_for_update().get(pk=dialogue.pk)
    told = json.dumps([[turn.at, turn.speaker, turn.text] for turn in turns], ensure_ascii=False)
    key = f"{records.HUMAN}-{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()[:8]}-0"
    if Continuation.objects.filter(dialogue=dialogue, key=key).exists():
        return
    system, _ = System.objects.get_or_create(corpus_id=dialogue.corpus_id, name=records.HUMAN)
    made = records.Continuation(id=key, system=records.HUMAN, turns=tuple(turns), mode="static")
    continuing.add(dialogue=dialogue, system=system, made=made)


def _clean(turn: records.Turn) -> records.Turn:
    speaker = _storable(turn.speaker)[:LONGEST_KEY]
    return records.Turn(
        speaker=speaker,
        text=_storable(turn.text),
        at=turn.at,
        given=turn.given,
        act=turn.act,
        addressees=tuple(_storable(one) for one in turn.addressees),
        audience=turn.audience,
        session=turn.session,
        extra=turn.extra,
    )


def _line(flag: str) -> str:
    return str(_storable(flag))[:300]


def _storable(value: Any) -> Any:
    """Return text, or plain JSON with its texts, that PostgreSQL can hold: no NUL, no lone surrogates."""
    if isinstance(value, str):
        return value.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
    if isinstance(value, list | tuple):
        return [_storable(one) for one in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(one) for key, one in value.items()}
    return value
