"""One-time links: for the first administrator, for invited people, for a new password.

Whoever has the link may use it, once and before it expires. Its secret is random, shown at creation, and
stored only as a hash.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from annotation.errors import EmailRefused, LinkRefused, NameRefused, RoleRefused
from annotation.models import Participant
from annotation.models.people import OneTimeLink
from annotation.people import accounts, names, sign_in
from annotation.people.names import shown_address as shown
from config.models import Event
from jobs import job_actions as jobs
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

Kind = OneTimeLink.Kind
FIRST_HOURS, RESET_HOURS, INVITATION_DAYS = 24, 24, 7
MOST_DAYS = 60
NO_USE = "This link was used already, has expired, or was never made. Ask an administrator for a new one."


class IssuedLink(NamedTuple):
    """A newly created link; `token` is its secret, shown only once."""

    link: OneTimeLink
    token: str


@transaction.atomic
def first_administrator() -> IssuedLink | None:
    """Create the link for the first administrator's account; the previous one no longer works.

    None where there is an administrator.
    """
    if accounts.has_administrator():
        return None
    OneTimeLink.objects.filter(kind=Kind.ADMINISTRATOR, used_at=None).delete()
    return _make(Kind.ADMINISTRATOR, timedelta(hours=FIRST_HOURS), role="administrator")


@transaction.atomic
def invite(
    *, by: User | None, role: str, name: str = "", days: int = INVITATION_DAYS, email: str = ""
) -> IssuedLink:
    """Invite somebody to become `role`; they choose their password, and their name if none is given.

    An invitation to an e-mail address replaces the previous one. Raises RoleRefused, NameRefused,
    EmailRefused, or LinkRefused for days outside 1 to 60.
    """
    if role not in accounts.ROLES:
        raise RoleRefused(f"There is no role “{role}”. Choose one of {', '.join(accounts.ROLES)}.")
    if not 1 <= days <= MOST_DAYS:
        raise LinkRefused(f"An invitation holds for 1 to {MOST_DAYS} days.")
    if names.normal(name):
        name = accounts.checked_name(name)
    if email := names.normal_address(email):
        if fault := names.address_fault(email):
            raise EmailRefused(fault)
        OneTimeLink.objects.filter(email=email, used_at=None).delete()
    about = {"role": role, "name": names.normal(name), "email": email}
    made_link = _make(Kind.INVITATION, timedelta(days=days), **about, created_by=by)
    Event.objects.create(by=by, verb="invite", subject=f"link {made_link.link.pk}", detail={"role": role})
    return made_link


@transaction.atomic
def reset(*, by: User | None, person: User) -> IssuedLink:
    """Create a link for a person to set a new password; their earlier link no longer works.

    Raises LinkRefused for a deactivated account.
    """
    if not person.is_active:
        raise LinkRefused("The account is deactivated. Activate it first.")
    if Participant.objects.filter(user=person).exists():
        raise LinkRefused("The account has no password: its person came by a link into a campaign.")
    User.objects.select_for_update().get(pk=person.pk)
    OneTimeLink.objects.filter(user=person, used_at=None).delete()
    made_link = _make(Kind.RESET, timedelta(hours=RESET_HOURS), user=person, created_by=by)
    Event.objects.create(by=by, verb="make reset link", subject=f"account {person.pk}")
    return made_link


def _make(kind: str, lifetime: timedelta, **fields: Any) -> IssuedLink:
    token = secrets.token_urlsafe(32)
    expires = timezone.now() + lifetime
    link = OneTimeLink.objects.create(kind=kind, token_hash=_hash(token), expires_at=expires, **fields)
    return IssuedLink(link, token)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def open_invitations() -> QuerySet[OneTimeLink]:
    """Return the invitations that can still be used, newest first."""
    invitations = OneTimeLink.objects.filter(
        kind=Kind.INVITATION, used_at=None, expires_at__gt=timezone.now()
    )
    return invitations.select_related("created_by")


def new_token(link: OneTimeLink) -> str:
    """Give a link a new secret and return it; the previous one becomes invalid."""
    token = secrets.token_urlsafe(32)
    OneTimeLink.objects.filter(pk=link.pk).update(token_hash=_hash(token))
    return token


def invitation_to(email: str) -> OneTimeLink | None:
    """Return the open invitation to an e-mail address, locked until the transaction ends."""
    invitations = _usable().select_for_update().filter(kind=Kind.INVITATION, email__iexact=email)
    return invitations.first() if email else None


def spend(*, link: OneTimeLink, by: User) -> None:
    """Mark an invitation as used: its account exists."""
    OneTimeLink.objects.filter(pk=link.pk).update(used_at=timezone.now())
    Event.objects.create(by=by, verb=f"use {link.kind} link", subject=f"link {link.pk}")


@transaction.atomic
def withdraw(*, by: User | None, link: OneTimeLink) -> None:
    """Withdraw an invitation."""
    subject = f"link {link.pk}"
    if OneTimeLink.objects.filter(pk=link.pk, used_at=None).delete()[0]:
        Event.objects.create(by=by, verb="withdraw invitation", subject=subject)


def find(token: str) -> OneTimeLink:
    """Return the link of a secret; raise LinkRefused for an invalid one."""
    link = _usable().filter(token_hash=_hash(token)).select_related("user").first()
    if link is None or (link.kind == Kind.ADMINISTRATOR and accounts.has_administrator()):
        raise LinkRefused(NO_USE)
    return link


def _usable() -> QuerySet[OneTimeLink]:
    return OneTimeLink.objects.filter(used_at=None, expires_at__gt=timezone.now())


@transaction.atomic
def use(*, token: str, username: str, password: str) -> User:
    """Use a link: create its account, or set the new password; return the account.

    `username` is only for a new account. Raises LinkRefused, NameRefused or PasswordRefused; a link that was
    refused for its name or password can be used again.
    """
    link = _usable().select_for_update().filter(token_hash=_hash(token)).first()
    if link is None or (link.kind == Kind.ADMINISTRATOR and accounts.has_administrator()):
        raise LinkRefused(NO_USE)
    if link.kind == Kind.RESET:
        return _reset(link, password)
    if not username.strip():
        raise NameRefused("Give a user name.")
    person = accounts.create(by=None, username=username, role=link.role, password=password, email=link.email)
    spend(link=link, by=person)
    return person


def _reset(link: OneTimeLink, password: str) -> User:
    """Set the new password: sessions end, tokens are revoked, a lock after wrong passwords is lifted."""
    person = link.user
    if person is None or not person.is_active:
        raise LinkRefused(NO_USE)
    OneTimeLink.objects.filter(pk=link.pk).update(used_at=timezone.now())
    accounts.set_password(person, password)
    tokens = accounts.revoke_tokens(person)
    sign_in.unlock(by=person, person=person)
    detail = {"tokens_revoked": tokens}
    Event.objects.create(by=person, verb="reset password", subject=f"account {person.pk}", detail=detail)
    return person


# Invitation e-mails: the link is created when it is sent, and is written nowhere else.

Mail = OneTimeLink.Mail
SUBJECT = "You are invited to Concord"
LONGEST_REASON = 300


def mail_is_set_up() -> bool:
    """Whether mail can be sent."""
    return bool(settings.MAIL.settings)


def send_letters(numbers: Sequence[int], base: str, progress: Callable[[int, int], None]) -> dict[str, int]:
    """Send those of the invitations that are waiting; return the numbers `sent` and `failed`.

    `base` is Concord's address. Invitations sent, used or withdrawn in the meantime are skipped, so that a
    repeated call sends nobody a second one.
    """
    counts = {"sent": 0, "failed": 0}
    for done, number in enumerate(numbers):
        progress(done, len(numbers))
        reason = _send_one(number, base)
        if reason is not None:
            counts["failed" if reason else "sent"] += 1
    progress(len(numbers), len(numbers))
    return counts


def _send_one(number: int, base: str) -> str | None:
    """Send one invitation; return the error, '' on success, None where it is not waiting."""
    with transaction.atomic():
        waiting = OneTimeLink.objects.select_for_update(of=("self",)).select_related("created_by")
        link = waiting.filter(
            pk=number, used_at=None, mail=Mail.QUEUED, expires_at__gt=timezone.now()
        ).first()
        if link is None:
            return None
        token = new_token(link)
    reason = ""
    try:
        with get_connection() as connection:
            _letter(link, base.rstrip("/") + reverse("use-link", args=[token]), connection).send()
    except (SMTPException, OSError, ValueError) as error:
        reason = _in_words(error)
    changes = {
        "mail": Mail.FAILED if reason else Mail.SENT,
        "mail_error": reason,
        "mailed_at": timezone.now(),
    }
    OneTimeLink.objects.filter(pk=number, mail=Mail.QUEUED).update(**changes)
    return reason


def _letter(link: OneTimeLink, address: str, connection: BaseEmailBackend) -> EmailMessage:
    context = {"link": link, "address": address, "by": link.created_by}
    body = render_to_string("mail/invitation.txt", context)
    return EmailMessage(SUBJECT, body, to=[link.email], connection=connection)


def _in_words(error: Exception) -> str:
    """Describe in one line why a server took no mail; its reply is shortened to fit that line."""
    if isinstance(error, SMTPRecipientsRefused):
        code, reply = next(iter(error.recipients.values()), (0, b""))
        return f"The server does not take this address: {code} {_text(reply)}"[:LONGEST_REASON]
    if isinstance(error, SMTPResponseException):
        return f"The server said: {error.smtp_code} {_text(error.smtp_error)}"[:LONGEST_REASON]
    if isinstance(error, TimeoutError):
        return "The server did not answer in time."
    reason = getattr(error, "strerror", None) or str(error)
    return f"The server cannot be reached: {_text(reason)}"[:LONGEST_REASON]


def _text(reply: bytes | str) -> str:
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
    return shown(" ".join(text.split())) or "nothing more"


# Inviting many people by e-mail at once: each gets a link of their own, sent by a worker or shown to copy.
#
# Nothing here checks whether an address has an account, so no response reveals it.

KIND = "invitations"
MOST = 200
"""Maximum number of addresses invited at once."""
MOST_TEXT = 100_000
NO_MAIL = "No mail is set up: make the invitation again and send its link yourself."
BRACKETED = re.compile(r"<([^<>]*)>")
BETWEEN = re.compile(r"[\s,;]+")


def addresses_in(text: str) -> list[str]:
    """Parse the addresses of a pasted list, each once, in order: one a line, by commas, or `Name <address>`.

    Raises EmailRefused, which names the first invalid ones.
    """
    addresses: list[str] = []
    for line in text[:MOST_TEXT].splitlines():
        for part in re.split(r"[,;]", line):
            bracketed = BRACKETED.findall(part)
            addresses += [
                names.normal_address(address)
                for address in bracketed or BETWEEN.split(part)
                if address.strip()
            ]
    addresses = list(dict.fromkeys(addresses))
    wrong = [address for address in addresses if names.address_fault(address)]
    if wrong:
        quoted = ", ".join(f"“{names.shown_address(address)}”" for address in wrong[:5])
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise EmailRefused(f"Not an e-mail address: {quoted}{more}. Nobody was invited yet.")
    if not addresses:
        raise EmailRefused("Give at least one e-mail address.")
    if len(addresses) > MOST or len(text) > MOST_TEXT:
        raise EmailRefused(f"Invite at most {MOST} addresses at once.")
    return addresses


@transaction.atomic
def invite_by_mail(
    *, by: User | None, emails: Sequence[str], role: str, name: str = "", days: int = INVITATION_DAYS
) -> list[IssuedLink]:
    """Create an invitation for each address (see `addresses_in`); an open one to it is replaced.

    Raises EmailRefused, RoleRefused, NameRefused and LinkRefused, and then invites nobody.
    """
    if name.strip() and len(emails) > 1:
        raise EmailRefused("A user name is for one person: leave it empty, or invite one address.")
    return [invite(by=by, role=role, name=name, days=days, email=email) for email in emails]


@transaction.atomic
def send_invitations(*, by: User | None, invitations: Sequence[OneTimeLink], base: str) -> Job:
    """Start a job that sends invitations; `base` is Concord's address. Raises EmailRefused without mail."""
    if not mail_is_set_up():
        raise EmailRefused(NO_MAIL)
    numbers = queue(by=by, invitations=invitations)
    about = f"{len(numbers)} invitation{'s' * (len(numbers) != 1)} by e-mail, from number {min(numbers)}"
    return jobs.start(kind=KIND, subject=about, params={"links": numbers, "base": base}, by=by)


