"""What an annotator does with a turn that they were shown: comment on it, flag it, bookmark it."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.errors import NoteRefused, NotTaskHolder
from annotation.models import Assignment, Bookmark, CampaignMember, Occasion, TurnNote
from annotation.notes.reading import Note, notes_on
from annotation.work import screens
from annotation.work.checking import cleaned

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
    """Set what a person has noted on a line of a task of theirs, and return all of it.

    `line` counts the lines of the task's transcript from 1. What is None stays as it is; an empty comment
    takes the comment back. Earlier versions are kept. A task that was skipped, submitted, or went to someone
    else may be noted on all the same. Raises NotTaskHolder and NoteRefused.
    """
    own = held_by(by, campaign, assignment)
    turns = screens.load(own.task_id).turns
    if not 1 <= line <= len(turns):
        raise NoteRefused(f"This task has the lines 1 to {len(turns)}; there is no line {line}.")
    turn = turns[line - 1]
    live = TurnNote.objects.filter(campaign=campaign, user=by, turn=turn, superseded_at=None).first()
    shown = None if live is None or live.assignment_id in repeated_by(own) else live
    wanted = _wanted(shown, comment, flagged)
    if wanted != (shown.comment if shown else "", shown.flagged if shown else False):
        _replace(live, shown.assignment if shown else own, turn, *wanted)
    if bookmarked is not None:
        _bookmark(own, turn, bookmarked)
    found = notes_on(campaign=campaign, user=by.pk, assignment=own.pk, turns=turns).get(line)
    return found or Note(line)


def held_by(by: User, campaign: int, assignment: int) -> Assignment:
    """Return an assignment of a member's own, their membership locked; raise NotTaskHolder for others."""
    member = CampaignMember.objects.select_for_update().filter(campaign=campaign, user=by).first()
    mine = Assignment.objects.exclude(state=Assignment.State.VOIDED)
    own = mine.filter(pk=assignment, user=by, campaign=campaign).first()
    if member is None or own is None:
        raise NotTaskHolder("This task is not yours.")
    return own


def _wanted(live: TurnNote | None, comment: str | None, flagged: bool | None) -> tuple[str, bool]:
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
    """Insert the next version of a note; where nothing is left to say, that is a version, too."""
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
        made, created = Bookmark.objects.get_or_create(**place, defaults={"assignment": own})
        if not created and made.assignment_id in repeated_by(own):
            Bookmark.objects.filter(pk=made.pk).update(assignment=own)
    else:
        Bookmark.objects.filter(**place).delete()
