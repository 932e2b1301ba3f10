"""Notes on turns: an annotator's own, for their page, and those of all annotators, for researchers.

A bookmark is private: what researchers read never holds one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from annotation.labels.pseudonyms import of_people
from annotation.models import Campaign, Continuation, Item, TurnNote
from config import commands

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
    """What a person noted on a line of a task's transcript; lines count from 1."""

    line: int
    comment: str = ""
    flagged: bool = False
    bookmarked: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return it for pages and programs."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Said:
    """A note as researchers read it: under which pseudonym, on which turn, in which assignment, and when."""

    turn: int
    annotator: str
    comment: str
    flagged: bool
    at: datetime
    campaign: int
    assignment: int


def notes_on(*, campaign: int, user: int, assignment: int, turns: Sequence[int]) -> dict[int, Note]:
    """Return a person's own notes on the lines of an assignment's transcript, by line. One query.

    `turns` are the ids of the turns, line by line; a turn that stands on two lines has its note on both.
    A repeat does not show what was noted in the task that it repeats: that would tell what it is.
    """
    with commands.cursor() as cursor:
        cursor.execute(
            OWN, {"campaign": campaign, "user": user, "assignment": assignment, "turns": list(turns)}
        )
        found = {turn: rest for turn, *rest in cursor.fetchall()}
    return {line: Note(line, *found[turn]) for line, turn in enumerate(turns, start=1) if turn in found}


def live(campaign: Campaign) -> QuerySet[TurnNote]:
    """Return the notes of a campaign as they stand, latest first, with who wrote them and where."""
    return (
        TurnNote.objects.filter(campaign=campaign, superseded_at=None)
        .select_related("campaign", "turn__continuation__dialogue")
        .order_by("-id")
    )


def of_assignments(assignments: Collection[int]) -> dict[int, list[TurnNote]]:
    """Return the notes as they stand that were written in assignments, by assignment and in turn order."""
    notes = (
        TurnNote.objects.filter(assignment__in=assignments, superseded_at=None)
        .select_related("turn__continuation__dialogue")
        .order_by("turn__position", "id")
    )
    found: dict[int, list[TurnNote]] = {}
    for note in notes:
        found.setdefault(note.assignment_id, []).append(note)
    return found


def of_turns(turns: Collection[int], campaign: int | None = None) -> dict[int, list[Said]]:
    """Return what annotators noted on turns, as it stands, by turn and oldest first. Researchers only.

    `campaign` narrows it to one campaign. Bookmarks are private and never part of it.
    """
    notes = TurnNote.objects.filter(turn__in=turns, superseded_at=None).select_related("campaign")
    if campaign is not None:
        notes = notes.filter(campaign=campaign)
    found: dict[int, list[Said]] = {}
    rows = list(notes.order_by("id"))
    names = {
        corpus: of_people({note.user_id for note in rows}, corpus)
        for corpus in {note.campaign.corpus_id for note in rows}
    }
    for note in rows:
        found.setdefault(note.turn_id, []).append(said(note, names[note.campaign.corpus_id][note.user_id]))
    return found


def of_item(item: Item, campaign: int | None = None) -> list[Said]:
    """Return what annotators noted about an item: on its turn, or, of a whole, on any of its turns."""
    if item.turn_id is not None:
        return of_turns([item.turn_id], campaign).get(item.turn_id, [])
    continuation: Continuation = item.continuation
    turns = list(continuation.turns.order_by("position").values_list("pk", flat=True))
    found: Mapping[int, list[Said]] = of_turns(turns, campaign)
    return [note for turn in turns for note in found.get(turn, [])]


def said(note: TurnNote, name: str) -> Said:
    """Return a note as researchers read it, under its writer's pseudonym."""
    about = note.campaign_id, note.assignment_id
    return Said(note.turn_id, name, note.comment, note.flagged, note.created_at, *about)