@transaction.atomic
def queue(*, by: User | None, invitations: Sequence[OneTimeLink]) -> list[int]:
    """Queue invitations for sending; return their numbers. A resent one is valid for another week.

    Their previous links become invalid at the moment of sending.
    """
    numbers = sorted(invitation.pk for invitation in invitations)
    rows = OneTimeLink.objects.select_for_update().filter(pk__in=numbers, used_at=None).exclude(email="")
    waiting = list(rows)
    if not numbers or len(waiting) < len(numbers):
        raise EmailRefused("This invitation was used already, was withdrawn, or has no e-mail address.")
    least = timezone.now() + timedelta(days=INVITATION_DAYS)
    for link in waiting:
        if link.mail:
            link.expires_at = max(link.expires_at, least)
        link.mail, link.mail_error, link.mailed_at = OneTimeLink.Mail.QUEUED, "", None
        link.save(update_fields=["mail", "mail_error", "mailed_at", "expires_at"])
        Event.objects.create(by=by, verb="send invitation", subject=f"link {link.pk}")
    return numbers


def run(job: Job, progress: Progress) -> Mapping[str, Any]:
    """Send the invitations of a job; its result is {sent, failed}."""
    if not mail_is_set_up():
        raise JobRefused("no mail is set up any more")
    return send_letters(job.params["links"], job.params["base"], progress)


JOB = JobKind(KIND, "Invitations by e-mail", run)
