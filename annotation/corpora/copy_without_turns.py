"""Copying a corpus's dialogues without their turns: participants and topics only."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet

from annotation.corpora import exclusion
from annotation.corpora.import_file import import_path
from annotation.corpora.import_staging import ImportResult
from annotation.errors import ExclusionRefused
from annotation.formats import ImportProblem
from annotation.models import Corpus, Dialogue, Turn
from annotation.records import SELF

# Dialogues as starting points: participants and topic, without any turns.

TOPIC = "topic"
USUAL, MOST_COPIED = 1_000, 10_000
"""Default and maximum number of dialogues copied."""
_BATCH = 200


def copy_without_turns(
    *,
    by: User | None,
    corpus: Corpus,
    name: str,
    first: int = USUAL,
    min_turns: int = 0,
    max_turns: int = 0,
    exclude: str = "",
) -> ImportResult:
    """Copy a corpus's dialogues without their turns into a new corpus; return the import's result.

    The first `first` dialogues, in import order, with `min_turns` to `max_turns` turns of their own (0: no
    limit) are copied. Each keeps its id, cluster, language, participants (the speakers, where none are
    declared), metadata and agenda; a missing summary is replaced by the metadata's `topic`. Dialogues without
    participants are left out, and counted in the notes; so are those that `exclude` leaves out by people's
    answers. The same copy again changes nothing.

    Raises ImportProblem for invalid limits or an invalid exclusion, where no dialogue is left, and for a name
    taken by other content.
    """
    _check(first, min_turns, max_turns)
    excluded_ids = _excluded_ids(corpus, exclude)
    left_out = 0
    line_count = 0
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as stored:
        for line in _lines(_select_dialogues(corpus, min_turns, max_turns, excluded_ids)[:first]):
            left_out += not line["participants"]
            if line["participants"]:
                stored.write(json.dumps(line, ensure_ascii=False) + "\n")
                line_count += 1
        stored.flush()
        if not line_count:
            raise ImportProblem(f"the corpus {corpus.name!r} has no dialogue with people that fits")
        result = import_path(
            path=stored.name,
            name=f"{corpus.name}, without turns",
            format="jsonl",
            corpus=name,
            into=False,
            by=by,
            source=f"{corpus.source or corpus.name}, without turns",
            licence=corpus.licence,
        )
    if left_out:
        result.notes.append(f"{left_out:,} dialogues were left out: nobody takes part in them")
    if excluded := exclusion.described(corpus, exclude):
        result.notes.append(excluded["sentence"])
    return result


def _check(first: int, min_turns: int, max_turns: int) -> None:
    if not 1 <= first <= MOST_COPIED:
        raise ImportProblem(f"between 1 and {MOST_COPIED:,} dialogues can be copied", field="first")
    if min_turns < 0 or max_turns < 0 or (max_turns and min_turns > max_turns):
        raise ImportProblem(
            "the least number of turns is at most the greatest, and 0 is no limit", field="min_turns"
        )


def _excluded_ids(corpus: Corpus, exclude: str) -> list[int]:
    try:
        return exclusion.excluded_ids(corpus, exclusion.check(corpus, exclude))
    except ExclusionRefused as error:
        raise ImportProblem(str(error), field="exclude") from error


def _select_dialogues(
    corpus: Corpus, min_turns: int, max_turns: int, excluded_ids: Sequence[int]
) -> QuerySet[Dialogue]:
    rows = corpus.dialogues.filter(exclusion.without(excluded_ids)).order_by("id")
    if min_turns or max_turns:
        rows = rows.annotate(own=Count("continuations__turns", filter=Q(continuations__key=SELF)))
        rows = rows.filter(own__gte=min_turns)
        rows = rows.filter(own__lte=max_turns) if max_turns else rows
    return rows


def _lines(rows: QuerySet[Dialogue]) -> Iterator[dict[str, Any]]:
    """Yield the dialogues in the native format."""
    ids = list(rows.values_list("pk", flat=True))
    for begin in range(0, len(ids), _BATCH):
        batch = list(Dialogue.objects.filter(pk__in=ids[begin : begin + _BATCH]).order_by("id"))
        speakers = _speakers([row for row in batch if not row.participants])
        yield from (_line(row, row.participants or speakers.get(row.pk, [])) for row in batch)


def _line(row: Dialogue, participants: Sequence[dict[str, Any]]) -> dict[str, Any]:
    about = {} if TOPIC in row.metadata or not row.summary.strip() else {TOPIC: row.summary}
    line = {
        "id": row.key,
        "cluster": row.cluster,
        "language": row.language,
        "participants": list(participants),
        "metadata": {**row.metadata, **about},
        "turns": [],
    }
    return line | ({"agenda": row.agenda} if row.agenda else {})


def _speakers(rows: Sequence[Dialogue]) -> dict[int, list[dict[str, Any]]]:
    """Return the speakers of dialogues' own turns, in order of first appearance."""
    own = Turn.objects.filter(continuation__dialogue__in=rows, continuation__key=SELF)
    turn_speakers = own.order_by("continuation", "position").values_list("continuation__dialogue", "speaker")
    speakers: dict[int, dict[str, dict[str, Any]]] = {}
    for dialogue, speaker in turn_speakers:
        speakers.setdefault(dialogue, {}).setdefault(speaker, {"id": speaker})
    return {dialogue: list(people.values()) for dialogue, people in speakers.items()}
