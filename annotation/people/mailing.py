"""Sending an invitation by e-mail: its link is made when it is sent, and is written nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from annotation.models import OneTimeLink
from annotation.people import links
from annotation.people.addresses import shown

Mail = OneTimeLink.Mail
SUBJECT = "You are invited to Concord"
LONGEST_REASON = 300


def is_set_up() -> bool:
    """Whether mail can be sent."""
    return bool(settings.MAIL.settings)


def send(numbers: Sequence[int], base: str, progress: Callable[[int, int], None]) -> dict[str, int]:
    """Send those of some invitations that wait for it; return how many were `sent` and `failed`.

    `base` is where Concord is. What was sent, used or withdrawn meanwhile is left alone, so that doing this
    again sends nobody a second one.
    """
    found = {"sent": 0, "failed": 0}
    for done, number in enumerate(numbers):
        progress(done, len(numbers))
        reason = _send_one(number, base)
        if reason is not None:
            found["failed" if reason else "sent"] += 1
    progress(len(numbers), len(numbers))
    return found


def _send_one(number: int, base: str) -> str | None:
    """Send one invitation; return why it could not be, empty where it was, None where it does not wait."""
    with transaction.atomic():
        waiting = OneTimeLink.objects.select_for_update(of=("self",)).select_related("created_by")
        link = waiting.filter(
            pk=number, used_at=None, mail=Mail.QUEUED, expires_at__gt=timezone.now()
        ).first()
        if link is None:
            return None
        token = links.new_token(link)
    reason = ""
    try:
        with get_connection() as connection:
            _letter(link, base.rstrip("/") + reverse("use-link", args=[token]), connection).send()
    except (SMTPException, OSError, ValueError) as error:
        reason = _in_words(error)
    told = {"mail": Mail.FAILED if reason else Mail.SENT, "mail_error": reason, "mailed_at": timezone.now()}
    OneTimeLink.objects.filter(pk=number, mail=Mail.QUEUED).update(**told)
    return reason


def _letter(link: OneTimeLink, address: str, connection: BaseEmailBackend) -> EmailMessage:
    context = {"link": link, "address": address, "by": link.created_by}
    body = render_to_string("mail/invitation.txt", context)
    return EmailMessage(SUBJECT, body, to=[link.email], connection=connection)


def _in_words(error: Exception) -> str:
    """Return in one line why a server took no mail; what it said is kept short and on that line."""
    if isinstance(error, SMTPRecipientsRefused):
        code, said = next(iter(error.recipients.values()), (0, b""))
        return f"The server does not take this address: {code} {_text(said)}"[:LONGEST_REASON]
    if isinstance(error, SMTPResponseException):
        return f"The server said: {error.smtp_code} {_text(error.smtp_error)}"[:LONGEST_REASON]
    if isinstance(error, TimeoutError):
        return "The server did not answer in time."
    told = getattr(error, "strerror", None) or str(error)
    return f"The server cannot be reached: {_text(told)}"[:LONGEST_REASON]


def _text(said: bytes | str) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return shown(" ".join(text.split())) or "nothing more"
