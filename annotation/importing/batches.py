"""Entries in bounded batches, so that memory depends on the largest dialogue and not on the file."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.formats import SourceRecord
from annotation.records import Dialogue

MAX_TURNS = 10_000
MAX_CHARACTERS = 4_000_000
MAX_ENTRIES = 5_000


def batches(entries: Iterator[SourceRecord]) -> Iterator[list[SourceRecord]]:
    """Yield lists of entries that together stay small, each with at least one."""
    batch: list[SourceRecord] = []
    turns = characters = 0
    for entry in entries:
        batch.append(entry)
        if isinstance(entry.record, Dialogue):
            more, longer = _size(entry.record)
            turns += more
            characters += longer
        if turns >= MAX_TURNS or characters >= MAX_CHARACTERS or len(batch) >= MAX_ENTRIES:
            yield batch
            batch, turns, characters = [], 0, 0
    if batch:
        yield batch


def _size(dialogue: Dialogue) -> tuple[int, int]:
    """Return (turns and labels, characters) of a dialogue."""
    count, characters = len(dialogue.labels), 0
    for continuation in dialogue.all_continuations():
        count += len(continuation.turns)
        characters += sum(len(turn.text) for turn in continuation.turns)
    return count, characters
