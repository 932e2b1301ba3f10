"""What people do with webhooks: add, change, switch on and off, rotate the secret, try, send again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from config.models import Event
from config.permissions import is_administrator
from jobs.endpoints.actions import METADATA_NAMES
from jobs.endpoints.wire import literal, refusal
from jobs.errors import WebhookRefused
from jobs.kinds import CALLS
from jobs.models import Delivery, Webhook, WebhookEvent
from jobs.models.webhook import MOST_ATTEMPTS, new_salt
from jobs.queue.waking import wake
from jobs.webhooks.telling import KINDS, PING
from jobs.webhooks.timing import ROTATION

MOST = 20
"""Webhooks of a campaign, and of all of Concord."""


@transaction.atomic
def add(
    *, by: User, url: str, events: Sequence[str], campaign: int | None = None, allow_private: bool = False
) -> Webhook:
    """Add a webhook for events of a campaign (its id), or without one of all of Concord.

    `jobs.webhooks.signing.secret_of` gives its secret. Raises WebhookRefused.
    """
    if campaign is None and not is_administrator(by):
        raise WebhookRefused("Only an administrator adds a webhook for all of Concord.")
    there = Webhook.objects.filter(campaign_id__isnull=True)
    if campaign is not None:
        there = Webhook.objects.filter(campaign_id=campaign)
    if there.count() >= MOST:
        raise WebhookRefused(f"There are at most {MOST} webhooks in one place. Delete one first.")
    webhook = Webhook(campaign_id=campaign, created_by=by)
    return _put(by, webhook, {"url": url, "events": list(events), "allow_private": allow_private}, "add")


@transaction.atomic
def change(*, by: User, webhook: Webhook, fields: Mapping[str, Any]) -> Webhook:
    """Change the `url`, the `events` or `allow_private` of a webhook. Raises WebhookRefused."""
    webhook = Webhook.objects.select_for_update(no_key=True).get(pk=webhook.pk)
    return _put(by, webhook, fields, "change")


@transaction.atomic
def switch(*, by: User, webhook: Webhook, on: bool) -> Webhook:
    """Switch a webhook on or off. What happens while it is off it is never told; what waited goes on."""
    webhook = Webhook.objects.select_for_update(no_key=True).get(pk=webhook.pk)
    webhook.active, webhook.off_reason, webhook.failing_since = on, "", None
    webhook.save(update_fields=["active", "off_reason", "failing_since"])
    _log(by, webhook, "switch on" if on else "switch off")
    if on:
        wake(CALLS)
    return webhook


@transaction.atomic
def rotate(*, by: User, webhook: Webhook) -> Webhook:
    """Give a webhook another secret; for a day both sign what is sent."""
    webhook = Webhook.objects.select_for_update(no_key=True).get(pk=webhook.pk)
    webhook.old_salt, webhook.old_until = webhook.salt, timezone.now() + ROTATION
    webhook.salt = new_salt()
    webhook.save(update_fields=["salt", "old_salt", "old_until"])
    _log(by, webhook, "rotate secret of")
    return webhook


@transaction.atomic
def delete(*, by: User, webhook: Webhook) -> None:
    """Delete a webhook with its deliveries."""
    _log(by, webhook, "delete")
    Webhook.objects.filter(pk=webhook.pk).delete()


@transaction.atomic
def ping(*, by: User, webhook: Webhook) -> Delivery:
    """Send a test to a webhook, once, switched off or not."""
    event = WebhookEvent.objects.create(kind=PING, data={"webhook": webhook.pk})
    delivery = Delivery.objects.create(webhook=webhook, event=event, asked=True, max_attempts=1)
    _log(by, webhook, "test")
    wake(CALLS)
    return delivery


@transaction.atomic
def send_again(*, by: User, delivery: Delivery) -> Delivery:
    """Send a delivery once more, now and under the same id, whatever became of it before."""
    delivery = Delivery.objects.select_for_update(no_key=True).get(pk=delivery.pk)
    if delivery.state == Delivery.State.LEASED:
        raise WebhookRefused("It is being sent at this moment.")
    delivery.state, delivery.asked, delivery.attempts = Delivery.State.PENDING, True, 0
    delivery.max_attempts, delivery.not_before = MOST_ATTEMPTS, timezone.now()
    delivery.save(update_fields=["state", "asked", "attempts", "max_attempts", "not_before"])
    _log(by, delivery.webhook, "send again to")
    wake(CALLS)
    return delivery


VERBS: dict[str, Callable[..., object]] = {
    "on": lambda *, by, webhook: switch(by=by, webhook=webhook, on=True),
    "off": lambda *, by, webhook: switch(by=by, webhook=webhook, on=False),
    "rotate": rotate,
    "ping": ping,
}


def check(url: str, *, allow_private: bool) -> None:
    """Raise WebhookRefused for an address that is not plain http(s), or that may not be asked at all.

    What a name leads to is looked at when it is connected to, every time.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise WebhookRefused(f"{url[:200]!r} is not an http or https address.", "url")
    if parts.username or parts.password or parts.fragment:
        raise WebhookRefused("The address must hold no user, password or fragment.", "url")
    name = parts.hostname.casefold().rstrip(".")
    address = literal(name)
    why = refusal(address, allow_private=allow_private) if address else ""
    if name in METADATA_NAMES or why:
        raise WebhookRefused(
            f"{parts.hostname} {why or 'is a cloud’s metadata service'}: webhooks are sent to public "
            "addresses. An administrator may allow one in the machine’s private network.",
            "url",
        )


def _put(by: User, webhook: Webhook, fields: Mapping[str, Any], verb: str) -> Webhook:
    for name, value in fields.items():
        setattr(webhook, name, value)
    unknown = [kind for kind in webhook.events if kind not in KINDS]
    if unknown or not webhook.events:
        raise WebhookRefused(f"Choose at least one event of {', '.join(KINDS)}.", "events")
    webhook.events = [kind for kind in KINDS if kind in webhook.events]
    if webhook.allow_private and not is_administrator(by):
        raise WebhookRefused(
            "Only an administrator allows an address in the private network.", "allow_private"
        )
    check(webhook.url, allow_private=webhook.allow_private)
    try:
        with transaction.atomic():
            webhook.save()
    except IntegrityError:
        raise WebhookRefused(
            "This address is told already: change the webhook that there is.", "url"
        ) from None
    _log(by, webhook, verb)
    return webhook


def _log(by: User, webhook: Webhook, verb: str) -> None:
    host = urlsplit(webhook.url).hostname or ""
    detail = {"host": host, "events": webhook.events, "campaign": webhook.campaign_id}
    Event.objects.create(by=by, verb=f"{verb} webhook", subject=f"webhook {webhook.pk}", detail=detail)
