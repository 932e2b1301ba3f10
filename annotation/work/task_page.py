"""Around a task: consent and guidelines before it, notes and messages beside it, the code after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import AnswerRefused
from annotation.models import Assignment, Consent, ConsentGiven, Guidelines, GuidelinesRead
from annotation.people import participants
from annotation.text.display import Row
from annotation.text.display import difference_rows as rows
from annotation.work import check_stages, messages, own_work
from annotation.work.actions import TAKEN_BACK
from annotation.work.leases import Hold, Seat, take_seat
from annotation.work.notes import notes_on
from annotation.work.screens import Screen

# What comes before the next task: a consent text to agree to, and guidelines that changed since last read.
#
# Consent comes first. Both are told apart by the version that was on the annotator's screen: who agrees to a
# text that was replaced meanwhile has agreed to that one, and is shown the new one.

WaitingKind = Literal["consent", "guidelines"]
NAMES = {"consent": "consent text", "guidelines": "guidelines"}


@dataclass(frozen=True, slots=True)
class Waiting:
    """What has to be agreed to or read: its version and text, and what changed since the version known."""

    what: WaitingKind
    version: int
    text: str
    since: int | None = None
    changes: tuple[Row, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return plain data; each of `changes` is same, skipped, removed, added or changed lines."""
        changes = [row.as_json() for row in self.changes]
        return {
            "what": self.what,
            "version": self.version,
            "text": self.text,
            "since": self.since,
            "changes": changes,
        }


def waiting(seat: Seat) -> Waiting | None:
    """Return what a member has to agree to or read before the next task, None where nothing waits."""
    if not seat.waits:
        return None
    if seat.consent is not None:
        consent = Consent.objects.get(pk=seat.consent)
        return Waiting("consent", consent.version, consent.text)
    new = Guidelines.objects.get(pk=seat.guidelines or 0)
    previous = Guidelines.objects.get(pk=seat.read or 0)
    return Waiting("guidelines", new.version, new.text, previous.version, rows(previous.text, new.text))


@transaction.atomic
def accept(*, by: User, campaign: int, what: str, version: int) -> None:
    """Record that a member agreed to a version of the consent text, or read one of the guidelines.

    Notices of training, tests and checks are accepted here, too (`annotation.work.check_stages`).

    Said twice, it counts once, with its first time. Raises NotTaskHolder, and AnswerRefused where the
    campaign has no such version.
    """
    take_seat(campaign=campaign, user=by.pk)
    if what in check_stages.ACCEPTED:
        check_stages.accept(by=by, campaign=campaign, what=what, version=version)
        return
    if what == "consent":
        consent = Consent.objects.filter(campaign_id=campaign, version=version).exclude(text="").first()
        if consent is not None:
            ConsentGiven.objects.get_or_create(consent=consent, user=by)
            return
    elif what == "guidelines":
        guidelines = Guidelines.objects.filter(campaign_id=campaign, version=version).first()
        if guidelines is not None:
            GuidelinesRead.objects.get_or_create(guidelines=guidelines, user=by)
            return
    else:
        raise AnswerRefused(f"Say what you accept: “consent” or “guidelines”, not “{what}”.")
    raise AnswerRefused(f"The campaign has no version {version} of its {NAMES[what]}.")


# What somebody who came by a link takes away once they are done: the completion code.


def completion(seat: Seat) -> participants.Completion | None:
    """Return the code and where to go with it, once there is no task for them any more; None for others.

    At a limit of the day there is more to come tomorrow, so nobody is done then.
    """
    over = seat.state == "closed" or (seat.state == "open" and seat.limits.reached != "day")
    return participants.finish(person=seat.user, campaign=seat.campaign, done=seat.done, finished=over)


# What stands beside a task for its annotator: own notes, messages, and whether a submission may be revised.
#
# Where a campaign has no notes and no messages of a person, this asks the database nothing.


def beside(*, by: User, seat: Seat, hold: Hold, screen: Screen) -> dict[str, Any]:
    """Return a person's notes and messages by line of the screen, and why a submission is closed, if it is.

    `lines` is how many lines there are; they count from 1.
    """
    about = {"campaign": seat.campaign, "assignment": hold.assignment}
    place: dict[str, Any] = {"user": by.pk, "turns": screen.turns, **about}
    notes = notes_on(**place) if seat.noted else {}
    threads = messages.on_screen(**place, viewer=by) if seat.talks else []
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
    return own_work.refusal(seat, at)
