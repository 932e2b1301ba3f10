"""Labels of any format as rows of Concord's long ratings, for `agree`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotation.formats.corpus_format import Rating, SourceRecord
from annotation.formats.mapping import Scale
from annotation.records import LabelRecord
from annotation.schemes.definitions import FIRST, SECOND
from annotation.text.references import item_key, members_key, record_key
from annotation.text.table_cells import number

Row = dict[str, str]
COLUMNS = (
    *("item", "rater", "kind", "identified", "question", "scheme", "value", "missing", "explanation"),
    *("level", "values", "group", "cluster", "dialogue", "continuation", "turn", "system", "sample"),
)
"""Columns of a label's row."""
LEVEL_OF_PAIRS = "nominal"


def label_rows(
    entries: Iterable[SourceRecord],
    clusters: Mapping[str, str] | None = None,
    scales: Mapping[tuple[str, str], Scale] | None = None,
) -> Iterator[tuple[int, Row]]:
    """Yield the labels of records, one a row, each with its line (0 in a document without lines).

    The cluster is that of the dialogue, else its id; `clusters` are those of dialogues whose labels stand
    apart from them. `scales` are those of questions, by scheme and key, where a label has none of its own.
    """
    for entry in entries:
        record = entry.record
        if isinstance(record, Rating):
            row = _row(record.dialogue, record.label, scales or {}, record)
            row["cluster"] = (clusters or {}).get(record.dialogue) or record.dialogue
            yield entry.line or 0, row
            continue
        systems = {part.id: part.system for part in record.all_continuations()}
        for label in record.labels:
            row = _row(record.id, label, scales or {})
            row["cluster"] = record.cluster or record.id
            row["system"] = "" if label.members else systems.get(label.continuation, "")
            yield entry.line or 0, row


def _row(
    dialogue: str, label: LabelRecord, scales: Mapping[tuple[str, str], Scale], rating: Rating | None = None
) -> Row:
    level = label.level or (rating.level if rating else "")
    values = label.values or (rating.values if rating else ())
    scale = Scale(level, tuple(map(as_text, values)))
    if not scale.level:
        scale = scales.get((label.scheme, label.question)) or scales.get(("", label.question)) or scale
    item, value = _answer(dialogue, label)
    if len(label.members) == 2 and not scale.level:
        scale = Scale(LEVEL_OF_PAIRS)
    return {
        "item": item,
        "rater": label.rater,
        "kind": label.kind,
        "identified": "true" if label.identified else "false",
        "question": label.question,
        "scheme": label.scheme,
        "value": "" if value is None else as_text(value),
        "missing": label.missing,
        "explanation": label.explanation,
        "group": label.group,
        "dialogue": dialogue,
        "continuation": "" if label.members else label.continuation,
        "turn": "" if label.members or label.turn is None else str(label.turn),
        "sample": str(label.sample),
        **scale_cells(scale),
    }


def _answer(dialogue: str, label: LabelRecord) -> tuple[str, float | str | None]:
    """Return the key of a label's item, and its value; a pair's is about the members in sorted order."""
    if label.record is not None:
        return record_key(dialogue, label.record), label.value
    if not label.members:
        return item_key(dialogue, label.continuation, label.turn), label.value
    if len(label.members) > 2:
        return members_key(dialogue, label.members), label.value
    members = sorted(label.members, key=lambda member: (member[0], member[1] or 0))
    value = label.value
    if members != list(label.members) and value in (FIRST, SECOND):
        value = SECOND if value == FIRST else FIRST
    return members_key(dialogue, members), value


def scale_cells(scale: Scale) -> Row:
    """Return the cells of a scale: its level, and its values as JSON; categories are texts."""
    values: list[Any] = list(scale.values)
    if scale.level != "nominal":
        values = [value if number(value) is None else number(value) for value in values]
    return {"level": scale.level, "values": json.dumps(values) if values else ""}


def as_text(value: float | str) -> str:
    """Return a value as text, a number without needless digits."""
    return value if isinstance(value, str) else f"{value:.15g}"
