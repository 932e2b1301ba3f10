"""Notes on turns as a file: who said what about which turn, for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from annotation.labels.pseudonyms import of_people
from annotation.models import Campaign, TurnNote, turn_numbers
from annotation.notes.reading import live
from annotation.text.csv_cells import guarded
from annotation.text.item_keys import item_key

COLUMNS = (
    *("campaign", "annotator", "dialogue", "continuation", "turn", "turn_number", "item"),
    *("flagged", "comment", "at", "assignment"),
)
MEDIA = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
TEXTS = {"campaign", "annotator", "dialogue", "continuation", "item", "comment"}


def as_json(note: TurnNote, names: Mapping[int, str]) -> dict[str, Any]:
    """Return a note as a row: by whom, where the turn is (keys, 0-based index and number), and what was said.

    `names` has pseudonyms by account.
    """
    own = note.turn.continuation
    return {
        "campaign": note.campaign.name,
        "annotator": names[note.user_id],
        "dialogue": own.dialogue.key,
        "continuation": own.key,
        "turn": note.turn.position,
        "turn_number": note.turn.number,
        "item": item_key(own.dialogue.key, own.key, note.turn.position),
        "flagged": note.flagged,
        "comment": note.comment,
        "at": note.created_at.isoformat(),
        "assignment": note.assignment_id,
    }


def rows(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the notes of a campaign as they stand, oldest first."""
    notes = list(live(campaign).order_by("id"))
    turn_numbers.number(note.turn for note in notes)
    names = of_people({note.user_id for note in notes}, campaign.corpus_id)
    return [as_json(note, names) for note in notes]


def written(campaign: Campaign, form: str) -> Iterator[str]:
    """Yield the lines of a file, `form` a key of MEDIA; no cell is ever a formula."""
    if form == "jsonl":
        for row in rows(campaign):
            yield json.dumps(row, ensure_ascii=False) + "\n"
        return
    line = io.StringIO()
    writer = csv.DictWriter(line, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows(campaign):
        writer.writerow({name: guarded(row[name]) if name in TEXTS else row[name] for name in COLUMNS})
    yield line.getvalue()
