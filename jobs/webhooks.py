"""Webhooks: setting them up, and delivering signed events to them."""

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
from jobs.endpoints.actions import METADATA_NAMES
from jobs.endpoints.wire import AddressRefused, Guard, literal, proxy_for, refusal
from jobs.errors import WebhookRefused
from jobs.kinds import CALLS
from jobs.models.webhook import MOST_ATTEMPTS, Delivery, Webhook, WebhookEvent, new_salt
from jobs.queue.waking import wake
from jobs.webhook_events import KINDS, PING

# Claiming deliveries that are due, sending them beside the judges' calls, and writing what came of it.
#
# A thread of a worker of the queue `calls`, which reaches the network: a silent receiver holds no judge up,
# and a webhook has at most AT_ONCE deliveries under way, so that none holds another up. What a worker held
# when it was lost is due again once its lease has passed, under the same id.

# Signatures of what is sent, in the form of Standard Webhooks (standardwebhooks.com): HMAC-SHA256.
#
# The secret of a webhook is kept nowhere. It is derived from a random salt, which is in its row, and the
# server's secret key, which is in the environment or in Concord's own folder: neither alone gives it away.

PREFIX = "whsec_"


def secret_of(webhook: Webhook) -> str:
    """Return the secret as its receiver keeps it: `whsec_` and 32 bytes in base64."""
    return PREFIX + base64.b64encode(_key(webhook.salt)).decode()


def signature_headers(webhook: Webhook, *, message: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the three headers with which a body is sent at a time under its message's id.

    While a rotation is under way both secrets sign, the new one first.
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


# When a delivery is tried again, and when an address is given up.

WAITS = (10, 60, 300, 1800, 7200, 21600, 43200)
"""Seconds after the first, second ... failed attempt: the last one comes after about a day."""
JITTER = 0.2
"""A wait is up to so much shorter or longer, so that what failed together does not come back together."""
TIMEOUT = 10.0
"""Seconds that an attempt takes at most, from the look-up of the name to the end of what is read."""
LEASE = 60.0
"""Longer than any attempt: nothing renews it."""
ROTATION = timedelta(hours=24)
"""For so long the secret before the last rotation signs, too."""
OFF_AFTER = timedelta(days=3)
"""An address at which nothing succeeded for so long is switched off."""
RETENTION = timedelta(days=30)
"""Events and their deliveries are kept for so long."""


def retry_wait(attempts: int) -> timedelta:
    """Return how long to wait after so many attempts (1 or more), none of which succeeded."""
    seconds = WAITS[min(attempts, len(WAITS)) - 1]
    return timedelta(seconds=seconds * random.uniform(1 - JITTER, 1 + JITTER))


# What people do with webhooks: add, change, switch on and off, rotate the secret, try, send again.

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


# One attempt at a delivery: a signed POST, and what came of it.
#
# Only to addresses that the webhook may be at, checked where the socket is opened, on the address that it
# is connected to (as for endpoints: `jobs.endpoints.wire`). Redirects are not followed, no cookie is kept,
# and no more than MOST_BYTES of a response are read.

MOST_BYTES = 1_000
"""Of a response, to show people what a receiver said."""
GONE = 410
"""With this status a receiver says that it wants no more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an attempt: a status with the first bytes of the response, or why there is none."""

    code: int | None
    response_text: str = ""
    error: str = ""
    ms: int = 0

    @property
    def is_good(self) -> bool:
        """Whether the receiver has it."""
        return self.code is not None and 200 <= self.code < 300


def payload(delivery: Delivery) -> bytes:
    """Return the body: what kind of event, when, and its data. The same at every attempt."""
    event = delivery.event
    body: dict[str, Any] = {
        "type": event.kind,
        "id": f"evt_{event.public.hex}",
        "timestamp": event.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "data": event.data,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


async def send(delivery: Delivery) -> Answer:
    """Send a delivery once; never raises for what the other side does."""
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
    """Return why there is no response, in one line; what is refused by the guard is inside aiohttp's own."""
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
"""Deliveries of one webhook at a time."""
MOST_CLAIMED = 32
"""Deliveries of all of them."""
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
    """Send what is due, in a thread; nothing happens while one is under way."""
    if queue == CALLS and not _busy.locked() and is_due():
        threading.Thread(target=_send_all, name="webhooks", daemon=True).start()


def is_due() -> bool:
    """Whether a delivery can be claimed now."""
    with connection.cursor() as cursor:
        cursor.execute(_IS_DUE)
        return cursor.fetchone() is not None


def deliver() -> int:
    """Claim what is due and send it, until nothing is; return how many attempts were made."""
    count = 0
    while claimed := claim():
        count += len(claimed)
        for delivery, answer in zip(claimed, asyncio.run(_sent(claimed)), strict=True):
            settle(delivery, answer)
    return count


def claim() -> list[Delivery]:
    """Lease what is due, a few of each webhook."""
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, [AT_ONCE, MOST_CLAIMED, LEASE])
        claimed = [pk for (pk,) in cursor.fetchall()]
    return list(Delivery.objects.select_related("webhook", "event").filter(pk__in=claimed).order_by("pk"))


@transaction.atomic
def settle(delivery: Delivery, answer: Answer) -> None:
    """Write what came of an attempt, unless its lease went to another; switch off what fails for long."""
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
    """Remember since when an address fails; switch it off after long, or where it wants no more."""
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
    """Forget events that are old, some at a time; return how many. What still waits is kept."""
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
