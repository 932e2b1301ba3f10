"""Inviting people by e-mail, many at once: each gets a link of their own, sent by a worker or shown to copy.

Nothing here looks at whether an address has an account, so nobody learns it from an answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.models import OneTimeLink
from annotation.people import addresses, links, mailing
from annotation.people.errors import EmailRefused
from config.models import Event
from jobs import actions as jobs
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

KIND = "invitations"
MOST = 200
"""Addresses that are invited at once."""
MOST_TEXT = 100_000
NO_MAIL = "No mail is set up: make the invitation again and send its link yourself."
NAMED = re.compile(r"<([^<>]*)>")
BETWEEN = re.compile(r"[\s,;]+")


def listed(text: str) -> list[str]:
    """Return the addresses of a pasted list, each once, in order: one a line, by commas, or `Name <address>`.

    Raises EmailRefused, which names the first that are none.
    """
    found: list[str] = []
    for line in text[:MOST_TEXT].splitlines():
        for part in re.split(r"[,;]", line):
            named = NAMED.findall(part)
            found += [addresses.normal(one) for one in named or BETWEEN.split(part) if one.strip()]
    found = list(dict.fromkeys(found))
    wrong = [one for one in found if addresses.fault(one)]
    if wrong:
        told = ", ".join(f"“{addresses.shown(one)}”" for one in wrong[:5])
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise EmailRefused(f"Not an e-mail address: {told}{more}. Nobody was invited yet.")
    if not found:
        raise EmailRefused("Give at least one e-mail address.")
    if len(found) > MOST or len(text) > MOST_TEXT:
        raise EmailRefused(f"Invite at most {MOST} addresses at once.")
    return found


@transaction.atomic
def invite(
    *, by: User | None, emails: Sequence[str], role: str, name: str = "", days: int = links.INVITATION_DAYS
) -> list[links.Made]:
    """Make an invitation for each address (see `listed`); an open one to it is replaced.

    Raises EmailRefused, RoleRefused, NameRefused and LinkRefused, and then invites nobody.
    """
    if name.strip() and len(emails) > 1:
        raise EmailRefused("A user name is for one person: leave it empty, or invite one address.")
    return [links.invite(by=by, role=role, name=name, days=days, email=email) for email in emails]


@transaction.atomic
def send(*, by: User | None, invitations: Sequence[OneTimeLink], base: str) -> Job:
    """Let a worker send invitations; `base` is where Concord is. Raises EmailRefused without mail."""
    if not mailing.is_set_up():
        raise EmailRefused(NO_MAIL)
    numbers = queue(by=by, invitations=invitations)
    about = f"{len(numbers)} invitation{'s' * (len(numbers) != 1)} by e-mail, from number {min(numbers)}"
    return jobs.start(kind=KIND, subject=about, params={"links": numbers, "base": base}, by=by)


@transaction.atomic
def queue(*, by: User | None, invitations: Sequence[OneTimeLink]) -> list[int]:
    """Note that invitations wait to be sent; return their numbers. One that is sent again holds a week more.

    The links that were made for them before open nothing from the moment at which they are sent.
    """
    numbers = sorted(one.pk for one in invitations)
    rows = OneTimeLink.objects.select_for_update().filter(pk__in=numbers, used_at=None).exclude(email="")
    waiting = list(rows)
    if not numbers or len(waiting) < len(numbers):
        raise EmailRefused("This invitation was used already, was withdrawn, or has no e-mail address.")
    least = timezone.now() + timedelta(days=links.INVITATION_DAYS)
    for link in waiting:
        if link.mail:
            link.expires_at = max(link.expires_at, least)
        link.mail, link.mail_error, link.mailed_at = OneTimeLink.Mail.QUEUED, "", None
        link.save(update_fields=["mail", "mail_error", "mailed_at", "expires_at"])
        Event.objects.create(by=by, verb="send invitation", subject=f"link {link.pk}")
    return numbers


def run(job: Job, progress: Progress) -> Mapping[str, Any]:
    """Send the invitations that a job names; its result is {sent, failed}."""
    if not mailing.is_set_up():
        raise JobRefused("no mail is set up any more")
    return mailing.send(job.params["links"], job.params["base"], progress)


JOB = JobKind(KIND, "Invitations by e-mail", run)
