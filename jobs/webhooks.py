"""Webhooks: setup, and delivery of signed events."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from django.contrib.auth.models import User
from django.db import Error, IntegrityError, connection, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac
from yarl import URL

from config.models import Event
from config.permissions import is_administrator
from jobs.endpoints.endpoint_actions import METADATA_NAMES
from jobs.endpoints.wire import AddressRefused, Guard, literal, proxy_for, refusal
from jobs.errors import WebhookRefused
from jobs.kinds import CALLS
from jobs.models.webhook import MOST_ATTEMPTS, Delivery, Webhook, WebhookEvent, new_salt
from jobs.queue.waking import wake
from jobs.webhook_events import KINDS, PING

# Deliveries: claim those due, send them next to the judges' calls, store the outcome.
#
# They run in a thread of a `calls` worker, which can reach the network: a silent receiver does not block
# judges, and a webhook has at most AT_ONCE deliveries in flight, so that none blocks another. Deliveries of a
# lost worker are due again after their lease, under the same id.

# Signatures of deliveries, as in Standard Webhooks (standardwebhooks.com): HMAC-SHA256.
#
# A webhook's secret is not stored. It is derived from a random salt, which is in its row, and the server's
# secret key, which is in the environment or in Concord's own folder: neither alone reveals it.

PREFIX = "whsec_"


def secret_of(webhook: Webhook) -> str:
    """Return the secret for the receiver: `whsec_` and 32 bytes in base64."""
    return PREFIX + base64.b64encode(_key(webhook.salt)).decode()


def signature_headers(webhook: Webhook, *, message: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the three signature headers of a body sent at a time with its message's id.

    During a rotation both secrets sign, the new one first.
    """
    stamp = str(int(at.timestamp()))
    keys = [_key(webhook.salt)]
    if webhook.old_salt and webhook.old_until and webhook.old_until > timezone.now():
        keys.append(_key(webhook.old_salt))
    signed = b".".join([message.encode(), stamp.encode(), body])
    signatures = [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode() for key in keys]
    return {
        "webhook-id": message,
        "webhook-timestamp": stamp,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def _key(salt: str) -> bytes:
    return salted_hmac("concord.webhooks", salt, algorithm="sha256").digest()


# Retry times of a delivery, and limits of a failing webhook.

WAITS = (10, 60, 300, 1800, 7200, 21600, 43200)
"""Seconds after the first, second ... failed attempt: the last attempt comes after about a day."""
JITTER = 0.2
"""Relative jitter of a wait, so that simultaneous failures are not retried together."""
TIMEOUT = 10.0
"""Maximum seconds of an attempt, from the name lookup to the end of reading."""
LEASE = 60.0
"""Longer than any attempt: leases are not renewed."""
ROTATION = timedelta(hours=24)
"""Time during which the previous secret also signs after a rotation."""
OFF_AFTER = timedelta(days=3)
"""A webhook without a success for this long is switched off."""
RETENTION = timedelta(days=30)
"""Events and their deliveries are kept this long."""


def retry_wait(attempts: int) -> timedelta:
    """Return the wait after this many (1 or more) unsuccessful attempts."""
    seconds = WAITS[min(attempts, len(WAITS)) - 1]
    return timedelta(seconds=seconds * random.uniform(1 - JITTER, 1 + JITTER))


# User actions on webhooks: add, change, switch on and off, rotate the secret, test, send again.

MOST = 20
"""Maximum webhooks of a campaign, and of all of Concord."""


@transaction.atomic
def add(
    *, by: User, url: str, events: Sequence[str], campaign: int | None = None, allow_private: bool = False
) -> Webhook:
    """Add a webhook for events of a campaign (its id), or of all of Concord.

    `secret_of` returns its secret. Raises WebhookRefused.
    """
    if campaign is None and not is_administrator(by):
        raise WebhookRefused("Only an administrator adds a webhook for all of Concord.")
    existing = Webhook.objects.filter(campaign_id__isnull=True)
    if campaign is not None:
        existing = Webhook.objects.filter(campaign_id=campaign)
    if existing.count() >= MOST:
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
    """Switch a webhook on or off. Events while it is off are never sent; pending deliveries continue."""
    webhook = Webhook.objects.select_for_update(no_key=True).get(pk=webhook.pk)
    webhook.active, webhook.off_reason, webhook.failing_since = on, "", None
    webhook.save(update_fields=["active", "off_reason", "failing_since"])
    _log(by, webhook, "switch on" if on else "switch off")
    if on:
        wake(CALLS)
    return webhook


@transaction.atomic
def rotate(*, by: User, webhook: Webhook) -> Webhook:
    """Give a webhook a new secret; for a day both secrets sign."""
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
    """Send one test delivery to a webhook, switched off or not."""
    event = WebhookEvent.objects.create(kind=PING, data={"webhook": webhook.pk})
    delivery = Delivery.objects.create(webhook=webhook, event=event, asked=True, max_attempts=1)
    _log(by, webhook, "test")
    wake(CALLS)
    return delivery


@transaction.atomic
def send_again(*, by: User, delivery: Delivery) -> Delivery:
    """Send a delivery again, now and under the same id, whatever its state."""
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
    """Raise WebhookRefused for a URL that is not plain http(s), or an address that is never allowed.

    The address that a name resolves to is checked at every connection.
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
        raise WebhookRefused("This address already has a webhook: change that one.", "url") from None
    _log(by, webhook, verb)
    return webhook


def _log(by: User, webhook: Webhook, verb: str) -> None:
    host = urlsplit(webhook.url).hostname or ""
    detail = {"host": host, "events": webhook.events, "campaign": webhook.campaign_id}
    Event.objects.create(by=by, verb=f"{verb} webhook", subject=f"webhook {webhook.pk}", detail=detail)


# One attempt at a delivery: a signed POST, and its outcome.
#
# Only to addresses allowed for the webhook, checked when the socket is opened, on the actual address (as for
# endpoints: `jobs.endpoints.wire`). Redirects are not followed, no cookie is kept, and at most MOST_BYTES of
# a response are read.

MOST_BYTES = 1_000
"""Maximum bytes of a response, shown to users."""
GONE = 410
"""Status by which a receiver unsubscribes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Outcome of an attempt: a status with the first bytes of the response, or the error."""

    code: int | None
    response_text: str = ""
    error: str = ""
    ms: int = 0

    @property
    def is_good(self) -> bool:
        """Whether the delivery was accepted."""
        return self.code is not None and 200 <= self.code < 300


def payload(delivery: Delivery) -> bytes:
    """Return the body: event kind, time and data. The same at every attempt."""
    event = delivery.event
    body: dict[str, Any] = {
        "type": event.kind,
        "id": f"evt_{event.public.hex}",
        "timestamp": event.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "data": event.data,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


async def send(delivery: Delivery) -> Answer:
    """Send a delivery once; never raises for errors of the receiver."""
    webhook, body = delivery.webhook, payload(delivery)
    signed = signature_headers(webhook, message=f"msg_{delivery.public.hex}", at=timezone.now(), body=body)
    begun = time.perf_counter()
    try:
        async with asyncio.timeout(TIMEOUT):
            code, response_text = await _post(webhook, signed, body)
        return Answer(code, response_text, _meaning(code), _since(begun))
    except TimeoutError:
        error = f"no response within {TIMEOUT:.0f} s"
    except WebhookRefused as refused:
        error = str(refused)
    except (aiohttp.ClientError, OSError, ValueError) as trouble:
        error = _failure_reason(trouble)
    return Answer(None, "", error, _since(begun))


async def _post(webhook: Webhook, signed: dict[str, str], body: bytes) -> tuple[int, str]:
    check(webhook.url, allow_private=webhook.allow_private)
    proxy = proxy_for(webhook.url)
    guard = Guard(allow_private=webhook.allow_private or proxy is not None)
    connector = aiohttp.TCPConnector(socket_factory=guard.socket, force_close=True)
    sent = {
        "content-type": "application/json",
        "user-agent": "Concord-Webhooks/1",
        "accept-encoding": "identity",
        **signed,
    }
    async with (
        aiohttp.ClientSession(
            connector=connector, auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar()
        ) as session,
        session.post(
            URL(webhook.url), data=body, headers=sent, allow_redirects=False, proxy=proxy
        ) as response,
    ):
        start = await _first(response.content)
        return response.status, start.decode("utf-8", "replace").replace("\x00", "\ufffd")


async def _first(stream: aiohttp.StreamReader) -> bytes:
    """Return the first bytes of a response; the rest is never read."""
    start = b""
    while len(start) < MOST_BYTES and (chunk := await stream.read(MOST_BYTES - len(start))):
        start += chunk
    return start


def _meaning(code: int) -> str:
    if 200 <= code < 300:
        return ""
    if 300 <= code < 400:
        return f"HTTP {code}: it redirects, which is not followed; give the final address"
    return f"HTTP {code}"


def _failure_reason(error: BaseException) -> str:
    """Return the reason for a missing response, in one line; the guard's refusal is nested in aiohttp's
    error.
    """
    cause: BaseException | None = error
    while cause is not None:
        inner = getattr(cause, "os_error", None)
        for candidate in (cause, inner):
            if isinstance(candidate, AddressRefused):
                return f"not sent: {candidate}"
        cause = cause.__cause__ or cause.__context__
    return f"no connection: {str(error) or type(error).__name__}"[:300].replace("\x00", "\ufffd")


def _since(begun: float) -> int:
    return round(1000 * (time.perf_counter() - begun))


logger = logging.getLogger(__name__)
AT_ONCE = 4
"""Concurrent deliveries of one webhook."""
MOST_CLAIMED = 32
"""Concurrent deliveries of all webhooks."""
CLEARED = 5_000
_busy = threading.Lock()
_IS_DUE = """
SELECT 1 FROM jobs_webhook w JOIN jobs_delivery d ON d.webhook_id = w.id
 WHERE (w.active OR d.asked) AND ((d.state = 'pending' AND d.not_before <= now())
    OR (d.state = 'leased' AND d.lease_expires < now())) LIMIT 1
"""
_CLAIM = """
WITH ready AS (
  SELECT d.id FROM jobs_webhook w CROSS JOIN LATERAL (
    SELECT d.id FROM jobs_delivery d
     WHERE d.webhook_id = w.id AND (w.active OR d.asked) AND ((d.state = 'pending' AND d.not_before <= now())
        OR (d.state = 'leased' AND d.lease_expires < now()))
     ORDER BY d.id LIMIT %s FOR UPDATE SKIP LOCKED) d
   LIMIT %s)
UPDATE jobs_delivery d SET state = 'leased', attempts = d.attempts + 1,
       lease_expires = now() + make_interval(secs => %s), tried_at = now()
  FROM ready WHERE d.id = ready.id RETURNING d.id
"""


def begin(queue: str) -> None:
    """Start a thread that sends due deliveries, unless one is running."""
    if queue == CALLS and not _busy.locked() and is_due():
        threading.Thread(target=_send_all, name="webhooks", daemon=True).start()


def is_due() -> bool:
    """Whether a delivery can be claimed now."""
    with connection.cursor() as cursor:
        cursor.execute(_IS_DUE)
        return cursor.fetchone() is not None


def deliver() -> int:
    """Claim and send due deliveries until none is left; return the number of attempts."""
    count = 0
    while claimed := claim():
        count += len(claimed)
        for delivery, answer in zip(claimed, asyncio.run(_sent(claimed)), strict=True):
            settle(delivery, answer)
    return count


def claim() -> list[Delivery]:
    """Lease due deliveries, a few per webhook."""
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, [AT_ONCE, MOST_CLAIMED, LEASE])
        claimed = [pk for (pk,) in cursor.fetchall()]
    return list(Delivery.objects.select_related("webhook", "event").filter(pk__in=claimed).order_by("pk"))


@transaction.atomic
def settle(delivery: Delivery, answer: Answer) -> None:
    """Store the outcome of an attempt, unless the lease was lost; switch off a webhook that fails for
    long.
    """
    now = timezone.now()
    webhook = Webhook.objects.select_for_update(no_key=True).filter(pk=delivery.webhook_id).first()
    mine = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.LEASED, attempts=delivery.attempts)
    again = not answer.is_good and answer.code != GONE and delivery.attempts < delivery.max_attempts
    state = Delivery.State.DELIVERED if answer.is_good else Delivery.State.FAILED
    was_settled = mine.update(
        state=Delivery.State.PENDING if again else state,
        not_before=now + retry_wait(delivery.attempts) if again else now,
        lease_expires=None,
        asked=False,
        code=answer.code,
        said=answer.response_text,
        error=answer.error,
        ms=answer.ms,
    )
    if was_settled and webhook is not None:
        _note(webhook, answer)


def _note(webhook: Webhook, answer: Answer) -> None:
    """Record since when a webhook fails; switch it off after too long, or on 410."""
    now = timezone.now()
    since = None if answer.is_good else webhook.failing_since or now
    reason = ""
    if answer.code == GONE:
        reason = "Its receiver answered 410 Gone: it wants no more."
    elif since is not None and now - since >= OFF_AFTER:
        days = OFF_AFTER.days
        reason = f"Nothing reached it for {days} days. The last attempt: {answer.error}"[:300]
    if reason and webhook.active:
        webhook.active, webhook.off_reason = False, reason
        detail = {"reason": reason, "campaign": webhook.campaign_id}
        Event.objects.create(verb="webhook switched off", subject=f"webhook {webhook.pk}", detail=detail)
    webhook.failing_since = since
    webhook.save(update_fields=["active", "off_reason", "failing_since"])


def clear() -> int:
    """Delete old events, some at a time; return their number. Events with pending deliveries are kept."""
    old = WebhookEvent.objects.filter(at__lt=timezone.now() - RETENTION)
    open_still = Q(deliveries__state__in=[Delivery.State.PENDING, Delivery.State.LEASED])
    ids = list(
        old.exclude(open_still & Q(deliveries__webhook__active=True)).values_list("pk", flat=True)[:CLEARED]
    )
    if ids:
        WebhookEvent.objects.filter(pk__in=ids).delete()
    return len(ids)


async def _sent(deliveries: Sequence[Delivery]) -> list[Answer]:
    return list(await asyncio.gather(*(send(delivery) for delivery in deliveries)))


def _send_all() -> None:
    with _busy:
        try:
            deliver()
        except Error as error:
            logger.warning("webhooks wait: %s", error)
        finally:
            connection.close()
