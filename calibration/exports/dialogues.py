"""A corpus's dialogues as lines of the native format: an import reads them back as the same."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from annotation import records
from annotation.corpora import exclusion
from annotation.corpora.rows import continuation_json, head_json, turn_json, turn_record
from annotation.models import Continuation, Corpus, Dialogue, Turn
from annotation.records import HUMAN, SELF
from annotation.scenario_records import native_scenario
from calibration.exports.writing import Blocks
from judges.runs.material import dialogue_record

TOGETHER = 50
"""Dialogues that are read in one batch."""


def selected_dialogues(corpus: Corpus, exclude: str = "") -> QuerySet[Dialogue]:
    """Return the dialogues of a file in the order of their import, without those that `exclude` leaves out.

    Long dialogues of dated sessions are not among them: each is exported whole, with its facts and questions.
    """
    passed = exclusion.without(exclusion.excluded_ids(corpus, exclude))
    return corpus.dialogues.filter(passed, script__isnull=True).order_by("pk")


def dialogue_lines(corpus: Corpus, exclude: str = "") -> Blocks:
    """Yield a line for each dialogue, with its own turns and everything that was written for it."""
    ids = list(selected_dialogues(corpus, exclude).values_list("pk", flat=True))
    for start in range(0, len(ids), TOGETHER):
        rows = Dialogue.objects.filter(pk__in=ids[start : start + TOGETHER]).order_by("pk")
        payloads = map(_payload, _records(list(rows)))
        yield "".join(json.dumps(payload, ensure_ascii=False) + "\n" for payload in payloads).encode()
    return len(ids)


def _records(rows: Sequence[Dialogue]) -> list[records.Dialogue]:
    continuations = Continuation.objects.written().filter(dialogue__in=rows).select_related("system")
    turns: dict[int, list[records.Turn]] = defaultdict(list)
    for turn in Turn.objects.filter(continuation__in=continuations).order_by("continuation_id", "position"):
        record = turn_record(turn.speaker, turn.text, turn.given, turn.at, turn.extra)
        turns[turn.continuation_id].append(record)
    own: dict[int, Continuation] = {}
    others: dict[int, list[records.Continuation]] = defaultdict(list)
    for part in continuations.order_by("pk"):
        if part.key == SELF:
            own[part.dialogue_id] = part
            continue
        mode: records.Mode = "static" if part.mode == Continuation.Mode.STATIC else "rollout"
        about = part.key, part.system.name, tuple(turns[part.pk])
        others[part.dialogue_id].append(records.Continuation(*about, mode, part.trial, dict(part.condition)))
    return [
        dialogue_record(
            row,
            tuple(turns[own[row.pk].pk]) if row.pk in own else (),
            tuple(others[row.pk]),
            own[row.pk].system.name if row.pk in own else HUMAN,
        )
        for row in rows
    ]


def _payload(dialogue: records.Dialogue) -> dict[str, Any]:
    payload = head_json(dialogue) | native_scenario(dialogue.scenario)
    payload["turns"] = list(map(turn_json, dialogue.turns))
    if dialogue.continuations:
        payload["continuations"] = [
            continuation_json(continuation) | {"turns": list(map(turn_json, continuation.turns))}
            for continuation in dialogue.continuations
        ]
    return payload
