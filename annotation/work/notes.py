"""Notes on turns: an annotator's comments, flags and bookmarks, and exports for researchers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.errors import NoteRefused, NotTaskHolder
from annotation.models import Assignment, Bookmark, CampaignMember, Continuation, Item, Occasion, turn_numbers
from annotation.models.campaigns import Campaign
from annotation.models.work import TurnNote
from annotation.text.references import item_key
from annotation.text.table_cells import guarded
from annotation.work import screens
from annotation.work.checking import cleaned
from annotation.work.labels import pseudonyms_of_people as of_people
from config import commands

# Notes on turns: an annotator's own, for their page, and those of all annotators, for researchers.
#
# A bookmark is private: researchers' notes never include one.

OWN = """
SELECT turn_id, max(comment), bool_or(flagged), bool_or(bookmarked) FROM (
  SELECT turn_id, comment, flagged, false AS bookmarked, assignment_id FROM annotation_turnnote
   WHERE campaign_id = %(campaign)s AND user_id = %(user)s AND superseded_at IS NULL
  UNION ALL
  SELECT turn_id, '', false, true, assignment_id FROM annotation_bookmark
   WHERE campaign_id = %(campaign)s AND user_id = %(user)s) AS own
 WHERE turn_id = ANY(%(turns)s) AND NOT EXISTS (
  SELECT 1 FROM annotation_assignment r JOIN annotation_assignment o
      ON o.task_id = r.task_id AND o.user_id = r.user_id AND o.id <> r.id
   WHERE r.id = %(assignment)s AND r.occasion = 'repeat' AND o.id = own.assignment_id)
 GROUP BY turn_id
"""


@dataclass(frozen=True, slots=True)
class Note:
    """A person's note on a line of a task's transcript; lines count from 1."""

    line: int
    comment: str = ""
    flagged: bool = False
    bookmarked: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """A note for researchers: the writer's pseudonym, the turn, the assignment, and the time."""

    turn: int
    annotator: str
    comment: str
    flagged: bool
    at: datetime
    campaign: int
    assignment: int


def notes_on(*, campaign: int, user: int, assignment: int, turns: Sequence[int]) -> dict[int, Note]:
    """Return a person's own notes on the lines of an assignment's transcript, by line. One query.

    `turns` are the ids of the turns, line by line; a turn on two lines has its note on both. A repeat does
    not show notes of the task that it repeats: they would reveal that it is a repeat.
    """
    with commands.cursor() as cursor:
        cursor.execute(
            OWN, {"campaign": campaign, "user": user, "assignment": assignment, "turns": list(turns)}
        )
        by_turn = {turn: rest for turn, *rest in cursor.fetchall()}
    return {line: Note(line, *by_turn[turn]) for line, turn in enumerate(turns, start=1) if turn in by_turn}


def live_notes(campaign: Campaign) -> QuerySet[TurnNote]:
    """Return the current notes of a campaign, latest first, with their writers and turns."""
    return (
        TurnNote.objects.filter(campaign=campaign, superseded_at=None)
        .select_related("campaign", "turn__continuation__dialogue")
        .order_by("-id")
    )


def notes_of_assignments(assignments: Collection[int]) -> dict[int, list[TurnNote]]:
    """Return the current notes written in assignments, by assignment and in turn order."""
    notes = (
        TurnNote.objects.filter(assignment__in=assignments, superseded_at=None)
        .select_related("turn__continuation__dialogue")
        .order_by("turn__position", "id")
    )
    by_assignment: dict[int, list[TurnNote]] = {}
    for note in notes:
        by_assignment.setdefault(note.assignment_id, []).append(note)
    return by_assignment


def notes_of_turns(turns: Collection[int], campaign: int | None = None) -> dict[int, list[NoteEntry]]:
    """Return annotators' current notes on turns, by turn and oldest first. Researchers only.

    `campaign` restricts it to one campaign. Bookmarks are private and never included.
    """
    notes = TurnNote.objects.filter(turn__in=turns, superseded_at=None).select_related("campaign")
    if campaign is not None:
        notes = notes.filter(campaign=campaign)
    by_turn: dict[int, list[NoteEntry]] = {}
    rows = list(notes.order_by("id"))
    names = {
        corpus: of_people({note.user_id for note in rows}, corpus)
        for corpus in {note.campaign.corpus_id for note in rows}
    }
    for note in rows:
        by_turn.setdefault(note.turn_id, []).append(
            note_entry(note, names[note.campaign.corpus_id][note.user_id])
        )
    return by_turn


def notes_of_item(item: Item, campaign: int | None = None) -> list[NoteEntry]:
    """Return annotators' notes about an item: on its turn, or, for a whole, on any of its turns."""
    if item.turn_id is not None:
        return notes_of_turns([item.turn_id], campaign).get(item.turn_id, [])
    continuation: Continuation = item.continuation
    turns = list(continuation.turns.order_by("position").values_list("pk", flat=True))
    by_turn: Mapping[int, list[NoteEntry]] = notes_of_turns(turns, campaign)
    return [note for turn in turns for note in by_turn.get(turn, [])]


def note_entry(note: TurnNote, name: str) -> NoteEntry:
    """Build a note for researchers, under its writer's pseudonym."""
    about = note.campaign_id, note.assignment_id
    return NoteEntry(note.turn_id, name, note.comment, note.flagged, note.created_at, *about)


