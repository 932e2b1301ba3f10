"""Where turns and dialogues belong: continuations with their dialogue and their system."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from annotation.models import Continuation, Corpus
from annotation.text.references import item_key
from calibration.errors import DefinitionError

CONDITION_KEYS = """
SELECT DISTINCT jsonb_object_keys(condition) FROM annotation_continuation c
  JOIN annotation_dialogue d ON d.id = c.dialogue_id WHERE d.corpus_id = %s ORDER BY 1
"""
CHUNK = 20_000


@dataclass(frozen=True, slots=True)
class Produced:
    """A continuation: its ids, and its system (with the conditions that make one).

    `key` is the key of its dialogue item. `static`: each turn answers the fixed history; otherwise it is a
    rollout, a dialogue's own turns among them.
    """

    pk: int
    key: str
    dialogue: str
    continuation: str
    cluster: str
    system: str
    static: bool


def condition_keys(corpus: Corpus) -> list[str]:
    """Return every key of some continuation's condition."""
    with connection.cursor() as cursor:
        cursor.execute(CONDITION_KEYS, [corpus.pk])
        return [row[0] for row in cursor.fetchall()]


def check_conditions(corpus: Corpus, conditions: Sequence[str]) -> None:
    """Refuse condition keys that no continuation has. Raises DefinitionError."""
    if not conditions:
        return
    known = condition_keys(corpus)
    if unknown := [key for key in conditions if key not in known]:
        raise DefinitionError(
            f"no continuation has the condition {unknown[0]!r}; there are {', '.join(known) or 'none'}"
        )


def produced(corpus: Corpus, keys: Collection[str], conditions: Sequence[str] = ()) -> dict[str, Produced]:
    """Return the continuations of some dialogue items' keys, in one query."""
    rows = (
        Continuation.objects.filter(dialogue__corpus=corpus)
        .order_by("dialogue_id", "pk")
        .values_list("pk", "dialogue__key", "key", "dialogue__cluster", "system__name", "mode", "condition")
    )
    found = {}
    for pk, dialogue, name, cluster, system, mode, condition in rows.iterator(chunk_size=CHUNK):
        key = item_key(dialogue, name, None)
        if key in keys:
            called = system_name(system, condition, conditions)
            static = mode == Continuation.Mode.STATIC
            found[key] = Produced(pk, key, dialogue, name, cluster, called, static)
    return found


def system_name(system: str, condition: dict[str, Any], conditions: Sequence[str]) -> str:
    """Return `model-x`, or with conditions `model-x (prompting vanilla, turns_per_call 5)`."""
    if not conditions:
        return system
    told = ", ".join(
        f"{key} {_plain(condition[key]) if key in condition else 'not stated'}" for key in conditions
    )
    return f"{system} ({told})"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
