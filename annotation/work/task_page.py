"""Around a task: consent and guidelines before it, notes and messages beside it, the code after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse

from annotation.errors import AnswerRefused
from annotation.hooks import CAMPAIGN_FORMS
from annotation.models import Assignment, Campaign, Consent, ConsentGiven, Guidelines, GuidelinesRead
from annotation.people import participants
from annotation.text.display import Row
from annotation.text.display import difference_rows as rows
from annotation.work import check_stages, messages, own_work
from annotation.work.leases import Hold, Seat, take_seat
from annotation.work.notes import notes_on
from annotation.work.screens import Screen
from annotation.work.task_actions import TAKEN_BACK

# Before the next task: a consent text to agree to, and guidelines that changed since last read.
#
# Consent comes first. Both are identified by the version on the annotator's screen: whoever agrees to a text
# that was replaced in the meantime has agreed to the old one, and is shown the new one.

WaitingKind = Literal["consent", "guidelines"]
NAMES = {"consent": "consent text", "guidelines": "guidelines"}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A text to agree to or to read: its version and content, and the changes since the version last read."""

    what: WaitingKind
    version: int
    text: str
    since: int | None = None
    changes: tuple[Row, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return JSON data; each entry of `changes` is same, skipped, removed, added or changed lines."""
        changes = [row.as_json() for row in self.changes]
        return {
            "what": self.what,
            "version": self.version,
            "text": self.text,
            "since": self.since,
            "changes": changes,
        }


def waiting(seat: Seat) -> Waiting | None:
    """Return the text that a member has to agree to or read before the next task, None without one."""
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

    A repeated request counts once, with its first time. Raises NotTaskHolder, and AnswerRefused where the
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


# Campaigns whose members write before they rate have a page of their own for that.


def own_page(seat: Seat) -> str:
    """Return the address where a member without a task works on, '' where nothing is there for them."""
    form = CAMPAIGN_FORMS.get(seat.form)
    if form is None or seat.state != Campaign.State.OPEN or seat.waits or seat.limits.reached:
        return ""
    if check_stages.waiting(seat) is not None or not form.has_work(seat):
        return ""
    return reverse(form.page, args=[seat.campaign])


# Completion code for people who joined by a link, once they are done.


def completion(seat: Seat) -> participants.Completion | None:
    """Return the completion code and its address, once no task is left for the member; None for others.

    At a daily limit there are more tasks tomorrow, so nobody is done then.
    """
    if own_page(seat):
        return None
    over = seat.state == "closed" or (seat.state == "open" and seat.limits.reached != "day")
    return participants.finish(person=seat.user, campaign=seat.campaign, done=seat.done, finished=over)


# Beside a task, for its annotator: own notes, messages, and whether a submission may be revised.
#
# In a campaign without notes and messages of a person, this makes no query.


def beside(*, by: User, seat: Seat, hold: Hold, screen: Screen) -> dict[str, Any]:
    """Return a person's notes and messages by line of the screen, and why a submission is closed, if it is.

    `lines` is the number of lines; they count from 1.
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
