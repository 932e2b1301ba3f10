"""What stands beside a task for its annotator: own notes, messages, and whether a submission may be revised.

Where a campaign has no notes and no messages of a person, this asks the database nothing.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from annotation.messages import actions
from annotation.models import Assignment
from annotation.notes.reading import notes_on
from annotation.work import submitted
from annotation.work.actions import TAKEN_BACK
from annotation.work.leases import Hold, Seat
from annotation.work.screens import Screen


def beside(*, by: User, seat: Seat, hold: Hold, screen: Screen) -> dict[str, Any]:
    """Return a person's notes and messages by line of the screen, and why a submission is closed, if it is.

    `lines` is how many lines there are; they count from 1.
    """
    about = {"campaign": seat.campaign, "assignment": hold.assignment}
    place: dict[str, Any] = {"user": by.pk, "turns": screen.turns, **about}
    notes = notes_on(**place) if seat.noted else {}
    threads = actions.on_screen(**place, viewer=by) if seat.talks else []
    return {
        "notes": [note.as_json() for note in notes.values()],
        "threads": threads,
        "closed": _closed(seat, hold),
    }


def _closed(seat: Seat, hold: Hold) -> str:
    if hold.state == Assignment.State.TAKEN:
        return TAKEN_BACK.format(hold.note)
    if hold.state != Assignment.State.SUBMITTED:
        return ""
    at = Assignment.objects.values_list("submitted_at", flat=True).get(pk=hold.assignment)
    return submitted.refusal(seat, at)
