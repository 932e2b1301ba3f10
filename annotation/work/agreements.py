"""What comes before the next task: a consent text to agree to, and guidelines that changed since last read.

Consent comes first. Both are told apart by the version that was on the annotator's screen: who agrees to a
text that was replaced meanwhile has agreed to that one, and is shown the new one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from django.contrib.auth.models import User
from django.db import transaction

from annotation.checks import notices
from annotation.errors import AnswerRefused
from annotation.models import Consent, ConsentGiven, Guidelines, GuidelinesRead
from annotation.text.differences import Row, rows
from annotation.work.leases import Seat, take_seat

What = Literal["consent", "guidelines"]
NAMES = {"consent": "consent text", "guidelines": "guidelines"}


@dataclass(frozen=True, slots=True)
class Waiting:
    """What has to be agreed to or read: its version and text, and what changed since the version known."""

    what: What
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
    known = Guidelines.objects.get(pk=seat.read or 0)
    return Waiting("guidelines", new.version, new.text, known.version, rows(known.text, new.text))


@transaction.atomic
def accept(*, by: User, campaign: int, what: str, version: int) -> None:
    """Record that a member agreed to a version of the consent text, or read one of the guidelines.

    Notices of training, tests and checks are accepted here, too (`annotation.checks.notices`).

    Said twice, it counts once, with its first time. Raises NotTaskHolder, and AnswerRefused where the
    campaign has no such version.
    """
    take_seat(campaign=campaign, user=by.pk)
    if what in notices.ACCEPTED:
        notices.accept(by=by, campaign=campaign, what=what, version=version)
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