# An annotator's actions on a turn they were shown: comment, flag, bookmark.

COMMENT_LIMIT = 2_000


@transaction.atomic
def set_note(
    *,
    by: User,
    campaign: int,
    assignment: int,
    line: int,
    comment: str | None = None,
    flagged: bool | None = None,
    bookmarked: bool | None = None,
) -> Note:
    """Set a person's note on a line of their task, and return the complete note.

    `line` counts the lines of the task's transcript from 1. None leaves a value unchanged; an empty comment
    removes the comment. Earlier versions are kept. Notes are allowed even on a task that was skipped,
    submitted, or went to someone else. Raises NotTaskHolder and NoteRefused.
    """
    own = held_by(by, campaign, assignment)
    turns = screens.load(own.task_id).turns
    if not 1 <= line <= len(turns):
        raise NoteRefused(f"This task has the lines 1 to {len(turns)}; there is no line {line}.")
    turn = turns[line - 1]
    live = TurnNote.objects.filter(campaign=campaign, user=by, turn=turn, superseded_at=None).first()
    visible = None if live is None or live.assignment_id in repeated_by(own) else live
    new_values = _new_values(visible, comment, flagged)
    if new_values != (visible.comment if visible else "", visible.flagged if visible else False):
        _replace(live, visible.assignment if visible else own, turn, *new_values)
    if bookmarked is not None:
        _bookmark(own, turn, bookmarked)
    note = notes_on(campaign=campaign, user=by.pk, assignment=own.pk, turns=turns).get(line)
    return note or Note(line)


def held_by(by: User, campaign: int, assignment: int) -> Assignment:
    """Return a member's own assignment, with their membership locked; raise NotTaskHolder for others."""
    member = CampaignMember.objects.select_for_update().filter(campaign=campaign, user=by).first()
    mine = Assignment.objects.exclude(state=Assignment.State.VOIDED)
    own = mine.filter(pk=assignment, user=by, campaign=campaign).first()
    if member is None or own is None:
        raise NotTaskHolder("This task is not yours.")
    return own


def _new_values(live: TurnNote | None, comment: str | None, flagged: bool | None) -> tuple[str, bool]:
    text = (live.comment if live else "") if comment is None else str(cleaned(comment)).strip()
    if len(text) > COMMENT_LIMIT:
        raise NoteRefused(f"A comment on a turn has at most {COMMENT_LIMIT:,} characters.")
    return text, (live is not None and live.flagged) if flagged is None else flagged


def repeated_by(own: Assignment) -> list[int]:
    """Return the assignments that a repeat repeats; none for any other task."""
    if own.occasion != Occasion.REPEAT:
        return []
    mine = Assignment.objects.filter(task=own.task_id, user=own.user_id).exclude(pk=own.pk)
    return list(mine.values_list("pk", flat=True))


def _replace(live: TurnNote | None, own: Assignment, turn: int, comment: str, flagged: bool) -> None:
    """Insert the next version of a note; an emptied note is a version, too."""
    now = timezone.now()
    if live is not None:
        TurnNote.objects.filter(pk=live.pk).update(superseded_at=now)
    TurnNote.objects.create(
        campaign_id=own.campaign_id,
        user_id=own.user_id,
        turn_id=turn,
        assignment=own,
        comment=comment,
        flagged=flagged,
        superseded_at=None if comment or flagged else now,
    )


def _bookmark(own: Assignment, turn: int, bookmarked: bool) -> None:
    place: dict[str, Any] = {"campaign_id": own.campaign_id, "user_id": own.user_id, "turn_id": turn}
    if bookmarked:
        bookmark, created = Bookmark.objects.get_or_create(**place, defaults={"assignment": own})
        if not created and bookmark.assignment_id in repeated_by(own):
            Bookmark.objects.filter(pk=bookmark.pk).update(assignment=own)
    else:
        Bookmark.objects.filter(**place).delete()


# Exports of notes on turns: who wrote what about which turn.

COLUMNS = (
    *("campaign", "annotator", "dialogue", "continuation", "turn", "turn_number", "item"),
    *("flagged", "comment", "at", "assignment"),
)
MEDIA = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
TEXTS = {"campaign", "annotator", "dialogue", "continuation", "item", "comment"}


def note_json(note: TurnNote, names: Mapping[int, str]) -> dict[str, Any]:
    """Return a note as a row: its writer, its turn (keys, 0-based index and number), and its content.

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


def note_rows(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the current notes of a campaign, oldest first."""
    notes = list(live_notes(campaign).order_by("id"))
    turn_numbers.number(note.turn for note in notes)
    names = of_people({note.user_id for note in notes}, campaign.corpus_id)
    return [note_json(note, names) for note in notes]


def write_notes(campaign: Campaign, form: str) -> Iterator[str]:
    """Yield the lines of a file, `form` a key of MEDIA; no cell is ever a formula."""
    if form == "jsonl":
        for row in note_rows(campaign):
            yield json.dumps(row, ensure_ascii=False) + "\n"
        return
    line = io.StringIO()
    writer = csv.DictWriter(line, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in note_rows(campaign):
        writer.writerow({name: guarded(row[name]) if name in TEXTS else row[name] for name in COLUMNS})
    yield line.getvalue()
