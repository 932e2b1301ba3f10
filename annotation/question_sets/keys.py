"""The keys of records that people make: counted up, and after what they supersede."""

from __future__ import annotations

import re

from annotation.models import Dialogue, Record

_VERSION = re.compile(r"(.*)\.(\d+)")
PREFIXES = {"fact": "f", "question": "q"}


def next_key(record: Record) -> str:
    """Return the first free key for what supersedes a record: `f1.2` after `f1`, `f1.3` after `f1.2`."""
    versioned = _VERSION.fullmatch(record.key)
    stem, number = (versioned[1], int(versioned[2])) if versioned else (record.key, 1)
    return _free(record.dialogue_id, record.kind, f"{stem}.", number + 1)


def new_key(dialogue: Dialogue, kind: str) -> str:
    """Return the first free key for a record made by hand, such as `f-hand-1`."""
    return _free(dialogue.pk, kind, f"{PREFIXES[kind]}-hand-", 1)


def _free(dialogue: int, kind: str, stem: str, number: int) -> str:
    taken = set(
        Record.objects.filter(dialogue=dialogue, kind=kind, key__startswith=stem).values_list(
            "key", flat=True
        )
    )
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"
